"""MJCF: what comes out of a file, against MuJoCo's numbers and against what the file says."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.io.mjcf import load_mjcf, parse_mjcf
from kinegraph.io.mjcf.transforms import exact_quaternion
from kinegraph.io.options import RobotFileOptions
from kinegraph.io.urdf import parse_urdf
from kinegraph.io.urdf.writer import write_urdf
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
from kinegraph.model.expressions import text
from kinegraph.model.poses import pose
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import FORMS, ContactRules
from tests.interpreted import interpreted
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
    options = RobotFileOptions(right_angles=False, actuators=False)
    mechanism = load_mjcf(BRANCHED, options=options).mechanism
    own = Own(mechanism, ["H", "bias", "energy", "pose:elbow"])
    for state in REFERENCE["states"]:
        found = own.at(state)
        errors = {name: relative_error(found[name], state[name]) for name in ("H", "bias", "energy")}
        assert max(errors.values()) < 1e-12, errors
        assert np.allclose(found["pose:elbow"][:3, 3], state["site"], rtol=0, atol=1e-13)
    assert np.allclose(initial_positions(mechanism, {}), REFERENCE["start"], rtol=0, atol=1e-14)


def test_reading_back_the_written_model_gives_all_that_the_language_has_words_for() -> None:
    mechanism = load_mjcf(BRANCHED).mechanism
    solid = (extra for extra in mechanism.extras if isinstance(extra, Shape) and extra.kind in FORMS)
    shapes = tuple(replace(extra, contact=None) for extra in solid)
    assert shapes and parse(write(mechanism)) == replace(mechanism, extras=shapes)


def test_actuators_are_listed_and_loops_closed() -> None:
    report = load_mjcf(BRANCHED).report
    assert [finding.message for finding in report.of(FindingKind.LEFT_OUT)] == [
        "contacts of 7 collision shapes, which only kg.simulator uses"
    ]
    without = load_mjcf(BRANCHED, options=RobotFileOptions(actuators=False))
    assert "<motor> of <actuator>, as requested" in [one.message for one in without.report.of(FindingKind.LEFT_OUT)]
    assert not without.mechanism.inputs
    (loop,) = load_mjcf(BRANCHED).mechanism.loops
    assert (loop.name, str(loop.first), str(loop.second)) == ("connect_hand_pendulum", "hand", "pendulum")
    assert "0.7071068 0.0 0.7071067 0.0" in report.of(FindingKind.NEAR_RIGHT_ANGLE)[0].message


def test_springs_friction_armature_and_limits_are_kept() -> None:
    extras = load_mjcf(BRANCHED).mechanism.extras
    twist = (Name("twist"),)
    assert JointSpring("twist", twist, expression(3), (expression("pi") / 36,)) in extras
    assert JointFriction("twist", twist, expression(0.1)) in extras
    assert JointArmature("twist", twist, expression(0.01)) in extras
    (limits,) = (extra for extra in extras if isinstance(extra, JointLimits) and extra.joint == "twist")
    assert [text(limits.lower), text(limits.upper)] == ["-pi/2", "pi/2"]
    (ball,) = (extra for extra in extras if isinstance(extra, JointFriction) and extra.joint == "wrist")
    assert [text(name) for name in ball.displacement] == ["wrist_e0", "wrist_e1", "wrist_e2", "wrist_e3"]


SITES = """<joint axis="0 1 0"/><geom size="1" mass="1"/>
  <site name="turned" pos="0.1 0 0.3" quat="-1 1 0 0"/><site name="odd" pos="0 1 0" quat="0.8 0.1 0.5 0.3"/>
  <frame pos="0 0.1 0" euler="0 0 30"><site name="framed" pos="0.1 0 0" axisangle="1 2 3 40"/></frame>
  <site name="along" type="capsule" size="1" fromto="0 0 1 0.5 2 4"/>"""
ALONG = 'pos="0.25 1 2.5" zaxis="-0.5 -2 -3"'  # the middle of fromto, and its direction


def test_a_site_has_its_own_axes() -> None:
    """A body without mass in its place has the same pose; files dropped the orientation of sites without a word."""
    bodies = SITES.replace("<site ", "<body ").replace('type="capsule" size="1" fromto="0 0 1 0.5 2 4"', ALONG)
    of_sites, of_bodies = (parse_mjcf(model(text)).mechanism for text in (SITES, bodies))
    wanted = [f"pose:{name}" for name in ("turned", "odd", "framed", "along")]
    poses, expected = (interpreted(one, wanted)([0.7]) for one in (of_sites, of_bodies))
    for name in wanted:
        assert np.allclose(poses[name], expected[name], rtol=0, atol=1e-15), name
    assert parse(write(of_sites)).points == of_sites.points
    again = parse_urdf(write_urdf(of_sites).text).mechanism
    for name, pose_found in interpreted(again, wanted)([0.7]).items():
        assert np.allclose(pose_found, expected[name], rtol=0, atol=1e-14), name


def test_a_site_between_two_points_lies_in_their_middle() -> None:
    (point,) = parse_mjcf(
        model('<joint/><site name="s" type="capsule" size="1" fromto="0 0 1 0.5 2 4"/>')
    ).mechanism.points
    assert [text(item) for item in point.position] == ["0.25", "1", "2.5"]


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
    again, _ = pose([Quaternion(exact_quaternion(matrix))])
    assert np.allclose(again, matrix, rtol=0, atol=1e-15)


def test_euler_sequences() -> None:
    body = '<mujoco><compiler eulerseq="{}"/><worldbody><body name="b" euler="10 20 30"/></worldbody></mujoco>'

    def turns(sequence: str) -> str:
        return write(parse_mjcf(body.format(sequence)).mechanism).splitlines()[-1]

    assert turns("xyz") == "b | Rx(pi/18), Ry(pi/9), Rz(pi/6);"
    assert turns("XYZ") == "b | Rz(pi/6), Ry(pi/9), Rx(pi/18);"


def test_meshes_are_references_and_read_for_inertia_alone(tmp_path: Path) -> None:
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
    file.write_text(model(geom, asset), "utf-8")
    with pytest.raises(ModelError, match=r"meshes/part\.stl cannot be read as a mesh: an STL file has 84 bytes"):
        load_mjcf(file)
    with pytest.raises(
        ModelError, match=r"the mesh file meshes/part\.stl was not found in the model's folder"
    ) as raised:
        parse_mjcf(model(geom, asset))
    assert raised.value.remedy and "<inertial" in raised.value.remedy


def test_meshes_and_includes_lie_below_the_folder_or_the_package_roots(tmp_path: Path) -> None:
    parts, inner = tmp_path / "parts", tmp_path / "robots" / "one"
    parts.mkdir()
    inner.mkdir(parents=True)
    (parts / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (parts / "assets.xml").write_text('<mujoco><asset><mesh file="../../parts/part.obj"/></asset></mujoco>')
    file = inner / "robot.xml"
    file.write_text(model('<joint/><geom type="mesh" mesh="part"/>', '<include file="../../parts/assets.xml"/>'))
    with pytest.raises(ModelError, match="is outside the model's folder") as raised:
        load_mjcf(file, options=RobotFileOptions(package_roots=[tmp_path / "robots"]))
    assert raised.value.remedy and "--package-root" in raised.value.remedy
    found = load_mjcf(file, options=RobotFileOptions(package_roots=[tmp_path])).mechanism
    assert number(found.body("b").inertia.mass, {}) == pytest.approx(1000 / 6)
    assert kg.load(file, package_roots=[tmp_path], elements=False).bodies == found.bodies


def test_included_files_name_files_from_the_models_folder_or_their_own(tmp_path: Path) -> None:
    """As in MuJoCo: the model's folder comes first, then that of the file which names another."""
    corners = "v 0 0 0\nv {} 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "first.xml").write_text('<mujoco><include file="second.xml"/></mujoco>')
    (tmp_path / "parts" / "second.xml").write_text('<mujoco><asset><mesh file="part.obj"/></asset></mujoco>')
    (tmp_path / "parts" / "part.obj").write_text(corners.format(1))
    file = tmp_path / "robot.xml"
    file.write_text(model('<joint/><geom type="mesh" mesh="part" density="6"/>', '<include file="parts/first.xml"/>'))

    def mass() -> float:
        return number(load_mjcf(file).mechanism.body("b").inertia.mass, {})

    assert mass() == pytest.approx(1)
    (tmp_path / "part.obj").write_text(corners.format(2))
    assert mass() == pytest.approx(2)
    (tmp_path / "second.xml").write_text("<mujoco/>")
    with pytest.raises(ModelError, match="unknown mesh 'part' of a geom"):
        mass()


def test_meshes_that_pages_cannot_draw_are_reported(tmp_path: Path) -> None:
    asset = '<asset><mesh name="m" file="lost.stl"/><mesh name="n" file="odd.ply"/></asset>'
    geoms = (
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="m"/><geom type="mesh" mesh="n"/>'
    )
    (tmp_path / "robot.xml").write_text(model(geoms, asset))
    messages = [finding.message for finding in load_mjcf(tmp_path / "robot.xml").report.of(FindingKind.MESH)]
    assert messages == ["not found: lost.stl", "only .stl, .obj, .msh, .dae can be drawn: odd.ply"]


def test_a_mesh_that_is_a_link_to_itself_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "loop.stl").symlink_to(tmp_path / "loop.stl")
    (tmp_path / "robot.xml").write_text(
        model('<joint/><geom type="mesh" mesh="loop"/>', '<asset><mesh file="loop.stl"/></asset>')
    )
    with pytest.raises(ModelError, match=r"loop\.stl was not found"):
        load_mjcf(tmp_path / "robot.xml")
    (tmp_path / "robot.xml").write_text(model("<joint/>", '<include file="loop.stl"/>'))
    with pytest.raises(ModelError, match="is not a valid file name"):
        load_mjcf(tmp_path / "robot.xml")


def test_a_fixed_body_needs_no_inertia() -> None:
    """A mesh without a file is no reason to refuse a robot whose pedestal alone has it; the report says so."""
    asset = '<asset><mesh file="lost.stl"/></asset>'
    pedestal = '<geom type="mesh" mesh="lost"/><body name="c"><joint/><geom type="sphere" size="1"/></body>'
    robot = parse_mjcf(model(pedestal, asset))
    assert robot.mechanism.body("b").inertia == Inertia()
    (finding,) = robot.report.of(FindingKind.ASSUMED)
    assert "the fixed body b has no mass, and needs none" in finding.message
    with pytest.raises(ModelError, match="not found"):  # the mass counts where the total is set
        parse_mjcf(model(pedestal, asset + '<compiler settotalmass="1"/>'))
    with pytest.raises(ModelError, match="not found"):
        parse_mjcf(model("<joint/>" + pedestal, asset))


def test_meshes_keep_their_scale_and_fitted_primitives_their_size() -> None:
    asset = '<asset><mesh name="m" scale="2 2 3" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>'
    shapes = parse_mjcf(
        model('<joint/><geom type="mesh" mesh="m"/><geom type="box" mesh="m"/>', asset)
    ).mechanism.extras
    mesh, box = (extra for extra in shapes if isinstance(extra, Shape))
    assert (mesh.kind, mesh.sizes) == (ShapeKind.MESH, (expression(2), expression(2), expression(3)))
    assert box.kind is ShapeKind.BOX and not box.reference and len(box.sizes) == 3


def test_replicas_have_names_of_their_own() -> None:
    inner = '<replicate count="2" sep="-" offset="1 0 0"><body name="c"><joint name="j"/></body></replicate>'
    robot = parse_mjcf(model(f'<replicate count="10" offset="0 0 1" euler="0 0 90">{inner}</replicate>'))
    names = [original for original in robot.links.values() if original.startswith("c")]
    assert names[:3] == ["c-000", "c-100", "c-001"] and len(names) == 20
    assert write(robot.mechanism).count("Sx(1)") > 0
    lines = write(robot.mechanism).splitlines()
    assert "c_001~b | Sz(1), Rz(pi/2), Rz(j_001);" in lines


def test_joints_may_stand_in_frames() -> None:
    joint = '<frame pos="1 0 0" euler="0 90 0"><joint name="j" axis="1 0 0" pos="0 0 2"/></frame>'
    assert record(joint + '<geom type="sphere" size="1"/>') == "b | Sx(3), Rz(-j), Sx(-3);"


def test_flags_switch_off_what_they_name() -> None:
    joint = '<joint stiffness="2" damping="3" frictionloss="1" armature="4" range="0 1"/>'

    def records(flag: str) -> list[type]:
        robot = parse_mjcf(model(joint, f"<option><flag {flag}/></option>"))
        return [type(extra) for extra in robot.mechanism.extras]

    assert records("") == [JointLimits, JointFriction, JointSpring, JointArmature]
    assert records('spring="disable"') == [JointLimits, JointFriction, JointArmature]
    assert records('damper="disable" frictionloss="disable"') == [JointLimits, JointSpring, JointArmature]
    assert records('constraint="disable" spring="enable"') == [
        JointFriction, JointSpring, JointArmature, ContactRules,
    ]  # fmt: skip


def test_what_a_spring_does_not_do_is_said() -> None:
    report = parse_mjcf(model('<joint name="j" stiffness="2" springyield="5"/>')).report
    (finding,) = report.of(FindingKind.LEFT_OUT)
    assert (finding.topic, finding.message) == ("yielding springs", "springyield of <joint>")


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
    with pytest.raises(ModelError, match="included twice"):
        load_mjcf(robot)


TETRAHEDRON = 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"'


def mesh(words: str) -> str:
    return model('<joint/><geom type="mesh" mesh="m"/>', f'<asset><mesh name="m" {words}/></asset>')


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("<robot/>", "the root element is <robot>"),
        ("<mujoco/>", "the model has no bodies"),
        (model('<joint type="hing"/>'), "unknown joint type 'hing'"),
        (model('<joint class="none"/>'), "unknown default class 'none'"),
        (model('<geom type="bx"/>'), "unknown geom type 'bx'"),
        (model('<geom type="box" size="1"/>'), "a box takes 3 sizes, found 1"),
        (model("<joint/><freejoint/>"), "a free joint is not allowed here"),
        (model('<geom type="mesh" mesh="m" fromto="0 0 0 1 1 1"/>'), "both a mesh and fromto"),
        (model("<replicate/>"), "<replicate> has no count"),
        (model('<joint springdamper="1 0"/>'), "springdamper of the joint b_joint is not positive"),
        (model("").replace("<body", "<joint/><body"), "the world has a joint"),
        (model("", '<option><flag spring="off"/></option>'), "invalid value `off` of the flag spring"),
        (
            model('<inertial mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>'),
            "both fullinertia and diaginertia",
        ),
        (model('<replicate count="2"><joint/></replicate>'), "a joint cannot be replicated"),
        (model('<replicate count="999999"><body/></replicate>'), "more than 300000 elements"),
        (model("<composite/>"), "<composite> is not supported: its bodies, joints and tendons are generated"),
        (model("<flexcomp/>"), "<flexcomp> is not supported: deformable bodies are not supported"),
        (model("<attach/>"), "<attach> has no model"),
        (model('<joint stiffness="1 2 3 4"/>'), "takes up to 3 numbers, found 4"),
        (model('<geom type="mesh" mesh="m"/>'), "unknown mesh 'm' of a geom"),
        (model('<geom type="mesh"/>'), "a geom has no mesh"),
        (mesh('builtin="sphere"'), "the mesh m is generated by MuJoCo"),
        (mesh('vertex="0 0 0 1"'), "needs three numbers each, found 4"),
        (mesh('vertex="0 0 0 1 0 0 0 1 0"'), "the mesh m has 3 vertices"),
        (mesh('vertex="0 0 0 1 0 0 0 1 0 1 1 0"'), "the mesh m has no convex hull"),
        (mesh(f'{TETRAHEDRON} face="0 1 2 0 1 3 1 2 3 0 3 2" inertia="exact"'), "inconsistent orientation"),
        (mesh(f'{TETRAHEDRON} face="0 1 2 0 3 1 1 3 2 0 2 3" inertia="exact"'), "a negative volume"),
        (mesh(f'{TETRAHEDRON} face="0 1 2 0 2 1"'), "a zero volume"),
        (mesh(f'{TETRAHEDRON} face="0 1 9"'), "a vertex index that does not exist"),
        (mesh(f'{TETRAHEDRON} file="m.stl"'), "the mesh m has both a file and vertices"),
        (mesh(f'{TETRAHEDRON} face="0 1.5 2"'), "a vertex index that is not an integer"),
        (mesh(f'{TETRAHEDRON} maxhullvert="3"'), "maxhullvert of the mesh m is 3"),
        (mesh(TETRAHEDRON).replace('type="mesh"', 'type="box" fitscale="0"'), "a box fitted to the mesh m has no size"),
        (mesh(f'{TETRAHEDRON} refquat="0 0 0 0"'), "refquat of the mesh m is zero"),
        (mesh(f'{TETRAHEDRON}/><mesh name="m" {TETRAHEDRON}'), "two meshes have the name m"),
        (mesh(TETRAHEDRON).replace('type="mesh"', 'type="mesh" shellinertia="true"'), "mesh m has shellinertia"),
        (model("", '<default class="own"/>'), "the outermost <default> must be the class main"),
        (
            model("", '<default><default class="own"/><default class="own"/></default>'),
            "two default classes have the name own",
        ),
        (mesh(f'{TETRAHEDRON} inertia="hollow"'), "unknown inertia 'hollow' of the mesh m"),
        (model('<inertial mass="1" pos="0 0 0"/>'), "no moments of inertia"),
        (model("", '<compiler coordinate="global"/>'), "global coordinates are not supported"),
        (model("", '<compiler eulerseq="abc"/>'), "invalid value `abc` of eulerseq"),
        (model('<body name="b"/>'), "two bodies have the name b"),
        (model('<joint name="j"/><joint name="j"/>'), "two joints have the name j"),
    ],
)
def test_errors_say_where_and_what(given: str, message: str) -> None:
    with pytest.raises(ModelError) as raised:
        parse_mjcf(given, "robot.xml")
    assert str(raised.value).startswith("robot.xml: line 1, column ")
    assert message in str(raised.value)
