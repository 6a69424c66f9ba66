"""Runs over chains: beside `simulate`, with shared work, saved histories, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KernelError, SolveError
from kinegraph.recursive.chains.structure import chosen_body
from kinegraph.recursive.flatten import flattened_tree
from kinegraph.reproduce.parallel_chains import polygon
from kinegraph.simulate.chains import simulate_chains
from kinegraph.simulate.stabilization import Baumgarte
from kinegraph.solve.recording import Status
from kinegraph.solve.solution import Solution
from tests.cli.run import runner
from tests.recursive.chains_case import PLATFORM

LOOP = kg.load("loop-7")
START = dict(zip(LOOP.layout.positions, polygon(7), strict=True))
TIMES = np.linspace(0.0, 0.5, 11)


@cache
def reference() -> Solution:
    return kg.simulate(LOOP, 0.5, state=START, rtol=1e-11, times=TIMES)


def largest(first: Solution, second: Solution) -> float:
    return max(float(np.abs(first[name] - second[name]).max()) for name in first.positions)


@pytest.mark.parametrize(("method", "rtol", "error"), [("bdf", 1e-9, 2e-5), ("dop853", 1e-10, 2e-8)])
def test_runs_over_chains_are_runs(method: str, rtol: float, error: float) -> None:
    found = simulate_chains(LOOP, 0.5, state=START, method=method, rtol=rtol, times=TIMES, progress=False)
    assert found.status is Status.FINISHED and np.array_equal(found.t, TIMES)
    assert largest(found, reference()) < error
    np.testing.assert_allclose(found["energy"], found["energy"][0], atol=error * 10)
    assert all(check.passed for check in found.checks) and found.drift["position"] < 1e-5


def test_threads_and_ranks_continue_with_the_bits_of_one_process() -> None:
    """Each chain is computed by one worker in either case; sums over two workers have two terms."""
    runs = [simulate_chains(LOOP, 0.5, state=START, rtol=1e-7, times=TIMES, threads=n, progress=False) for n in (1, 2)]
    for name in runs[0].positions:
        np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=0, atol=1e-6)


@pytest.mark.soak
def test_forces_on_a_platform_with_a_constraint_of_its_own() -> None:
    """Four chains on a moving body, a rail for that body, springs between chains, a driven joint."""
    text = PLATFORM + "constraint rail | y - 1 - 0.2*(x - 0.1) = 0;"
    mechanism = kg.parse(text)
    drive = {"a1": "2*sin(3*t) - 0.5*a1'"}
    found = simulate_chains(
        mechanism, 0.3, inputs=drive, body="Slide", threads=2, method="dop853", rtol=1e-10, times=6,
        baumgarte=Baumgarte(20, 20), progress=False,
    )  # fmt: skip
    wanted = kg.simulate(mechanism, 0.3, inputs={f"tau:{k}": v for k, v in drive.items()}, rtol=1e-11, times=6)
    assert largest(found, wanted) < 1e-7
    assert np.abs(found["y"] - 1 - 0.2 * (found["x"] - 0.1)).max() < 1e-8
    assert "energy" not in found  # of springs, the chains do not know it


def test_the_body_follows_from_the_graph_of_the_mechanism() -> None:
    mechanism = kg.parse(PLATFORM)
    flat = flattened_tree(mechanism, None)
    assert chosen_body(mechanism, flat, 1) is None  # alone, nothing is shared
    assert chosen_body(mechanism, flat, 4) == "Slide"
    assert chosen_body(LOOP, flattened_tree(LOOP, None), 2) is None  # two chains on the ground


def test_what_runs_over_chains_cannot_do_is_said() -> None:
    for changes, word in (
        ({"body": "Slid"}, "unknown body 'Slid'"), ({"inputs": {"a9": "1"}}, "unknown coordinate"),
        ({"threads": 0}, "at least 1"), ({"threads": 2, "communicator": object()}, "one of the two"),
    ):  # fmt: skip
        with pytest.raises(SolveError, match=word):
            simulate_chains(kg.parse(PLATFORM), 0.1, progress=False, **changes)  # type: ignore[arg-type]
    with pytest.raises(KernelError, match="contact"):
        simulate_chains("rod-on-floor", 0.1, progress=False)
    with pytest.raises(SolveError, match="quaternions"):
        simulate_chains("wing-nut", 0.1, progress=False)
    stretched = dict.fromkeys(kg.load("loop-4").layout.positions, 0.0)
    with pytest.raises(SolveError, match="singular"):
        simulate_chains("loop-4", 0.1, state=stretched, progress=False)


def test_the_command_writes_the_history(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    code, out, _ = runner(capsys)(f"simulate-chains loop-5 --duration 0.1 --times 4 --rtol 1e-6 -o {file} --json")
    assert code == 0 and json.loads(out)["status"] == "FINISHED"
    assert len(Solution.load(file).t) == 5


@pytest.mark.soak
def test_two_ranks_give_the_history_of_one_process(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    launcher = Path(sys.executable).parent / "mpiexec"
    if not launcher.exists():
        pytest.skip("no mpiexec beside this Python")
    case = tmp_path / "case.py"
    case.write_text(f"""
import json
from mpi4py import MPI
from kinegraph.simulate.chains import simulate_chains
run = simulate_chains("loop-7", 0.5, state={START!r}, rtol=1e-7, times=10, communicator=MPI.COMM_WORLD, progress=False)
if MPI.COMM_WORLD.Get_rank() == 0:
    print(json.dumps({{name: run[name].tolist() for name in run.positions}}))
""")
    done = subprocess.run([launcher, "-n", "2", sys.executable, case], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    ranks = json.loads(done.stdout.splitlines()[-1])
    serial = simulate_chains(LOOP, 0.5, state=START, rtol=1e-7, times=10, progress=False)
    for name, column in ranks.items():
        np.testing.assert_allclose(column, serial[name], rtol=0, atol=1e-6)


def test_loops_that_lock_end_a_run_by_name() -> None:
    """Velocities grow with one over the root of the time left: steps crept there for hours."""
    led = kg.parse("""coordinates a = 1.2, b = 0.1, c = -2; gravity 0, -9.81, 0; A | Rz(a) | Sx(0.5), m(1), Jz(0.1);
        B~A | Sx(2), Rz(b) | Sx(0.5), m(3), Jz(0.9); C~B | Sx(1), Rz(c) | Sx(0.5), m(2), Jz(0.5);
        loop pin | revolute | C: Sx(2) | Sx(3); constraint drive | a = 1.2 + t;""")
    with pytest.raises(SolveError, match=r"cannot be closed beyond t = 0\.0309\d*: .* velocities grow without bound"):
        kg.simulate_chains(led, 1, rtol=1e-5, times=1, progress=False)
