"""Linear systems and modes on loops, constraints and rolling wheels."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

import kinegraph as kg
from kinegraph.errors import AssemblyError, TaskError
from kinegraph.tasks.operating_point import OperatingPoint
from kinegraph.tasks.tangent_space import acceleration_slopes, tangent
from tests.interpreted import interpreted

TREE = """
    coordinates q1, q2; gravity 0, -9.81, 0;
    Upper | Rz(q1) | Sy(-0.4), m(1.3), Jz(0.11); Lower~Upper | Sy(-0.9), Rz(q2) | Sy(-0.3), m(0.7), Jz(0.05);
    spring coil | on(q2), stiffness(2); {more}
"""
#: The same with each body on its own, in absolute coordinates, and two pins.
MAXIMAL = """
    coordinates q1, q2, x1, y1 = -0.4, x2, y2 = -1.2; gravity 0, -9.81, 0;
    Upper | Sx(x1), Sy(y1), Rz(q1) | m(1.3), Jz(0.11); Lower | Sx(x2), Sy(y2), Rz(q1 + q2) | m(0.7), Jz(0.05);
    loop top | revolute | Upper: Sy(0.4) |; loop elbow | revolute | Upper: Sy(-0.5) | Lower: Sy(0.3);
    spring coil | on(q2), stiffness(2); {more}
"""


@pytest.mark.parametrize("more", ["", "damper oil | on(q1), damping(0.4);"])
def test_pins_instead_of_a_tree(more):
    tree, maximal = (kg.modes(kg.parse(text.format(more=more))) for text in (TREE, MAXIMAL))
    assert maximal.displacements == tree.displacements == ("q1", "q2")
    wanted = np.array([mode.eigenvalue for mode in tree.modes])
    np.testing.assert_allclose([mode.eigenvalue for mode in maximal.modes], wanted, rtol=1e-11, atol=1e-11)
    for first, second in zip(tree.modes, maximal.modes, strict=True):
        np.testing.assert_allclose(first.shape, second.shape, atol=1e-10)


def test_outputs_follow_the_dependent_coordinates():
    linear = kg.linearize(kg.parse(MAXIMAL.format(more="output end = Lower (0, -0.5, 0);")), outputs="pose:end")
    tree = kg.linearize(kg.parse(TREE.format(more="output end = Lower (0, -0.8, 0);")), outputs="pose:end")
    np.testing.assert_allclose(linear.C[3], tree.C[3], atol=1e-12)  # x of the end


def test_a_four_bar_swings_as_its_motion_says():
    """The period of a small swing about the equilibrium, from a run."""
    bars = kg.load("four-bar")
    accelerations = interpreted(bars, "qdd")
    rest = brentq(lambda crank: float(accelerations(*_state(bars, crank), np.zeros(3))[0]), -2.2, -1.0)
    (mode,) = kg.modes(bars, {"crank": rest}).modes
    run = kg.simulate(
        bars, 2 * np.pi / mode.frequency, state={"crank": rest + 1e-4}, times=4, rtol=1e-11, atol=1e-13, native=False
    )
    np.testing.assert_allclose(run["crank"][1::2] - rest, [0, 0], atol=3e-8)
    np.testing.assert_allclose(run["crank"][2] - rest, -1e-4, atol=3e-8)


def _state(bars, crank):
    place = kg.assemble(bars, {"crank": crank})
    return place.q, place.v


def test_a_rolling_disc_stands_up_above_its_critical_speed():
    """A uniform disc rolls stably upright if its rate exceeds sqrt(g/(3 r))."""
    disc = kg.load("rolling-disc")
    critical = np.sqrt(9.81 / (3 * 0.3))

    def square(rate):
        values = kg.linearize(disc, {"phi'": rate, "lean": 0}).eigenvalues
        return float(np.real(values[np.argmax(np.abs(values))] ** 2))

    found = brentq(square, 0.5 * critical, 1.5 * critical, xtol=1e-13)
    assert found == pytest.approx(critical, rel=1e-9)


def test_a_state_that_cannot_be_assembled_is_an_error():
    with pytest.raises(AssemblyError, match="pin has a gap"):
        kg.linearize("four-bar", parameters={"b": 0.01, "c": 0.01})
    with pytest.raises(TaskError, match="neither an equilibrium nor a steady motion"):
        kg.linearize("four-bar")


# the benchmark bicycle (Meijaard and others 2007), from its full nonlinear model

M = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]
C1 = [[0, 33.86641391492494], [-0.85035641456978, 1.6854039739756]]
K0 = [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]
K2 = [[0, 76.59734589573222], [0, 2.65431523794604]]
EIGENVALUES = {
    1: (-7.11008014637, -3.13423125067, 3.5269617099 + 0.8077402752j),
    5: (-14.0783896928, -0.322866429, -0.7753418822 + 4.46486771379j),
    10: (-24.62459635017, 0.16105338653, -3.72016840437 + 10.90681139476j),
}


@pytest.fixture(scope="module")
def bicycle():
    return kg.load("bicycle")


def at_speed(speed):
    return {"x'": speed, "rear'": -speed / 0.3, "front'": -speed / 0.35}


@cache
def inertia_of(bicycle):
    return interpreted(bicycle, "H")


def lower_rows(bicycle, speed):
    """Accelerations of roll and steer by roll, steer and their rates; and the mass matrix of both."""
    linear = kg.linearize(bicycle, at_speed(speed))
    rows, columns = ([linear.states.index(name) for name in names] for names in (LEAN_RATES, LEAN + LEAN_RATES))
    space = tangent(bicycle, linear.point)
    basis = space.velocities[:, [space.moving.index(bicycle.layout.velocities.index(name)) for name in LEAN_RATES]]
    inertia = inertia_of(bicycle)(linear.point.q)
    return linear.A[np.ix_(rows, columns)], basis.T @ inertia @ basis


LEAN, LEAN_RATES = ["roll", "steer"], ["roll'", "steer'"]


def test_bicycle_matrices(bicycle):
    slow, mass = lower_rows(bicycle, 1.0)
    fast, _ = lower_rows(bicycle, 4.0)
    still = (16 * slow[:, :2] - fast[:, :2]) / 15
    np.testing.assert_allclose(mass, M, rtol=1e-12)
    np.testing.assert_allclose(-mass @ slow[:, 2:], C1, atol=3e-12)
    np.testing.assert_allclose(-mass @ still / 9.81, K0, atol=1e-11)
    np.testing.assert_allclose(-mass @ (fast[:, :2] - slow[:, :2]) / 15, K2, atol=1e-11)


@pytest.mark.parametrize("speed", EIGENVALUES)
def test_bicycle_eigenvalues(bicycle, speed):
    found = kg.linearize(bicycle, at_speed(speed)).eigenvalues
    for value in EIGENVALUES[speed]:
        assert np.min(np.abs(found - value)) < 2e-9


def test_bicycle_weave_and_capsize_speeds(bicycle):
    def lean(speed):
        rows, _ = lower_rows(bicycle, speed)
        return np.linalg.eigvals(np.vstack([np.eye(4)[2:], rows]))

    weave = brentq(lambda v: np.max(lean(v)[np.abs(lean(v).imag) > 1].real), 4.2, 4.4, xtol=1e-14)
    capsize = brentq(lambda v: np.linalg.det(lower_rows(bicycle, v)[0][:, :2]), 5.9, 6.2, xtol=1e-14)
    assert weave == pytest.approx(4.29238253634111, abs=2e-12)
    assert capsize == pytest.approx(6.02426201538837, abs=2e-12)


def test_implicit_derivatives_are_those_of_the_formulas():
    """Accelerations in motion: implicit differentiation against the differentiated graph of the accelerations."""
    bars = kg.load("four-bar")
    place = kg.assemble(bars, {"crank": 0.9, "crank'": 2.3})
    point = OperatingPoint(place.q, place.v, np.random.default_rng(3).normal(size=3), np.zeros(0))
    found = acceleration_slopes(bars, point)
    wanted = interpreted(bars, "qdd,d(qdd)/d(dq),d(qdd)/d(v),d(qdd)/d(tau)")(point.q, point.v, point.tau)
    space = tangent(bars, point)
    state = np.block([[space.positions, np.zeros((3, 1))], [space.rotating, space.velocities]])
    one = np.hstack([found.by_displacement, found.by_velocity]) @ state  # off the loop formulas may differ
    other = np.hstack([wanted["d(qdd)/d(dq)"], wanted["d(qdd)/d(v)"]]) @ state
    np.testing.assert_allclose(found.accelerations, wanted["qdd"], rtol=1e-11)
    np.testing.assert_allclose(one, other, rtol=1e-11)
    np.testing.assert_allclose(found.by_force, wanted["d(qdd)/d(tau)"], rtol=1e-11)


def test_a_singular_position_is_named():
    """The parallelogram flattened: its row of the coupler's angle says nothing there."""
    flat = {"crank": 0, "coupler": 0, "rocker": 0}
    with pytest.raises(TaskError, match="in a singular position, where pin"):
        kg.linearize("four-bar", flat, parameters={"a": 1, "b": 2, "c": 1, "d": 2}, steady=False)


def test_accelerations_of_rows_are_rates_of_their_rates():
    bars = kg.load("four-bar")
    rng = np.random.default_rng(4)
    q, v, a = rng.normal(size=(3, 3))
    found = interpreted(bars, "constraint_accelerations")(q, v, a)
    rates = interpreted(bars, "constraint_rates")
    h = 1e-5
    later, earlier = (rates(q + s * v + s**2 * a / 2, v + s * a) for s in (h, -h))
    np.testing.assert_allclose(found, (later - earlier) / (2 * h), atol=1e-8)
