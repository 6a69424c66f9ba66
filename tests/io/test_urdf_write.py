"""Mechanisms written as URDF and read again have the same coordinates, numbers and extras."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.export import export
from kinegraph.io.options import UrdfOptions
from kinegraph.io.robot.findings import Base
from kinegraph.io.urdf import load_urdf, parse_urdf
from kinegraph.io.urdf.joint_chains import Attitude, Move, Turn, origin, pose
from kinegraph.io.urdf.writer import write_urdf
from kinegraph.model.joint_models import JointModel, with_elements
from kinegraph.model.mechanism import Axis

DATA = Path(__file__).parent / "data"
PANDA = DATA.parents[1] / "data" / "panda.urdf"


def again(mechanism: kg.Mechanism, base: Base = Base.FIXED) -> kg.Mechanism:
    return parse_urdf(write_urdf(mechanism).text, options=UrdfOptions(base=base, gravity=mechanism.gravity)).mechanism


def assert_same_numbers(first: kg.Mechanism, second: kg.Mechanism) -> None:
    """tau and H agree at a random state, coordinate by coordinate."""
    assert set(first.layout.positions) == set(second.layout.positions)
    random = np.random.default_rng(5)
    state = {name: random.uniform(-1, 1) for name in (*first.layout.positions, *first.layout.velocities)}
    state |= {name: random.uniform(-1, 1) for name in first.layout.accelerations}
    order = [second.layout.velocities.index(name) for name in first.layout.velocities]
    tau, inertia = dynamics(first, state)
    other_tau, other_inertia = dynamics(second, state)
    np.testing.assert_allclose(other_tau[order], tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    np.testing.assert_allclose(other_inertia[np.ix_(order, order)], inertia, rtol=0, atol=1e-12 * inertia.max())


def dynamics(mechanism: kg.Mechanism, state: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """tau at a state, and H column by column; loops over bodies need no code of their own for every mechanism."""
    tau = kg.compile(mechanism, "tau", loops=True)
    q, v, a = (
        np.array([state[name] for name in names])
        for names in (mechanism.layout.positions, mechanism.layout.velocities, mechanism.layout.accelerations)
    )
    rest = tau(q, 0 * v, 0 * v)
    return tau(q, v, a), np.array([tau(q, 0 * v, column) - rest for column in np.eye(len(v))]).T


@pytest.mark.parametrize("base", Base)
@pytest.mark.parametrize("path", [DATA / "every_joint.urdf", PANDA], ids=lambda path: path.stem)
def test_a_robot_comes_back(path: Path, base: Base) -> None:
    robot = load_urdf(path, options=UrdfOptions(base=base)).mechanism
    back = again(robot, base)
    assert back.layout.positions == robot.layout.positions and back.layout.velocities == robot.layout.velocities
    kept = {body.name for body in robot.bodies}
    assert [body.name for body in back.bodies if body.name in kept] == [body.name for body in robot.bodies]
    assert set(robot.extras) <= set(back.extras)
    assert_same_numbers(robot, back)


@pytest.mark.parametrize("model", ["kidym-biped-old", "kidym-biped-new", "stanford", "rackovic-6r"])
def test_a_model_of_the_library_becomes_a_robot(model: str) -> None:
    mechanism = kg.load(model)
    written = write_urdf(mechanism)
    back = parse_urdf(written.text, options=UrdfOptions(gravity=mechanism.gravity)).mechanism
    assert_same_numbers(mechanism, back)
    for point in mechanism.points[:1]:
        assert any(point.name in note for note in written.notes)
        q = np.random.default_rng(1).uniform(-1, 1, len(mechanism.layout.positions))
        order = [mechanism.layout.positions.index(name) for name in back.layout.positions]
        np.testing.assert_allclose(
            kg.compile(back, f"pose:{point.name}")(q[order])[:3, 3],
            kg.compile(mechanism, f"pose:{point.name}")(q)[:3, 3],
            atol=1e-14,
        )


COUPLED = """
    model coupled;
    parameters k = 0.02;
    coordinates a, b, s;
    gravity 0, 0, -9.81;
    First       | Rz(0.5*a + 0.3), Sx(0.2)           | Sx(0.1), m(1), Jz(0.1), Jx(0.2), Jy(0.2);   # before its leader
    Second~First | Ry(pi/2), Rx(-(a - 0.4)), Sy(0.1)  | m(2), Jx(0.1), Jy(0.1), Jz(0.1);
    Screw~Second | Rz(b), Sz(k*b + 0.01), Q(1, 2, 3, 4), Sx(0.3) | m(3), Jxy(0.01), Jx(0.2), Jy(0.3), Jz(0.4);
    Tilted~Screw | Rx(0.3), Rz((2^2*s + sqrt(4)*2)/4), Rx(-0.3)   | Sy(0.2), m(1), Jx(0.01), Jy(0.01), Jz(0.01);
    Other        | Sx(1), Sy(-s)                      | m(2);
"""


def test_coupled_joints_mimic() -> None:
    mechanism = kg.parse(COUPLED)
    written = write_urdf(mechanism)
    assert written.text.count("<mimic") == 3
    assert_same_numbers(mechanism, again(mechanism))


BRAKED = """
    model braked;
    parameters c = 0.3;
    coordinates a, b;
    gravity 0, 0, -9.81;
    First        | Ry(a)              | Sz(-1), m(1);
    Second~First | Sz(-1), Ry(b)      | Sz(-1), m(2);
    Third~Second | Sz(-1), Ry(2*b)    | Sz(-1), m(1);
    damper oil   | on(a), damping(c);
    damper twice | on(2*a'), damping(0.1);
    friction dry | on(-b), coulomb(0.5), viscous(0.2);
"""


def test_damping_and_friction_become_dynamics() -> None:
    """Fault 28: elements that brake one coordinate are URDF's <dynamics>; what is read back brakes as much."""
    mechanism = kg.parse(BRAKED)
    written = write_urdf(mechanism)
    assert '<dynamics damping="0.7" friction="0" />' in written.text
    assert '<dynamics damping="0.2" friction="0.5" />' in written.text
    assert any("smoothing" in note for note in written.notes)
    back = with_elements(parse_urdf(written.text).mechanism, JointModel(dry_friction=True))
    q, v, zero = [0.3, -0.2], [0.4, 0.7], [0.0, 0.0]
    expected = kg.compile(mechanism, "tau")(q, v, zero)
    np.testing.assert_allclose(kg.compile(back, "tau")(q, v, zero), expected, rtol=1e-12)


def test_friction_of_elements_adds_to_that_of_a_robot() -> None:
    """A robot read with its damping as elements goes out as it came in."""
    bare, full = (kg.load(DATA / "every_joint.urdf", elements=elements) for elements in (False, True))
    assert full.elements and not bare.elements
    assert write_urdf(full).text == write_urdf(bare).text


def test_notes_name_what_is_lost() -> None:
    notes = "\n".join(write_urdf(kg.load("stanford")).notes)
    assert "joint d32 has no limits" in notes and "initial positions" in notes
    moon = kg.parse("coordinates q; gravity 0, 0, -1.62; A | Ry(q) | Sz(-1), m(1);")
    assert "gravity is not part of URDF" in "\n".join(write_urdf(moon).notes)
    assert "--floating" in write_urdf(load_urdf(PANDA, options=UrdfOptions(base="floating")).mechanism).notes[0]
    assert "free_x, free_y" in "\n".join(
        write_urdf(
            kg.parse(
                "coordinates x, y, z; quaternion (a, b, c, d) velocity (u, v, w);"
                "free | Sx(x), Sy(y), Sz(z), Q(a, b, c, d) | m(1), Jx(1), Jy(1), Jz(1);"
            )
        ).notes
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parameters l; coordinates q; A | Ry(q) | Sz(-l), m(1);", "the parameter l has no value"),
        ("coordinates q; A | Ry(sin(q)) | m(1), Jy(1);", r"body A: `sin\(q\)` is not linear in q"),
        ("coordinates p, q; A | Ry(p*q) | m(1), Jy(1);", "body A: `p.q` depends on p and q"),
        ("coordinates q; A | Ry(1/q) | m(1), Jy(1);", "is not linear in q"),
        ("coordinates q; A | Ry(q^2) | m(1), Jy(1);", "is not linear in q"),
        ("coordinates q; A | Ry(2*q) | m(1), Jy(1);", r"q drives joints only as 2\*q"),
        ("coordinates q; A | Ry(q), Sx(sin(t)) | m(1), Jy(1);", "body A has a prescribed motion"),
        (
            "quaternion (a, b, c, d) velocity (x, y, z); Top | Q(a, b, c, d) | m(1), Jx(1), Jy(1), Jz(1);",
            "body Top has a ball joint",
        ),
        (
            "coordinates q; A | Ry(q) | Sz(-1), m(1); spring strut | between(A, (1, 0, 0)), stiffness(3), rest(1);",
            "spring strut cannot be written as URDF",
        ),
        (
            "coordinates q; A | Ry(q) | Sz(-1), m(1); damper d | between(A(0, 0, -1), (1, 0, 0)), damping(3);",
            "damper d cannot be written as URDF",
        ),
        (
            "coordinates p, q; A | Ry(p) | Sz(-1), m(1); B~A | Ry(q) | Sz(-1), m(1); damper d | on(p - q), damping(3);",
            "damper d: `p - q` depends on p and q",
        ),
        (
            "coordinates q; A | Ry(q) | Sz(-1), m(1); damper d | on(q), force(rate^3);",
            "damper d cannot be written",
        ),
        ("coordinates q; A | Ry(q) | Sz(-1), m(1); damper d | on(q), damping(1 + t);", "damper d depends on t"),
        (
            "coordinates q; A | Ry(q) | Sz(-1), m(1); damper d | on(q' - 1), damping(2);",
            "damper d cannot be written as URDF",
        ),
    ],
)
def test_what_urdf_cannot_express_is_named(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as error:
        write_urdf(kg.parse(text))
    assert "\n  " in str(error.value)  # a remedy follows


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 + 1e-13, 0.3])
def test_roll_pitch_yaw_are_exact_where_the_pitch_is_a_right_angle(pitch: float) -> None:
    way = [
        Turn(Axis.Z, 0.7),
        Turn(Axis.Y, pitch),
        Turn(Axis.X, -0.4),
        Attitude((1.0, 0.0, 0.0, 1e-3)),
        Move(Axis.X, 2.0),
    ]
    xyz, (roll, pitch_, yaw) = origin(way)
    written = [Turn(Axis.Z, yaw), Turn(Axis.Y, pitch_), Turn(Axis.X, roll)]
    np.testing.assert_allclose(pose(written)[0], pose(way)[0], atol=4e-16)
    np.testing.assert_allclose(xyz, pose(way)[1], atol=1e-15)


def test_records_of_a_robot_come_back() -> None:
    """The other way out: a robot as record text is the same mechanism, but for what the language has no words for."""
    robot = kg.load(PANDA)
    assert kg.parse(kg.write(robot)).bodies == robot.bodies


def test_the_export_writes_one_file(tmp_path: Path) -> None:
    report = export(kg.load(PANDA), "", "urdf", tmp_path / "mine.urdf")
    assert report.files == (tmp_path / "mine.urdf",)
    again = export(kg.load(tmp_path / "mine.urdf"), "", "urdf", tmp_path / "mine.urdf")
    assert again.notes == ()
    assert export(kg.load(PANDA), "", "records", tmp_path).files[0].name == "panda.kg"
