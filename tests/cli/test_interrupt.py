"""Ctrl-C at every kind of work: one line, exit code 130, what there is stays. No clock decides when it is pressed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinegraph.passes.compiled_search.entrance import entrance
from tests.cli.run import ENVIRONMENT
from tests.programs import HANGS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process there")

SOAK = bool(os.environ.get("KINEGRAPH_SOAK"))
WAITING = "kinegraph.ahead.compilation:Compiler.wait"
TOLD = "compiling the integrator, first time, about "


@pytest.fixture
def interrupted(tmp_path):
    """A command in a process of its own, with empty caches unless it says otherwise, that gets Ctrl-C at a place."""

    def run(line, place, count=1, endless=False, compiled=False):
        caches = {} if compiled else {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}
        command = [sys.executable, str(Path(__file__).with_name("pressing.py")), place, str(count)]
        command += [*(["--endless"] if endless else []), *line.split()]
        environment = {**ENVIRONMENT, "KINEGRAPH_CACHE": str(tmp_path / "cache"), **caches}
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=HANGS)

    return run


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("derive double-pendulum", "import:kinegraph.cli"),
        ("ops rackovic-14r -q H,C,gravity --seconds 60", "kinegraph.derive.quantities.derivation:Derivation.__init__"),
        ("eval double-pendulum -q tau", "kinegraph.jit.build:object_code"),
        ("simulate double-pendulum --for 1 --method bdf", "import:sksundae"),
        ("simulate double-pendulum --for 1 --native --method bdf --quiet", WAITING),
        *([("simulate double-pendulum --for 1 --native --json", WAITING)] if SOAK else []),
    ],
)
def test_one_line_and_nothing_else(interrupted, line, place):
    done = interrupted(line, place, endless=place == WAITING)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_waiting_for_the_compiler_is_announced(interrupted):
    done = interrupted("simulate double-pendulum --for 1 --native", WAITING, endless=True)
    first, second = done.stderr.splitlines()
    assert first.startswith(TOLD) and second == "interrupted"
    assert done.returncode == 130


def test_a_run_goes_on_while_the_integrator_is_compiled(interrupted, tmp_path):
    """Interpreted from the start, so that Ctrl-C finds something to keep; said once, although it is asked for often."""
    line = "simulate double-pendulum --for 1e5 --points 0 -o run.csv"
    done = interrupted(line, "kinegraph.solve.problem.loading:Loading.arrived", 3, endless=True)
    assert done.stderr.startswith(TOLD) and done.stderr.count("\n") == 1
    assert "the run was interrupted; what had been computed is kept" in done.stdout
    assert done.returncode == 130
    assert len((tmp_path / "run.csv").read_text().splitlines()) > 10


@pytest.mark.parametrize("command", ["import:numba", WAITING] if SOAK else [WAITING])
def test_a_search_that_is_not_compiled_yet_gives_what_there_is(interrupted, command):
    done = interrupted("ops puma560 -q H --seconds 20 --json", command, endless=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and json.loads(done.stdout)["proved"] is True


def test_a_search_gives_the_best_so_far_proved(interrupted):
    """The search would go on for ten minutes; its best state comes out as the result, and nothing is lost."""
    entrance()  # on disk from now on, so that the command need not compile it
    iterations = "kinegraph.passes.compiled_search.engine:Engine._do"
    done = interrupted("ops puma560 -q H,gravity --seconds 600 --json", iterations, 100, compiled=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["proved"] is True
    first = found["passes"][1]  # frames chosen, before any reduction
    assert found["mul"] + found["add"] < first["mul"] + first["add"]
