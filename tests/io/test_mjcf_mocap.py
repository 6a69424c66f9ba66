"""Mocap bodies of MJCF: at their place, or moved by formulas of time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.model.report import FindingKind
from tests.cli.run import runner

#: A ball on a mocap body by a weld, and beside it a pendulum that hangs in the fixed frame.
TEXT = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <body name="hand" mocap="true" pos="0.1 0.2 0.3" euler="0 0 90"><site name="palm" pos="0.5 0 0"/></body>
  <body name="ball" pos="0.1 0.2 0.3"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</worldbody><equality><weld body1="hand" body2="ball"/></equality></mujoco>"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hand.xml"
    path.write_text(TEXT)
    return path


def test_a_mocap_body_stays_where_the_file_puts_it() -> None:
    robot = parse_mjcf(TEXT)
    assert robot.report.complete
    (told,) = (one for one in robot.report.of(FindingKind.ASSUMED) if "mocap" in one.topic)
    assert "hand" in told.message
    hand = robot.mechanism.body("hand").transforms
    fixed = parse_mjcf(TEXT.replace(' mocap="true"', "")).mechanism
    assert hand == fixed.body("hand").transforms


def test_a_prescribed_motion_moves_the_body_and_what_is_welded_to_it(file: Path) -> None:
    moved = kg.load(file, mocap={"hand": ("0.1 + 0.2*sin(3*t)", 0.2, 0.3, 0, 0, "pi/2 + t")})
    kernel = kg.compile(moved, "pose:palm,pose:hand")
    for time in (0.0, 0.4):
        given = {"q": [0, 0, 0, 1, 0, 0, 0], "t": time}
        found = kernel(*(given[one.name] for one in kernel.arguments))
        x, angle = 0.1 + 0.2 * np.sin(3 * time), np.pi / 2 + time
        palm = [x + 0.5 * np.cos(angle), 0.2 + 0.5 * np.sin(angle), 0.3]
        np.testing.assert_allclose(found["pose:palm"][:3, 3], palm, atol=1e-15)
    motion = kg.simulate(moved, 0.5, times=5, progress=False)
    names = [name for name in moved.layout.positions if name.endswith(("_x", "_y", "_z"))]
    path = np.array([motion[name] for name in names])
    np.testing.assert_allclose(path[0], 0.1 + 0.2 * np.sin(3 * motion.t), atol=1e-7)
    np.testing.assert_allclose(path[1:].T, [[0.2, 0.3]] * len(motion.t), atol=1e-7)


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        ({"hand": (0, 0)}, "the motion of the mocap body hand"),
        ({"hand": "t"}, "the motion of the mocap body hand"),
        ({"ball": (0, 0, 0)}, "'ball' is not a mocap body"),
        ({"hand": ("q1", 0, 0)}, "q1"),
        ({"hand": ("2*", 0, 0)}, "the motion of hand"),
    ],
)
def test_motions_that_say_nothing_are_refused(motion: dict[str, tuple[str, ...]], words: str, file: Path) -> None:
    with pytest.raises(ModelError, match=words):
        kg.load(file, mocap=motion)


def test_other_formats_have_no_mocap_bodies() -> None:
    with pytest.raises(ModelError, match="only MJCF files have mocap bodies"):
        kg.load("puma560", mocap={"hand": (0, 0, 0)})


def test_the_motion_on_the_command_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, words = runner(capsys), f"eval {file} -q pose:palm --json --mocap"
    pose = json.loads(run(words, "hand=atan2(0, 1), 1, 0.5 - t").out)["pose:palm"]
    np.testing.assert_allclose(np.array(pose)[:3, 3], [0.5, 1, 0.5], atol=1e-15)
    wrong = run(words, "hand")
    assert wrong.code and "BODY=X,Y,Z" in wrong.err


@pytest.mark.parametrize("inner", ["<joint/>", "<freejoint/>"])
def test_a_mocap_body_has_no_joints(inner: str) -> None:
    text = f'<mujoco><worldbody><body mocap="true">{inner}<geom size="1"/></body></worldbody></mujoco>'
    with pytest.raises(ModelError, match="a mocap body is fixed in the world"):
        parse_mjcf(text)
