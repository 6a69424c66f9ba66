"""Coulomb friction at contacts: blocks on inclines, balls that begin to roll, pucks, against closed forms."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate import Status
from tests.simulate.contacts.models import BLOCK

G = 9.81


def events(solution):
    return [(event.name.split(": ")[1], event.time) for event in solution.events]


@pytest.mark.parametrize("angle", [0.2, 0.2914, 0.2915, 0.35])
def test_a_block_on_an_incline_slips_above_the_friction_angle(angle):
    """tan(0.29146) = 0.3."""
    found = kg.simulate(kg.parse(BLOCK.format(angle=angle, speed=0)), 2, native=False, times=4)
    acceleration = max(0.0, G * (np.sin(angle) - 0.3 * np.cos(angle)))
    np.testing.assert_allclose(found["s"], acceleration * found.t**2 / 2, atol=1e-13)
    np.testing.assert_allclose(found["plane.normal"], 2 * G * np.cos(angle), rtol=1e-14)
    force = -2 * G * min(np.sin(angle), 0.3 * np.cos(angle))
    np.testing.assert_allclose(found["plane.friction"], force, rtol=1e-13)
    assert np.all(found["plane.mode"] == (2 if acceleration else 3))


@pytest.mark.parametrize("angle", [0.2, 0.4])
@pytest.mark.parametrize("method", ["dop853", "rk4", "bdf"])
def test_a_block_pushed_uphill_stops_and_stays_or_comes_back(angle, method):
    options = {"step": 0.02} if method == "rk4" else {}
    found = kg.simulate(
        kg.parse(BLOCK.format(angle=angle, speed=-2)), 2, method=method, native=False, times=4, **options
    )
    up = G * (np.sin(angle) + 0.3 * np.cos(angle))
    down = max(0.0, G * (np.sin(angle) - 0.3 * np.cos(angle)))
    top, way = 2 / up, -2 / up
    (word, time) = events(found)[-1]
    assert word == ("slip" if down else "stick")
    accuracy = 1e-6 if method == "bdf" else 1e-10
    assert abs(time - top) < accuracy
    after = found.t > top
    np.testing.assert_allclose(found["s"][after], way + down * (found.t[after] - top) ** 2 / 2, atol=accuracy)


def test_a_pushed_block_breaks_loose_at_the_limit():
    """The force 3 t exceeds mu m g = 5.886 at 1.962 s; it starts with no acceleration at all."""
    model = kg.parse(BLOCK.format(angle=0, speed=0))
    found = kg.simulate(model, 3, native=False, times=6, inputs={"s": "3*t"})
    loose = 0.3 * 2 * G / 3
    assert events(found)[-1][0] == "slip" and abs(events(found)[-1][1] - loose) < 1e-9
    np.testing.assert_allclose(found["s"][-1], 3 / 2 * (3 - loose) ** 3 / 6, atol=1e-9)
    np.testing.assert_allclose(found["plane.friction"][:4], -3 * found.t[:4], atol=1e-12)


def test_a_sliding_ball_begins_to_roll():
    text = """model ball; coordinates x = 0, z = 0.1, th = 0; initial x' = 3; gravity 0, 0, -9.81;
        Ball | Sx(x), Sz(z), Ry(th) | m(2), Jy(0.4*2*0.01);
        contact floor | z - 0.1 >= 0 | restitution(0.5), friction(0.2), slip(x' - 0.1*th');"""
    found = kg.simulate(kg.parse(text), 2, native=False, times=4)
    assert [word for word, _ in events(found)] == ["rest", "stick"]
    assert abs(events(found)[-1][1] - 2 / 7 * 3 / (0.2 * G)) < 1e-11
    assert abs(found["x'"][-1] - 15 / 7) < 1e-12 and abs(found["floor.friction"][-1]) < 1e-12


def test_a_puck_stops_in_a_straight_line():
    text = """model puck; coordinates x = 0, y = 0, z = 0; initial x' = 3, y' = 4; gravity 0, 0, -9.81;
        Puck | Sx(x), Sy(y), Sz(z) | m(1); contact ice | z >= 0 | friction(0.2), slip(x', y');"""
    found = kg.simulate(kg.parse(text), 4, native=False, times=8)
    stop = 5 / (0.2 * G)
    assert events(found)[-1][0] == "stick" and abs(events(found)[-1][1] - stop) < 1e-11
    np.testing.assert_allclose([found["x"][-1], found["y"][-1]], [1.5 * stop, 2 * stop], atol=1e-11)
    np.testing.assert_allclose(np.hypot(found["ice.friction_1"], found["ice.friction_2"])[:5], 0.2 * G, rtol=1e-12)


def test_a_billiard_ball_curves_and_then_rolls():
    """Its slip keeps its direction (Coriolis), so the velocity at the end is v - 2/7 of the first slip."""
    text = """model billiard; parameters r = 0.03; coordinates x, y, z = 0.03;
        quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, 0, 0, 0);
        initial x' = 2, y' = 0.5, wx = -30, wy = 5, wz = 10; gravity 0, 0, -9.81;
        Ball | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(0.2), Jx(0.08*r^2), Jy(0.08*r^2), Jz(0.08*r^2);
        define ox = (1 - 2*e2^2 - 2*e3^2)*wx + 2*(e1*e2 - e0*e3)*wy + 2*(e1*e3 + e0*e2)*wz,
               oy = 2*(e1*e2 + e0*e3)*wx + (1 - 2*e1^2 - 2*e3^2)*wy + 2*(e2*e3 - e0*e1)*wz;
        contact cloth | z - r >= 0 | friction(0.2), slip(x' - r*oy, y' + r*ox);"""
    found = kg.simulate(kg.parse(text), 0.5, native=False, times=4)
    slip = np.array([2 - 0.03 * 5, 0.5 + 0.03 * -30])
    assert abs(events(found)[-1][1] - 2 / 7 * np.linalg.norm(slip) / (0.2 * G)) < 1e-7
    np.testing.assert_allclose([found["x'"][-1], found["y'"][-1]], np.array([2, 0.5]) - 2 / 7 * slip, atol=1e-7)


@pytest.mark.parametrize(("friction", "words"), [(0.3, []), (1.6, ["jam"]), (3, ["jam"])])
def test_a_rod_with_much_friction_jams(friction, words):
    """Painleve: a rod drawn along the floor at 1 rad; from mu = 4/3 (1 + 3 cos^2)/(3 sin cos) on no force fits."""
    text = f"""model rod; coordinates x = 0, y = 0.5*sin(1), th = 1; initial x' = -3; gravity 0, -9.81, 0;
        Rod | Sx(x), Sy(y), Rz(th) | m(1), Jz(1/12); output A = Rod (-0.5, 0, 0); output B = Rod (0.5, 0, 0);
        contact fa | A.y >= 0 | friction({friction}), slip(A.x');
        contact fb | B.y >= 0 | friction({friction}), slip(B.x');"""
    found = kg.simulate(kg.parse(text), 2, native=False, times=8)
    assert found.status is Status.FINISHED and all(check.passed for check in found.checks)
    assert [word for word, _ in events(found) if word == "jam"] == words
    assert abs(found["th"][-1]) < 1e-9 or abs(found["th"][-1] - np.pi) < 1e-9  # it lies on the floor
