"""Machines of the library with tables, states, stops and gears, against closed forms and second programs."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.optimize import brentq

import kinegraph as kg
from tests.effort import SOAK

_MODELS = files("kinegraph.library").joinpath("models")
G = 9.81


def _columns(name: str) -> np.ndarray:
    lines = _MODELS.joinpath(name).read_text("utf-8").splitlines()
    return np.array([[float(cell) for cell in line.split(",")] for line in lines[2:]]).T


def test_the_press_turns_as_its_reduced_equation_says() -> None:
    """The second program: one coordinate, M(phi) phi'' + M'(phi) phi'^2/2 + V'(phi) = torque, with complex steps."""
    r, length, flywheel, rod, ram = 0.06, 0.32, 9.0, 35.0, 180.0
    rpm = np.pi / 30
    torque = PchipInterpolator(rpm * np.array([0, 60, 95, 110, 120, 150]), [260, 300, 240, 110, 0, -260])

    def tilt(phi: complex) -> complex:
        return -np.arccos(-r * np.cos(phi) / length)

    def height(phi: complex) -> complex:
        return r * np.sin(phi) + length * np.sin(tilt(phi))

    def middle(phi: complex) -> tuple[complex, complex]:
        half = length / 2
        return r * np.cos(phi) + half * np.cos(tilt(phi)), r * np.sin(phi) + half * np.sin(tilt(phi))

    def slope(function, phi: complex) -> complex:  # of real functions of phi, again analytic: by the chain rule
        turn = r * np.sin(phi) / np.sqrt(length**2 - (r * np.cos(phi)) ** 2)  # d(tilt)/d(phi)
        s, c = np.sin(tilt(phi)), np.cos(tilt(phi))
        if function is tilt:
            return turn
        if function is height:
            return r * np.cos(phi) + turn * length * c
        return -r * np.sin(phi) - turn * length / 2 * s, r * np.cos(phi) + turn * length / 2 * c

    def mass(phi: complex) -> complex:
        x, y = slope(middle, phi)
        return flywheel + rod * (x * x + y * y + length**2 / 12 * slope(tilt, phi) ** 2) + ram * slope(height, phi) ** 2

    def rates(_: float, state: np.ndarray) -> list[float]:
        phi, w = state
        step = 1e-30j
        growing = (mass(phi + step) / 1e-30).imag
        falling = G * (rod * slope(middle, phi)[1] + ram * slope(height, phi))
        lift = slope(height, phi)
        opening = height(phi) + r + length
        cut = np.interp(opening, np.array([0, 2, 3, 5, 6, 6.5, 500]) / 1000, [0, 0, 75e3, 110e3, 90e3, 0, 0])
        push = 0.9 * float(torque(np.clip(w, 0, 150 * rpm))) + (cut * lift if lift * w < 0 else 0.0)
        return [w, (push - falling - growing * w * w / 2) / mass(phi)]

    assert abs((tilt(0.7 + 1e-30j) / 1e-30).imag - slope(tilt, 0.7)) < 1e-12
    run = kg.simulate("press", 0.8, rtol=1e-9, atol=1e-10)
    theirs = solve_ivp(rates, (0, 0.8), [np.pi / 3, 110 * rpm], method="DOP853", rtol=1e-9, atol=1e-10, max_step=4e-3)
    assert run["crank"][-1] == pytest.approx(theirs.y[0, -1], abs=2e-6)
    assert run["crank'"][-1] == pytest.approx(theirs.y[1, -1], abs=2e-5)
    speeds = run["crank'"]
    assert (np.maximum.accumulate(speeds) - speeds).max() > 20 * rpm  # the flywheel gives the work of the cut


def test_the_quarter_car_rides_as_scipys() -> None:
    x, z = _columns("road.csv")
    road = CubicSpline(x, z)
    speed, body, wheel, ks, cs, kt, stop = 30 / 3.6, 300.0, 40.0, 18e3, 1200.0, 180e3, 300e3

    def pressed(depth: float, rate: float, k: float, c: float) -> float:
        return depth * max(0.0, k + c * rate) if depth > 0 else 0.0

    def rates(t: float, y: np.ndarray) -> list[float]:
        zb, zw, vb, vw = y
        at = speed * t
        h, dh = (float(road(at)), float(road(at, 1)) * speed) if at <= 30 else (float(z[-1]), 0.0)
        travel, rate = zb - zw, vb - vw
        force = -ks * (travel - G * body / ks) - cs * rate
        force += pressed(-0.06 - travel, -rate, stop, 2 * stop) - pressed(travel - 0.07, rate, stop, 2 * stop)
        low = G * (body + wheel) / kt
        tire = pressed(low - (zw - h), dh - vw, kt, 0.3 * kt)
        return [vb, vw, force / body - G, (tire - force) / wheel - G]

    run = kg.simulate("quarter-car", 2.4, rtol=1e-9, atol=1e-11)
    theirs = solve_ivp(rates, (0, 2.4), [0, 0, 0, 0], method="DOP853", rtol=1e-9, atol=1e-11, max_step=4e-3)
    for name, column in zip(("zb", "zw", "zb'", "zw'"), theirs.y, strict=True):
        assert run[name][-1] == pytest.approx(column[-1], abs=1e-6)
    travel = run["zb"] - run["zw"]
    assert travel.min() < -0.06 or travel.max() > 0.07  # a stop works
    tire = run["zw"] - road(np.clip(speed * run.t, 0, 30))
    assert tire.max() > G * 340 / kt  # the wheel leaves the road behind the pothole or the bump


def test_the_follower_presses_on_the_cam_as_the_closed_form_and_jumps_where_it_vanishes() -> None:
    degrees, millimeters = _columns("cam.csv")
    lift = CubicSpline(np.radians(degrees), millimeters / 1000, bc_type="periodic")
    mass, k, preload = 0.25, 6000.0, 60.0

    def force(angle: np.ndarray, w: float) -> np.ndarray:
        return mass * (G + lift(angle, 2) * w * w) + k * lift(angle) + preload

    run = kg.simulate("cam-follower", 0.02, method="rk4", step=1e-4, native=False)  # 900 rpm: most of the rise
    w = 900 * np.pi / 30
    assert run["y"] == pytest.approx(lift(w * run.t), abs=1e-9)
    inner = (run.t > 1e-3) & (run.t < 0.019)
    assert run["surface.normal"][inner] == pytest.approx(force(w * run.t[inner], w), abs=1e-2)

    angles = np.linspace(0, 2 * np.pi, 3601)
    jump = brentq(lambda speed: force(angles, speed).min(), 50, 500)
    assert jump * 30 / np.pi == pytest.approx(1490.5, abs=0.1)
    for factor, leaves in ((0.99, False), (1.03, True)) if SOAK else ((1.03, True),):
        found = kg.simulate(
            "cam-follower", 0.02, parameters={"spin": factor * jump}, method="rk4", step=1e-4, native=False
        )
        assert bool(found["surface.gap"].max() > 1e-6) is leaves


def test_the_planetary_gear_accelerates_and_transmits_by_willis() -> None:
    ratio = 1 + 60 / 24
    spin = -24 / 18 * (1 - 1 / ratio) + 1 / ratio  # of a planet in space, for one of the sun
    a = 0.002 * 42 / 2
    inertia = 2e-4 + 8e-4 / ratio**2 + 3 * (0.15 * a**2 / ratio**2 + 1e-4 * spin**2)
    model = kg.load("planetary-gear")
    run = kg.simulate(model, 0.1)
    wanted = (3 - 8 / ratio) / inertia
    assert run["s'"][-1] == pytest.approx(0.1 * wanted, rel=1e-9)
    assert run["c'"][-1] == pytest.approx(0.1 * wanted / ratio, rel=1e-9)
    speeds = kg.compile(model, "velocity:P2")(q=np.zeros(6), v=[ratio, 1, 0, *[ratio * spin - 1] * 3])
    assert speeds[5] == pytest.approx(ratio * spin, rel=1e-12)
    still = kg.simulate(model, 0.1, parameters={"load": 3 * ratio})  # balanced: it does not move
    assert np.abs(still["s"]).max() < 1e-12


def test_the_toggle_presses_by_its_angle_and_locks_behind_its_dead_center() -> None:
    angle, push = 0.2, 150.0
    text = _MODELS.joinpath("toggle-clamp.kg").read_text("utf-8").replace("gravity 0, -9.81, 0;", "")
    model = kg.parse(text + "unknown F; force jaw_force | value(-F), on(x);")
    at = {"a": f"{angle}", "b": f"{-angle}", "x": f"{0.16 * np.cos(angle)}"}
    found = kg.unknown_forces(model, at, times=[0.0], parameters={"thickness": 1.0, "push": push})
    assert found["F"][0] == pytest.approx(push / (2 * np.tan(angle)), rel=1e-9)

    over, work, stop = np.radians(3), 2e6, 2e4

    def slope(a: float, hand: float) -> float:
        """The slope of the energy of the piece, the stop, the hand and the weights over the angle."""
        x, dx = 0.16 * np.cos(a), -0.16 * np.sin(a)
        squeezed = work * max(0.0, x - 0.1597) * dx
        return squeezed + stop * min(0.0, a + over) + hand * 0.08 * np.cos(a) + 0.4 * G * 0.04 * np.cos(a)

    clamped = kg.simulate("toggle-clamp", 0.5, times=[0, 0.5])
    assert clamped["a"][-1] == pytest.approx(brentq(slope, -0.2, -0.02, args=(push,)), abs=1e-9)
    start = {name: clamped[name][-1] for name in ("a", "b", "x")}
    free = kg.simulate("toggle-clamp", 0.6, state=start, parameters={"push": 0}, times=[0, 0.5, 0.6])
    held = brentq(slope, -0.2, -0.02, args=(0.0,))
    assert held < -0.02  # it stays behind the dead center without the hand
    assert free["a"][1:] == pytest.approx([held, held], abs=1e-9)


def _excavator_rates(t: float, y: np.ndarray, commands: list) -> np.ndarray:
    """Planar Newton and Euler, point by point: the second program."""
    lengths, masses = np.array([3.0, 1.6, 0.7]), np.array([900.0, 450.0, 300.0])
    along = np.array([0.45, 0.4, 0.5]) * lengths
    inertia = masses * lengths**2 / 12
    areas, oil = np.array([120e-4, 80e-4, 60e-4]), np.array([40e9, 60e9, 80e9])
    q, v, x, p = y[:3], y[3:6], y[6:9], y[9:]
    angle, spin = np.cumsum(q), np.cumsum(v)
    out = np.column_stack([np.cos(angle), np.sin(angle)])
    left = np.column_stack([-out[:, 1], out[:, 0]])
    joint = np.vstack([[0, 1.2], np.zeros((3, 2))])
    drift = np.zeros((4, 2))  # accelerations of the joints without those of the angles
    for i in range(3):
        joint[i + 1] = joint[i] + lengths[i] * out[i]
        drift[i + 1] = drift[i] - lengths[i] * spin[i] ** 2 * out[i]

    def row(i: int, point: np.ndarray) -> np.ndarray:
        """Columns: the velocity of a point of body i for each joint rate."""
        arms = point - joint[: i + 1]
        found = np.zeros((2, 3))
        found[:, : i + 1] = np.column_stack([-arms[:, 1], arms[:, 0]]).T
        return found

    H, force = np.zeros((3, 3)), np.zeros(3)
    for i in range(3):
        center = joint[i] + along[i] * out[i]
        J = row(i, center)
        turn = (np.arange(3) <= i).astype(float)
        H += masses[i] * J.T @ J + inertia[i] * np.outer(turn, turn)
        force -= masses[i] * J.T @ (drift[i] - along[i] * spin[i] ** 2 * out[i] + np.array([0, G]))

    def placed(i: int, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
        point = joint[i] + a * out[i] + b * left[i]
        return point, row(i, point)

    fixed = np.array([0.5, 0.9]), np.zeros((2, 3))
    ends = [
        (fixed, placed(0, 1.35, 0.15)), (placed(0, 1.65, 0.35), placed(1, -0.35, 0.15)),
        (placed(1, 0.2, 0.3), placed(2, 0.15, 0.25)),
    ]  # fmt: skip
    stretch = []
    for ((a, Ja), (b, Jb)), pressure, area in zip(ends, p, areas, strict=True):
        way = (b - a) / np.linalg.norm(b - a)
        rate = way @ (Jb - Ja)
        stretch.append(rate @ v)
        force += area * pressure * rate
    u = np.array([command(t) for command in commands])
    return np.concatenate([v, np.linalg.solve(H, force), (u - x) / 0.06, oil * (2e-3 * x - areas * np.array(stretch))])


def test_the_excavator_moves_as_newton_and_euler_say_and_rests_with_closed_valves() -> None:
    model = kg.load("excavator")
    names = ("q1", "q2", "q3", "q1'", "q2'", "q3'", "x1", "x2", "x3", "p1", "p2", "p3")
    rest = kg.simulate(model, 5.0, inputs={"u1": 0, "u2": 0, "u3": 0})
    assert max(np.ptp(rest[name]) for name in names[:3]) < 1e-9  # it does not creep
    start = np.array([rest[name][0] for name in names])
    commands = [lambda t: np.sin(3 * t), lambda t: 0.5 - 0.5 * np.cos(2 * t), lambda t: -0.3 * t]
    formulas = {"u1": "sin(3*t)", "u2": "0.5 - 0.5*cos(2*t)", "u3": "-0.3*t"}
    run = kg.simulate(model, 0.8, inputs=formulas, rtol=1e-9, atol=1e-9)
    theirs = solve_ivp(_excavator_rates, (0, 0.8), start, args=(commands,), method="DOP853", rtol=1e-9, atol=1e-9)
    for place, name in enumerate(names):
        scale = 1e6 if name.startswith("p") else 1.0
        assert run[name][-1] == pytest.approx(theirs.y[place, -1], abs=2e-6 * scale), name
