"""The tables of what URDF, MJCF and SDF can say: complete, true to the readers, and reported from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kinegraph.errors import ModelError, Place
from kinegraph.io.mjcf import load_mjcf, parse_mjcf
from kinegraph.io.mjcf.body_tree import GENERATED, REPLICA
from kinegraph.io.mjcf.coverage import page
from kinegraph.io.mjcf.reader import MJCF
from kinegraph.io.mjcf.settings import ACTUATORS
from kinegraph.io.robot.findings import Findings, Robot
from kinegraph.io.robot.vocabulary import Bearing, Vocabulary, report_words
from kinegraph.io.robot.xml import Element
from kinegraph.io.sdf.reader import SDF
from kinegraph.io.urdf import load_urdf, parse_urdf
from kinegraph.io.urdf.reader import URDF
from kinegraph.model.report import FindingKind

SCHEMA = Path(__file__).parents[1] / "data" / "mjcf_schema.txt"

#: Words of the schema that no documentation explains; a file with one is reported as not understood.
UNEXPLAINED = {("compiler", "passthrough")}


def schema() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Every element of MuJoCo's schema as the path to it, with its attributes."""
    path: list[str] = []
    words: list[str] = []
    for line in [*SCHEMA.read_text("utf-8").splitlines()[1:], "end (!)"]:
        if match := re.match(r"( *)(\S+) \([!?*R]\)\s*(.*)", line):
            if path:
                yield tuple(path), words
            path = [*path[: len(match[1]) // 3], "body" if match[2] == "(world)body" else match[2]]
            words = match[3].split()
        else:
            words += line.split()


@pytest.mark.parametrize(("path", "attributes"), [pytest.param(*one, id="/".join(one[0])) for one in schema()])
def test_all_of_mujocos_schema_is_in_the_table(path: tuple[str, ...], attributes: list[str]) -> None:
    key = "mujoco"
    for tag in path[1:]:
        if MJCF[key].bearing is not Bearing.UNDERSTOOD:
            return  # left out or idle as a whole
        key = "body" if tag == "body" else MJCF[key].children[tag]
    if MJCF[key].bearing is Bearing.UNDERSTOOD:
        unknown = {(path[-1], name) for name in attributes if name not in MJCF[key].attributes}
        assert unknown <= UNEXPLAINED


def test_the_page_of_elements_is_made_from_the_table() -> None:
    """`python -m kinegraph.io.mjcf > docs/mjcf.md` writes it again; every attribute of the table is on it."""
    written = (Path(__file__).parents[2] / "docs" / "mjcf.md").read_text("utf-8")
    assert written == page()
    every = {name for entry in MJCF.values() for name in entry.attributes}
    assert not [name for name in every if f"`{name}`" not in written]


@pytest.mark.parametrize("tag", sorted(GENERATED))
def test_what_the_page_calls_refused_is_an_error_with_a_remedy(tag: str) -> None:
    with pytest.raises(ModelError, match=f"<{tag}> is not supported"):
        parse_mjcf(f"<mujoco><worldbody><body><{tag}/></body></worldbody></mujoco>")


#: How the table says that something is reported, and the kind of its finding.
REPORTED = {Bearing.LEFT_OUT: FindingKind.LEFT_OUT, Bearing.CONTACTS: FindingKind.CONTACTS}


def _elements_of_schema() -> Iterator[tuple[str, str, str]]:
    """Sections of the file with each attribute that the table says is reported, and a value with an effect."""
    for path, attributes in schema():
        entry = MJCF.get(path[-1])
        if entry is not None and path[:2] != ("mujoco", "default"):
            yield from ((path[-1], name, one.topic) for name, one in entry.attributes.items()
                        if one.bearing in REPORTED and name in attributes)  # fmt: skip


@pytest.mark.parametrize(("tag", "name", "topic"), sorted(set(_elements_of_schema())))
def test_what_the_table_calls_reported_is_reported(tag: str, name: str, topic: str) -> None:
    findings = Findings()
    element = Element(tag, {name: "7"}, Place(1, 1, ""))
    report_words(element, tag, MJCF, findings)
    (told,) = findings.report().findings
    assert told.kind is REPORTED[MJCF[tag].attributes[name].bearing]
    assert told.topic == topic and name in told.message


@pytest.mark.parametrize("vocabulary", [URDF, MJCF, SDF])
def test_every_child_has_an_entry_that_is_used(vocabulary: Vocabulary) -> None:
    used = {key for entry in vocabulary.values() for key in entry.children.values()}
    assert used - vocabulary.keys() == set()
    assert vocabulary.keys() - used <= {"robot", "mujoco", "sdf"}
    assert all(entry.once <= entry.children.keys() for entry in vocabulary.values())


ROBOT = """
<robot name="r" version="1.1">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="a">
    <inertial><origin xyz="0 0 1" rpy="0 0 1"/><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual name="v"><origin xyz="0 0 0"/><geometry><mesh filename="m.stl" scale="1 1 1"/></geometry>
      <material name="blue"/></visual>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
    <collision><geometry><cylinder radius="1" length="1"/></geometry></collision>
    <collision><geometry><sphere radius="1"/></geometry></collision>
    <collision><geometry><capsule radius="1" length="1"/></geometry></collision>
  </link>
  <link name="b"/> <link name="c"/>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/><dynamics damping="1" friction="1"/></joint>
  <joint name="k" type="prismatic"><origin quat_xyzw="0 0 0 1"/><parent link="a"/><child link="c"/>
    <mimic joint="j" multiplier="2" offset="1"/></joint>
  <loop_joint name="pin" type="revolute"><link1 link="b" xyz="0 0 1" rpy="0 0 1"/><link2 link="c"/>
    <axis xyz="0 0 1"/></loop_joint>
</robot>
"""
#: Entries of URDF's elements that are called otherwise.
CALLED = {"shape": ("visual", "collision"), "shape_material": ("material",), "loop_end": ("link1", "link2")}
MODEL = """
<mujoco model="m">
  <compiler angle="radian"/><option gravity="0 0 -1" density="1"><flag gravity="enable"/></option>
  <default><geom size="1"/><default class="d"><joint damping="1"/></default></default>
  <asset><model name="part" file="part.xml"/><mesh name="a" file="a.obj"/>
    <mesh name="tetrahedron" vertex="0 0 0 1 0 0 0 1 0 0 0 1" inertia="convex"/></asset>
  <worldbody><frame childclass="d" pos="0 0 1"><body gravcomp="1" name="b" quat="0 1 0 0">
    <joint name="j" range="-1 1" ref="1" springref="1" stiffness="1" armature="1" frictionloss="1"/>
    <joint type="ball" axis="0 1 0"/>
    <inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" axisangle="1 0 0 1"/>
    <geom type="mesh" mesh="a" rgba="1 1 1 1"/><site name="s" pos="0 0 1" fromto="0 0 0 0 0 1" size="1"/>
    <body euler="1 0 0"><geom type="capsule" fromto="0 0 0 0 0 1" size="1 1"/><geom name="round" size="1" contype="0"/>
      <geom type="mesh" mesh="a"/><geom type="mesh" mesh="tetrahedron"/><geom type="sphere" mesh="tetrahedron"/></body>
    <replicate count="2" offset="1 0 0"><site name="r" pos="9 0 0"/></replicate>
    <body xyaxes="1 0 0 0 1 0"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1" zaxis="0 0 1"/></body>
  </body></frame>
  <body><attach model="part" prefix="p_"/></body>
  <body name="free"><freejoint name="f"/><geom size="1" fluidshape="ellipsoid"/><site name="t"/></body></worldbody>
  <equality>
    <connect name="c" body1="b" body2="free" anchor="0 0 0"/><connect site1="s" site2="t"/>
    <weld body1="b" body2="free"/><weld site1="s" site2="t"/><joint joint1="j"/>
    <tendon tendon1="f"/>
  </equality>
  <tendon><fixed name="f" stiffness="1"><joint joint="j" coef="1"/></fixed>
    <spatial name="t" stiffness="1"><site site="s"/><site site="t"/><pulley divisor="2"/><site site="t"/>
      <site site="s"/></spatial>
    <spatial><site site="s"/><geom geom="round" sidesite="r0"/><site site="t"/></spatial></tendon>
  <actuator><general joint="j"/><motor tendon="t"/><motor tendon="f"/><motor site="s" refsite="t"/><position joint="j"/>
    <motor cranksite="s" slidersite="t" cranklength="1"/><cylinder joint="j"/><pid joint="j"/>
    <dcmotor joint="j" resistance="1"/><muscle joint="j" lengthrange="-1 1"/>
    <adhesion body="b" ctrlrange="0 1"/></actuator>
  <contact><pair geom1="round" geom2="round"/><exclude body1="b" body2="free"/></contact>
  <keyframe><key/></keyframe>
</mujoco>
"""
#: Entries of elements that are called otherwise.
THROUGH = {
    "replicate": ("replicate", REPLICA + "replicate"),
    "relation": ("joint",),
    "model_asset": ("model",),
    "tendon_relation": ("tendon",),
    "equality_class": ("connect", "weld", "joint"),
    "tendon_class": ("fixed", "spatial"),
    "via_point": ("site",),
    "wrap": ("geom",),
    "share": ("joint",),
    "an_actuator": tuple(sorted(ACTUATORS)),
}
#: What the reader asks for only to say that it cannot use it.
ASKED_TO_REFUSE = {("mesh", "builtin")}


@pytest.mark.parametrize(
    ("vocabulary", "read", "text", "through"),
    [
        (URDF, load_urdf, ROBOT, CALLED),
        (MJCF, load_mjcf, MODEL, THROUGH),
    ],
    ids=["urdf", "mjcf"],
)
def test_what_is_understood_is_what_the_reader_asks_for(
    vocabulary: Vocabulary,
    read: Callable[[Path], Robot],
    text: str,
    through: dict[str, tuple[str, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "model.xml").write_text(text)
    part = '<mujoco><compiler angle="radian"/><worldbody><site name="x"/></worldbody></mujoco>'
    (tmp_path / "part.xml").write_text(part)
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    asked: set[tuple[str, str]] = set()
    plain = Element.get

    def recorded(element: Element, name: str) -> str | None:
        asked.add((element.tag, name))
        return plain(element, name)

    monkeypatch.setattr(Element, "get", recorded)
    module = f"kinegraph.io.{'urdf' if vocabulary is URDF else 'mjcf'}.reader.report_words"
    monkeypatch.setattr(module, lambda *_, **__: None)  # the table itself asks for names
    read(tmp_path / "model.xml")
    asked -= ASKED_TO_REFUSE
    wrong = [
        f"{name} of <{key}>"
        for key, entry in vocabulary.items()
        for name, attribute in entry.attributes.items()
        if (attribute.bearing is Bearing.UNDERSTOOD) != any((tag, name) in asked for tag in through.get(key, (key,)))
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("inner", "kind", "message"),
    [
        ("<gizmo/>", FindingKind.NOT_UNDERSTOOD, "<gizmo> of <robot>"),
        ("<link name='b' color='red'/>", FindingKind.NOT_UNDERSTOOD, "color of <link>"),
        ("<link name='b'>heavy</link>", FindingKind.NOT_UNDERSTOOD, "text inside <link>"),
        ("<link name='b'><inertial><mass value='1'/><mass value='2'/></inertial></link>", FindingKind.NOT_UNDERSTOOD,
         "a second <mass> of <inertial>"),
        ("<joint name='x'/>", FindingKind.NOT_UNDERSTOOD, "<joint> without a type"),
        ("<gazebo reference='a'><turnGravityOff>1</turnGravityOff></gazebo>", FindingKind.LEFT_OUT,
         "<turnGravityOff> of <gazebo>"),
        ("<drake:linear_spring_damper/>", FindingKind.LEFT_OUT, "<drake:linear_spring_damper> of <robot>"),
        ("<transmission name='t'><actuator name='m'><drake:rotor_inertia value='1'/></actuator></transmission>",
         FindingKind.LEFT_OUT, "<drake:rotor_inertia> of <actuator>"),
        ("<link name='b'><collision><geometry><sphere radius='1'/></geometry></collision></link>",
         FindingKind.LEFT_OUT, "contacts of 1 collision shapes, which only kg.simulator uses"),
        ("<gazebo reference='a'><mu1>1</mu1></gazebo>", FindingKind.CONTACTS, "<mu1> of <gazebo>"),
        ("<transmission name='t'><type>x</type></transmission>", FindingKind.NOT_USED, "<type> of <transmission>"),
        ("<sensor name='s'/>", FindingKind.NOT_USED, "<sensor> of <robot>: s"),
    ],
)  # fmt: skip
def test_urdf_says_what_it_leaves_out(inner: str, kind: FindingKind, message: str) -> None:
    joint = "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>" if "'b'" in inner else ""
    space = "xmlns:drake='http://drake'"
    report = parse_urdf(f"<robot name='r' {space}><link name='a'/>{joint}{inner}</robot>").report
    assert message in [finding.message for finding in report.of(kind)]


def _around(geom: str, side: str = "") -> str:
    """A tendon from the fixed frame to the body, around a geom of the body."""
    sidesite = f'sidesite="{side}"' if side else ""
    path = f'<site site="w"/><geom geom="{geom}" {sidesite}/><site site="s"/>'
    return f"<tendon><spatial>{path}</spatial></tendon>"


MASS = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


@pytest.mark.parametrize(
    ("outer", "inner", "topic"),
    [
        ('<actuator><motor joint="j"/><position joint="j"/></actuator>', "", ""),
        ('<actuator><muscle joint="j"/><adhesion body="b" ctrlrange="0 1"/></actuator>', "", "actuators"),
        ('<actuator><motor joint="j" delay="0.1" nsample="5"/></actuator>', "", "actuators"),
        ('<actuator><position joint="j" timeconst="0.1"/></actuator>', "", ""),
        ('<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>', "", ""),
        (_around("g"), '<geom name="g" type="box" size="1 1 1" contype="0" conaffinity="0"/>', "tendons"),
        (_around("g"), '<geom name="g" size="0.1" contype="0" conaffinity="0"/>', ""),
        (_around("g", "s"), '<geom name="g" size="0.3" contype="0" conaffinity="0"/>', "tendons"),
        ('<tendon><fixed armature="1"><joint joint="j" coef="1"/></fixed></tendon>', "", "tendons"),
        ('<equality><tendon tendon1="t" active="false"/></equality>', "", ""),
        ('<equality><flexvert flex="f"/></equality>', "", "equality constraints"),
        ('<equality><weld body1="b" solref="0.1 1"/></equality>', "", ""),
        ('<equality><weld body1="b" active="false"/></equality>', "", ""),
        ('<keyframe><key qpos="1"/></keyframe>', "", ""),
        ('<keyframe><key mpos="1 2 3"/></keyframe>', "", "keyframes"),
        ('<contact><exclude body1="world" body2="b"/></contact>', "", ""),
        ('<option density="1.2" wind="1 0 0"/>', "", ""),
        ('<option density="0.0" wind="0 0 0" viscosity="0"/>', "", ""),
        ('<compiler boundmass="0.1"/>', "", ""),
        ('<compiler boundmass="0" balanceinertia="false"/>', "", ""),
        ("<extension><plugin plugin='p'/></extension>", "", "plugins"),
        ("<novelty/>", "", "elements not understood"),
        ("<compiler novelty='1'/>", "", "attributes not understood"),
        ("", '<geom type="sphere" size="1"/>', "contacts"),
        ('<option><flag contact="disable"/></option>', '<geom type="sphere" size="1"/>', ""),
        ("", '<geom type="sphere" size="1" contype="0" conaffinity="0"/>', ""),
        ("", '<geom type="sphere" size="1" contype="0" conaffinity="0" fluidshape="ellipsoid"/>', ""),
        ("<sensor><jointpos joint='j'/></sensor><visual><map znear='1'/></visual>", "<camera/><light/>", ""),
        ("words", "", ""),
    ],
)  # fmt: skip
def test_mjcf_says_what_it_leaves_out(outer: str, inner: str, topic: str) -> None:
    body = f'<body name="b"><joint name="j"/>{MASS}{inner}<site name="s" pos="0.2 0 0"/></body>'
    report = parse_mjcf(f'<mujoco>{outer}<worldbody><site name="w"/>{body}</worldbody></mujoco>').report
    assert report.summary() == topic
    assert report.complete == (not topic)


@pytest.mark.parametrize(
    ("outer", "limit", "told"),
    [
        ('<actuator><motor joint="j"/></actuator>', "", ""),
        ('<actuator><motor joint="j"/></actuator>', "-1 1", "actuatorgravcomp with actuatorfrcrange"),
        ('<actuator><motor joint="j"/></actuator><option gravity="0 0 0"/>', "-1 1", ""),
        ("", "", "actuatorgravcomp without actuators"),
        ('<actuator><motor joint="j"/></actuator><option><flag actuation="disable"/></option>', "",
         "actuatorgravcomp without actuators"),
    ],
)  # fmt: skip
def test_gravity_compensation_by_actuators_is_reported_where_it_changes_forces(
    outer: str, limit: str, told: str
) -> None:
    range_ = f'actuatorfrcrange="{limit}"' if limit else ""
    joint = f'<joint name="j" actuatorgravcomp="true" {range_}/>'
    body = f'<body name="b" gravcomp="1">{joint}{MASS}</body>'
    report = parse_mjcf(f"<mujoco>{outer}<worldbody>{body}</worldbody></mujoco>").report
    messages = [finding.message for finding in report.of(FindingKind.LEFT_OUT)]
    assert len(messages) == bool(told)
    assert all(message.startswith(told) for message in messages)


def test_names_of_a_file_stay_on_one_line() -> None:
    report = parse_urdf('<robot name="r"><link name="a"/><gadget name="x&#10;; A | ;&#9;"/></robot>').report
    assert str(report.findings[0]) == "line 1: <gadget> of <robot>: x?; A | ;?"
