"""Contacts from the shapes of robot files: nothing falls through the floor, and what is left out is said."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.mechanism_source import with_contacts
from kinegraph.errors import ModelError
from kinegraph.io.mjcf import parse_mjcf

WORLD = """
<mujoco><worldbody>
  <geom type="plane" size="0 0 1" pos="0 0 0.1"/>
  <body pos="0 0 1"><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>{geom}</body>
</worldbody></mujoco>
"""


def model(geom, plane=True):
    text = WORLD.format(geom=geom)
    text = text if plane else text.replace('<geom type="plane" size="0 0 1" pos="0 0 0.1"/>', "")
    return parse_mjcf(text).mechanism


def test_a_sphere_bounces_and_rests_on_the_plane():
    ball = with_contacts(model('<geom type="sphere" size="0.2" mass="1"/>'), restitution=0.5)
    (contact,) = ball.contacts
    run = kg.simulate(ball, 3, native=False, times=60)
    height = next(name for name in run.positions)
    assert run[f"{contact.name}.gap"].min() > -1e-9
    fall = np.sqrt(2 * (1 - 0.1 - 0.2) / 9.81)
    assert abs(run.events[0].time - fall) < 1e-9 and abs(1 + run[height][-1] - 0.3) < 1e-9
    assert abs(run[f"{contact.name}.normal"][-1] - 9.81) < 1e-8


@pytest.mark.parametrize(("geom", "count"), [
    ('<geom type="capsule" size="0.1 0.3" mass="1"/>', 2),
    ('<geom type="box" size="0.1 0.2 0.3" mass="1"/>', 8),
])  # fmt: skip
def test_ends_and_corners_touch(geom, count):
    body = with_contacts(model(geom), friction=0.5)
    assert len(body.contacts) == count
    run = kg.simulate(body, 1, state={run_turn(body): 0.3}, native=False, times=20)
    assert min(run[f"{one.name}.gap"].min() for one in body.contacts) > -1e-9
    assert any(event.name.endswith("impact") for event in run.events)


def test_a_file_is_read_with_its_contacts(tmp_path):
    (tmp_path / "ball.xml").write_text(WORLD.format(geom='<geom type="sphere" size="0.2" mass="1"/>'))
    assert len(kg.load(tmp_path / "ball.xml", contacts=True).contacts) == 1
    with pytest.warns(kg.errors.LeftOutWarning, match="contacts"):
        assert not kg.load(tmp_path / "ball.xml").contacts


def run_turn(body):
    return body.layout.positions[1]


def test_what_is_left_out_is_said():
    body = with_contacts(model('<geom type="sphere" size="0.1"/><geom type="cylinder" size="0.1 0.2"/>'), friction=1)
    said = " ".join(finding.message for finding in body.report.findings)
    assert "moving bodies" in said and "1 cylinders" in said and "friction of spheres" in said
    with pytest.raises(ModelError, match="no plane"):
        with_contacts(model('<geom type="sphere" size="0.1"/>', plane=False))
