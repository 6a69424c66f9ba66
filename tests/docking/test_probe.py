"""Probe and cone: the wall of a hollow cone as a shape, and a docking by a probe on a gimbal."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.docking.description import Limits, Schedule, docking_of
from kinegraph.docking.dock import dock
from kinegraph.docking.first_contacts import ContactLimits, beginning, first_contacts
from kinegraph.docking.result import Outcome
from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from tests.interpreted import interpreted

HALF, LENGTH, RADIUS = 0.9, 0.6, 0.07
BALL = f"""
model ball; coordinates x, y, z; gravity 0, 0, 0;
Ball | Sx(x), Sy(y), Sz(z) | m(2), Jx(0.1), Jy(0.1), Jz(0.1);
contact head | sphere(Ball, {RADIUS}), cone((0.1, 0, 0.2), (0, 0, -2), {HALF}, {LENGTH}) | stiffness(4000), exponent(1);
"""


def distance_from_wall(x: float, y: float, z: float) -> float:
    """The distance of a point inside or before the cone from 20,000 points of its wall."""
    along = np.linspace(0, LENGTH, 200)[:, None]
    around = np.linspace(0, 2 * np.pi, 400)[None]
    across = along * np.sin(HALF)
    wall = 0.1 + across * np.cos(around), across * np.sin(around), 0.2 - along * np.cos(HALF) + 0 * around
    return float(np.sqrt((wall[0] - x) ** 2 + (wall[1] - y) ** 2 + (wall[2] - z) ** 2).min())


def test_the_gap_is_the_distance_from_the_wall_and_the_rim() -> None:
    contact = interpreted(parse(BALL), "contact:head")
    random = np.random.default_rng(3)
    inside = 0
    for _ in range(60):
        x, y, z = random.uniform([-0.5, -0.5, -0.6], [0.7, 0.5, 0.1])
        gap = float(np.asarray(contact([x, y, z], np.zeros(3))).ravel()[0])
        height, across = 0.2 - z, float(np.hypot(x - 0.1, y))
        in_cone = across * np.cos(HALF) < height * np.sin(HALF)
        before = height * np.cos(HALF) + across * np.sin(HALF) > LENGTH
        if in_cone or before:
            inside += 1
            assert gap == pytest.approx(distance_from_wall(x, y, z) - RADIUS, abs=3e-3)
    assert inside > 20


def test_no_step_passes_through_the_wall() -> None:
    """A probe in free flight takes steps of seconds: behind the wall it must feel it, or the wall is missed."""
    contact = interpreted(parse(BALL), "contact:head")
    for depth in (0.05, 0.5, 5.0):
        found = np.asarray(contact([0.1, 0, 0.2 + depth], np.zeros(3))).ravel()
        assert found[0] < -depth * np.sin(HALF) and found[3] < 0
    run = kg.simulate(parse(BALL), 100.0, state={"x": 0.14, "z": -40.0, "z'": 0.7}, rtol=1e-6)
    assert run["z"].max() < 0.25 and run["z'"][-1] < 0


def test_a_ball_that_bounces_inside_keeps_its_energy() -> None:
    run = kg.simulate(parse(BALL), 3.0, state={"z": -0.1, "x": 0.05, "x'": 0.4, "y'": 0.3, "z'": 0.2}, rtol=1e-10)
    assert run.status.good
    np.testing.assert_allclose(run["energy"], run["energy"][0], rtol=1e-7)
    speed = np.hypot(np.hypot(run["x'"], run["y'"]), run["z'"])
    assert np.ptp(run["z'"]) > 0.2 and abs(speed[-1] - speed[0]) < 1e-6  # it has bounced, and left


def test_a_cone_is_written_as_it_is_read_and_meets_spheres_only() -> None:
    model = parse(BALL)
    assert parse(write(model)) == model
    with pytest.raises(ModelError, match="capsule and cone is not supported"):
        parse(BALL.replace(f"sphere(Ball, {RADIUS})", f"capsule(Ball, Ball(0, 0, 1), {RADIUS})"))
    with pytest.raises(ModelError, match="cone"):
        parse(BALL.replace(f", {LENGTH})", ")"))


PLANAR = """
model planar; parameters begin = 1e6, time = 4, draw = 0.2;
coordinates zc, yaw, reach = 0.5, xt = 0.05, zt = 0.9; initial zc' = 0.1;
define part = min(1, max(0, (t - begin)/time)), grown = part^3*(10 - 15*part + 6*part^2);
Chaser       | Sz(zc)              | m(400);
Probe~Chaser | Ry(yaw), Sz(reach)  | Sz(-0.2), m(5), Jy(0.2);
Target       | Sx(xt), Sz(zt)      | m(900);
output A = Chaser (0, 0, 0); output a = Probe (0, 0, 0);
spring boom | between(A, a), stiffness(600), rest(0.5 - draw*grown); damper shock | between(A, a), damping(500);
spring level | on(yaw), stiffness(20); damper quiet | on(yaw'), damping(20);
contact head | sphere(Probe, 0.05), cone(Target(0, 0, 0.2), (0, 0, -1), 0.9, 0.4)
  | stiffness(1e4), exponent(1), damping(1);
output R1 = Probe (0, 0, 0); output T1 = Target (0, 0, 0.2 - 0.05/sin(0.9));
"""


def test_a_probe_slides_to_the_bottom_and_is_drawn_in() -> None:
    given = docking_of(
        kg.parse(PLANAR), angle=0.4, limits=Limits(0.2, 0.9, away=1.0), schedule=Schedule(settle=4, draw=10, still=0.02)
    )
    assert given.ring == "Probe" and [leg.name for leg in given.legs] == ["boom"]
    run = dock(given, 8, native=False, rtol=1e-8, interval=0.05)
    assert run.outcome is Outcome.DOCKED and run.energy < 1e-6
    at = int(np.searchsorted(run.times, run.captured))
    assert run["yaw"][at] == pytest.approx(0.05 / 0.5, abs=0.03)  # the cone has turned the probe to its axis
    along = 400 * run["zc'"] + 900 * run["zt'"]
    assert abs(along[-1] - (400 + 900) * run["zc'"][-1]) < 1e-6
    assert run["length:boom"][-1] == pytest.approx(0.3, abs=0.02)


def test_a_probe_rests_in_its_joints_as_the_model_states_it() -> None:
    given = docking_of(kg.load("docking-probe-cone"), angle=0.3)
    start = beginning(given)
    assert start["bx"] == "offset_x" and start["cz'"] == "0" and not {"pitch", "yaw", "reach"} & {*start}


@pytest.mark.soak
def test_random_first_contacts_of_a_probe() -> None:
    given = docking_of(kg.load("docking-probe-cone"), limits=Limits(away=0.6))
    study = first_contacts(given, 60, limits=ContactLimits(offset=0.08), duration=20, progress=False)
    assert study.probability().value > 0.8 and not study.failures
    run = dock(docking_of("docking-probe-cone", angle=0.3, limits=Limits(away=0.5)), state={"bx": 0.06, "b1": 0.02})
    assert run.outcome is Outcome.DOCKED and run.momentum < 1e-9 and run.energy < 1e-7
