"""<attach> of MJCF: the mechanism that MuJoCo makes of several files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from kinegraph.errors import ModelError
from kinegraph.io.mjcf import load_mjcf
from kinegraph.io.options import RobotFileOptions
from kinegraph.model.joint_models import with_elements
from tests.io.robot_numbers import Derived

FOLDER = Path(__file__).parent / "data" / "attach"
#: Forces and accelerations of parent.xml by MuJoCo, contacts off.
NUMBERS = json.loads((Path(__file__).parents[1] / "data" / "attach_mujoco.json").read_text("utf-8"))


def test_two_copies_of_a_part_move_as_in_mujoco() -> None:
    mechanism = with_elements(load_mjcf(FOLDER / "parent.xml", RobotFileOptions(right_angles=False)).mechanism)
    assert mechanism.layout.inputs == ("own", "left_m1", "left_p2", "right_m1", "right_p2")
    mine = Derived(mechanism, ("forces", "qdd"))
    for state in NUMBERS["states"]:
        found = mine.at(state["q"], state["v"], u=state["ctrl"])
        for name in ("forces", "qdd"):
            np.testing.assert_allclose(found[name], state[name], rtol=0, atol=1e-9 * np.abs(state[name]).max())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "attach"))


def test_the_whole_model_is_attached_if_no_body_is_named(folder: Path) -> None:
    parent = folder / "parent.xml"
    parent.write_text(parent.read_text().replace(' body="base"', ""))
    mechanism = load_mjcf(parent).mechanism
    assert {"left_j3", "right_j3"} <= set(mechanism.layout.positions)
    assert "left_m3" in mechanism.layout.inputs


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("parent.xml", 'body="base"', 'body="basis"', "the attached model has no body basis"),
        ("parent.xml", 'attach model="child"', 'attach model="kid"', "unknown model 'kid'"),
        ("parent.xml", 'file="child.xml"', 'file="kid.xml"', "kid.xml was not found"),
        ("child.xml", 'angle="radian"', 'angle="degree"', "another angle of <compiler>"),
        ("child.xml", "<asset>", '<asset><model name="child" file="child.xml"/>', ""),
    ],
)
def test_mistakes_are_told(file: str, old: str, new: str, words: str, folder: Path) -> None:
    path = folder / file
    path.write_text(path.read_text().replace(old, new))
    if not words:  # a model that is named but not attached does no harm
        load_mjcf(folder / "parent.xml")
        return
    with pytest.raises(ModelError, match=words):
        load_mjcf(folder / "parent.xml")


def test_a_model_that_attaches_itself_is_refused(folder: Path) -> None:
    path = folder / "child.xml"
    text = path.read_text().replace("<asset>", '<asset><model name="me" file="child.xml"/>')
    path.write_text(text.replace("</worldbody>", '<body><attach model="me" prefix="x_"/></body></worldbody>'))
    with pytest.raises(ModelError, match="attaches itself"):
        load_mjcf(folder / "parent.xml")


def test_options_and_keyframes_of_a_part_are_reported(folder: Path) -> None:
    path = folder / "child.xml"
    path.write_text(path.read_text().replace("<worldbody>", '<option gravity="0 0 -1"/><worldbody>'))
    assert "attached models" in load_mjcf(folder / "parent.xml").report.summary()
