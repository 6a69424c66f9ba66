"""First-order states (`state x' = ...;`): motors, filters, valves and controllers, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import kinegraph as kg
from kinegraph.errors import DerivationError, ModelError, SolveError, TaskError
from kinegraph.io.language.writer import write

MOTOR = """
model motor; parameters R = 2, L = 0.5, k = 0.8, J = 0.3, U = 12; coordinates q;
Rotor | Rz(q) | Jz(J);
state i' = (U - R*i - k*q')/L;
initial i = 1;
force T | value(k*i), on(q);
define power = k*i*q';
"""
LOOP = """
model loop; gravity 0, -9.81, 0; coordinates x = 1, y; B | Sx(x), Sy(y) | m(1); constraint C | x^2 + y^2 = 1;
state s' = y - s; force F | value(s), on(x);
"""
FILTERED = """
model filtered; parameters c = 0.1, g = 3; coordinates q; Rotor | Rz(q) | Jz(0.3); inputs w;
output tip = Rotor (1, 0, 0);
state i' = (12 + w - 2*i - 0.8*q')/0.5, x' = g*sin(tip.x) - x*i;
force T | value(0.8*i*cos(x)), on(q);
damper D | on(q), damping(c*(1 + x^2));
"""


def _motor(times: np.ndarray) -> np.ndarray:
    """Speed and current of the motor: two exponentials."""
    matrix = np.array([[0, 0.8 / 0.3], [-0.8 / 0.5, -2 / 0.5]])
    steady = -np.linalg.solve(matrix, [0, 12 / 0.5])
    return np.array([steady + expm(matrix * t) @ ([0, 1] - steady) for t in times])


@pytest.mark.parametrize("method", ["dop853", "bdf", "adams", "ida"])
@pytest.mark.parametrize("native", [True, False])
def test_motor_follows_two_exponentials(method: str, native: bool) -> None:
    run = kg.simulate(kg.parse(MOTOR), 2, method=method, rtol=1e-11, atol=1e-13, native=native, times=20)
    expected = _motor(run.t)
    assert np.allclose(run.array("q'", "i"), expected, rtol=0, atol=1e-8)
    assert np.allclose(run["power"], 0.8 * expected.prod(axis=1), rtol=0, atol=1e-7)
    assert all(check.passed for check in run.checks)


def test_states_are_written_read_and_validated() -> None:
    model = kg.parse(MOTOR)
    assert kg.parse(write(model)) == model
    head = "model a; coordinates q; A | Sx(q) | m(1); "
    for text, words in (
        ("state i' = 2*j;", "unknown name 'j'"),
        ("state q' = 1;", "declared twice"),
        ("state i' = 1; gravity i, 0, 0;", "depends on the state i"),
        ("state i' = 1; B | Sx(i) |;", "depends on the state i"),
        ("state i' = 1; potential V | i*q;", "depends on the state i"),
        ("state i' = 1; constraint C | q = i;", "depends on the state i"),
        ("state i' = i';", "rate of a state cannot be used"),
        ("state i' = 1; initial i' = 2;", "no initial rate"),
    ):
        with pytest.raises(ModelError, match=words):
            kg.parse(head + text)


def test_equals_the_velocity_of_a_unit_mass() -> None:
    """x as the velocity of a further body of mass 1 that is driven by the force x'."""
    twin = MOTOR.replace("coordinates q;", "coordinates q, s; Mass | Sx(s) | m(1);")
    twin = twin.replace("state i' = (U - R*i - k*q')/L;", "force E | value((U - R*s' - k*q')/L), on(s);")
    twin = twin.replace("initial i = 1;", "initial s' = 1;").replace("k*i", "k*s'")
    one, other = (kg.simulate(kg.parse(text), 2, rtol=1e-11, atol=1e-13, times=20) for text in (MOTOR, twin))
    assert np.allclose(one["i"], other["s'"], rtol=0, atol=1e-9)
    assert np.allclose(one["q"], other["q"], rtol=0, atol=1e-9)


def test_valve_driven_cylinder_against_scipy() -> None:
    model = kg.parse("""
    model cylinder; coordinates h; Rod | Sx(h) | m(2); parameters B = 30, A = 0.5, u = 0.4;
    state x' = (u - x)/0.05, p' = B*(x*sqrt(abs(4 - p)) - A*h')/(1 + A*h);
    force P | value(A*p), on(h); damper D | on(h), damping(0.7);
    """)

    def rate(_: float, y: np.ndarray) -> list[float]:
        h, v, x, p = y
        valve = 30 * (x * np.sqrt(abs(4 - p)) - 0.5 * v) / (1 + 0.5 * h)
        return [v, (0.5 * p - 0.7 * v) / 2, (0.4 - x) / 0.05, valve]

    run = kg.simulate(model, 1, rtol=1e-12, atol=1e-14, times=10)
    other = solve_ivp(rate, (0, 1), np.zeros(4), "DOP853", rtol=1e-12, atol=1e-14, t_eval=run.t)
    assert np.allclose(run.array(), other.y.T, rtol=0, atol=1e-10)


def test_loops_keep_their_states() -> None:
    runs = [kg.simulate(kg.parse(LOOP), 1, rtol=1e-9, times=10, **how) for how in ({}, {"method": "ida"})]
    assert np.allclose(runs[0]["s"], runs[1]["s"], atol=1e-6)
    assert all(check.passed for check in runs[0].checks)


def test_linearization_equals_differences() -> None:
    model = kg.parse(FILTERED)
    found = kg.linearize(model, {"q": 0.3, "q'": 0.6, "i": 0.7, "x": 0.4}, steady=False)
    kernel = kg.compile(model, "qdd, state_rates")

    def rate(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        out = kernel(q=x[:1], v=x[1:2], z=x[2:], tau=w[:1], u=w[1:])
        return np.concatenate([x[1:2], out["qdd"], out["state_rates"]])

    at, none, step = np.array([0.3, 0.6, 0.7, 0.4]), np.zeros(2), 1e-6
    by_state = [(rate(at + step * e, none) - rate(at - step * e, none)) / (2 * step) for e in np.eye(4)]
    by_input = [(rate(at, step * e) - rate(at, -step * e)) / (2 * step) for e in np.eye(2)]
    assert found.states == ("q", "q'", "i", "x")
    assert np.allclose(found.A, np.transpose(by_state), atol=1e-8)
    assert np.allclose(found.B, np.transpose(by_input), atol=1e-8)
    with pytest.raises(TaskError, match="i' = "):
        kg.linearize(kg.parse(MOTOR.replace("value(k*i)", "value(0)")))


def test_sweep_simulator_and_events() -> None:
    model = kg.parse(MOTOR)
    swept = kg.sweep(model, 2, over={"i": [0.0, 1.0], "R": [1.0, 2.0]}, rtol=1e-11)
    assert np.allclose(swept.states[1, -1, 1:3], _motor(np.array([2.0]))[0], atol=1e-8)
    sim = kg.simulator(model, dt=1e-3)
    sim.step(steps=1000)
    assert np.allclose([sim["q'"], sim.z[0]], _motor(np.array([1.0]))[0], atol=1e-9)
    run = kg.simulate(model, 1, events={"two": "i - 2"})
    assert abs(_motor(np.array([run.events[0].time]))[0, 1] - 2) < 1e-7


def test_what_does_not_take_states_names_them() -> None:
    model = kg.parse(MOTOR)
    with pytest.raises(SolveError, match="first-order state i"):
        kg.simulate(model, 1, method="symplectic")
    with pytest.raises(DerivationError, match="first-order state i"):
        kg.simulate_chains(model, 1)
    with pytest.raises(TaskError, match="no equilibrium found"):  # a stalled motor pulls, and nothing holds it
        kg.equilibria(model)
    with pytest.raises(DerivationError, match="has no first-order states"):
        kg.derive("double-pendulum", "state_rates")


def test_contact_and_stiff_state_against_closed_forms() -> None:
    """A state filters the height of a bouncing ball; a fast state follows its input without delay."""
    ball = kg.parse("""
    model ball; gravity 0, 0, -10; coordinates h = 1; Ball | Sz(h) | m(1);
    contact floor | h >= 0 | restitution(0.5); state x' = h;
    """)
    run = kg.simulate(ball, 0.8, rtol=1e-11, atol=1e-13, times=8)
    hit = np.sqrt(0.2)  # h = 1 - 5 t^2, then 5 s - 5 s^2 with half the speed
    s = 0.8 - hit
    assert abs(run["x"][-1] - (hit - 5 * hit**3 / 3 + 5 * hit * s**2 / 2 - 5 * s**3 / 3)) < 1e-9
    stiff = kg.parse(
        "model stiff; coordinates q; A | Sx(q) | m(1); state x' = 1e7*(cos(t) - x); force F | value(x), on(q);"
    )
    run = kg.simulate(stiff, 1, method="bdf", rtol=1e-9, atol=1e-11, times=5)
    assert np.allclose(run["x"][1:], np.cos(run.t[1:]), atol=1e-6)
    assert abs(run["q"][-1] - (1 - np.cos(1))) < 1e-6
