"""Outputs of a run: formulas of the state, of time, inputs and quantities become columns."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from tests.interpreted import interpreted

DRIVEN = (
    "inputs u; coordinates q = 0.4; gravity 0, 0, -9.81; Bob | Ry(q), Sz(-1) | m(2); force drive | value(u), on(q);"
)


def simulate(model, duration=1.0, **settings):
    return kg.simulate(model, duration, times=20, native=False, progress=False, **settings)


def test_formulas_of_state_inputs_and_accelerations() -> None:
    run = simulate(kg.parse(DRIVEN), inputs={"u": "sin(3*t)"}, outputs={"power": "u*q'", "a": "q''", "late": "2*t"})
    expected = (np.sin(3 * run.t) - 2 * 9.81 * np.sin(run["q"])) / 2
    assert run["a"] == pytest.approx(expected, abs=1e-12)
    assert run["power"] == pytest.approx(np.sin(3 * run.t) * run["q'"], abs=1e-15)
    assert run["late"] == pytest.approx(2 * run.t) and run.outputs == ("power", "a", "late")


def test_samples_are_inputs_too() -> None:
    times = np.linspace(0, 1, 30)
    run = simulate(kg.parse(DRIVEN), inputs={"u": (times, times**2)}, outputs=["3*u"])
    assert run["3*u"] == pytest.approx(3 * np.interp(run.t, times, times**2), abs=1e-12)


def test_reactions_in_a_loop_are_those_of_the_quantity() -> None:
    mechanism = kg.load("four-bar")
    run = simulate(mechanism, outputs=["reaction:Rocker[0]", "tip.x'"])
    kernel = interpreted(mechanism, "reaction:Rocker")
    for row in (0, 11, 20):
        q, v = ([run[name][row] for name in names] for names in (run.positions, run.velocities))
        given = {"q": q, "v": v, "tau": [0, 0, 0]}
        force = kernel(*(given[one.name] for one in kernel.arguments))
        assert run["reaction:Rocker[0]"][row] == pytest.approx(force[0], rel=1e-9)
        rate = interpreted(mechanism, "velocity:tip")(q, v)
        assert run["tip.x'"][row] == pytest.approx(rate[0], abs=1e-12)


def test_columns_may_be_outputs_and_names_are_their_own() -> None:
    run = simulate("double-pendulum", outputs=["tip.x", "energy"])
    assert run.outputs == ("tip.x", "energy") and "tip.x" in run
    with pytest.raises(SolveError, match="name of another column"):
        simulate("double-pendulum", outputs={"energy": "q1"})
    with pytest.raises(SolveError, match="no variable 'q7'"):
        simulate("double-pendulum", outputs=["q7"])
    with pytest.raises(SolveError, match="give a list"):
        simulate("double-pendulum", outputs="q1")


def test_accelerations_in_runs_with_contacts_are_refused() -> None:
    run = simulate("bouncing-ball", outputs=["2*z"])
    assert run["2*z"] == pytest.approx(2 * run["z"])
    with pytest.raises(SolveError, match="rigid contacts"):
        simulate("bouncing-ball", outputs=["z''"])


def test_files_keep_which_columns_are_outputs(tmp_path) -> None:
    run = simulate("double-pendulum", outputs={"twice": "2*q1"})
    again = type(run).load(run.save(tmp_path / "run.npz"))
    assert again.outputs == ("twice",) and np.array_equal(again["twice"], run["twice"])
