"""Actuators, tendons, gravity compensation and keyframes of MJCF: the forces and accelerations of MuJoCo."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io.mjcf import load_mjcf
from kinegraph.io.options import RobotFileOptions
from kinegraph.model.evaluate import number
from kinegraph.model.joint_models import with_elements
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot_data import ActuatorData, Keyframe
from tests.io.mujoco_drives import MODELS, NUMBERS, Numbers
from tests.io.robot_numbers import Derived

STORED: list[Numbers] = json.loads(NUMBERS.read_text("utf-8"))["models"]
EVERY = pytest.mark.parametrize("numbers", STORED, ids=[numbers["file"] for numbers in STORED])


@cache
def read(file: str) -> Mechanism:
    return with_elements(load_mjcf(MODELS / file, options=RobotFileOptions(right_angles=False)).mechanism)


def inputs(mechanism: Mechanism, state: Numbers) -> list[float]:
    """The inputs of the mechanism from MuJoCo's controls and activations."""
    control, activation = iter(state["ctrl"]), iter(state["act"])
    found: list[float] = []
    for one in mechanism.extras:
        if isinstance(one, ActuatorData):
            own = [next(control) for _ in one.inputs]
            found += [next(activation)] if one.active else own
    return found


@EVERY
def test_forces_and_accelerations_are_those_of_mujoco(numbers: Numbers) -> None:
    mechanism = read(numbers["file"])
    mine = Derived(mechanism, ("forces", "qdd"))
    for state in numbers["states"]:
        found = mine.at(state["q"], state["v"], u=inputs(mechanism, state))
        for name in ("forces", "qdd"):
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
    values = {name: float(number(value, {})) for name, value in key.inputs}
    assert values == {"plain": 1, "filtered_act": 0.1, "smooth_act": 0.2, "winder_act": 0.3, "press_act": 0.4}


def test_an_input_with_the_name_of_a_joint_gets_an_ending() -> None:
    assert read("servos.xml").layout.inputs[:2] == ("shoulder_ctrl", "hold")
