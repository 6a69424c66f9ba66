"""SDFormat: trees as Drake has them, loops natively, and everything else said."""

from __future__ import annotations

import importlib.util
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.io.options import RobotFileOptions
from kinegraph.io.sdf import load_sdf, parse_sdf
from kinegraph.model.constraints import JointType
from kinegraph.model.expressions import Number, text
from kinegraph.model.joint_models import with_elements
from kinegraph.model.mechanism import Axis, Mechanism, Shift
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import JointLimits, Shape
from tests.effort import SOAK
from tests.io.drake_numbers import MODEL, NUMBERS, Numbers, drake_numbers
from tests.io.random_sdf import random_model
from tests.io.robot_numbers import Derived, relative_error

REFERENCE = json.loads(NUMBERS.read_text("utf-8"))
FOUR_BAR = MODEL.parent / "four_bar.sdf"


def differences(mechanism: Mechanism, reference: Numbers) -> float:
    """The largest difference from Drake, of H and accelerations beside their largest entries, and of poses."""
    layout = mechanism.layout
    links = tuple(reference["states"][0]["poses"])
    own = Derived(mechanism, ["H", "qdd", *(f"pose:{link}" for link in links)])
    assert len(layout.velocities) == sum(reference["joints"].values())
    worst = 0.0
    for state in reference["states"]:
        found = own.at(state["q"], state["v"])
        worst = max(worst, *(relative_error(found[word], state[word]) for word in ("H", "qdd")))
        worst = max(worst, *(float(np.abs(found[f"pose:{link}"] - state["poses"][link]).max()) for link in links))
    return worst


def test_a_tree_agrees_with_drake() -> None:
    mechanism = kg.load(MODEL)
    assert mechanism.layout.positions == ("shoulder", "reach", "wrist_1", "wrist_2", "thread", "spin")
    assert differences(mechanism, REFERENCE) < 1e-12


@pytest.mark.skipif(importlib.util.find_spec("pydrake") is None, reason="Drake is not installed")
@pytest.mark.parametrize("seed", range(200 if SOAK else 8))
def test_random_models_agree_with_drake(seed: int) -> None:
    model = random_model(seed)
    numbers = drake_numbers(model, 2)
    if not numbers["joints"]:
        pytest.skip("nothing moves")
    assert differences(with_elements(parse_sdf(model).mechanism), numbers) < 1e-10


def test_a_four_bar_is_that_of_the_library() -> None:
    """Coordinates count from the drawing, the coupler's from the crank, the rocker's the other way round."""
    mechanism, library = kg.load(FOUR_BAR), kg.load("four-bar")
    assert mechanism.layout.positions == ("crank", "coupler", "rocker")
    (loop,) = mechanism.loops
    assert (loop.name, loop.type, str(loop.first), str(loop.second)) == ("pin", JointType.REVOLUTE, "Coupler", "Rocker")
    drawn = np.array([0.3, 0.2973779348683029, 0.6741346369557147])
    turned = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, -1]])
    fitting = kg.assemble(library, {"crank": 1.0, "crank'": 2.0})
    expected = Derived(library, ["qdd"]).at(fitting.q.tolist(), fitting.v.tolist())
    q, v = turned @ (fitting.q - drawn), turned @ fitting.v
    found = Derived(mechanism, ["qdd"]).at(q.tolist(), v.tolist())
    np.testing.assert_allclose(
        found["qdd"], turned @ expected["qdd"], rtol=0, atol=1e-12 * np.abs(expected["qdd"]).max()
    )


def test_loops_can_be_left_open() -> None:
    tree = load_sdf(FOUR_BAR, RobotFileOptions(equalities=False))
    assert not tree.mechanism.loops and tree.report.summary(FindingKind.LEFT_OUT).startswith("loops")


def model(inner: str, version: str = "1.9", attributes: str = "") -> Mechanism:
    return parse_sdf(f'<sdf version="{version}"><model name="m" {attributes}>{inner}</model></sdf>').mechanism


MASS = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"


def link(name: str, pose: str = "0 0 0 0 0 0", inner: str = MASS) -> str:
    return f'<link name="{name}"><pose>{pose}</pose>{inner}</link>'


def joint(
    name: str, kind: str, parent: str, child: str, axis: str = "<axis><xyz>0 0 1</xyz></axis>", pose: str = ""
) -> str:
    return f'<joint name="{name}" type="{kind}">{pose}<parent>{parent}</parent><child>{child}</child>{axis}</joint>'


def records(mechanism: Mechanism) -> list[str]:
    """The records of bodies without inertia, and loops."""
    lines = [line for line in write(mechanism).splitlines() if " | " in line]
    return [line.rpartition(" | ")[0] if " m(" in line else line for line in lines]


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (link("a") + joint("j", "revolute", "world", "a"), ["a | Rz(j)"]),
        (link("a", "1 0 0 0 0 0") + joint("j", "prismatic", "world", "a"), ["a | Sx(1), Sz(j)"]),
        (link("a", "1 2 0 0 0 0"), ["a | Sx(1), Sy(2), Sx(a_x), Sy(a_y), Sz(a_z), Q(a_e0, a_e1, a_e2, a_e3)"]),
        (link("a", "1 0 0 0 0 0") + "<static>true</static>", ["a | Sx(1)"]),
        (link("a") + joint("j", "ball", "world", "a", ""), ["a | Q(j_e0, j_e1, j_e2, j_e3)"]),
        (link("a") + joint("j", "fixed", "world", "a", ""), ["a | "]),
        # the way to a link may lead against a joint
        (link("a", "1 0 0 0 0 0") + joint("j", "revolute", "a", "world"), ["a | Rz(-j), Sx(1)"]),
    ],
)  # fmt: skip
def test_joints(inner: str, expected: list[str]) -> None:
    assert records(model(inner)) == expected


def test_the_models_own_pose_and_placement_frame() -> None:
    inner = "<pose>0 0 1 0 0 0</pose>" + link("a", "1 0 0 0 0 0") + joint("j", "revolute", "world", "a")
    assert records(model(inner)) == ["a | Sz(1), Sx(1), Rz(j)"]
    assert records(model(inner, attributes='placement_frame="a"')) == ["a | Sz(1), Rz(j)"]


def test_axes_of_old_files_stand_in_the_models_frame() -> None:
    inner = link("a", "0 0 0 1.5707963267948966 0 0")
    there = joint("j", "revolute", "world", "a", "<axis><xyz>0 0 1</xyz>{}</axis>")
    assert records(model(inner + there.format(""))) == ["a | Rx(pi/2), Rz(j)"]
    old = ["a | Rz(j), Rx(pi/2)"]
    assert records(model(inner + there.format(""), "1.4")) == old
    assert records(model(inner + there.format("<use_parent_model_frame>1</use_parent_model_frame>"), "1.6")) == old


def test_gravity_is_that_of_the_world() -> None:
    body = f'<model name="m">{link("a")}</model>'
    for stated, expected in (("<gravity>1 2 3</gravity>", ["1", "2", "3"]), ("", ["0", "0", "-9.8"])):
        mechanism = parse_sdf(f'<sdf version="1.9"><world name="w">{stated}{body}</world></sdf>').mechanism
        assert [text(item) for item in mechanism.gravity] == expected
        said = [one.message for one in mechanism.report.of(FindingKind.ASSUMED) if one.topic == "gravity"]
        assert said == ([] if stated else ["gravity is 0 0 -9.8: the default of SDFormat"])
    (alone,) = (one for one in model(link("a")).report.of(FindingKind.ASSUMED) if one.topic == "gravity")
    assert alone.message == "gravity is 0 0 -9.81: the file has no world"


def test_a_link_called_world_is_the_world() -> None:
    """It was "two frames called world"; the same model without it is the same mechanism."""
    box = "<visual><geometry><box><size>1 1 1</size></box></geometry></visual>"
    arm = link("a") + joint("j", "revolute", "world", "a")
    named = model(link("world", inner=MASS + box) + arm)
    assert records(named) == records(model(arm)) and named.coordinates == model(arm).coordinates
    (shape,) = (extra for extra in named.extras if isinstance(extra, Shape))
    assert shape.body is None and "the link `world` is fixed" in str(named.report)
    away = model(link("world", "0 0 1 0 0 0", MASS + box) + arm)
    (shape,) = (extra for extra in away.extras if isinstance(extra, Shape))
    assert records(away) == records(model(arm)) and shape.place == (Shift(Axis.Z, Number(Fraction(1))),)
    with pytest.raises(ModelError, match="does not coincide with the world"):
        model(link("world", "0 0 1 0 0 0") + arm + "<frame name='f'><pose relative_to='world'/></frame>")


def test_quaternions_of_poses_are_told_in_their_own_order() -> None:
    pose = '<pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose>'
    with pytest.raises(ModelError, match="write 0 0 0 1 for no rotation"):
        model(f'<link name="a">{pose}{MASS}</link>')


def test_limits_that_are_none_are_left_out() -> None:
    (limits,) = (extra for extra in load_sdf(MODEL).mechanism.extras if isinstance(extra, JointLimits))
    assert (limits.upper, limits.effort) == (None, None)
    assert limits.lower is not None and limits.velocity is not None


def test_shapes_may_stand_in_other_frames() -> None:
    (shape,) = (extra for extra in load_sdf(MODEL).mechanism.extras if isinstance(extra, Shape))
    assert shape.body == "upper" and len(shape.place) > 3


LOOPS = {
    "revolute": "<axis><xyz>0 1 1</xyz></axis>",
    "prismatic": "<axis><xyz>1 0 0</xyz></axis>",
    "ball": "",
    "fixed": "",
    "universal": "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>",
}


@pytest.mark.parametrize("kind", LOOPS)
def test_every_joint_that_closes_a_loop_is_closed_as_drawn(kind: str) -> None:
    damped = "<axis><xyz>0 0 1</xyz><dynamics><damping>1</damping></dynamics></axis>"
    mechanism = model(
        link("a", "0.1 0.2 0 0.3 0 0.1") + link("b", "0.5 0 0.3 0 0.4 0") + link("c", "1 0.1 0 0 0 2")
        + joint("p", "ball", "world", "a", "") + joint("q", "revolute", "a", "b", damped)
        + joint("r", "revolute", "world", "c", damped)
        + joint("close", kind, "b", "c", LOOPS[kind], "<pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>")
    )  # fmt: skip
    (loop,) = mechanism.loops
    assert loop.name == "close"
    zero = [1.0 if name.endswith("e0") else 0.0 for name in mechanism.layout.positions]
    missed = Derived(mechanism, ["constraints"]).at(zero)
    assert np.abs(missed["constraints"]).max() < 1e-15
    assert parse(write(mechanism)).loops == mechanism.loops


FOLLOWS = "<axis><xyz>0 0 1</xyz><mimic joint='{}' axis='{}'>{}</mimic></axis>"
NUMBERS_OF_MIMIC = "<multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference>"


def test_a_joint_that_follows_another_is_a_constraint() -> None:
    both = link("a") + link("b") + joint("lead", "prismatic", "world", "a")
    mechanism = model(both + joint("j", "revolute", "a", "b", FOLLOWS.format("lead", "axis", NUMBERS_OF_MIMIC)))
    assert [line for line in write(mechanism).splitlines() if line.startswith("constraint")] == [
        "constraint mimic_j | j = 2*lead + 0.3;"
    ]
    for leader, axis, words in (("nobody", "axis", "unknown joint 'nobody'"), ("lead", "axis2", "no coordinate")):
        with pytest.raises(ModelError, match=words):
            model(both + joint("j", "revolute", "a", "b", FOLLOWS.format(leader, axis, "")))


def test_what_a_cut_joint_says_is_reported() -> None:
    damped = "<axis><xyz>0 0 1</xyz><dynamics><damping>1</damping></dynamics></axis>"
    both = link("a") + joint("p", "revolute", "world", "a", damped) + joint("q", "revolute", "world", "a", damped)
    mechanism = model(both)
    assert [loop.name for loop in mechanism.loops] == ["q"]
    assert "springs and limits where loops close" in mechanism.report.summary()


SPHERE = "<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry></collision>"


@pytest.mark.parametrize(
    ("inner", "topic"),
    [
        (link("a", inner=MASS + "<gravity>false</gravity>"), "links without gravity"),
        (link("a", inner=MASS + "<gravity>true</gravity><kinematic>0</kinematic><self_collide>1</self_collide>"), ""),
        (link("a", inner=MASS + "<velocity_decay><linear>0.1</linear></velocity_decay>"), "damping of links"),
        (link("a") + "<plugin name='p' filename='f'/>", "extensions of other programs"),
        (link("a") + "<novelty/>", "elements not understood"),
        (link("a", inner=MASS + SPHERE), "contacts"),
        (link("a").replace("<pose>", "<pose frame='x'>"), "poses in other frames"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_said(inner: str, topic: str) -> None:
    assert model(inner).report.summary() == topic


def test_inertia_that_is_not_stated_is_one_and_said() -> None:
    mechanism = model(link("a", inner=""))
    assert text(mechanism.body("a").inertia.mass) == "1"
    assert any("are 1" in finding.message for finding in mechanism.report.of(FindingKind.ASSUMED))


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ("", "has no links"),
        (link("a") + link("a"), "two frames have the name a"),
        (link("a") + "<model name='n'/>", "the nested model n has no links"),
        (link("a") + "<include><uri>x</uri></include>", "the included model x was not found"),
        (link("a") + joint("j", "revolute", "world", "n::a"), "unknown link, joint or frame 'n::a'"),
        (link("a") + joint("j", "revolute", "world", "b"), "unknown link, joint or frame 'b'"),
        (link("a") + joint("j", "revolute", "a", "a"), "connects a to itself"),
        (link("a") + joint("j", "gearbox", "world", "a"), "has no <gearbox_reference_body>"),
        (link("a") + joint("j", "hinge", "world", "a"), "unknown type 'hinge'"),
        (link("a") + joint("j", "screw", "world", "a"), "without a pitch"),
        (link("a") + joint("j", "revolute", "world", "a", ""), "has no <axis>"),
        (link("a") + joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>"), "joint j is zero"),
        (link("a", "0 0 0 0 0"), "has 5 numbers"),
        (link("a", "0 0 0 0 0 x"), "not a finite number"),
        (link("a") + "<static>maybe</static>", "invalid value `maybe` of <static>"),
        (link("a") + "<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>"
         + joint("j", "revolute", "world", "a", pose="<pose relative_to='f'/>"), "form a cycle"),
        (link("a") + "<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>"
         + joint("j", "revolute", "world", "f"), "attachments of frames form a cycle"),
        (link("a", inner="<inertial auto='true'/>"), "automatic inertia"),
        (link("a") + "".join(
            joint(name, "screw", "world", "a", "<axis><xyz>0 0 1</xyz></axis><thread_pitch>1</thread_pitch>")
            for name in "pq"), "cannot close a loop"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(inner: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        model(inner)


def test_static_models_beside_a_moving_one_are_left_out() -> None:
    one = '<model name="{}">' + link("a") + "{}</model>"
    ground = one.format("y", "<static>1</static>")
    robot = parse_sdf(f'<sdf version="1.9"><world name="w">{ground}{one.format("x", "")}</world></sdf>')
    assert robot.mechanism.name == "x" and robot.report.summary() == "static models"


def test_files_of_drake_are_read() -> None:
    found = importlib.util.find_spec("pydrake")
    if found is None or not found.submodule_search_locations:
        pytest.skip("Drake is not installed")
    files = sorted(Path(next(iter(found.submodule_search_locations))).rglob("*.sdf"))
    assert files
    for file in files:
        assert not load_sdf(file).report.of(FindingKind.NOT_UNDERSTOOD), file
