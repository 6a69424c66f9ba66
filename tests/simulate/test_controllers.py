"""Python controllers with contacts, in sweeps, and where they fail: beside formulas, and beside the run alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.solve.recording import Status

ARM = kg.load("double-pendulum")
STARTS = np.linspace(0, 1, 6)


def damped(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return -5 * v + [1, 0.5 * np.sin(9 * t)]


class Integral:
    """A controller with memory."""

    def __init__(self) -> None:
        self.sum = 0.0

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        self.sum += 0.05 * (1 - q[0])
        return [5 * self.sum - 2 * v[0], 0]


def alone(row: int, function: Callable[..., object], **options) -> kg.Solution:
    given = {"state": {"q1": STARTS[row]}, "inputs": {"tau": kg.Feedback(function, 0.05)}, "native": False}
    return kg.simulate(ARM, 0.5, progress=False, **{"method": "dopri5", "times": 10, **given, **options})


def many(function: Callable[..., object], **options) -> kg.Sweep:
    given = {"over": {"q1": STARTS}, "inputs": {"tau": kg.Feedback(function, 0.05)}, "native": False}
    return kg.sweep(ARM, 0.5, progress=False, **{**given, **options})


# Contacts


@pytest.mark.parametrize(
    ("model", "joint", "force", "method"),
    [
        ("bouncing-ball", "z", -0.3, "dop853"),
        pytest.param("rod-on-floor", "x", 8.0, "dop853", marks=pytest.mark.soak),
        pytest.param("bouncing-ball", "z", -0.3, "bdf", marks=pytest.mark.soak),
        pytest.param("bouncing-chain", "x", 0.05, "dop853", marks=pytest.mark.soak),
    ],
)
def test_a_held_constant_is_the_formula(model: str, joint: str, force: float, method: str) -> None:
    """Bounces, slip, sticking and rest go on over the calls of the controller as if there were none."""
    formula, held = (
        kg.simulate(model, 3.0, inputs={joint: given}, method=method, progress=False)
        for given in (str(force), kg.Feedback(lambda t, state: force, 0.037))
    )
    tolerance = 1e-5 if method == "bdf" else 1e-7
    for name in formula.positions:
        np.testing.assert_allclose(held[name], formula[name], rtol=0, atol=tolerance)
    assert all(check.passed for check in held.checks)
    once = {event.name for event in formula.events if event.name.endswith(("rest", "stick", "release"))}
    for name in once:
        times = [[one.time for one in run.events if one.name == name] for run in (formula, held)]
        np.testing.assert_allclose(times[1], times[0], atol=tolerance)


def test_a_controller_holds_a_block_on_a_belt_of_friction() -> None:
    """A held push breaks a block loose at mu m g, and friction decelerates it when the push ends."""
    block = kg.parse("""
        model block; coordinates x, z = 0; gravity 0, 0, -10;
        Block | Sx(x), Sz(z) | m(2); output foot = Block (0, 0, 0);
        contact floor | foot.z >= 0 | restitution(0), friction(0.5), slip(foot.x');
    """)
    push = kg.Feedback(lambda t, state: 14.0 if 0.15 < t < 0.55 else 9.0, 0.1)  # 14 N from 0.2 to 0.6, else below 10 N
    run = kg.simulate(block, 2.5, inputs={"x": push}, times=[0.2, 0.6, 2.5], progress=False)
    # 2 m/s^2 for 0.4 s, then -0.5 m/s^2 until it stands
    np.testing.assert_allclose(run["x"], [0, 0.16, 0.16 + 0.8**2 / (2 * 0.5)], atol=1e-7)
    assert abs(run["x'"][-1]) < 1e-9


# Sweeps


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"native": True},
        {"events": {"up": "q1 - 0.3"}},
        pytest.param({"method": "bdf"}, marks=pytest.mark.soak),
        pytest.param({"method": "rk4", "step": 0.005}, marks=pytest.mark.soak),
    ],
)
def test_a_row_of_a_sweep_is_the_run_alone(options: dict[str, object]) -> None:
    sweep, run = many(damped, times=10, **options), alone(3, damped, **options)
    np.testing.assert_allclose(sweep.states[3], run.array(*sweep.names), rtol=0, atol=1e-12)
    assert [one.time for one in (sweep.events[3] if sweep.events else ())] == pytest.approx(
        [one.time for one in run.events], abs=1e-9
    )


def test_every_run_has_a_copy_of_a_controller_with_memory() -> None:
    controller = Integral()
    forward = many(controller)
    backward = many(controller, over={"q1": STARTS[::-1]})
    assert controller.sum == 0.0
    assert np.array_equal(forward.states[::-1], backward.states)
    np.testing.assert_allclose(forward.states[2, -1], alone(2, Integral()).array(*forward.names)[-1], atol=1e-12)


def test_rows_with_contacts() -> None:
    wave = {"th": kg.Feedback(lambda t, state: 0.1 * np.sin(9 * t), 0.05)}
    sweep = kg.sweep("rod-on-floor", 0.8, over={"x": [0.0, 0.4]}, inputs=wave, progress=False)
    run = kg.simulate("rod-on-floor", 0.8, method="dopri5", state={"x": 0.4}, inputs=wave, times=1, progress=False)
    np.testing.assert_allclose(sweep.states[1, -1], run.array(*sweep.names)[-1], atol=1e-12)
    assert len(sweep.events[1]) == len(run.events) > 0


# Failures


def fails_late(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    if t > 0.32:
        raise ZeroDivisionError("no more")
    return -v


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (fails_late, "ZeroDivisionError: no more (test_controllers.py, line"),
        (lambda t, q, v: [0, np.inf if t > 0.32 else 0], "returned inf for tau:q2"),
        (lambda t, q, v: [0] if t > 0.32 else [0, 0], "shape (1,); return 2 finite numbers"),
    ],
)
def test_a_failure_names_the_time_and_keeps_the_run(function: Callable[..., object], words: str) -> None:
    run = alone(1, function, times=None)
    assert run.ending.status is Status.CONTROLLER and run.t[-1] == run.ending.time == pytest.approx(0.35)
    assert words in str(run.ending)
    sweep = many(function)
    assert {one.time for one in sweep.endings} == {run.ending.time} and words in str(sweep.endings[0])
    assert np.isnan(sweep.states).all()


def test_one_failing_row_leaves_the_others() -> None:
    def low(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if q[0] > 0.9:
            raise ValueError("too high")
        return damped(t, q, v)

    sweep, reference = many(low), many(damped)
    assert [one.status for one in sweep.endings].count(Status.CONTROLLER) == 1
    assert np.array_equal(sweep.states[:-1], reference.states[:-1]) and sweep.endings[-1].time == 0


def test_a_failure_at_the_start_is_an_error_with_its_cause() -> None:
    with pytest.raises(SolveError, match=r"at t = 0 .*IndexError") as found:
        alone(0, lambda t, q, v: q[5])
    assert isinstance(found.value.__cause__.__cause__, IndexError)


def test_memory_that_runs_would_share_is_refused() -> None:
    count = 0

    def counting(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        nonlocal count
        count += 1
        return -v

    with pytest.raises(SolveError, match=r"keeps .count. between calls.*\n.*__call__"):
        many(counting)
    with pytest.raises(SolveError, match="cannot be copied"):
        many(Uncopied())
    with pytest.raises(SolveError, match="'q1' is also given by the controller of tau"):
        many(damped, inputs={"tau": kg.Feedback(damped, 0.05), "q1": "1"})


class Uncopied:
    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -v

    def __deepcopy__(self, memo: object) -> Uncopied:
        raise TypeError("one of a kind")


# Simulators


def test_a_simulator_calls_controllers_between_its_steps() -> None:
    tau = {"tau": kg.Feedback(damped, 0.01)}
    run = kg.simulate(ARM, 0.1, method="rk4", step=0.001, inputs=tau, times=1, native=False, progress=False)
    one = kg.simulator(ARM, dt=0.001, inputs=tau)
    one.step(steps=53)
    middle = one.save()
    one.step_until(0.1)
    np.testing.assert_allclose(one.state, run.array(*one.names)[-1], rtol=0, atol=1e-13)
    end = one.state.copy()
    one.restore(middle)
    one.step(steps=7)
    one.step(steps=40)
    assert np.array_equal(one.state, end) and one.controls == () and one.copy().t == one.t


def test_many_simulators_call_a_controller_once_for_all_rows() -> None:
    shapes = []

    def follow(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        shapes.append((round(t, 3), q.shape))
        return damped(t, q, v)

    many = kg.simulator(ARM, dt=0.001, count=3, inputs={"tau": kg.Feedback(follow, 0.01)})
    many.step(steps=15)
    many.reset(rows=[1])
    others = many.state[0].copy()
    many.step(steps=5)
    assert shapes == [(0.0, (3, 2)), (0.01, (3, 2)), (0.015, (3, 2))]
    assert np.array_equal(many.state[0], many.state[2]) and not np.array_equal(others, many.state[0])
    alone = kg.simulator(ARM, dt=0.001, t0=0.015, inputs={"tau": kg.Feedback(damped, 0.01)})
    alone.step(steps=5)
    np.testing.assert_allclose(many.state[1], alone.state, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("feedback", "words"),
    [
        (kg.Feedback(lambda t, q, v: q[0], 0.01), r"t = 0 .*shape \(2,\); return 3 x 2"),
        (kg.Feedback(lambda t, q, v: q / (q[:, 0:1] - 2), 0.01), "t = 0 .*inf for tau:q1 in row 1"),
        (kg.Feedback(lambda t, q, v: v if t < 0.015 else v.no, 0.01), "t = 0.02 .*AttributeError.*line"),
        (kg.Feedback(damped, 0.0015), "1.5 steps"),
    ],
)
def test_failures_of_simulators(feedback: kg.Feedback, words: str) -> None:
    with pytest.raises(SolveError, match=words), np.errstate(divide="ignore"):
        many = kg.simulator(ARM, dt=0.001, count=3, inputs={"tau": feedback})
        many.reset(np.array([[1.0, 0, 0, 0], [2, 1, 0, 0], [1, 0, 0, 0]]))
        many.step(steps=30)
