"""What a user sees of a run: columns, checks, files, inputs, and good words when it goes wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.simulate import Adaptive, FixedStep, Sampled, Solution, Status, simulate
from kinegraph.solve.execution import Silent
from kinegraph.solve.methods.method import Method, RunOptions
from tests.effort import SOAK
from tests.mechanisms import random_tree
from tests.solve.problems import PENDULUM, problem


def test_columns_and_initial_values() -> None:
    run = simulate(kg.load("double-pendulum"), 1, state={"q1": "pi/6", "q2'": 2}, parameters={"m2": 3}, times=4)
    assert list(run)[:5] == ["t", "q1", "q2", "q1'", "q2'"]
    assert run["q1"][0] == np.pi / 6
    assert run["q2'"][0] == 2
    assert run["kinetic"][0] == pytest.approx(0.5 * 3 * 2**2)
    assert np.array_equal(run.t, np.linspace(0, 1, 5))
    assert run["tip.x"].shape == (5,)
    with pytest.raises(SolveError, match="no column"):
        run["nonsense"]


@pytest.mark.parametrize("seed", range(4 if SOAK else 2))
def test_energy_balance_of_random_trees_under_forces(seed: int) -> None:
    """Forces on all coordinates: what they put in is what the energy gains (no transform depends on time)."""
    joints = [joint for joint in type_of_joints() if "t" not in joint.value.split("(")[-1]]
    tree = random_tree(seed, bodies=3, joints=joints)
    names = [name.removesuffix("'") for name in tree.layout.velocities]
    run = simulate(tree, 0.5, rtol=1e-10, inputs=dict.fromkeys(names, "0.3*cos(2*t) + 0.1"), times=20)
    (balance,) = (check for check in run.checks if check.name.startswith("energy balance"))
    assert balance.error < 1e-7
    assert abs(run["work"][-1]) > 1e-6


def type_of_joints():  # type: ignore[no-untyped-def]
    from tests.mechanisms import Joint

    return [joint for joint in Joint if joint not in (Joint.PRESCRIBED, Joint.DRIVEN)]


def test_what_moves_constraints_is_in_the_balance_of_energy() -> None:
    driven = kg.parse("model d; coordinates q; gravity 0,0,-9.81; A | Sx(0.2*sin(3*t)), Ry(q) | Sz(-1), m(1);")
    assert [check.name for check in simulate(driven, 1).checks] == ["energy balance (energy - supplied)"]


def test_sampled_inputs() -> None:
    """Samples of a smooth force give the motion under the formula; straight lines between samples are exact, too."""
    arm = kg.load("double-pendulum")
    times = np.linspace(0, 2, 401)
    formula = simulate(arm, 2, inputs={"q1": "sin(3*t)", "q2": "2 - t"}, rtol=1e-11)
    smooth = {"q1": Sampled(times, np.sin(3 * times), smooth=True), "q2": ([0, 2], [2, 0])}
    sampled = simulate(arm, 2, inputs=smooth, rtol=1e-11)
    assert np.abs(sampled.array() - formula.array()).max() < 1e-8
    by_cvode = simulate(arm, 2, inputs=smooth, rtol=1e-11, method="adams")
    assert np.abs(by_cvode.array() - formula.array()).max() < 1e-6


def test_feedback_damps() -> None:
    run = simulate(kg.parse(PENDULUM), 30, inputs={"q": "-0.8*q'"}, rtol=1e-9)
    assert abs(run["energy"][-1] + 9.81) < 1e-3
    assert run.checks[0].passed


@pytest.mark.parametrize("method", ["dopri5", "dop853", "bdf", "rk4"])
def test_not_a_number_is_named(method: str) -> None:
    fixed = {"step": 1e-3} if method == "rk4" else {}
    run = simulate(kg.parse(PENDULUM), 2, method=method, inputs={"q": "sqrt(0.5 - t)"}, **fixed)
    assert run.status in (Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL)
    assert run.ending.time == pytest.approx(0.5, abs=2e-3)
    assert run.t[-1] == pytest.approx(0.5, abs=2e-3)
    assert np.all(np.isfinite(run["q"]))
    if run.status is Status.NOT_A_NUMBER:
        assert "q'" in str(run.ending)
    assert "\n  " in str(run.ending)


def test_divergence_stops_in_time() -> None:
    """q'' = q'^3 goes to infinity at a finite time: from q' = 2 at t = 1/8."""
    free = kg.parse("model f; coordinates q; initial q' = 2; A | Sx(q) | m(1);")
    run = simulate(free, 1, inputs={"q": "q'^3"})
    assert run.status in (Status.STEP_TOO_SMALL, Status.NOT_A_NUMBER)
    assert run.ending.time == pytest.approx(0.125, abs=1e-6)
    assert run.ending.component in ("q'", "q", "work")


def test_limits_of_steps() -> None:
    run = simulate(kg.load("pendulum-6"), 10, control=Adaptive(rtol=1e-8, max_steps=50))
    assert run.status is Status.TOO_MANY_STEPS
    assert run.statistics.steps <= 50


class Impatient(Silent):
    """Presses Ctrl-C at the first report."""

    def reached(self, amount: float) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("method", [Method.DOPRI5, Method.BDF])
def test_an_interrupted_run_keeps_what_it_has(method: Method) -> None:
    task = problem(kg.load("pendulum-6"), 1000.0, jacobian=True)
    run = method.solver().integrate(task, Adaptive(1e-8), RunOptions(progress=Impatient()))
    assert run.ending.status is Status.INTERRUPTED
    assert 0 < run.times[-1] < 1000
    assert len(run.times) == len(run.states) > 5


def test_tolerances_by_name() -> None:
    loose = simulate(kg.load("double-pendulum"), 5, rtol=1e-3, atol={"q1": 1.0, "q2": 1.0, "q1'": 1.0, "q2'": 1.0})
    tight = simulate(kg.load("double-pendulum"), 5, rtol=1e-3, atol={"q1": 1e-10})
    assert loose.statistics.steps < tight.statistics.steps
    with pytest.raises(SolveError, match="not in the state"):
        simulate(kg.load("double-pendulum"), 5, atol={"nonsense": 1e-3})


def test_files(tmp_path: Path) -> None:
    run = simulate(kg.load("heavy-top"), 0.1, times=10, events={"level": "com.z + 0.01"})
    back = Solution.load(run.save(tmp_path / "run.parquet"))
    assert all(np.array_equal(run[name], back[name]) for name in run)
    assert (back.checks, back.ending, back.statistics) == (run.checks, run.ending, run.statistics)
    assert [one.name for one in back.events] == [one.name for one in run.events]
    lines = run.save(tmp_path / "run.csv").read_text().splitlines()
    assert len(lines) == 12
    assert lines[0].startswith('"t","e0"')
    with np.load(run.save(tmp_path / "run.npz")) as archive:
        assert np.array_equal(archive["wy"], run["wy"])
    again = Solution.load(tmp_path / "run.npz")
    assert list(again) == list(run) and again.ending == run.ending and again.checks == run.checks
    assert [float(cell) for cell in lines[-1].split(",")] == list(run.final.values())
    with pytest.raises(SolveError, match="the suffix"):
        run.save(tmp_path / "run.xyz")
    assert "<table>" in run._repr_html_()


def test_plots(tmp_path: Path) -> None:
    from kinegraph.view.plot import plot

    run = simulate(kg.load("double-pendulum"), 1, times=50)
    for ending in ("png", "svg"):
        assert plot(run, tmp_path / f"run.{ending}").stat().st_size > 5000
    with pytest.raises(SolveError, match="must end in"):
        plot(run, tmp_path / "run.txt")


def test_mistakes_are_explained() -> None:
    arm = kg.load("double-pendulum")
    for options, message in [
        ({"method": "euler"}, "choose from rk4"),
        ({"state": {"q3": 1}}, "available: q1"),
        ({"rtol": 2.0}, "rtol"),
        ({"method": "rk4"}, "step"),
        ({"method": "bdf", "step": 0.1}, "itself"),
        ({"times": [0, 2, 1]}, "increasing"),
        ({"times": [0, 99]}, "give times inside the run"),
        ({"inputs": {"q9": 1}}, "unknown coordinate"),
        ({"inputs": {"q1": ([0, 1], [0])}}, "same length"),
        ({"control": FixedStep(1e-3), "method": "adams"}, "itself"),
    ]:
        with pytest.raises(kg.KinegraphError, match=message):
            simulate(arm, 1, **options)
    with pytest.raises(SolveError, match="must come after the start time"):
        simulate(arm, -1)
