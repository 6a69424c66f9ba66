"""URDF: what comes out of a file, against Pinocchio's numbers and against what the file says."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.io.options import UrdfOptions
from kinegraph.io.robot.findings import Base
from kinegraph.io.urdf import load_urdf, parse_urdf
from kinegraph.model import (
    Coordinate,
    Inertia,
    JointFriction,
    JointLimits,
    Name,
    Number,
    Rotation,
    Shape,
    ShapeKind,
    ShapeRole,
    expression,
)
from kinegraph.model.expressions import text
from kinegraph.model.report import FindingKind
from tests.io.robot_numbers import Own, relative_error

DATA = Path(__file__).parent / "data"
EVERY_JOINT = DATA / "every_joint.urdf"
REFERENCE = json.loads((DATA.parents[1] / "data" / "robots_pinocchio.json").read_text("utf-8"))


def robot(*joints: str, links: str = '<link name="a"/><link name="b"/>') -> str:
    return f'<robot name="r">{links}{"".join(joints)}</robot>'


def joint(inner: str = "", kind: str = "revolute", name: str = "j", parent: str = "a", child: str = "b") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


@pytest.mark.parametrize("given", REFERENCE["robots"], ids=lambda given: given["base"])
def test_every_quantity_agrees_with_pinocchio(given: dict[str, Any]) -> None:
    mechanism = load_urdf(DATA / given["file"], options=UrdfOptions(base=given["base"], right_angles=False)).mechanism
    wanted = [name for name in given["states"][0] if name not in ("q", "v", "a", "force")]
    own = Own(mechanism, wanted)
    levels = set()
    for state in given["states"]:
        found = own.at(state)
        levels.add(round(found["energy"][1] - state["energy"][1], 9))  # Pinocchio leaves out the mass of a fixed root
        found["energy"][1] = state["energy"][1]
        errors = {name: relative_error(found[name], state[name]) for name in wanted}
        assert max(errors.values()) < 1e-11, errors
    assert levels == ({9.81} if given["base"] == "fixed" else {0.0})  # m g z = 5 * 9.81 * 0.2


def test_reading_back_the_written_model_gives_all_but_the_extras() -> None:
    mechanism = load_urdf(EVERY_JOINT, options=UrdfOptions(base=Base.FLOATING)).mechanism
    written = write(mechanism)
    assert parse(written) == replace(mechanism, extras=())
    assert "# limits: joint hip-1, displacement hip_1, lower -1.5, upper 2, velocity 6, effort 40" in written


def test_names_are_made_legal_and_the_originals_kept() -> None:
    found = load_urdf(EVERY_JOINT, options=UrdfOptions(base=Base.FLOATING))
    assert found.joints["hip_1"] == "hip-1"
    assert found.joints["base_e0"] == found.joints["base_wx"] == "base"
    assert set(found.links.values()) == {"base", "thigh", "shank", "foot", "contact", "toe", "slab", "drone"}
    assert found.mechanism.name == "every-joint"


def test_hostile_names_stay_different() -> None:
    names = ["a b", "a-b", "a_b", "1x", "*/ x", "model", "t", "pi", "é", "x" * 300, "x" * 301, "😀", "", "sin(", "_"]
    names.remove("")
    links = "".join(f'<link name="{name}"/>' for name in ["root", *names])
    joints = (joint(name=name, parent="root", child=name) for name in names)
    found = parse_urdf(robot(*joints, links=links))
    assert sorted(found.links.values()) == sorted(["root", *names])
    assert sorted(found.joints.values()) == sorted(names)
    assert found.links["a_b"] == "a_b"
    assert parse(write(found.mechanism)) == found.mechanism


def test_a_name_cannot_break_out_of_its_comment() -> None:
    found = parse_urdf(robot(joint('<limit effort="1" velocity="1"/>', name="j&#10;Evil | Rx(j);")))
    assert [body.name for body in parse(write(found.mechanism)).bodies] == ["a", "b"]


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        ("1 0 0", "Rx(j)"),
        ("0 -2 0", "Ry(-j)"),
        ("0 0 0.5", "Rz(j)"),
        ("1 1 0", "Rz(atan2(1, 1)), Rx(j), Rz(-atan2(1, 1))"),
        ("0 1 6.1e-17", "Ry(j)"),
    ],
)
def test_axes(axis: str, expected: str) -> None:
    mechanism = parse_urdf(robot(joint(f'<axis xyz="{axis}"/>'))).mechanism
    assert write(mechanism).splitlines()[-1] == f"b~a | {expected};"


def test_the_axis_is_x_unless_stated() -> None:
    assert "Sx(j)" in write(parse_urdf(robot(joint(kind="prismatic"))).mechanism)


def test_planar_joints_move_across_their_axis() -> None:
    found = parse_urdf(robot(joint('<axis xyz="0 1 0"/>', kind="planar"))).mechanism
    assert write(found).splitlines()[-1] == "b~a | Sz(j_u), Sx(j_v), Ry(j_turn);"


def test_products_of_inertia_change_their_sign() -> None:
    thigh = load_urdf(EVERY_JOINT).mechanism.body("thigh").inertia
    assert (thigh.Jxy, thigh.Jxz, thigh.Jyz) == tuple(Number(Fraction(x)) for x in ("-0.001", "0.002", "-0.003"))
    assert thigh.Jx == expression(0.03)


def test_mimic_joints_follow_through_chains() -> None:
    links = "".join(f'<link name="{name}"/>' for name in "abcd")
    second = joint('<mimic joint="j" multiplier="2" offset="0.5"/>', name="k", parent="b", child="c")
    third = joint('<mimic joint="k" multiplier="-3" offset="1"/>', name="l", parent="c", child="d")
    found = parse_urdf(robot(third, second, joint(), links=links)).mechanism
    assert [c.name for c in found.coordinates if isinstance(c, Coordinate)] == ["j"]
    (turn,) = found.body("d").transforms
    assert isinstance(turn, Rotation)
    assert text(turn.angle) == "-6*j - 0.5"
    assert (
        len(
            parse_urdf(
                robot(third, second, joint(), links=links), options=UrdfOptions(mimic=False)
            ).mechanism.coordinates
        )
        == 3
    )


def test_limits_and_friction_are_kept() -> None:
    extras = load_urdf(EVERY_JOINT).mechanism.extras
    hip = Name("hip_1")
    limits = (expression(-1.5), expression(2), expression(6), expression(40))
    assert JointLimits("hip-1", (hip,), *limits) in extras
    assert JointFriction("hip-1", (hip,), expression(0.3), expression(0.05)) in extras
    (toe,) = (extra for extra in extras if isinstance(extra, JointLimits) and extra.joint == "toe")
    assert text(toe.displacement[0]) == "-0.5*hip_1 + 0.2"


def test_shapes_are_kept_and_meshes_found_below_the_roots_only(tmp_path: Path) -> None:
    mesh = tmp_path / "every_joint" / "meshes" / "thigh.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b"")
    found = load_urdf(EVERY_JOINT, options=UrdfOptions(package_roots=[tmp_path]))
    visual, collision = (extra for extra in found.mechanism.extras if isinstance(extra, Shape))
    assert (visual.kind, visual.role, visual.file) == (ShapeKind.MESH, ShapeRole.VISUAL, str(mesh.resolve()))
    assert visual.reference == "package://every_joint/meshes/thigh.stl"
    assert visual.color == (0.5, 0.5, 0.5, 1.0)
    assert collision.sizes == (expression(0.05), expression(0.3))
    escape = EVERY_JOINT.read_text("utf-8").replace("every_joint/meshes", "every_joint/../../every_joint/meshes")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "robot.urdf").write_text(escape, "utf-8")
    escaped = load_urdf(inner / "robot.urdf", options=UrdfOptions(package_roots=[inner]))
    assert [extra.file for extra in escaped.mechanism.extras if isinstance(extra, Shape)] == [None, None]
    assert len(escaped.report.of(FindingKind.MESH)) == 1


def test_meshes_are_found_in_the_package_a_file_lies_in(tmp_path: Path) -> None:
    mesh = tmp_path / "every_joint" / "meshes" / "thigh.stl"
    robot = tmp_path / "every_joint" / "urdf" / "robot.urdf"
    for file in (mesh, robot):
        file.parent.mkdir(parents=True)
        file.write_bytes(EVERY_JOINT.read_bytes())
    assert _visual_file(robot) is None  # any folder may be called so; a package says what it is
    (tmp_path / "every_joint" / "package.xml").touch()
    assert _visual_file(robot) == str(mesh.resolve())


def _visual_file(robot: Path) -> str | None:
    return next(extra.file for extra in load_urdf(robot).mechanism.extras if isinstance(extra, Shape))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ('ixx="1" iyy="1" izz="3"', "the inertia of b is physically impossible"),
        ('ixx="1" iyy="1" izz="1" ixy="2"', "the inertia of b is not positive"),
        ('ixx="-5e-20" iyy="1" izz="1"', "Jx of b is negative"),
    ],
)
def test_inertia_no_body_has_is_reported_and_taken_as_stated(entries: str, message: str) -> None:
    inertial = f'<inertial><mass value="1"/><inertia {entries}/></inertial>'
    found = parse_urdf(robot(joint(), links=f'<link name="a"/><link name="b">{inertial}</link>'))
    assert found.mechanism.body("b").inertia.accepted
    (finding,) = found.report.of(FindingKind.INERTIA)
    assert message in str(finding)
    assert parse(write(found.mechanism)) == found.mechanism


def test_joints_without_mass_and_unused_elements_are_reported() -> None:
    report = parse_urdf(robot(joint(), "<transmission><x/></transmission>" * 2, "<gadget/>")).report
    assert [finding.message for finding in report.of(FindingKind.MASSLESS)] == [
        "j moves no mass, so forward dynamics is not possible"
    ]
    assert [finding.message for finding in report.of(FindingKind.NOT_USED)] == ["<x> of <transmission>, 2 times"]
    assert [finding.message for finding in report.of(FindingKind.NOT_UNDERSTOOD)] == ["<gadget> of <robot>"]
    assert "not used:\n  <x> of <transmission>, 2 times" in str(report)


def test_an_origin_is_turned_by_angles_or_by_a_quaternion() -> None:
    turned = parse_urdf(newer(robot(joint('<origin xyz="1 0 0" quat_xyzw="0.6 0 0 0.8"/>')))).mechanism
    assert write(turned).splitlines()[-1].partition("|")[2].strip() == "Sx(1), Q(0.8, 0.6, 0, 0), Rx(j);"
    with pytest.raises(ModelError, match="has both rpy and quat_xyzw"):
        parse_urdf(newer(robot(joint('<origin rpy="1 0 0" quat_xyzw="0 0 0 1"/>'))))


def newer(text: str) -> str:
    """Quaternions came with version 1.1."""
    return text.replace("<robot", '<robot version="1.1"')


@pytest.mark.parametrize(
    ("inertial", "kind"),
    [
        ("<inertial/>", FindingKind.ASSUMED),
        ('<inertial><origin xyz="0 0 1"/></inertial>', FindingKind.ASSUMED),
        ('<inertial><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>', FindingKind.LEFT_OUT),
    ],
)
def test_an_inertial_without_mass_is_none_and_said(inertial: str, kind: FindingKind) -> None:
    """As urdfdom and Pinocchio read it; moments that come with it are left out."""
    found = parse_urdf(robot(joint(), links=f'<link name="a"/><link name="b">{inertial}</link>'))
    assert found.mechanism.body("b").inertia == Inertia()
    (finding,) = found.report.of(kind)
    assert finding.topic == "inertia without mass" and finding.message.endswith(": b")


def test_a_fourth_number_of_a_scale_means_nothing() -> None:
    visual = '<visual><geometry><mesh filename="m.stl" scale="1 2 3 1"/></geometry></visual>'
    found = parse_urdf(robot(joint(), links=f'<link name="a"/><link name="b">{visual}</link>'))
    (shape,) = (extra for extra in found.mechanism.extras if isinstance(extra, Shape))
    assert shape.sizes == tuple(map(expression, (1, 2, 3)))
    assert any("the first three are used" in finding.message for finding in found.report.of(FindingKind.ASSUMED))
    with pytest.raises(ModelError, match="takes 3 numbers, found 2"):
        parse_urdf(robot(joint(), links='<link name="a"/><link name="b">' + visual.replace("2 3 1", "2") + "</link>"))


def test_a_world_that_no_link_declares_is_the_fixed_frame() -> None:
    found = parse_urdf(robot(joint(), joint(name="weld", kind="fixed", parent="world", child="a")))
    assert [body.name for body in found.mechanism.bodies] == ["world", "a", "b"]
    (assumed,) = found.report.of(FindingKind.ASSUMED)
    assert "is the fixed frame" in assumed.message and found.report.complete
