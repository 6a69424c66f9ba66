"""Controllers for all joints at once: formulas with quantities, compiled into the equations, and Python functions."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError, SolveError
from kinegraph.simulate.simulator import simulator

ARM = kg.parse("""
    model arm;
    parameters m = 1, l = 0.5;
    coordinates a = 0.4, b = -0.2;
    gravity 0, 0, -9.81;
    Upper      | Ry(a)         | Sz(-l), m(m), Jy(0.01);
    Fore~Upper | Sz(-l), Ry(b) | Sz(-0.3), m(0.7), Jy(0.02);
""")


def test_gravity_compensation_keeps_an_arm_at_rest() -> None:
    sim = simulator("puma560", inputs={"tau": "gravity"})
    start = sim.q.copy()
    sim.step(steps=200)
    np.testing.assert_allclose(sim.q, start, atol=1e-12)
    assert sim.controls == ()


def test_computed_torque_is_a_damped_oscillator() -> None:
    """With bias and H compensated, every joint obeys x'' = -100 x - 20 x': x = (1 + 10 t) exp(-10 t) x(0)."""
    run = kg.simulate(ARM, 0.5, inputs={"tau": "bias + H @ (100*([0.1, 0.2] - q) - 20*v)"}, progress=False)
    decay = (1 + 10 * run.t) * np.exp(-10 * run.t)
    np.testing.assert_allclose(run["a"], 0.1 + 0.3 * decay, atol=1e-7)
    np.testing.assert_allclose(run["b"], 0.2 - 0.4 * decay, atol=1e-7)
    assert all(check.passed for check in run.checks)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("jacobian:Fore[0:3].T @ [0, 0, 2]", lambda J, H, q, v: J[:3].T @ [0, 0, 2]),
        ("max(-0.1, min(0.1, -q)) + H[:, 0]", lambda J, H, q, v: np.clip(-q, -0.1, 0.1) + H[:, 0]),
        ("[a + v[1], sin(b) - m*H[0, 1]]", lambda J, H, q, v: [q[0] + v[1], np.sin(q[1]) - H[0, 1]]),
        ("-(v @ H @ v) * [1, 2]^2", lambda J, H, q, v: -(v @ H @ v) * np.array([1, 4])),
    ],
)
def test_array_formulas_mean_what_numpy_means(text: str, known) -> None:
    """The forces of the first step, by the change of velocity: H dv/dt = tau - bias."""
    q, v = np.array([0.4, -0.2]), np.array([0.3, 0.5])
    J, H, bias = kg.compile(ARM, "jacobian:Fore")(q), kg.compile(ARM, "H")(q), kg.compile(ARM, "bias")(q, v)
    sim = simulator(ARM, dt=1e-6, state=[*q, *v], inputs={"tau": text})
    sim.step()
    np.testing.assert_allclose(H @ (sim.v - v) / 1e-6 + bias, known(J, H, q, v), rtol=1e-4, atol=1e-4)


def test_entries_of_quantities_in_the_formula_of_one_joint() -> None:
    together = simulator(ARM, inputs={"tau": "gravity - [0, 3*Fore.x']"})
    apart = simulator(ARM, inputs={"a": "gravity[0]", "b": "gravity[1] - 3*Fore.x'"})
    for sim in (together, apart):
        sim.reset([0.4, -0.2, 1.0, 0.0])
        sim.step(steps=100)
    np.testing.assert_allclose(together.state, apart.state, rtol=1e-13)


def test_a_python_function_gives_all_forces() -> None:
    """Called once a period with arrays; the run is that of a simulator with the same forces held."""
    calls = []

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        calls.append(t)
        return -5 * q - v

    inputs = {"tau": kg.Feedback(controller, 0.01)}
    run = kg.simulate(ARM, 0.1, inputs=inputs, method="rk4", step=0.001, native=False, progress=False)
    sim = simulator(ARM, dt=0.001)
    for _ in range(10):
        sim.step(-5 * sim.q - sim.v, steps=10)
    np.testing.assert_allclose([run[name][-1] for name in sim.names], sim.state, rtol=1e-10)
    np.testing.assert_allclose(calls, 0.01 * np.arange(10), atol=1e-12)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"tau": "q + gravty"}, "did you mean `gravity`"),
        ({"tau": "H"}, r"shape \(2, 2\): tau takes 2 forces"),
        ({"tau": "q[5]"}, "out of bounds"),
        ({"tau": "qdd"}, "depends on 'tau:a', which depends on the inputs"),
        ({"tau": "(q"}, "cannot read the formula"),
        ({"tau": "q.sum()"}, "is not arithmetic"),
        ({"tau": "[x for x in q]"}, "unknown name 'x'"),
        ({"tau": "q", "a": "1"}, "also that of 'a'"),
        ({"tau": 3}, "give a formula of arrays"),
        ({"a": "gravity[2]"}, "index out of range"),
        ({"tau": kg.Feedback(lambda t, q, v: [1.0], 0.1)}, "return 2 finite numbers"),
        ({"tau": kg.Feedback(lambda t, q, v: q * np.nan, 0.1)}, "return 2 finite numbers"),
    ],
)
def test_wrong_formulas_are_refused(inputs: dict[str, object], message: str) -> None:
    with pytest.raises(KinegraphError, match=message):
        kg.simulate(ARM, 0.1, inputs=inputs, native=False, progress=False)


def test_a_snapshot_of_another_model_is_refused() -> None:
    other = kg.parse("model other; coordinates c, d; A | Rx(c) | m(1), Jx(1); B~A | Rx(d) | m(1), Jx(1);")
    sim = simulator(ARM)
    with pytest.raises(SolveError, match="another model"):
        sim.restore(simulator(other).save())
    for steps in (-1, 1.5):
        with pytest.raises(SolveError, match="whole number of steps"):
            sim.step(steps=steps)  # type: ignore[arg-type]
    for end in (float("nan"), float("inf")):
        with pytest.raises(SolveError, match="finite time"):
            sim.step_until(end)
