"""What a file says and the equations do not have is told by every command, by kg.load, and kept by the mechanism."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import pytest

import kinegraph as kg
from kinegraph.errors import LeftOutWarning
from kinegraph.model import joint_models as robot
from kinegraph.model.joint_models import JointModel
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import full_report
from tests.cli.run import data, runner

MODEL = """
<mujoco model="m">
  <compiler angle="radian"/>
  <worldbody><body name="b" pos="0 0 1" euler="1.5708 0 0">
    <joint name="j" axis="0 1 0" range="-1 1" damping="0.1" frictionloss="0.2"/>
    <geom type="sphere" size="0.1" pos="0.2 0.1 0.3"/>
  </body></worldbody>
  <actuator><muscle name="drive" joint="j"/></actuator>
  <keyframe><key mpos="0.5 0 0"/></keyframe>
</mujoco>
"""
WHOLE = '<robot name="r"><link name="a"/><link name="b"/>{}</robot>'
JOINT = '<joint name="j" type="continuous"><origin rpy="{} 0 0"/><parent link="a"/><child link="b"/></joint>'


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.xml"
    path.write_text(MODEL)
    return path


COMMANDS = [
    "derive {} -q H",
    "count {} -q H",
    "eval {} -q H --json",
    "inspect {} --stage model",
    "simulate {} --for 0.01 --interpret --quiet --json",
    "view {} -o {folder}/m.html",
    "export {} --to c -q H -o {folder}",
    "store add {} -q H --store {folder}/s.sqlite",
]


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: line.split()[0])
def test_every_command_says_it_in_one_line(run, model, line, tmp_path):
    result = run(line.format(model, folder=tmp_path))
    notes = [text for text in result.err.splitlines() if text.startswith("note: ")]
    assert result.code == 0 and len(notes) == 1
    assert notes[0] == (
        "note: m.xml: left out or rounded: actuators, contacts, keyframes, joint ranges, dry friction in joints; "
        "`kinegraph check` says more"
    )


def test_check_prints_all_of_it(run, model):
    result = run(f"check {model}")
    assert "note:" not in result.err and "well described" not in result.out
    for line in (
        "m: described in part, without actuators, contacts, keyframes, joint ranges, dry friction in joints; 1 body",
        "<muscle> drive: it has no lengthrange; MuJoCo finds it by a simulation",
        "mpos of <key>",
        "joint ranges: j",
        "1.5708 of the body b differs from pi/2 by 3.7e-06; tolerance 1e-5 rounds it",
        "--angle-tolerance 1e-05 takes the 1 angle as right angles: tau by",
    ):
        assert line in result.out.replace("\n", " ")


def test_check_proposes_no_tolerance_that_saves_nothing(run, model):
    model.write_text(MODEL.replace(' pos="0.2 0.1 0.3"', ""))  # the mass lies on its axis
    assert "--angle-tolerance" not in run(f"check {model}").out


def test_check_gives_it_as_data(run, model):
    found = data(run(f"check {model} --json"))
    assert not found["complete"]
    topics = {one["topic"]: one for one in found["left_out"] if one["kind"] == "left_out"}
    assert list(topics) == ["actuators", "contacts", "keyframes", "joint ranges", "dry friction in joints"]
    assert topics["actuators"]["line"] == 8 and topics["actuators"]["file"] == str(model)
    assert [one["kind"] for one in found["remarks"]] == ["near_right_angle"]
    assert data(run("check puma560 --json"))["left_out"] == []
    assert data(run("check puma560 --json"))["complete"]


def test_check_calls_well_described_what_it_understands(run, tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(WHOLE.format(JOINT.format("1")))
    # Its links have no mass, which is said as well.
    assert "r: well described for kinematics" in run(f"check {path}").out
    assert run(f"derive {path} -q H").err == ""


def test_angles_are_rounded_on_request(run, tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(WHOLE.format(JOINT.format("1.5708")))
    assert "Rx(1.5708)" in run(f"check {path}").out
    assert "Rx(1.5708)" not in run(f"check {path} --angle-tolerance 1e-5").out
    assert "right angles rounded" in run(f"inspect {path} --stage model --angle-tolerance 1e-5").err
    assert run(f"check {path} --angle-tolerance 7").code == 2


def test_loading_warns_once_and_says_what(model, tmp_path):
    with pytest.warns(LeftOutWarning, match=r"m\.xml: left out or rounded: actuators, contacts") as caught:
        found = kg.load(model)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "actuators" in found.report.summary()
    path = tmp_path / "r.urdf"
    path.write_text(WHOLE.format(JOINT.format("1")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.load(path)
        kg.load("puma560")


def test_the_mechanism_keeps_it(model):
    found = kg.load(model)
    again = pickle.loads(pickle.dumps(replace(found, name="other")))
    assert again.report == found.report and again.report.of(FindingKind.LEFT_OUT)
    assert "# line 8: <muscle> drive: it has no lengthrange; MuJoCo finds it by a simulation" in kg.write(found)
    assert kg.parse(kg.write(found)).report.complete
    assert replace(found, report=kg.load("puma560").report) == found  # it is no part of what the mechanism is


@pytest.mark.parametrize(
    ("elements", "topics"),
    [
        (None, ["joint ranges", "dry friction in joints"]),
        (False, ["joint ranges", "joint damping", "dry friction in joints"]),
        (True, ["joint ranges"]),
        (JointModel(limit_stiffness=1000), ["dry friction in joints"]),
        (JointModel(dry_friction=True, limit_stiffness=1000), []),
    ],
)
def test_what_becomes_an_element_is_not_left_out(model, elements, topics):
    report = full_report(kg.load(model, elements=elements))
    joints = [one.topic for one in report.of(FindingKind.LEFT_OUT) if "joint" in one.topic]
    assert joints == topics


def test_the_report_tells_what_the_warning_warns_of(model):
    """The warning named joint ranges and sent to a report that had none."""
    with pytest.warns(LeftOutWarning) as caught:
        mechanism = kg.load(model)
    told = str(caught[0].message)
    for topic in ("joint ranges", "actuators", "dry friction in joints"):
        assert topic in told and topic in mechanism.report.summary()
    assert "joint ranges: j" in str(mechanism.report) and not mechanism.report.complete
    assert full_report(mechanism).findings == mechanism.report.findings
    stopped = robot.with_elements(mechanism, JointModel(limit_stiffness=1e6))
    assert "joint ranges" not in stopped.report.summary()
