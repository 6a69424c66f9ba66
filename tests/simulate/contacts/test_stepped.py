"""Contacts inside the steps of a simulator: closed forms, conserved quantities, one scene in many descriptions."""

from __future__ import annotations

import pickle
from dataclasses import replace
from math import atan, cos, pi, sin, tan

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import LeftOutWarning, SolveError
from kinegraph.model.changes.shape_contacts import with_contacts
from kinegraph.model.robot_data import Shape, ShapeKind
from kinegraph.simulate.contacts.stepped import ContactSettings
from kinegraph.simulate.simulator import Simulator

G = 9.81


def body(name: str, place: tuple[float, float, float], shape: str, mass: float, moments: tuple[float, float, float]):
    """A free body with a shape around its center of mass."""
    x, y, z = place
    jx, jy, jz = moments
    return (
        f"coordinates {name}x = {x}, {name}y = {y}, {name}z = {z}; "
        f"quaternion ({name}0, {name}1, {name}2, {name}3) velocity ({name}u, {name}v, {name}w); "
        f"{name} | Sx({name}x), Sy({name}y), Sz({name}z), Q({name}0, {name}1, {name}2, {name}3) "
        f"| m({mass}), Jx({jx}), Jy({jy}), Jz({jz}); shape {name} | {shape}; "
    )


def ball(name: str = "A", place: tuple[float, float, float] = (0, 0, 1), r: float = 0.1, mass: float = 1.0) -> str:
    return body(name, place, f"Sx(0) | sphere({r})", mass, (0.4 * mass * r * r,) * 3)


def box(name: str = "A", place: tuple[float, float, float] = (0, 0, 0.1), half=(0.1, 0.1, 0.1), mass: float = 1.0):
    a, b, c = (h * h for h in half)
    sizes = ", ".join(str(2 * h) for h in half)
    moments = (mass / 3 * (b + c), mass / 3 * (a + c), mass / 3 * (a + b))
    return body(name, place, f"Sx(0) | box({sizes})", mass, moments)


def gravity(angle: float = 0.0, turn: float = 0.0, size: float = G) -> str:
    """Down a plane that is inclined by an angle, in a direction along the plane."""
    x, y = size * sin(angle) * cos(turn), size * sin(angle) * sin(turn)
    return f"gravity {x!r}, {y!r}, {-size * cos(angle)!r}; "


def stepped(text: str, dt: float = 1e-3, state: dict[str, float] | None = None, **settings: object) -> Simulator:
    sim = kg.simulator(
        kg.parse(text),
        dt=dt,
        state=state,
        contacts=ContactSettings(**{"ground": 0.0, **settings}),  # type: ignore[arg-type]
    )
    assert isinstance(sim, Simulator)
    return sim


def energy(text: str, sim: Simulator) -> float:
    robot = kg.robot(kg.parse(text))
    return float(robot.kinetic_energy(sim.q, sim.v) + robot.potential_energy(sim.q))


@pytest.mark.parametrize("turn", [0.0, 0.7])
@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_a_block_stops_or_slides_at_the_angle_of_friction(mu: float, turn: float) -> None:
    for angle in (atan(mu) - 1e-3, atan(mu) + 1e-3):
        sim = stepped(gravity(angle, turn) + box(), friction=mu)
        sim.step(steps=500)
        acceleration = max(0.0, G * (sin(angle) - mu * cos(angle)))
        assert (acceleration > 0) == (tan(angle) > mu)
        way = 0.5 * acceleration * 0.5**2
        assert sim.q[:3] == pytest.approx([way * cos(turn), way * sin(turn), 0.1], abs=4e-5)
        assert np.hypot(sim["Ax'"], sim["Ay'"]) == pytest.approx(acceleration * 0.5, abs=2e-4)


def test_a_sliding_block_stops_where_friction_took_its_energy() -> None:
    ends = []
    for dt in (2e-3, 1e-3):
        sim = stepped(gravity() + box(half=(0.2, 0.2, 0.01), place=(0, 0, 0.01)), dt, {"Ax'": 1.0}, friction=0.4)
        sim.step(steps=round(0.6 / dt))
        assert np.abs(sim.v).max() < 1e-9
        ends.append(sim["Ax"] - 1 / (2 * 0.4 * G))
    assert abs(ends[1]) < 2e-5


@pytest.mark.parametrize(
    ("shape", "turned", "inertia", "speed_of"),
    [
        ("sphere(0.1)", 0.0, 0.4, 5 / 7),
        ("cylinder(0.1, 0.3)", pi / 2, 0.5, 2 / 3),
        ("capsule(0.1, 0.3)", pi / 2, 0.5, 2 / 3),
    ],
)
def test_round_bodies_roll_down(shape: str, turned: float, inertia: float, speed_of: float) -> None:
    angle, moment = 0.3, inertia * 0.01
    text = gravity(angle) + body("A", (0, 0, 0.1), f"Rx({turned!r}) | {shape}", 1.0, (moment,) * 3)
    sim = stepped(text, friction=1.0)
    sim.step(steps=400)
    assert sim["Ax'"] == pytest.approx(speed_of * G * sin(angle) * 0.4, rel=1e-6)
    assert sim["Ax"] == pytest.approx(0.5 * speed_of * G * sin(angle) * 0.4**2, rel=1e-6)
    assert sim["Az"] == pytest.approx(0.1, abs=1e-10)


@pytest.mark.parametrize("e", [1.0, 0.8, 0.5])
def test_a_ball_bounces_as_in_the_exact_solver(e: float) -> None:
    text = gravity() + ball()
    sim = stepped(text, restitution=e)
    exact = kg.simulate(
        kg.parse(f"coordinates z = 1; {gravity()} B | Sz(z) | m(1); contact floor | z - 0.1 >= 0 | restitution({e});"),
        1.2, times=np.linspace(0, 1.2, 13),
    )  # fmt: skip
    heights = []
    for _ in range(12):
        sim.step(steps=100)
        heights.append(sim["Az"])
    assert np.allclose(heights, exact["z"][1:], atol=3e-6)  # quaternions of length 1 only to rounding
    if e == 1.0:
        assert energy(text, sim) == pytest.approx(G * 1, rel=1e-12)


def test_a_gap_contact_of_the_model_is_stepped_too() -> None:
    chain = kg.load("bouncing-chain")
    ends = np.array([kg.simulate(chain, 3)[name][-1] for name in chain.layout.positions])
    sim = kg.simulator(chain, dt=1e-3)
    assert isinstance(sim, Simulator)
    sim.step(steps=3000)
    assert np.abs(sim.q - ends).max() < 1e-2  # after some twenty impacts, which multiply differences
    assert sum(float(one.force[0]) for one in sim.contacts) == pytest.approx(3 * G, rel=1e-6)


def test_a_box_rests_without_drift() -> None:
    sim = stepped(gravity(0.2) + box(), friction=0.5)
    sim.step(steps=5)
    before = sim.q.copy()
    sim.step(steps=100_000)
    assert np.abs(sim.q - before).max() < 1e-12
    forces = sum(one.force for one in sim.contacts)
    assert forces == pytest.approx([-G * sin(0.2), 0, G * cos(0.2)], abs=1e-9)


def test_stacked_boxes_stay_stacked() -> None:
    text = gravity() + "".join(box(name, (0, 0, 0.1 + 0.2 * k)) for k, name in enumerate("ABCDEF"))
    sim = stepped(text)
    begin = sim.q.copy()
    sim.step(steps=3000)
    assert np.abs(sim.q - begin).max() < 1e-9
    assert np.abs(sim.v).max() < 1e-9


def test_a_conveyor_takes_a_box_along() -> None:
    text = gravity() + "Belt | Sx(0.5*t) | ; shape Belt | Sz(-0.05) | box(10, 10, 0.1); " + box()
    sim = stepped(text, friction=0.5, ground=None)
    sim.step(steps=500)
    assert sim["Ax'"] == pytest.approx(0.5, abs=1e-9)
    assert sim["Ax"] == pytest.approx(0.5 * 0.5 - 0.5**2 / (2 * 0.5 * G), abs=3e-4)


def test_a_closed_loop_meets_a_stop_as_in_the_exact_solver() -> None:
    stopped = kg.parse(kg.write(kg.load("four-bar")) + "contact stop | 1.2 - crank >= 0 | restitution(0.5);")
    state = {"crank": 1.0, "crank'": 3.0}
    sim, exact = kg.simulator(stopped, state=state), kg.simulate(stopped, 0.5, state=state)
    sim.step(steps=500)
    assert [sim["crank"], sim["crank'"]] == pytest.approx([exact["crank"][-1], exact["crank'"][-1]], abs=1e-6)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_energy_never_grows(e: float) -> None:
    text = gravity() + box(place=(0, 0, 1), half=(0.1, 0.2, 0.3))
    state = {"A0": 0.8, "A1": 0.4, "A2": 0.4, "A3": 0.2, "Au": 3.0, "Ax'": 2.0}
    sim = stepped(text, state=state, restitution=e, friction=0.6)
    found = [energy(text, sim)]
    for _ in range(150):
        sim.step(steps=10)
        found.append(energy(text, sim))
    growth = np.array(found) - np.minimum.accumulate(found)
    assert growth.max() < (3e-3 if e == 0 else 1e-5)
    assert found[-1] < 0.9 * found[0]


@pytest.mark.parametrize("e", [0.0, 1.0])
def test_collisions_keep_momentum(e: float) -> None:
    text = (
        "gravity 0, 0, 0; "
        + box("A", (0, 0, 0))
        + body("B", (0.5, 0.05, 0.02), "Ry(1) | capsule(0.1, 0.4)", 2, (0.03, 0.03, 0.01))
    )
    robot, changes = kg.robot(kg.parse(text)), []
    for dt in (1e-3, 2.5e-4):
        sim = stepped(text, dt, {"Ax'": 2, "Bx'": -1, "Aw": 3}, restitution=e, ground=None)
        before, start = robot.centroidal_momentum(sim.q, sim.v), robot.com(sim.q)
        begun = robot.kinetic_energy(sim.q, sim.v)
        sim.step(steps=round(0.4 / dt))
        change = robot.centroidal_momentum(sim.q, sim.v) - before
        assert np.abs(sim.v - np.r_[2.0, 0, 0, 0, 0, 3, -1, np.zeros(5)]).max() > 0.1  # they met
        assert np.abs(change[:3]).max() < 1e-12
        assert robot.com(sim.q) == pytest.approx(start + 0.4 * before[:3] / 3, abs=1e-12)
        assert robot.kinetic_energy(sim.q, sim.v) < begun + 1e-12
        changes.append(np.abs(change[3:]).max())
    assert max(changes) < 3e-4  # of 0.1; angular momentum is kept to the order of the step


def test_a_scene_turned_renamed_and_scaled_moves_the_same() -> None:
    state = {"A0": 0.8, "A1": 0.4, "A2": 0.4, "A3": 0.2, "Au": 3.0}
    text = gravity() + box(place=(0, 0, 0.5)) + ball("B", (0.05, 0.02, 1.2))
    sim = stepped(text, state=state, friction=0.5, restitution=0.3)
    sim.step(steps=400)
    renamed = stepped(
        gravity() + box("Q", (0, 0, 0.5)) + ball("P", (0.05, 0.02, 1.2)),
        state={name.replace("A", "Q"): value for name, value in state.items()}, friction=0.5, restitution=0.3,
    )  # fmt: skip
    renamed.step(steps=400)
    assert np.array_equal(sim.state, renamed.state)
    # lengths in millimeters, masses in grams
    scaled = kg.parse(
        gravity(size=1000 * G) + box(place=(0, 0, 500), half=(100, 100, 100), mass=1000)
        + ball("B", (50, 20, 1200), r=100, mass=1000)
    )  # fmt: skip
    small = kg.simulator(
        scaled, dt=1e-3, state=state, contacts=ContactSettings(ground=0.0, friction=0.5, restitution=0.3)
    )
    small.step(steps=400)
    for name in ("Ax", "Ay", "Az", "Bx", "By", "Bz"):
        assert small[name] / 1000 == pytest.approx(sim[name], abs=1e-7)
    # turned about the vertical
    angle = 0.6
    a, b, c, d = cos(angle / 2), sin(angle / 2), cos(angle), sin(angle)
    place = (0.05 * c - 0.02 * d, 0.05 * d + 0.02 * c, 1.2)
    start = {"A0": a * 0.8 - b * 0.2, "A1": a * 0.4 - b * 0.4, "A2": a * 0.4 + b * 0.4, "A3": a * 0.2 + b * 0.8}
    turned = stepped(
        gravity() + box(place=(0, 0, 0.5)) + ball("B", place), state=start | {"Au": 3.0}, friction=0.5, restitution=0.3
    )
    turned.step(steps=400)
    for one in "AB":
        x, y = sim[one + "x"], sim[one + "y"]
        wanted = [x * c - y * d, x * d + y * c, sim[one + "z"]]
        assert [turned[one + axis] for axis in "xyz"] == pytest.approx(wanted, abs=1e-6)


def test_interpreted_compiled_and_rows_agree() -> None:
    text = gravity() + box(place=(0, 0, 0.105)) + box("B", (0.05, 0.03, 0.265), (0.1, 0.15, 0.05))
    mechanism, settings = kg.parse(text), ContactSettings(ground=0.0, restitution=0.2)
    compiled, interpreted = (
        kg.simulator(mechanism, dt=4e-3, contacts=settings, native=native, state={"Bu": 1.0})
        for native in (True, False)
    )
    rows = kg.simulator(mechanism, dt=4e-3, contacts=settings, count=3, state={"Bu": 1.0})
    for sim in (interpreted, rows):
        sim.step(steps=25)
    for _ in range(25):
        compiled.step()
        assert compiled.residual < 1e-10  # m/s, though corners of both boxes jam each other
    assert len(compiled.contacts) >= 4  # type: ignore[union-attr]
    np.testing.assert_allclose(interpreted.state, compiled.state, atol=1e-6)
    for row in rows.state:
        assert np.array_equal(row, compiled.state)


def test_a_snapshot_holds_what_contacts_take_over() -> None:
    sim = stepped(gravity(0.3) + box(place=(0, 0, 0.3)) + ball("B", (0, 0, 0.8)), friction=0.3, restitution=0.4)
    sim.step(steps=300)
    saved = pickle.loads(pickle.dumps(sim.save()))
    other = sim.copy()
    sim.step(steps=200)
    other.step(steps=200)
    assert np.array_equal(sim.state, other.state)
    other.restore(saved)
    other.step(steps=200)
    assert np.array_equal(sim.state, other.state)
    sim.reset()
    sim.step(steps=300)
    assert np.array_equal(sim.state, saved.state[: len(sim.state)])


def test_joint_ranges_hold(tmp_path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><compiler angle="radian"/><worldbody><body name="arm">'
        '<joint name="q" axis="0 1 0" range="-0.5 0.7" limited="true" solreflimit="0.02 1"/>'
        '<inertial pos="0 0 -1" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>'
    )
    with pytest.warns(LeftOutWarning):
        arm = kg.load(path)
    with pytest.warns(LeftOutWarning, match="left out of rigid contacts"):
        sim = kg.simulator(arm, contacts=True, state={"q'": 8.0})
    found = []
    for _ in range(1500):
        sim.step()
        found.append(sim["q"])
    assert -0.5 - 1e-5 < min(found) < -0.4 and 0.69 < max(found) < 0.7 + 1e-5
    assert kg.simulator(arm, contacts=ContactSettings(limits=True), inputs={"q": "50"}).contacts == ()


def test_dry_friction_of_joints_and_tendons_stops_and_holds(tmp_path) -> None:
    path = tmp_path / "dry.xml"
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 2 3"/></body>'
    path.write_text(
        '<mujoco><option gravity="0 0 0"/><worldbody>'
        f'<body name="a"><joint name="s" type="slide" axis="1 0 0" frictionloss="1"/>{inertial}'
        f'<body name="b"><joint name="h" axis="0 0 1"/>{inertial}'
        f'<body name="c"><joint name="k" type="ball" frictionloss="0.6"/>{inertial}</worldbody>'
        '<tendon><fixed name="t" frictionloss="0.75"><joint joint="h" coef="2"/></fixed></tendon></mujoco>'
    )
    with pytest.warns(LeftOutWarning, match="dry friction"):
        model = kg.load(path)
    start = {"s'": 1.0, "h'": 1.0, "k_wz": 0.5}
    sim = kg.simulator(model, dt=0.01, contacts=True, controls=["s"], state=start)
    sim.step(steps=50)
    assert (sim["s'"], sim["h'"], sim["k_wz"]) == pytest.approx((0.5, 0.75, 0.4), abs=1e-12)
    assert (sim["s"], sim["h"]) == pytest.approx((0.375, 0.4375), abs=1e-12)
    sim.step(steps=300)
    assert (sim["s"], sim["h"]) == pytest.approx((0.5, 1.0), abs=1e-12) and np.abs(sim.v).max() < 1e-12
    sim.step([0.999], steps=50)
    assert sim["s"] == pytest.approx(0.5, abs=1e-12)
    sim.step([1.5], steps=100)
    assert (sim["s"], sim["s'"]) == pytest.approx((0.75, 0.5), abs=1e-12) and sim.contacts == ()


def test_what_cannot_be_stepped_is_refused_in_words() -> None:
    with pytest.raises(SolveError, match="nothing that can touch"):
        kg.simulator("double-pendulum", contacts=True)
    with pytest.raises(SolveError, match="declares contacts, which contacts=False would ignore"):
        kg.simulator("bouncing-chain", contacts=False)
    with pytest.raises(SolveError, match="restitution is 1"):
        ContactSettings(restitution=1.5)
    floor = Shape(ShapeKind.PLANE, None, (), ())
    model = kg.parse(gravity() + box())
    with_corners = with_contacts(replace(model, extras=(*model.extras, floor)))
    with pytest.raises(SolveError, match=r"contacts of shapes would act twice, by the model \(ground_1_touch_1"):
        kg.simulator(with_corners, contacts=True)
    kg.simulator(with_corners, contacts=ContactSettings(shapes=False)).step()
    full = stepped(gravity() + box(), most=2)
    before = full.state.copy()
    with pytest.raises(SolveError, match=r"more than 2 contacts at once: give ContactSettings\(most=8\)"):
        full.step()
    assert np.array_equal(full.state, before)


@pytest.mark.soak
def test_a_spinning_ball_stops_by_friction_of_spin_and_rolling(tmp_path) -> None:
    path = tmp_path / "ball.xml"
    text = (
        '<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 0.1"><freejoint name="b"/>'
        '<geom type="sphere" size="0.1" mass="1" friction="1 0.01 0.005" condim="{}"/></body></worldbody></mujoco>'
    )
    speeds = {}
    for dimension in (3, 4, 6):
        path.write_text(text.format(dimension))
        with pytest.warns(LeftOutWarning):
            model = kg.load(path)
        sim = kg.simulator(model, contacts=True, state={"b_wz": 1.0, "b_x'": 0.5, "b_wy": 5.0})
        sim.step(steps=20)
        speeds[dimension] = sim["b_wz"], sim["b_wy"]
    moment = 0.4 * 1 * 0.01
    assert speeds[3][0] == pytest.approx(1.0, abs=1e-6)
    assert speeds[4][0] == pytest.approx(1 - 0.01 * G / moment * 0.02, rel=3e-3)
    assert speeds[3][1] == pytest.approx(5.0, abs=1e-3) and speeds[4][1] == pytest.approx(5.0, abs=1e-3)
    assert speeds[6][1] == pytest.approx(5 - 0.005 * G / (moment + 0.01) * 0.02, rel=3e-3)
    assert 0 < speeds[6][0] < 1
