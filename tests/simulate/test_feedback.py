"""Controllers that are Python functions, sampled and held, beside what is known in closed form."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.solve.problem import Action

CART = kg.parse("model cart; coordinates x = 1; inputs u, w; Cart | Sx(x) | m(2); force f | on(x), value(u + w);")
PERIOD = 0.1


def spring(t: float, state: Mapping[str, float]) -> float:
    return -3 * state["x"] - 2 * state["x'"]


def stepped(times: np.ndarray) -> np.ndarray:
    """The cart with the force held between samples: parabolas, one after the other."""
    x, v, t, found = 1.0, 0.0, 0.0, []
    for time in times:
        while time > t + PERIOD + 1e-12:
            a = (-3 * x - 2 * v) / 2
            x, v, t = x + v * PERIOD + a * PERIOD**2 / 2, v + a * PERIOD, t + PERIOD
        a, h = (-3 * x - 2 * v) / 2, time - t
        found.append(x + v * h + a * h**2 / 2)
    return np.array(found)


@pytest.mark.parametrize("method", ["dop853", "rk4", "bdf"])
def test_a_sampled_controller_is_a_chain_of_parabolas(method: str) -> None:
    step = {"step": 0.05} if method == "rk4" else {}
    asked = {"u": kg.Feedback(spring, PERIOD), "w": "0"}
    run = kg.simulate(CART, 2.0, inputs=asked, times=41, method=method, native=False, progress=False, **step)
    np.testing.assert_allclose(run["x"], stepped(run.t), rtol=0, atol=1e-9 if method != "bdf" else 1e-5)
    assert len(run.t) == 42 and all(check.passed for check in run.checks)


def test_controllers_of_different_periods_beside_samples() -> None:
    """Asked at their own times, also after an event has stopped the run; samples of another input are kept."""
    asked: dict[str, list[float]] = {"u": [], "q": []}

    def noting(name: str, value: float):
        return lambda t, state: (asked[name].append(t), value)[1]

    model = kg.parse("model two; coordinates x, q; inputs u, w; A | Sx(x) | m(1); B | Sy(q) | m(1);"
                     "force f | on(x), value(u + w);")  # fmt: skip
    inputs = {"u": kg.Feedback(noting("u", 1.0), 0.3), "q": kg.Feedback(noting("q", 2.0), 0.4), "w": ([0, 1], [0, 1])}
    stop = kg.Event("far", "x - 1", action=Action.STOP)
    run = kg.simulate(model, 2.0, inputs=inputs, events=[stop], native=False, progress=False)
    np.testing.assert_allclose(asked["u"], [0, 0.3, 0.6, 0.9], atol=1e-12)
    np.testing.assert_allclose(asked["q"], [0, 0.4, 0.8], atol=1e-12)
    at = run.t[-1]
    assert run["x"][-1] == pytest.approx(1) and run.events[-1].name == "far"
    after = max(at - 1, 0.0)
    inside = min(at, 1.0)
    known = at**2 / 2 + inside**3 / 6 + after / 2 + after**2 / 2
    assert known == pytest.approx(1, abs=1e-8) and run["q"][-1] == pytest.approx(at**2, rel=1e-9)


def test_steps_of_the_integrator_are_kept_once() -> None:
    run = kg.simulate(CART, 1.0, inputs={"u": kg.Feedback(spring, 0.25), "w": "0"}, times=None, native=False)
    assert np.all(np.diff(run.t) > 0) and run.t[0] == 0 and run.t[-1] == 1
    np.testing.assert_allclose(run["x"][np.isin(run.t, [0.25, 0.5])][0], 1 - 3 / 2 * 0.25**2 / 2, rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (spring, "kg.Feedback"),
        (lambda: kg.Feedback(spring, 0), "above zero"),
        (lambda: kg.Feedback(3, 0.1), "is not a function"),  # type: ignore[arg-type]
        (lambda: kg.Feedback(lambda t, state: float("nan"), 0.1), "finite number"),
        (lambda: kg.Feedback(lambda t, state: "far", 0.1), "finite number"),
    ],
)
def test_what_is_wrong_is_said(given: object, message: str) -> None:
    with pytest.raises(SolveError, match=message):
        made = given if given is spring else given()  # type: ignore[operator]
        kg.simulate(CART, 1.0, inputs={"u": made, "w": "0"}, native=False, progress=False)
