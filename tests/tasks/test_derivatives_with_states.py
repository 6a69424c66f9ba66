"""Derivatives of runs with first-order states and tables: forward, backward and by differences, also in loops."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from tests.effort import SOAK

_MOTOR = """
    model motor;
    parameters R = 2, L = 0.5, k = 0.8, U = 12, l = 0.4, i0 = 1;
    coordinates q = 0.1; gravity 0, 0, -9.81;
    table drag | (0, 0), (2, 0.1), (8, 0.9), (20, 2) | spline, extrapolate;
    state i' = (U*cos(3*t) - R*i - k*q')/L;
    initial i = i0^2;
    Arm | Ry(q) | Sz(-l), m(1), Jy(0.02);
    force T | value(k*i - drag(q')), on(q);
"""
#: The same arm on a cart whose place follows by a loop of the kind x = l*sin(q).
_CLOSED = _MOTOR.replace("coordinates q = 0.1;", "coordinates q = 0.1, x;") + (
    "Cart | Sx(x) | m(0.5); constraint rod | x = l*sin(q);"
)


def _by_differences(model: kg.Mechanism, name: str, step: float = 1e-5) -> np.ndarray:
    value = {"U": 12.0, "l": 0.4, "i0": 1.0, "R": 2.0}[name]
    ends = []
    for changed in (value - step, value + step):
        run = kg.simulate(model, 0.6, parameters={name: changed}, rtol=1e-11, atol=1e-12, times=1, native=False)
        ends.append(np.array([run["q"][-1], run["i"][-1]]))
    return (ends[1] - ends[0]) / (2 * step)


@pytest.mark.parametrize("text", [_MOTOR, _CLOSED], ids=["tree", "constraint"])
def test_forward_derivatives_are_the_differences(text: str) -> None:
    model, names = kg.parse(text), ("U", "l", "i0", "R") if SOAK else ("l", "i0")
    found = kg.sensitivities(model, 0.6, by=names, outputs=["q", "i"], rtol=1e-10, atol=1e-12)
    for column, name in enumerate(names):
        assert found.derivatives[-1, :, column] == pytest.approx(_by_differences(model, name), rel=2e-6, abs=2e-7), name


def test_backward_derivatives_are_the_forward_ones() -> None:
    model = kg.parse(_MOTOR)
    names = ("U", "l", "i0", "i(0)", "q(0)")
    forward = kg.sensitivities(model, 0.6, by=names, outputs=["q + i"], rtol=1e-10, atol=1e-12)
    backward = kg.gradient(model, 0.6, by=names, outputs=["q + i"], rtol=1e-10, atol=1e-12)
    assert np.ravel(backward.derivatives) == pytest.approx(np.ravel(forward.derivatives[-1]), rel=1e-6)
    assert forward.derivatives[-1, 0, 2] == 0.0  # i(0) is given, so the parameter of its formula has no effect


def test_a_fit_finds_the_parameters_of_a_state() -> None:
    model = kg.parse(_MOTOR)
    run = kg.simulate(model, 0.6, times=20)
    found = kg.fit(model, {"t": run.t, "i": run["i"]}, ["R", "i(0)"], parameters={"R": 2.4}, state={"i": 0.5})
    assert found.values == pytest.approx([2, 1], rel=1e-6)
