"""Large mechanisms move by loops over bodies: the same motion as by code that is written out."""

from __future__ import annotations

import ctypes
import pickle

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.errors import KernelError, SolveError
from kinegraph.simulate.equations import VelocityForm
from kinegraph.simulate.inputs import read_inputs
from kinegraph.simulate.recursive import RecursiveForm
from kinegraph.solve.execution import Execution
from kinegraph.solve.recording import Status
from kinegraph.solve.solution import Solution
from tests.cli.run import runner
from tests.effort import SOAK

SATELLITE = """
model satellite;
coordinates x, y, z, q = 0.3;
quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (0.8, 0, 0.6, 0);
initial x' = 1, wx = 0.1, wy = 2, wz = 0.1, q' = 1;
Hull | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(5), Jx(1), Jy(2), Jz(1.5);
Arm~Hull | Sx(1), Rz(q), Sy(0.5) | m(1), Jz(0.1);
output tip = Arm (0.2, 0.5, 0.1);
"""

DRIVEN = """
model driven;
coordinates q1, q2 = 0.3;
A | Sx(0.1*t), Rz(q1), Sx(1) | m(1), Jz(0.1);
B~A | Ry(q2 + 2*t), Sx(1) | m(2), Jy(0.2);
"""
SHARED = """
model shared;
coordinates q1 = 0.5, q2;
A | Rz(q1), Sx(1) | m(1), Jz(0.1);
B~A | Rz(q1 + q2), Sx(1) | m(2), Jz(0.2);
"""
SHAKEN = """
model shaken;
gravity (0, 0, -9.81 + sin(t));
coordinates q1 = 0.5;
A | Ry(q1), Sx(1) | m(1), Jy(0.1);
"""
MASSLESS = """
model massless;
coordinates q1, q2;
A | Rz(q1), Sx(1) | m(1), Jz(0.1);
B~A | Rz(q2);
"""


def chain(links: int) -> kg.Mechanism:
    return kg.load(f"pendulum-{links}")


def both(mechanism: kg.Mechanism, duration: float, **options: object) -> tuple[Solution, Solution]:
    """The run by straight code, interpreted, and by loops, compiled throughout."""
    options = {"times": 4, "progress": False, **options}
    straight = kg.simulate(mechanism, duration, loops=False, native=False, **options)
    return straight, kg.simulate(mechanism, duration, loops=True, native=True, **options)


def test_many_links_have_the_same_rates_to_rounding():
    links = 60 if SOAK else 25
    arm = chain(links)
    straight = VelocityForm(arm, {}, NO_FORCES).right_hand_side(native=False).code
    looped = RecursiveForm(arm, {}, NO_FORCES).right_hand_side().code
    random = np.random.default_rng(4)
    for _ in range(3):
        y = random.uniform(-1, 1, 2 * links)
        one, other = straight(y, 0.0), looped(y, 0.0)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(one).max())


def test_a_chain_moves_alike_and_keeps_its_energy():
    straight, looped = both(chain(12), 0.5)
    for name in (*straight.positions, *straight.velocities, "energy", "tip.x", "tip.z"):
        np.testing.assert_allclose(looped[name], straight[name], rtol=1e-6, atol=1e-7, err_msg=name)
    (check,) = (one for one in looped.checks if one.name == "energy")
    assert check.passed and check.error < 1e-8
    assert str(looped.decision) == "native: yes, as asked for"


@pytest.mark.parametrize("model", [chain(5), kg.parse(SATELLITE), kg.parse(DRIVEN)], ids=lambda one: one.name)
def test_the_address_computes_what_a_call_does(model: kg.Mechanism):
    """Also with quaternions and with time, which arrives only where displacements depend on it."""
    kernel = kg.compile(model, "qdd", loops=True)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)
    x, y = np.random.default_rng(3).uniform(-1, 1, kernel.input_size), np.zeros(kernel.output_size)
    function(x.ctypes.data, y.ctypes.data)
    np.testing.assert_array_equal(y, kernel.flat(x))
    assert kernel.addressable and pickle.loads(pickle.dumps(kernel)).addressable


def test_shared_coordinates_and_varying_gravity_are_called_by_python():
    for text in (SHARED, SHAKEN):
        model = kg.parse(text)
        kernel = kg.compile(model, "qdd", loops=True)
        assert not kernel.addressable
        with pytest.raises(KernelError, match="recursive code has no address"):
            _ = kernel.address
        straight, looped = both(model, 0.2)
        for name in (*straight.positions, *straight.velocities):
            np.testing.assert_allclose(looped[name], straight[name], rtol=1e-6, atol=1e-8, err_msg=name)
        assert looped.decision.execution is Execution.KERNEL


def test_what_nothing_resists_is_no_number():
    kernel = kg.compile(kg.parse(MASSLESS), "qdd", loops=True)
    with pytest.raises(KernelError, match="nothing with inertia moves with q2"):
        kernel(np.zeros(2), np.zeros(2), np.zeros(2))
    run = kg.simulate(kg.parse(MASSLESS), 0.1, loops=True, native=True, progress=False)
    assert run.status is Status.NOT_A_NUMBER


def test_forces_samples_and_their_work():
    times = np.linspace(0, 1, 5)
    inputs = {"q1": "0.3*sin(t) - 0.1*q1'", "q2": (times, np.cos(times))}
    straight, looped = both(chain(3), 0.5, inputs=inputs, state={"q2": 0.4})
    for name in ("q1", "q3", "q2'", "work"):
        np.testing.assert_allclose(looped[name], straight[name], rtol=1e-6, atol=1e-8, err_msg=name)
    (check,) = looped.checks
    assert check.name.startswith("energy balance") and check.passed


def test_events_are_found_and_reset():
    events = [kg.Event("low", "tip.z + 2.9"), kg.Event("stop", "q1 - 0.6", reset={"q1'": "-q1'"})]
    straight, looped = both(chain(3), 1.0, events=events, state={"q1": 0.9}, method="dopri5")
    assert [one.name for one in straight.events] == [one.name for one in looped.events] and looped.events
    for one, other in zip(straight.events, looped.events, strict=True):
        assert one.time == pytest.approx(other.time, abs=1e-6)


def test_quaternions_and_points_that_follow_them():
    straight, looped = both(kg.parse(SATELLITE), 1.0)
    for name in (*straight.positions, *straight.velocities, "energy", "tip.x", "tip.y", "tip.z"):
        np.testing.assert_allclose(looped[name], straight[name], rtol=1e-6, atol=1e-8, err_msg=name)


def test_what_loops_cannot_do_is_said():
    arm = chain(3)
    for options, words in (
        ({"method": "bdf"}, "needs the Jacobian"),
        ({"method": "symplectic", "step": 0.01}, "equations in momenta"),
        ({"native": False}, "recursive algorithms are always compiled"),
    ):
        with pytest.raises(SolveError, match=words):
            kg.simulate(arm, 0.1, loops=True, progress=False, **options)
    with pytest.raises(SolveError, match="is not a planar linkage"):
        kg.simulate("slider-crank", 0.1, loops=True, progress=False)


def test_a_sweep_of_a_large_chain_is_refused_before_it_derives_anything():
    with pytest.raises(SolveError, match="pendulum-400 is too large for a sweep"):
        kg.sweep(chain(400), 0.1, over={"q1": [0.1, 0.2]})


def test_the_rates_are_sent_as_their_recipe():
    arm = chain(3)
    forces, _ = read_inputs(arm, {"q1": "t"})
    rate = RecursiveForm(arm, {}, forces).right_hand_side().code
    again, y = pickle.loads(pickle.dumps(rate)), np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0, 0.0])
    np.testing.assert_array_equal(again(y, 0.5), rate(y, 0.5))
    np.testing.assert_array_equal(rate.batch(np.tile(y, (2, 1)), 0.5)[1], rate(y, 0.5))


def test_a_chain_of_hundreds_runs_by_loops_unasked(capsys):
    result = runner(capsys)("simulate pendulum-320 --for 0.002 --times 1 --quiet")
    assert result.code == 0 and "energy" in result.out
    assert any(words in result.out for words in ("right-hand side only, for its size", "native: yes"))
