"""Stepping from outside: a simulator agrees with `simulate`, keeps what it is told, and fails in words."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError, SolveError
from kinegraph.simulate.simulator import simulator

PENDULUM = """
    parameters m = 1, l = 0.5;
    coordinates a = 0.4, b = -0.2;
    gravity 0, 0, -9.81;
    Upper      | Ry(a)         | Sz(-l), m(m), Jy(0.01);
    Fore~Upper | Sz(-l), Ry(b) | Sz(-0.3), m(0.7), Jy(0.02);
"""
TOP = """
    parameters m = 2;
    quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, 0, 0, 0);
    gravity 0, 0, -9.81;
    Top | Q(e0, e1, e2, e3) | Sz(0.2), m(m), Jx(0.1), Jy(0.1), Jz(0.05);
"""


def end_of(model: object, duration: float, **options: object) -> np.ndarray:
    """The final state of a run whose errors do not count."""
    mechanism = kg.load(model) if isinstance(model, str) else model
    run = kg.simulate(mechanism, duration, rtol=1e-12, **options)
    names = (*mechanism.layout.positions, *mechanism.layout.velocities)
    return np.array([run[name][-1] for name in names])


def test_errors_shrink_with_the_fourth_power_of_the_step() -> None:
    model = kg.parse(PENDULUM)
    wanted = end_of(model, 0.5)
    errors = []
    for dt in (0.02, 0.01):
        sim = simulator(model, dt=dt)
        sim.step(steps=round(0.5 / dt))
        errors.append(np.abs(sim.state - wanted).max())
        assert sim.t == pytest.approx(0.5, abs=1e-15)
    assert 12 < errors[0] / errors[1] < 20


@pytest.mark.parametrize("model", ["double-pendulum", "four-bar", "heavy-top", "stanford"])
def test_compiled_interpreted_rows_and_single_steps_agree(model: str) -> None:
    compiled, interpreted = (simulator(model, dt=2e-3, native=native) for native in (True, False))
    together, rows = simulator(model, dt=2e-3), simulator(model, dt=2e-3, count=70)
    u = 0.3 * np.arange(1, len(compiled.controls) + 1)
    for _ in range(5):
        compiled.step(u)
        interpreted.step(u)
    together.step(u, steps=5)
    rows.step(np.tile(u, (70, 1)), steps=5)
    assert np.array_equal(compiled.state, together.state)
    assert compiled.t == together.t == rows.t
    np.testing.assert_allclose(interpreted.state, compiled.state, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(rows.state, np.tile(compiled.state, (70, 1)), rtol=1e-12, atol=1e-13)


def test_controls_are_forces_in_joints() -> None:
    """Computed torque along a sine: the arm stays on it, and what `u` holds is what inverse dynamics gives."""
    tau = kg.compile("puma560", "tau")
    sim = simulator("puma560", dt=1e-3, state={f"q{k}'": 0.3 for k in range(1, 7)})
    start = sim.q.copy()
    for _ in range(500):
        q, v, a = (
            f(sim.t) for f in (lambda t: start + 0.3 * np.sin(t), lambda t: 0.3 * np.cos(t), lambda t: -0.3 * np.sin(t))
        )
        aim = a + 20 * (v - sim.v) + 100 * (q - sim.q)
        sim.step(tau(sim.q, sim.v, aim))
    assert np.abs(sim.q - start - 0.3 * np.sin(sim.t)).max() < 2e-4


def test_a_snapshot_brings_everything_back() -> None:
    sim = simulator(kg.parse(PENDULUM), dt=1e-3, runtime=["m"])
    sim.step([0.5, -0.1], steps=20)
    sim.parameters[:] = 1.5
    saved = pickle.loads(pickle.dumps(sim.save()))
    twin = sim.copy()
    sim.step(steps=50)
    first = sim.state.copy(), sim.t
    sim.restore(saved)
    sim.step(steps=50)
    twin.step(steps=50)
    for one in (sim, twin):
        assert np.array_equal(one.state, first[0]) and one.t == pytest.approx(first[1], abs=1e-15)
        assert one.parameters.tolist() == [1.5]
    sim.step(steps=1)
    assert not np.array_equal(sim.state, twin.state)


@pytest.mark.soak
def test_parameters_differ_by_row() -> None:
    masses = np.linspace(0.5, 3.0, 9)
    rows = simulator(kg.parse(PENDULUM), dt=1e-3, runtime=["m"], count=9)
    rows.parameters[:, 0] = masses
    rows.step(steps=100)
    for mass, state in zip(masses, rows.state, strict=True):
        np.testing.assert_allclose(state, end_of(kg.parse(PENDULUM), 0.1, parameters={"m": mass}), atol=1e-9)


def test_times_are_multiples_of_the_step() -> None:
    sim = simulator(kg.parse(PENDULUM), dt=0.1)
    for k in range(1, 1001):
        sim.step()
        assert sim.t == k * 0.1
    sim.step_until(100.25)
    assert sim.t == pytest.approx(100.25, abs=1e-13) and sim.dt == 0.1
    sim.step_until(100.25)
    sim.step(dt=0.05)
    assert sim.t == pytest.approx(100.3, abs=1e-13)
    with pytest.raises(SolveError, match="already"):
        sim.step_until(1.0)


def test_loops_stay_closed() -> None:
    sim = simulator("four-bar", dt=1e-3)
    kernel = kg.compile("four-bar", "constraints")
    sim.step(np.array([2.0, 0, 0]), steps=2000)
    assert np.abs(kernel(sim.q)).max() < 1e-12


def test_quaternions_keep_their_length() -> None:
    sim = simulator(kg.parse(TOP), dt=5e-3)
    sim.step(np.array([0.2, 0.1, 0.3]), steps=2000)
    assert np.linalg.norm(sim.q[:4]) == pytest.approx(1.0, abs=1e-15)


def test_a_step_that_fails_leaves_the_state() -> None:
    led = kg.parse("""
        coordinates s = 1; gravity 0, 0, 0;
        Slider | Sx(s) | m(1);
        constraint rod | s^2 = 1 - t;
    """)
    sim = simulator(led, dt=0.01, state={"s'": -0.5})
    with pytest.raises(SolveError, match=r"at t = .*loops cannot be closed|not a finite number"):
        sim.step(steps=500)
    assert 0.5 < sim.t < 1.02 and np.isfinite(sim.state).all()
    steep = simulator(kg.parse(PENDULUM), dt=0.01)
    before = steep.state.copy()
    with pytest.raises(SolveError, match="smaller dt"):
        steep.step([1e300, 1e300])
    assert np.array_equal(steep.state, before) and steep.t == 0.0


def test_a_row_that_fails_does_not_stop_the_others() -> None:
    rows = simulator(kg.parse(PENDULUM), dt=0.01, count=5)
    u = np.zeros((5, 2))
    u[3] = 1e300
    rows.step(u, check=False)
    assert rows.failed.tolist() == [False, False, False, True, False]
    with pytest.raises(SolveError, match="row 3:"):
        rows.step(u)
    rows.reset(rows=[3])
    rows.step(np.zeros(2))
    assert not rows.failed.any()


def test_rows_start_where_they_are_told() -> None:
    rows = simulator(kg.parse(PENDULUM), dt=0.01, count=4)
    states = np.random.default_rng(1).normal(size=(4, 4))
    rows.reset(states)
    assert np.array_equal(rows.state, states)
    rows.step()
    one = simulator(kg.parse(PENDULUM), dt=0.01, state=states[2])
    one.step()
    np.testing.assert_allclose(rows.state[2], one.state, rtol=1e-13)


def test_formulas_and_chosen_controls() -> None:
    model = kg.parse(PENDULUM)
    sim = simulator(model, dt=1e-3, inputs={"a": "-0.5*a'"}, controls=["b"])
    sim.step([0.2], steps=100)
    np.testing.assert_allclose(sim.state, end_of(model, 0.1, inputs={"a": "-0.5*a'", "b": "0.2"}), atol=1e-9)
    assert sim.controls == ("b",) and sim["b'"] == sim.v[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": 0}, "above zero"),
        ({"count": 0}, "at least 1"),
        ({"controls": ["c"]}, "unknown coordinate or input 'c'"),
        ({"controls": ["a", "a"]}, "given twice"),
        ({"inputs": {"a": "1"}, "controls": ["a"]}, "given twice"),
        ({"runtime": ["mass"]}, "runtime parameter 'mass' does not exist"),
        ({"t0": float("nan")}, "finite time"),
        ({"state": [1, 2]}, "4 numbers"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(KinegraphError, match=message):
        simulator(kg.parse(PENDULUM), **options)


def test_wrong_controls_and_contacts_are_refused() -> None:
    sim = simulator(kg.parse(PENDULUM))
    with pytest.raises(SolveError, match=r"give 2 numbers \(a, b\)"):
        sim.step([1, 2, 3])
    with pytest.raises(SolveError, match="no coordinate or velocity"):
        sim["c"]
    with pytest.raises(SolveError, match="contacts"):
        simulator("bouncing-ball", contacts=False)


def test_a_step_allocates_nothing() -> None:
    sim, u = simulator(kg.parse(PENDULUM)), np.zeros(2)
    sim.step(u)
    before = sys.getallocatedblocks()
    for _ in range(1000):
        sim.step(u)
    assert sys.getallocatedblocks() - before < 20


@pytest.mark.parametrize("u", [[1.0], np.ones(1), np.ones((3, 1))])
def test_one_number_is_not_taken_for_all_controls(u) -> None:
    """NumPy would repeat it; a plain number is meant for all."""
    for count in (None, 3):
        sim = kg.simulator("double-pendulum", count=count)
        with pytest.raises(SolveError, match=r"u has shape .*give 2 numbers"):
            sim.step(u)
        sim.step(0.5)
        assert np.all(sim.u == 0.5)
