"""MJCF: what comes out of a file, against MuJoCo's numbers and against what the file says."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.io.mjcf import load_mjcf, parse_mjcf
from kinegraph.io.mjcf.numeric import pose, quaternion_of_matrix
from kinegraph.model import (
    Inertia,
    JointArmature,
    JointFriction,
    JointLimits,
    JointSpring,
    Name,
    Number,
    Quaternion,
    Rx,
    Ry,
    Rz,
    Shape,
    ShapeKind,
    expression,
    initial_positions,
    number,
)
from kinegraph.model.expression import text
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import FORMS
from tests.io.robot_numbers import Own, relative_error

DATA = Path(__file__).parent / "data"
BRANCHED = DATA / "branched.xml"
REFERENCE = json.loads((DATA.parents[1] / "data" / "robots_mujoco.json").read_text("utf-8"))["robots"][0]


def model(body: str, before: str = "") -> str:
    return f'<mujoco>{before}<worldbody><body name="b">{body}</body></worldbody></mujoco>'


def record(body: str, before: str = "") -> str:
    """The record of the one body, without its inertia."""
    mechanism = parse_mjcf(model(body, before)).mechanism
    only = (replace(mechanism.body("b"), inertia=Inertia()),)
    return next(line for line in write(replace(mechanism, bodies=only)).splitlines() if line.startswith("b |"))


def test_every_quantity_agrees_with_mujoco() -> None:
    mechanism = load_mjcf(BRANCHED, right_angles=False).mechanism
    own = Own(mechanism, ["H", "bias", "energy", "pose:elbow"])
    for state in REFERENCE["states"]:
        found = own.at(state)
        errors = {name: relative_error(found[name], state[name]) for name in ("H", "bias", "energy")}
        assert max(errors.values()) < 1e-12, errors
        assert np.allclose(found["pose:elbow"][:3, 3], state["site"], rtol=0, atol=1e-13)
    assert np.allclose(initial_positions(mechanism, {}), REFERENCE["start"], rtol=0, atol=1e-14)


def test_reading_back_the_written_model_gives_all_that_the_language_has_words_for() -> None:
    mechanism = load_mjcf(BRANCHED).mechanism
    shapes = tuple(extra for extra in mechanism.extras if isinstance(extra, Shape) and extra.kind in FORMS)
    assert shapes and parse(write(mechanism)) == replace(mechanism, extras=shapes)


def test_loops_are_reported_and_actuators_listed() -> None:
    report = load_mjcf(BRANCHED).report
    assert [finding.message for finding in report.of(FindingKind.LEFT_OUT)] == [
        "contacts: nothing stops the 7 shapes that could touch",
        "<connect> of <equality>: hand and pendulum",
        "<motor> of <actuator>: swing",
    ]
    assert "0.7071068 0.0 0.7071067 0.0" in report.of(FindingKind.NEAR_RIGHT_ANGLE)[0].message


def test_springs_friction_armature_and_limits_are_kept() -> None:
    extras = load_mjcf(BRANCHED).mechanism.extras
    twist = (Name("twist"),)
    assert JointSpring("twist", twist, expression(3), expression("pi") / 36) in extras
    assert JointFriction("twist", twist, expression(0.1)) in extras
    assert JointArmature("twist", twist, expression(0.01)) in extras
    (limits,) = (extra for extra in extras if isinstance(extra, JointLimits) and extra.joint == "twist")
    assert [text(limits.lower), text(limits.upper)] == ["-pi/2", "pi/2"]
    (ball,) = (extra for extra in extras if isinstance(extra, JointFriction) and extra.joint == "wrist")
    assert [text(name) for name in ball.displacement] == ["wrist_e0", "wrist_e1", "wrist_e2", "wrist_e3"]


def test_limits_need_a_range_and_a_switch() -> None:
    def limits(joint: str, compiler: str = "") -> list[JointLimits]:
        extras = parse_mjcf(model(joint, f"<compiler {compiler}/>")).mechanism.extras
        return [extra for extra in extras if isinstance(extra, JointLimits)]

    assert len(limits('<joint range="0 1"/>')) == 1
    assert not limits('<joint range="0 1" limited="false"/>')
    assert not limits('<joint range="0 1"/>', 'autolimits="false"')
    assert len(limits('<joint range="0 1" limited="true"/>', 'autolimits="false"')) == 1


@pytest.mark.parametrize(
    ("joint", "expected"),
    [
        ("<joint/>", "b | Rz(b_joint);"),
        ('<joint name="j" axis="0 -1 0" pos="1 0 2"/>', "b | Sx(1), Sz(2), Ry(-j), Sx(-1), Sz(-2);"),
        ('<joint name="j" ref="90"/>', "b | Rz(j - pi/2);"),
        ('<joint name="i" type="slide" axis="1 0 0"/><joint name="j" axis="1 0 0"/>', "b | Sx(i), Rx(j);"),
        ('<joint name="i" pos="1 0 0"/><joint name="j" axis="1 0 0" pos="1 0 0"/>', "b | Sx(1), Rz(i), Rx(j), Sx(-1);"),
        ('<joint name="j" type="ball"/>', "b | Q(j_e0, j_e1, j_e2, j_e3);"),
        ('<freejoint name="f"/>', "b | Sx(f_x), Sy(f_y), Sz(f_z), Q(f_e0, f_e1, f_e2, f_e3);"),
    ],
)  # fmt: skip
def test_joints(joint: str, expected: str) -> None:
    assert record(joint + '<geom type="sphere" size="1"/>') == expected


@pytest.mark.parametrize(
    ("geom", "mass", "moments"),
    [
        ('type="sphere" size="0.5"', 1000 * 4 / 3 * np.pi / 8, (0.1, 0.1, 0.1)),
        ('type="box" size="1 2 3" mass="6"', 6, (13 / 3, 10 / 3, 5 / 3)),
        ('type="cylinder" size="1 2" density="1"', 4 * np.pi, (1 / 4 + 4 / 3, 1 / 4 + 4 / 3, 0.5)),
        ('type="ellipsoid" size="1 2 3" density="3"', 24 * np.pi, (13 / 5, 10 / 5, 5 / 5)),
        ('type="capsule" size="1 0" mass="2"', 2, (0.4, 0.4, 0.4)),  # no barrel left: a ball
    ],
)
def test_inertia_of_one_geom(geom: str, mass: float, moments: tuple[float, float, float]) -> None:
    inertia = parse_mjcf(model(f'<joint/><geom pos="0.1 0 0" euler="90 0 0" {geom}/>')).mechanism.body("b").inertia
    found = [number(item, {}) for item in (inertia.mass, inertia.Jx, inertia.Jy, inertia.Jz)]
    assert found == pytest.approx([mass, *(mass * moment for moment in moments)])
    assert [text(getattr(t, "distance", None) or t.angle) for t in inertia.central] == ["0.1", "pi/2"]


def test_a_stated_inertia_goes_before_geoms_unless_the_compiler_says_otherwise() -> None:
    body = '<joint/><inertial pos="0 0 0" mass="7" diaginertia="1 1 1"/><geom type="box" size="1 1 1" mass="3"/>'
    assert parse_mjcf(model(body)).mechanism.body("b").inertia.mass == expression(7)
    always = parse_mjcf(model(body, '<compiler inertiafromgeom="true"/>'))
    assert always.mechanism.body("b").inertia.mass == expression(3)
    grouped = parse_mjcf(
        model('<joint/><geom type="box" size="1 1 1" group="3"/>', '<compiler inertiagrouprange="0 2"/>')
    )
    assert grouped.mechanism.body("b").inertia == Inertia()


def test_the_total_mass_can_be_set() -> None:
    found = parse_mjcf(model('<joint/><geom type="box" size="1 1 1" mass="3"/>', '<compiler settotalmass="6"/>'))
    assert found.mechanism.body("b").inertia.mass == Number(Fraction(6))
    assert number(found.mechanism.body("b").inertia.Jx, {}) == pytest.approx(4)


@pytest.mark.parametrize(
    ("orientation", "expected"),
    [
        ('euler="0 0 90"', "Rz(pi/2)"),
        ('quat="0.70711 0 -0.70711 0"', "Ry(-pi/2)"),
        ('quat="0 0 0 -2"', "Rz(-pi)"),
        ('quat="1 1 -1 1"', "Q(1, 1, -1, 1)"),
        ('quat="1 2 3 4"', "Q(1, 2, 3, 4)"),
        ('quat="1 0 0 0"', ""),
        ('axisangle="0 0 -3 60"', "Rz(-pi/3)"),
        ('zaxis="0 0 -1"', "Rx(pi)"),
        ('zaxis="0 2 0"', "Rx(-pi/2)"),
        ('xyaxes="1 0 0 0 2 0"', ""),
    ],
)
def test_orientations(orientation: str, expected: str) -> None:
    body = f'<mujoco><worldbody><body name="b" {orientation}/></worldbody></mujoco>'
    assert write(parse_mjcf(body).mechanism).splitlines()[-1] == f"b | {expected};"


@pytest.mark.parametrize(
    "angles", [(0.3, -0.2, 2.5), (np.pi, 0, 0), (0, np.pi, 0), (0, 0, np.pi), (3, 3, 3), (0, 0, 0)]
)
def test_quaternions_of_matrices(angles: tuple[float, float, float]) -> None:
    matrix, _ = pose([make(angle) for make, angle in zip((Rx, Ry, Rz), angles, strict=True)])
    again, _ = pose([Quaternion(quaternion_of_matrix(matrix))])
    assert np.allclose(again, matrix, rtol=0, atol=1e-15)


def test_euler_sequences() -> None:
    body = '<mujoco><compiler eulerseq="{}"/><worldbody><body name="b" euler="10 20 30"/></worldbody></mujoco>'

    def turns(sequence: str) -> str:
        return write(parse_mjcf(body.format(sequence)).mechanism).splitlines()[-1]

    assert turns("xyz") == "b | Rx(pi/18), Ry(pi/9), Rz(pi/6);"
    assert turns("XYZ") == "b | Rz(pi/6), Ry(pi/9), Rx(pi/18);"


def test_meshes_are_references_and_their_inertia_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "part.stl").write_bytes(b"")
    asset = '<compiler meshdir="meshes"/><asset><mesh file="part.stl"/></asset>'
    geom = '<joint/><geom type="mesh" mesh="part" contype="0" conaffinity="0"/>'
    file = tmp_path / "robot.xml"
    file.write_text(model(geom + '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>', asset), "utf-8")
    (shape,) = load_mjcf(file).mechanism.extras
    assert isinstance(shape, Shape)
    assert (shape.kind, shape.reference) == (ShapeKind.MESH, "meshes/part.stl")
    assert shape.file == str((tmp_path / "meshes" / "part.stl").resolve())
    with pytest.raises(ModelError, match="takes its inertia from a mesh"):
        parse_mjcf(model(geom, asset))


def test_includes_stay_in_the_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "part.xml").write_text('<mujocoinclude><option gravity="0 0 -1"/></mujocoinclude>', "utf-8")
    (tmp_path / "outside.xml").write_text("<mujocoinclude/>", "utf-8")
    robot = inner / "robot.xml"
    geom = '<joint/><geom type="sphere" size="1"/>'
    robot.write_text(model(geom, '<include file="part.xml"/>'), "utf-8")
    assert load_mjcf(robot).mechanism.gravity == (expression(0), expression(0), expression(-1))
    for path in ("../outside.xml", str(tmp_path / "outside.xml")):
        robot.write_text(model(geom, f'<include file="{path}"/>'), "utf-8")
        with pytest.raises(ModelError, match="outside the model's folder"):
            load_mjcf(robot)
    (inner / "link.xml").symlink_to(tmp_path / "outside.xml")
    robot.write_text(model(geom, '<include file="link.xml"/>'), "utf-8")
    with pytest.raises(ModelError, match="outside the model's folder"):
        load_mjcf(robot)
    robot.write_text(model(geom, '<include file="robot.xml"/>'), "utf-8")
    with pytest.raises(ModelError, match="included a second time"):
        load_mjcf(robot)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("<robot/>", "the root element is <robot>"),
        ("<mujoco/>", "the model has no bodies"),
        (model('<joint type="hing"/>'), "unknown type `hing`"),
        (model('<joint class="none"/>'), "there is no default class none"),
        (model('<geom type="bx"/>'), "unknown type `bx`"),
        (model('<geom type="box" size="1"/>'), "a box takes 3 sizes, found 1"),
        (model("<joint/><freejoint/>"), "a free joint cannot stand here"),
        (model("<replicate/>"), "<replicate> is not supported"),
        (model('<frame pos="1 0 0"><joint/></frame>'), "a joint inside a <frame>"),
        (model('<inertial mass="1" pos="0 0 0"/>'), "no moments of inertia"),
        (model("", '<compiler coordinate="global"/>'), "global coordinates are not supported"),
        (model("", '<compiler eulerseq="abc"/>'), "eulerseq is `abc`"),
        (model('<body name="b"/>'), "two bodies called b"),
        (model('<joint name="j"/><joint name="j"/>'), "two joints called j"),
    ],
)
def test_errors_say_where_and_what(given: str, message: str) -> None:
    with pytest.raises(ModelError) as raised:
        parse_mjcf(given, "robot.xml")
    assert str(raised.value).startswith("robot.xml: line 1, column ")
    assert message in str(raised.value)
