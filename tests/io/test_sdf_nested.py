"""SDF files of several models: nested, included, or side by side in a world, beside the same links in one model."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import write
from kinegraph.io.sdf import load_sdf, parse_sdf
from kinegraph.model.mechanism import Mechanism
from tests.io.robot_numbers import Derived, relative_error

MASS = (
    "<inertial><pose>0.1 0.02 0 0.3 0 0</pose><mass>2</mass>"
    "<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial>"
)
AXIS = "<axis><xyz>0 0.6 0.8</xyz></axis>"

#: A hand with a finger; the names of links and joints are also those of the arm.
HAND = f"""<pose>{{pose}}</pose>
<link name="base"><pose>0 0 0.1 0 0.2 0</pose>{MASS}</link>
<link name="tip"><pose>0.3 0 0 0 0 0.4</pose>{MASS}</link>
<frame name="grasp" attached_to="tip"><pose>0 0.1 0 0 0 0</pose></frame>
<joint name="j" type="revolute"><pose relative_to="base">0.1 0 0 0 0 0</pose><parent>base</parent><child>tip</child>
<axis><xyz expressed_in="__model__">0 0.6 0.8</xyz></axis></joint>"""
ARM = f"""<link name="base"><pose>0 0 1 0 0 0</pose>{MASS}</link>
<joint name="j" type="revolute"><parent>world</parent><child>base</child>{AXIS}</joint>"""
WRIST = '<joint name="wrist" type="fixed"><parent>base</parent><child>hand::base</child></joint>'
FLAT = f"""<link name="base"><pose>0 0 1 0 0 0</pose>{MASS}</link>
<joint name="j" type="revolute"><parent>world</parent><child>base</child>{AXIS}</joint>
<frame name="hand"><pose>0.5 0 1 0.7 0 0</pose></frame>
<link name="hb"><pose relative_to="hand">0 0 0.1 0 0.2 0</pose>{MASS}</link>
<link name="ht"><pose relative_to="hand">0.3 0 0 0 0 0.4</pose>{MASS}</link>
<joint name="wrist" type="fixed"><parent>base</parent><child>hb</child></joint>
<joint name="hj" type="revolute"><pose relative_to="hb">0.1 0 0 0 0 0</pose><parent>hb</parent><child>ht</child>
<axis><xyz expressed_in="hand">0 0.6 0.8</xyz></axis></joint>"""
PLACED = "0.5 0 1 0.7 0 0"


def sdf(inner: str, version: str = "1.9") -> str:
    return f'<sdf version="{version}">{inner}</sdf>'


def model(inner: str, name: str = "arm") -> str:
    return f'<model name="{name}">{inner}</model>'


def forces(mechanism: Mechanism) -> dict[str, object]:
    size = len(mechanism.layout.velocities)
    q, v = [0.3 + 0.4 * k for k in range(size)], [0.7 - 0.2 * k for k in range(size)]
    return Derived(mechanism, ["H", "bias"]).at(q, v)


def agree(one: Mechanism, other: Mechanism) -> bool:
    first, second = forces(one), forces(other)
    return all(relative_error(first[word], second[word]) < 1e-13 for word in ("H", "bias"))


def test_a_nested_model_is_the_same_links_in_one_model() -> None:
    nested = parse_sdf(sdf(model(ARM + model(HAND.format(pose=PLACED), "hand") + WRIST)))
    assert nested.mechanism.layout.positions == ("j", "hand_j")
    assert list(nested.links.values()) == ["base", "hand::base", "hand::tip"]
    assert agree(nested.mechanism, parse_sdf(sdf(model(FLAT))).mechanism)


@pytest.mark.parametrize("version", ["1.4", "1.9"])
def test_axes_of_nested_models_follow_their_version(version: str) -> None:
    """Axes of old files are in the frame of their own model."""
    hand = HAND.format(pose=PLACED).replace(' expressed_in="__model__"', "")
    nested = parse_sdf(sdf(model(ARM + model(hand, "hand") + WRIST), version)).mechanism
    flat = FLAT if version == "1.4" else FLAT.replace(' expressed_in="hand"', "")
    assert agree(nested, parse_sdf(sdf(model(flat))).mechanism)


@pytest.mark.parametrize("reference", ["hand.sdf", "model://robot_hand", "package://robot_hand/hand.sdf"])
def test_an_included_model_is_a_nested_one(tmp_path: Path, reference: str) -> None:
    """Its name and pose are those that <include> states."""
    folder = tmp_path / "robot_hand"
    folder.mkdir()
    (folder / "hand.sdf").write_text(sdf(model(HAND.format(pose="0 0 9 0 0 0"), "gripper")))
    (folder / "model.config").write_text("<model><sdf version='1.9'>hand.sdf</sdf></model>")
    (tmp_path / "hand.sdf").write_text((folder / "hand.sdf").read_text())
    include = f"<include><uri>{reference}</uri><name>hand</name><pose>{PLACED}</pose></include>"
    (tmp_path / "arm.sdf").write_text(sdf(model(ARM + include + WRIST)))
    mechanism = kg.load(tmp_path / "arm.sdf", package_roots=[tmp_path])
    assert agree(mechanism, parse_sdf(sdf(model(FLAT))).mechanism)


def test_models_of_a_world_become_one_mechanism() -> None:
    """Joints of the world connect them; without joints they move freely. A name that is taken gets a number."""
    both = model(ARM) + model(HAND.format(pose=PLACED), "hand")
    wrist = WRIST.replace("<parent>base", "<parent>arm::base")
    gravity = "<gravity>0 0 -9.81</gravity>"
    world = parse_sdf(sdf(f'<world name="w">{gravity}{both}{wrist}</world>'))
    assert world.mechanism.layout.positions == ("arm_j", "hand_j")
    assert agree(world.mechanism, parse_sdf(sdf(model(FLAT))).mechanism)
    free = parse_sdf(sdf(f'<world name="w">{model(ARM)}{model(ARM)}</world>'))
    assert free.mechanism.layout.positions == ("arm_j", "arm_2_j")
    assert "the model arm is called arm_2" in str(free.report)


def test_a_static_model_that_a_joint_of_the_world_names_is_fixed() -> None:
    stand = model(f'<static>1</static><pose>0 0 1 0 0 0</pose><link name="base">{MASS}</link>', "stand")
    arm = model(f'<link name="base"><pose>0 0 1 0 0 0</pose>{MASS}</link>', "arm")
    hinge = f'<joint name="j" type="revolute"><parent>stand::base</parent><child>arm::base</child>{AXIS}</joint>'
    gravity = "<gravity>0 0 -9.81</gravity>"
    mechanism = parse_sdf(sdf(f'<world name="w">{gravity}{stand}{arm}{hinge}</world>')).mechanism
    assert agree(mechanism, parse_sdf(sdf(model(ARM))).mechanism)


def test_a_gearbox_couples_two_angles() -> None:
    """The angle of the child is -ratio times that of the parent, both from the reference body."""

    def turning(name: str, parent: str, child: str, axis: str) -> str:
        ends = f"<parent>{parent}</parent><child>{child}</child>"
        return f'<joint name="{name}" type="revolute">{ends}<axis><xyz>{axis}</xyz></axis></joint>'

    links = "".join(f'<link name="{name}">{MASS}</link>' for name in ("hip", "rotor", "leg"))
    base = '<joint name="base" type="fixed"><parent>world</parent><child>hip</child></joint>'
    ends = "<parent>rotor</parent><child>leg</child><gearbox_reference_body>hip</gearbox_reference_body>"
    axes = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>"
    gear = f'<joint name="gear" type="gearbox">{ends}<gearbox_ratio>0.04</gearbox_ratio>{axes}</joint>'
    for ends, own in (("hip leg 0 0 1", "knee"), ("hip leg 0 0 -1", "-knee"), ("leg hip 0 0 1", "-knee")):
        parent, child, axis = ends.split(" ", 2)
        text = links + base + turning("motor", "hip", "rotor", "0 0 1") + turning("knee", parent, child, axis) + gear
        assert f"constraint gear | {own} = -0.04*motor;" in write(parse_sdf(sdf(model(text))).mechanism)
    apart = links + base + turning("motor", "hip", "rotor", "0 0 1") + turning("knee", "rotor", "leg", "0 0 1") + gear
    with pytest.raises(ModelError, match="no revolute joint connects leg"):
        parse_sdf(sdf(model(apart)))
    across = links + base + turning("motor", "hip", "rotor", "1 0 0") + turning("knee", "hip", "leg", "0 0 1") + gear
    with pytest.raises(ModelError, match="not parallel"):
        parse_sdf(sdf(model(across)))


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ("<include><uri>{self}</uri></include>", "includes itself"),
        ("<include><uri>../secret.sdf</uri></include>", "was not found"),
        ("<include><uri>/etc/passwd</uri></include>", "was not found"),
        ("<include><uri>link.sdf</uri></include>", "was not found"),
        ("<include><uri>two.sdf</uri></include>", "has 2 models"),
        ("<include/>", "was not found"),
        ("<model name='n' placement_frame='f'><link name='a'/></model>", "placement_frame of the nested model"),
        ("<model><link name='a'/></model>", "has no name"),
        ("<model name='n'>" * 30 + "<link name='a'/>" + "</model>" * 30, "nested more than 20 deep"),
        ("<include><uri>bomb0.sdf</uri></include>", "more than 1000 models"),
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, inner: str, words: str) -> None:
    """Loops, paths out of the folder, and files that multiply."""
    folder = tmp_path / "robot"
    folder.mkdir()
    (tmp_path / "secret.sdf").write_text(sdf(model('<link name="a"/>', "secret")))
    (folder / "link.sdf").symlink_to(tmp_path / "secret.sdf")
    (folder / "two.sdf").write_text(sdf(model('<link name="a"/>', "x") + model('<link name="a"/>', "y")))
    for level in range(9):
        next_file = f"<include><uri>bomb{level + 1}.sdf</uri></include>" * 10 if level < 8 else ""
        (folder / f"bomb{level}.sdf").write_text(sdf(model(f'<link name="a"/>{next_file}', "b")))
    (folder / "arm.sdf").write_text(sdf(model('<link name="a"/>' + inner.format(self="arm.sdf"))))
    with pytest.raises(ModelError, match=words):
        load_sdf(folder / "arm.sdf")
