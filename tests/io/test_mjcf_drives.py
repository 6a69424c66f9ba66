"""Actuators, tendons, gravity compensation and keyframes of MJCF: the forces and accelerations of MuJoCo."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io.mjcf import load_mjcf, parse_mjcf
from kinegraph.io.options import RobotFileOptions
from kinegraph.model.evaluate import number
from kinegraph.model.joint_models import with_elements
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import Keyframe
from tests.io.mujoco_drives import MODELS, NUMBERS, Numbers
from tests.io.robot_numbers import Derived

STORED: list[Numbers] = json.loads(NUMBERS.read_text("utf-8"))["models"]
LONG = {"sides.xml"}
EVERY = pytest.mark.parametrize(
    "numbers",
    [pytest.param(one, marks=[pytest.mark.soak] if one["file"] in LONG else [], id=one["file"]) for one in STORED],
)


@cache
def read(file: str) -> Mechanism:
    return with_elements(load_mjcf(MODELS / file, options=RobotFileOptions(right_angles=False)).mechanism)


@EVERY
def test_forces_and_accelerations_are_those_of_mujoco(numbers: Numbers) -> None:
    mechanism = read(numbers["file"])
    compared = ("forces", "qdd", "state_rates") if mechanism.states else ("forces", "qdd")
    mine = Derived(mechanism, compared)
    for state in numbers["states"]:
        driven = state["ctrl"][: len(mechanism.layout.inputs)]  # disabled actuators are the last of the file
        found = mine.at(state["q"], state["v"], u=driven, z=state["act"])
        for name in compared:
            size = np.abs(state[name]).max()
            np.testing.assert_allclose(found[name], state[name], rtol=0, atol=1e-9 * size)


def test_every_model_has_numbers() -> None:
    assert {path.name for path in MODELS.glob("*.xml")} == {numbers["file"] for numbers in STORED}


def test_keyframes_are_named_states_and_controls_default_to_zero() -> None:
    mechanism = read("servos.xml")
    start = kg.simulate(mechanism, 0.01, times=2, state="home", native=False, progress=False)
    assert start["shoulder"][0] == 0.1 and start["elbow'"][0] == 0.1
    with pytest.raises(ModelError, match="unknown keyframe 'hom'"):
        kg.simulate(mechanism, 0.01, state="hom", progress=False)


def test_keyframes_hold_controls_and_activations() -> None:
    (key,) = (one for one in read("activation.xml").extras if isinstance(one, Keyframe))
    values = {name: float(number(value, {})) for name, value in (*key.state, *key.inputs)}
    assert values == {
        "a": 0.1, "b": 0.2, "plain": 1, "filtered": 2, "smooth": 3, "winder": 4, "press": 5,
        "filtered_act": 0.1, "smooth_act": 0.2, "winder_act": 0.3, "press_act": 0.4,
    }  # fmt: skip


def test_an_activation_follows_its_control_and_stays_within_its_range() -> None:
    text = """<mujoco><worldbody><body><joint name="a"/><geom size="1"/></body></worldbody><actuator>
      <general name="lag" joint="a" dyntype="filter" dynprm="0.2" gainprm="0"/>
      <intvelocity name="wind" joint="a" kp="0" actrange="-1 0.5"/></actuator></mujoco>"""
    run = kg.simulate(parse_mjcf(text).mechanism, 2, times=4, inputs={"lag": "1", "wind": "1"}, progress=False)
    np.testing.assert_allclose(run["lag_act"], 1 - np.exp(-run.t / 0.2), atol=1e-8)
    np.testing.assert_allclose(run["wind_act"], np.minimum(run.t, 0.5), atol=1e-3)


def test_muscles_and_adhesion_that_drive_nothing_say_why() -> None:
    text = """<mujoco><worldbody><body name="b"><joint name="a"/><geom size="1"/></body></worldbody><actuator>
      <muscle name="plain" joint="a"/><adhesion name="stick" body="b" ctrlrange="0 1"/></actuator></mujoco>"""
    mechanism = parse_mjcf(text).mechanism
    assert mechanism.layout.inputs == ("stick",) and not mechanism.elements
    (left,) = (one for one in mechanism.report.of(FindingKind.LEFT_OUT) if one.topic == "actuators")
    assert left.message.startswith("<muscle> plain: it has no lengthrange; MuJoCo finds it by a simulation")
    assert "adhesion" in [one.topic for one in mechanism.report.of(FindingKind.CONTACTS)]


def test_a_side_site_that_moves_into_the_geom_gives_no_number() -> None:
    """A path inside a geom is not supported: it must not be taken for one outside."""
    text = """<mujoco><worldbody><geom name="ball" size="0.2"/><site name="left" pos="-1 0.1 0"/>
      <body><joint name="a" type="slide" axis="0 0 1"/><geom size="0.1" pos="0 0 1"/><site name="side" pos="0 0 0.5"/>
      <site name="right" pos="1 0.1 0"/></body></worldbody><tendon><spatial name="t" stiffness="10">
      <site site="left"/><geom geom="ball" sidesite="side"/><site site="right"/></spatial></tendon></mujoco>"""
    forces = Derived(with_elements(parse_mjcf(text).mechanism), ["forces"])
    assert np.isfinite(forces.at([-0.2], [0.0])["forces"]).all()
    assert np.isnan(forces.at([-0.45], [0.0])["forces"]).all()


def test_an_input_with_the_name_of_a_joint_gets_an_ending() -> None:
    assert read("servos.xml").layout.inputs[:2] == ("shoulder_ctrl", "hold")
