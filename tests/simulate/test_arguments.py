"""Plausible calls work, or say what to write; runs that would never finish are refused before they start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError
from kinegraph.simulate import simulate


def test_an_array_of_initial_values_is_taken_in_the_order_of_q_and_v() -> None:
    arm = kg.load("double-pendulum")
    by_name = simulate(arm, 0.1, state={"q1": 0.1, "q2": 0.2, "q1'": 0.3, "q2'": 0.4})
    for given in ([0.1, 0.2, 0.3, 0.4], np.array([0.1, 0.2, 0.3, 0.4])):
        assert np.array_equal(simulate(arm, 0.1, state=given).array(), by_name.array())


@pytest.mark.parametrize(
    ("duration", "options", "message"),
    [
        ("a", {}, "duration is 'a': give a number of seconds"),
        (None, {}, "duration is None"),
        (float("inf"), {}, "finite"),
        (1e300, {}, "would never finish"),
        (1, {"step": 1e-300, "method": "rk4"}, "steps of 1e-300 s"),
        (1, {"times": 10**9}, "times=1000000000"),
        (1, {"times": 10**400}, "times=1e400"),
        (1, {"t0": "b"}, "t0 is 'b'"),
        (1, {"t0": 1e15}, r"adjacent times are 0.12 s apart: start nearer to t = 0"),
        (1, {"state": np.zeros(8)}, r"shape \(8,\), .* takes 4 numbers: q1, q2, q1', q2'"),
        (1, {"state": "q1=1"}, "by name"),
        (1, {"inputs": lambda t: 1}, "a Python function: give formulas"),
        (1, {"inputs": {"q1": lambda t: 1}}, "input 'q1' is a Python function"),
        (1, {"state": {"q1": "1e400"}}, "too large"),
        (1, {"state": {"q1": float("inf")}}, "q1 = inf is not a finite number"),
        (1, {"parameters": {"l1": float("nan")}}, "l1 = nan is not a finite number"),
    ],
)
def test_mistakes_say_what_to_write(duration: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(KinegraphError, match=message):
        simulate(kg.load("double-pendulum"), duration, **options)


def test_a_quaternion_of_any_size_has_a_direction() -> None:
    for size in (1e160, 1e-160):
        run = simulate(kg.load("wing-nut"), 0.01, state={"e0": size, "e1": size, "e2": 0, "e3": 0}, times=1)
        assert run.array("e0", "e1")[0] == pytest.approx([0.5**0.5] * 2)


def test_what_has_no_coordinates_does_not_run() -> None:
    with pytest.raises(KinegraphError, match="still has no coordinates"):
        simulate(kg.parse("model still; A | Sx(1) | m(1);"), 1)


def test_values_for_a_run_are_those_of_real_bodies() -> None:
    with pytest.raises(KinegraphError, match=r"mass of .* is negative: -1"):
        simulate("double-pendulum", 0.1, parameters={"m1": -1})


def test_parameters_may_be_formulas() -> None:
    arm = kg.load("double-pendulum")
    by_formula, by_number = (simulate(arm, 0.1, parameters={"m1": m}, native=False) for m in ("2*m2 + 1", 3))
    assert np.array_equal(by_formula.array(), by_number.array())
