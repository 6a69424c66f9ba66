"""What holds compiled code reaches another process as its recipe: the same numbers there."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.errors import SolveError
from kinegraph.simulate.equations import VelocityForm
from kinegraph.simulate.events import event_set, read
from kinegraph.solve.methods.method import Method, RunOptions
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.problem import CauchyProblem, EventSet, RightHandSide
from tests.cli.run import ENVIRONMENT

SCRIPT = """
import pickle, sys
from kinegraph.solve.methods.method import RunOptions
problem, events, solver, control = pickle.load(open(sys.argv[1], "rb"))
run = solver.integrate(problem, control, RunOptions(events=events))
found = run.times, run.states, [(one.name, one.time) for one in run.events]
pickle.dump(found, open(sys.argv[2], "wb"))
"""


@pytest.fixture(scope="module")
def parts() -> tuple[CauchyProblem, EventSet]:
    """Code is compiled; the loop around it is not, for that would take its time here."""
    arm = kg.load("double-pendulum")
    equations = VelocityForm(arm, {}, NO_FORCES)
    events = [read(kg.Event("level", "q1")), read(kg.Event("back", "q2 - 0.5", reset={"q2'": "-q2'"}))]
    rhs = equations.right_hand_side(jacobian=True)
    problem = CauchyProblem(rhs, np.array([1.0, 0.3, 0.0, 0.5]), 0.0, 0.5, native=False)
    return problem, event_set(equations, events, native=True)


def test_a_compiled_problem_gives_the_same_numbers_in_a_fresh_process(parts, tmp_path: Path) -> None:
    problem, events = parts
    solver, control = Method.DOPRI5.solver(), Adaptive(1e-9)
    here = solver.integrate(problem, control, RunOptions(events=events))
    sent, received = tmp_path / "sent", tmp_path / "received"
    sent.write_bytes(pickle.dumps((problem, events, solver, control)))
    subprocess.run([sys.executable, "-c", SCRIPT, str(sent), str(received)], env=ENVIRONMENT, check=True)
    times, states, found = pickle.loads(received.read_bytes())
    assert [(one.name, one.time) for one in here.events] == found and found
    np.testing.assert_array_equal(times, here.times)
    np.testing.assert_array_equal(states, here.states)


def test_no_address_is_sent(parts) -> None:
    problem, events = parts
    address = problem.rhs.code.address
    assert address.to_bytes(8, "little").rstrip(b"\0") not in pickle.dumps((problem, events))
    with pytest.raises(SolveError, match="is not valid in another process"):
        pickle.dumps(RightHandSide(address, ("q",)))
    with pytest.raises(SolveError, match="is not valid in another process"):
        pickle.dumps(EventSet(("one",), code=address))


def test_solutions_and_sweeps_are_sent_whole() -> None:
    arm = kg.load("double-pendulum")
    run = kg.simulate(arm, 0.1, times=3, native=False)
    again = pickle.loads(pickle.dumps(run))
    assert (
        again.checks == run.checks
        and again.simulated.mechanism == run.simulated.mechanism
        and again.ending == run.ending
    )
    np.testing.assert_array_equal(again["q1"], run["q1"])
    swings = kg.sweep(arm, 0.1, over={"q1": [0.1, 0.2]}, native=False)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(swings)).states, swings.states)
