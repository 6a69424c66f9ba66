"""Ctrl-C at every kind of work: one line, exit code 130, partial results saved. No clock decides when it is pressed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import ENVIRONMENT
from tests.programs import HANGS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process there")


@pytest.fixture
def interrupted(tmp_path):
    """A command in a process of its own, with an empty cache, that gets Ctrl-C at a place."""

    def run(line, place, count=1):
        command = [sys.executable, str(Path(__file__).with_name("pressing.py")), place, str(count), *line.split()]
        environment = {**ENVIRONMENT, "KINEGRAPH_CACHE": str(tmp_path / "cache")}
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=HANGS)

    return run


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("derive double-pendulum", "import:kinegraph.cli"),
        ("eval double-pendulum -q tau", "kinegraph.jit.kernel:object_code"),
        *(
            pytest.param(*place, marks=pytest.mark.soak)
            for place in (
                (
                    "count rackovic-14r -q H,C,gravity --seconds 60",
                    "kinegraph.derive.quantities.derivation:Derivation.__init__",
                ),
                ("simulate double-pendulum --for 1 --method bdf", "import:sksundae"),
                ("simulate double-pendulum --for 1 --native --json", "kinegraph.jit.kernel:object_code"),
            )
        ),
    ],
)
def test_one_line_and_nothing_else(interrupted, line, place):
    done = interrupted(line, place)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.soak
def test_an_interpreted_run_keeps_what_it_has(interrupted, tmp_path):
    line = "simulate double-pendulum --for 10 --times 0 -o run.csv"
    done = interrupted(line, "kinegraph.solve.recording:Recorder.drain", 3)
    assert "the run was interrupted; partial results are kept" in done.stdout
    assert done.returncode == 130 and done.stderr == ""
    assert len((tmp_path / "run.csv").read_text().splitlines()) > 10


@pytest.mark.soak
def test_a_search_gives_the_best_so_far_proved(interrupted):
    """The search would go on for ten minutes; its best state comes out as the result, and nothing is lost."""
    iterations = "kinegraph.passes.compiled_search.anneal:Engine._do"
    done = interrupted("count puma560 -q H,gravity --seconds 600 --json", iterations, 100)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["proved"] is True
    first = found["passes"][1]  # frames chosen, before any reduction
    assert found["mul"] + found["add"] < first["mul"] + first["add"]
