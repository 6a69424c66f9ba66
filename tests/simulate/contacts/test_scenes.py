"""Scenes of stepped contacts: what must hold, topple, spin or be hit, beside closed forms where there are any."""

from __future__ import annotations

from math import cos, hypot, sin

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate.contacts.stepped import ContactSettings
from kinegraph.simulate.simulator import Simulator
from tests.simulate.contacts.test_stepped import G, ball, body, box, energy, gravity, stepped

FINGERS = (
    "coordinates l = -0.15, r = 0.15; L | Sx(l) | m(0.1); R | Sx(r) | m(0.1); "
    "shape L | Sx(0) | box(0.1, 0.1, 0.1); shape R | Sx(0) | box(0.1, 0.1, 0.1); "
)


@pytest.mark.parametrize("slips", [False, True])
def test_a_gripper_holds_what_friction_can_carry(slips: bool) -> None:
    squeeze, mu = 10.0, 0.4
    mass = 2 * mu * squeeze / G * (1.01 if slips else 0.99)
    text = gravity() + FINGERS + box("A", (0, 0, 0), mass=mass)
    sim = kg.simulator(
        kg.parse(text), inputs={"l": str(squeeze), "r": str(-squeeze)}, contacts=ContactSettings(friction=mu)
    )
    sim.step(steps=300)
    fallen = 0.5 * max(0.0, G - 2 * mu * squeeze / mass) * 0.3**2
    assert sim["Az"] == pytest.approx(-fallen, abs=2e-5)
    assert np.abs([sim["l"] + 0.15, sim["r"] - 0.15, sim["Ax"]]).max() < 1e-9


@pytest.mark.soak
def test_dominoes_fall_one_after_the_other() -> None:
    half, gap, count = (0.005, 0.02, 0.04), 0.03, 6
    names = "ABCDEFGH"[:count]
    text = gravity() + "".join(box(name, (gap * k, 0, half[2]), half, 0.1) for k, name in enumerate(names))
    sim = stepped(text, 5e-4, {"A0": cos(0.09), "A2": sin(0.09), "Ax": 0.008, "Az": 0.0399}, friction=0.4)
    sim.step(steps=2)
    begun, fallen = energy(text, sim), dict.fromkeys(names, 0.0)
    for _ in range(120):
        sim.step(steps=10)
        for name in names:
            if not fallen[name] and 1 - 2 * sim[name + "2"] ** 2 < cos(0.3):
                fallen[name] = sim.t
        assert energy(text, sim) < begun + 1e-6
    times = list(fallen.values())
    assert all(times) and times == sorted(times)
    assert min(one.gap for one in sim.contacts) > -1e-6


@pytest.mark.soak
def test_a_spinning_coin_loses_energy_and_settles() -> None:
    radius, thick, mass, tilt = 0.02, 0.002, 0.01, 0.5
    across, along = mass * (3 * radius**2 + thick**2) / 12, mass * radius**2 / 2
    height = radius * sin(tilt) + thick / 2 * cos(tilt)
    text = gravity() + body("A", (0, 0, height), f"Sx(0) | cylinder({radius}, {thick})", mass, (across, across, along))
    # steady precession about the vertical with the center at rest, without slip at a thin rim
    spin = (4 * G / (radius * sin(tilt))) ** 0.5
    state = {"A0": cos(tilt / 2), "A1": sin(tilt / 2), "Av": spin * sin(tilt), "Aw": 0.0}
    sim = stepped(text, 2.5e-4, state, friction=0.8)
    found, lean = [energy(text, sim)], []
    for _ in range(60):
        sim.step(steps=40)
        found.append(energy(text, sim))
        lean.append(hypot(sim["A1"], sim["A2"]))
    assert (np.diff(found) < 1e-6 * found[0]).all()
    assert found[-1] < found[0]
    assert sim["Az"] > thick / 2 - 1e-6


@pytest.mark.parametrize("speed", [5.0, 500.0])
def test_a_thin_wall_stops_what_is_fast(speed: float) -> None:
    wall = "gravity 0, 0, 0; Wall | Sx(0) | ; shape Wall | Sx(1) | box(0.002, 2, 2); "
    text = wall + ball("B", (0, 0.01, 0.02), r=0.005)
    sim = stepped(text, 5e-3, {"Bx'": speed}, restitution=0.5, friction=0.0, ground=None)
    steps = round(2 / speed / 5e-3) + 2
    sim.step(steps=steps)
    way = 1 - 0.001 - 0.005
    assert sim["Bx'"] == pytest.approx(-0.5 * speed, rel=1e-9)
    assert sim["Bx"] == pytest.approx(way - 0.5 * speed * (steps * 5e-3 - way / speed), abs=1e-5 * speed)


def test_small_fast_balls_meet_as_in_the_closed_form() -> None:
    text = "gravity 0, 0, 0; " + ball("A", (0, 0, 0), r=0.01) + ball("B", (1, 0.003, 0), r=0.01)
    sim = stepped(text, 5e-3, {"Ax'": 100, "Bx'": -100}, restitution=1.0, friction=0.0, ground=None)
    sim.step(steps=4)
    s = 0.003 / 0.02
    change = 200 * np.array([1 - s * s, s * (1 - s * s) ** 0.5])
    assert sim.v[:2] == pytest.approx([100 - change[0], -change[1]], rel=1e-4)
    assert sim.v[6:8] == pytest.approx([-100 + change[0], change[1]], rel=1e-4)


def test_a_fast_rod_does_not_turn_through_a_thin_one() -> None:
    rod = "coordinates a; A | Rz(a) | Jz(1); shape A | Sx(0.5) | box(1, 0.01, 0.01); "
    text = "gravity 0, 0, 0; " + rod + "Post | Sx(0) | ; shape Post | Sx(0.9), Sy(0.2) | box(0.01, 0.01, 1); "
    sim = stepped(text, 0.01, {"a'": 60.0}, ground=None)
    sim.step(steps=10)
    assert 0.15 < sim["a"] < 0.23 and abs(sim["a'"]) < 1e-9


def test_a_deep_start_is_pushed_out_without_speed() -> None:
    text = gravity() + box(place=(0, 0, 0.06))
    sim = stepped(text)
    sim.step(steps=50)
    assert sim["Az"] == pytest.approx(0.1, abs=1e-6)
    assert np.abs(sim.v).max() < 1e-6


def test_masses_may_be_far_apart() -> None:
    text = gravity() + box("A", (0, 0, 0.1), mass=0.1) + box("B", (0, 0, 0.3), mass=10)
    sim = stepped(text)
    assert isinstance(sim, Simulator)
    sim.step(steps=1000)
    assert [sim["Az"], sim["Bz"]] == pytest.approx([0.1, 0.3], abs=1e-7)
    ground = sum(one.force[2] for one in sim.contacts if one.first == "ground")
    assert ground == pytest.approx(10.1 * G, rel=1e-9)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ball("A", (0, 0, 0)), ball("B", (0, 0, 0))),
        (box("A", (0, 0, 0)), box("B", (0, 0, 0))),
        (box("A", (0, 0, 0)), box("B", (0.05, 0.02, 0.01))),
    ],
)
def test_what_starts_inside_of_another_is_pushed_out_without_speed(first: str, second: str) -> None:
    sim = stepped("gravity 0, 0, 0; " + first + second, ground=None)
    sim.step(steps=10)
    assert np.abs(sim.v).max() < 1e-9
    assert min(one.gap for one in sim.contacts) > -1e-9
    assert np.linalg.norm(sim.q[7:10] - sim.q[:3]) > 0.13


@pytest.mark.soak
def test_plates_without_thickness_rest_on_each_other() -> None:
    plate = "Sx(0) | box(0.2, 0.2, 0)", 1.0, (1e-3, 1e-3, 2e-3)
    sim = stepped(gravity() + body("A", (0, 0, 0.001), *plate) + body("B", (0.01, 0, 0.003), *plate))
    sim.step(steps=60)
    assert [sim["Az"], sim["Bz"]] == pytest.approx([0, 0], abs=1e-6) and np.abs(sim.v).max() < 1e-6


def test_a_step_far_too_long_stops_what_falls() -> None:
    sim = stepped(gravity() + box(place=(0, 0, 1)), 0.5)
    sim.step(steps=10)
    assert sim["Az"] == pytest.approx(0.1, abs=1e-4) and np.abs(sim.v).max() < 1e-6
