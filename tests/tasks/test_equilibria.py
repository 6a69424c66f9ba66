"""Equilibria: all of those that independent bisection found, with their stability."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.errors import TaskError
from kinegraph.tasks.equilibria import equilibria
from tests.effort import SOAK
from tests.tasks.reference import reference

COLUMN = """
    parameters l1 = 0.6, l2 = 0.5, m1 = 1.2, m2 = 0.8, k1 = 40, k2 = 25, P;
    coordinates t1, t2;
    gravity 0, 0, -9.81;
    A   | Ry(t1)               | Sz(l1/2), m(m1), Jy(m1*l1^2/12);
    B~A | Sz(l1), Ry(t2 - t1)  | Sz(l2/2), m(m2), Jy(m2*l2^2/12);
    potential load | (k1*t1^2 + k2*(t2 - t1)^2)/2 + P*(l1*cos(t1) + l2*cos(t2));
"""


#: Loads of the reference: one state, some and many; `make soak` takes all.
LOADS = ("0", "10", "30", "60", "120", "200", "400") if SOAK else ("0", "60", "200")


@pytest.mark.parametrize("load", LOADS)
def test_column_under_a_dead_load(load):
    wanted = reference("equilibria_two_link_column")["dead_load"]["equilibria_by_P"][load]
    within = {"t1": (-10, 10), "t2": (-16, 16)}
    found = equilibria(kg.parse(COLUMN), parameters={"P": int(load)}, bounds=within, starts=500)
    assert len(found) == len(wanted)
    for one, other in zip(found.equilibria, wanted, strict=True):
        np.testing.assert_allclose(one.q, [other["theta1"], other["theta2"]], atol=1e-11)
        assert one.stable == other["stable"]
        roots = [complex(value["re"], value["im"]) for value in other["eigenvalues_plus_minus"]]
        squares = sorted((root**2).real for root in roots for _ in range(2))
        np.testing.assert_allclose(sorted((one.eigenvalues**2).real), squares, rtol=1e-8, atol=1e-8)


def test_a_pendulum_hangs_or_stands():
    found = equilibria(kg.parse("coordinates q; gravity 0, 0, -9.81; Rod | Ry(q) | Sz(-1), m(1);"))
    assert [(round(abs(one.q[0]), 12), one.stable) for one in found.equilibria] == [
        (0, True),
        (round(np.pi, 12), False),
    ]


def test_nothing_rests_on_an_endless_slope():
    with pytest.raises(TaskError, match="no equilibrium found"):
        equilibria(kg.parse("coordinates x; gravity 1, 0, 0; Block | Sx(x) | m(1);"))


def test_equilibria_of_a_four_bar_are_those_of_its_energy():
    """On each branch the potential energy over a turn of the crank has its extremes at the equilibria."""
    bars = kg.load("four-bar")
    found = kg.equilibria(bars, starts=200)
    energy = kg.compile(bars, "energy")
    crank = np.linspace(-np.pi, np.pi, 361)
    expected = []
    for branch in ({"coupler": 0.4, "rocker": 1.3}, {"coupler": -0.4, "rocker": -1.3}):
        q = np.array([0.3, *branch.values()])
        heights = []
        assembler = Assembler(bars)
        for angle in [*np.linspace(0.3, crank[0], 60), *crank]:
            q = assembler.assembled(np.array([angle, *q[1:]]), np.zeros(3), ("crank",)).q
            heights.append(float(energy(q, np.zeros(3))[1]))
        curve = np.array(heights[60:-1])
        lower = (curve < np.roll(curve, 1)) & (curve < np.roll(curve, -1))
        upper = (curve > np.roll(curve, 1)) & (curve > np.roll(curve, -1))
        expected += [(crank[k], bool(lower[k])) for k in np.flatnonzero(lower | upper)]
    assert len(found) == len(expected)
    for angle, stable in expected:
        nearest = min(found, key=lambda one: abs(np.angle(np.exp(1j * (one.q[0] - angle)))))
        assert abs(np.angle(np.exp(1j * (nearest.q[0] - angle)))) < 0.01 and nearest.stable == stable


def test_equilibria_with_rolling_are_refused():
    with pytest.raises(TaskError, match="rear_along restricts only velocities"):
        kg.equilibria("bicycle")


@pytest.mark.parametrize("bounds", [(-1e308, 1e308), (0, np.inf), (np.nan, 1), (2, 1)], ids=str)
def test_bounds_without_a_range_are_refused(bounds):
    with pytest.raises(TaskError, match="give two finite numbers, the lower first"):
        equilibria("double-pendulum", bounds={"q1": bounds})


DISC = reference("nonholonomic_rolling_disc")


@pytest.mark.parametrize("motion", DISC["steady_motions"][::2], ids=lambda one: str(one["lean"]))
def test_a_disc_rolls_in_circles(motion):
    """x' and y' are not constant, but follow: lean, speed and eigenvalues of the reference."""
    rates = {"psi'": motion["precession_rate"], "phi'": motion["own_spin_phi_dot"]}
    found = equilibria("rolling-disc", {**rates, "lean": motion["lean"] + 0.05}, starts=0)
    (one,) = (one for one in found if abs(one.q[3] - motion["lean"]) < 0.05)
    assert one.q[3] == pytest.approx(motion["lean"], abs=1e-11)
    assert np.hypot(*one.v[:2]) == pytest.approx(motion["centre_speed"], abs=1e-11)
    assert one.stable == motion["stable"]
    square = (one.eigenvalues[-1] ** 2).real
    assert square == pytest.approx(motion["nonzero_eigenvalue_squared"], rel=1e-9)


def test_critical_speeds_of_an_upright_disc():
    disc = kg.load("rolling-disc")
    (rolling,) = kg.continuation(disc, "phi'", -8, -1, {"psi'": 0, "lean": 0}, starts=0).special
    assert -0.3 * rolling.value == pytest.approx(DISC["upright_straight"]["critical_speed_disc"], abs=1e-12)
    (spinning,) = kg.continuation(disc, "psi'", 1, 8, {"phi'": 0, "lean": 0}, starts=0).special
    assert spinning.value == pytest.approx(DISC["spinning_on_edge"]["critical_rate"], abs=1e-12)


def test_steady_rates_that_do_not_stay_steady_are_refused():
    with pytest.raises(TaskError, match="lean' cannot stay constant"):
        equilibria("rolling-disc", {"lean'": 1})
    with pytest.raises(TaskError, match="continued over rates only, not over r"):
        kg.continuation("rolling-disc", "r", 0.2, 0.4, {"psi'": 1, "phi'": -5})


def test_a_governor_turns_steadily():
    """The arms of a simple governor rise with the rate: omega^2 (b + l sin q) cos q = g sin q for a ball on a rod."""
    model = """
        coordinates shaft, q = 0.5; gravity 0, 0, -9.81;
        Shaft     | Rz(shaft)         | Jz(0.3);
        Arm~Shaft | Sx(0.1), Ry(-q)   | Sz(-0.4), m(2);
    """
    found = equilibria(kg.parse(model), {"shaft'": 7})
    for one in found:
        q = one.q[1]
        assert 49 * (0.1 + 0.4 * np.sin(q)) * np.cos(q) == pytest.approx(9.81 * np.sin(q), abs=1e-10)
    angles = np.linspace(-np.pi, np.pi, 2001)
    sides = 49 * (0.1 + 0.4 * np.sin(angles)) * np.cos(angles) > 9.81 * np.sin(angles)
    assert len(found) == np.count_nonzero(sides[1:] != sides[:-1])
    assert found[-1].stable and found[-1].q[1] > 0.5


def test_a_bicycle_circles_by_itself_near_its_capsize_speed():
    """Without hands there is one speed for every rate of turning; for slow turning it is the capsize speed."""
    bicycle = kg.load("bicycle")
    start = {"yaw'": 1e-3, "roll": 6e-4, "steer": 2e-4}
    (one,) = equilibria(bicycle, start, starts=0, parameters={"speed": 6})
    speed = -0.3 * one.v[bicycle.layout.velocities.index("rear'")]
    assert speed == pytest.approx(6.02426201538837, abs=1e-5)


def test_what_is_prescribed_in_time_is_no_equilibrium():
    """At t = 0 the pivot does not accelerate and the pendulum balances, a moment later it does not."""
    shaken = "coordinates q; gravity 0, 0, -9.81; Rod | Sx(sin(3*t)), Ry(q) | Sz(-1), m(1);"
    with pytest.raises(TaskError, match="are not a moment later"):
        equilibria(kg.parse(shaken))
    assert len(equilibria("bead-on-hoop")) == 4  # steady rotation changes nothing with time


def test_what_cannot_move_has_no_equilibria():
    with pytest.raises(TaskError, match="has no coordinates"):
        equilibria(kg.parse("parameters k = 1; Post | Sx(1) | m(k);"))


LIFT = """
model lift;
parameters m = 2, mt = 10, k = 400, rest = 0.9;
coordinates a1 = 0.9, b1 = 0.9, s = 0.6, a2 = 4.5, b2 = 1.5, h = 1.5, u;
gravity 0, -9.81, 0;
A1      | Rz(a1)        | Sx(1/2), m(m), Jz(m/12);
Foot    | Sx(s)         | m(0.5);
B1~Foot | Rz(pi - b1)   | Sx(1/2), m(m), Jz(m/12);
A2~B1   | Sx(1), Rz(a2) | Sx(1/2), m(m), Jz(m/12);
B2~A1   | Sx(1), Rz(b2) | Sx(1/2), m(m), Jz(m/12);
Table   | Sy(h), Sx(u)  | m(mt), Jz(1);
loop mid1 | revolute | A1: Sx(1/2) | B1: Sx(1/2);
loop mid2 | revolute | A2: Sx(1/2) | B2: Sx(1/2);
loop top1 | revolute | B2: Sx(1)   | Table;
loop top2 | point_on_line(x) | Table | A2: Sx(1);
spring push | on(s), stiffness(k), rest(rest);
"""  # top2.y follows from the other rows wherever they hold, and nowhere else


def test_a_row_that_is_redundant_where_loops_are_closed_balances_nothing():
    places = kg.equilibria(kg.parse(LIFT), starts=60)
    for one in places:
        raised = abs(one.q[5]) > 1e-6  # else the upper bars lie on the lower ones
        weight = 9.81 * (2 * 10 + 4 * 2 if raised else 2 * 2)  # d(potential)/d(sin a)
        a = one.q[0]
        slope = weight * np.cos(a) - 400 * (np.cos(a) - 0.9) * np.sin(a)
        assert abs(slope) < 1e-7 * weight
        assert abs(one.q[2] - np.cos(a)) < 1e-9
    assert any(abs(one.q[5]) > 1 for one in places)


def test_huge_multipliers_of_a_redundant_row_are_no_equilibrium():
    with pytest.raises(TaskError, match="no equilibrium found"):  # only where the bars stand upright, singular
        kg.equilibria(kg.parse(LIFT), parameters={"k": 0, "m": 2}, starts=100)


FAN = """
    model fan;
    parameters top = 40, synchronous = 100, k = 0.001;
    coordinates a;
    Rotor | Rz(a) | Jz(0.2);
    force motor | value(2*top*(synchronous - a')/20/(1 + ((synchronous - a')/20)^2)), on(a);
    force load  | value(-k*a'^2 - 25), on(a);
"""


def test_a_motor_and_its_load_find_both_their_speeds():
    """A motor with a breakdown torque meets its load at a stable and an unstable speed."""
    found = kg.equilibria(kg.parse(FAN), unknown="a'", bounds={"a'": (0, 120)}, starts=60)
    speeds = np.array([one.v[0] for one in found])
    slip = (100 - speeds) / 20
    np.testing.assert_allclose(80 * slip / (1 + slip**2), 0.001 * speeds**2 + 25, rtol=1e-12)
    assert [one.stable for one in found] == [False, True] and 40 < speeds[0] < 60 < speeds[1]
    assert [round(row["rates"]["a'"]) for row in found.to_dict()["equilibria"]] == [50, 89]


def test_the_rate_of_a_loop_with_a_drive_is_found():
    """A gear couples a motor to a load: the load's torque counts with the ratio."""
    geared = kg.parse(
        "coordinates a, b; Motor | Rz(a) | Jz(0.1); Load | Sx(1), Rz(b) | Jz(2); loop teeth | gear(4) | a | b;"
        "force motor | value(30 - 0.2*a'), on(a); force load | value(-2*b'), on(b);"
    )
    (one,) = kg.equilibria(geared, unknown="a'", starts=5).listed
    assert one.v == pytest.approx([30 / (0.2 + 2 / 16), 30 / (0.2 + 2 / 16) / 4]) and one.stable


UNKNOWN_MISTAKES = [
    ({"unknown": "b'"}, 'has no rate "b\'"'),
    ({"unknown": "a'", "bounds": {"a'": (2, 1)}}, "the lower first"),
    ({"bounds": {"a'": (0, 1)}}, "not an unknown rate"),
]


@pytest.mark.parametrize(("given", "message"), UNKNOWN_MISTAKES)
def test_mistakes_with_unknown_rates_are_named(given, message):
    with pytest.raises(TaskError, match=message):
        kg.equilibria(kg.parse(FAN), **given)


def test_only_cyclic_rates_can_be_found():
    with pytest.raises(TaskError, match="cannot stay constant"):
        kg.equilibria("engine-governor", unknown="arm'")
    with pytest.raises(TaskError, match="both varied and unknown"):
        kg.continuation("engine-governor", "shaft'", 1, 2, unknown="shaft'")
