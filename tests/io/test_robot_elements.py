"""Damping, springs, armature, friction and limits of robot files in the equations of motion, beside MuJoCo."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.graph.interpret import interpret
from kinegraph.io.mjcf import load_mjcf, parse_mjcf
from kinegraph.io.urdf import parse_urdf
from kinegraph.model.elements import Damper, Friction, Limit, Spring
from kinegraph.model.joint_models import JointModel, with_elements
from kinegraph.model.mechanism import ZERO
from kinegraph.model.robot_data import JointFriction, JointLimits, JointSpring
from tests.interpreted import interpreted

FILE = Path(__file__).parent / "data" / "passive.xml"
NUMBERS = json.loads((Path(__file__).parents[1] / "data" / "passive_mujoco.json").read_text("utf-8"))

URDF = """
<robot name="r">
  <link name="base"/>
  <link name="arm"><inertial><mass value="1"/><origin xyz="0 0 -1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j 1;" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-0.5" upper="0.5" effort="10" velocity="3"/><dynamics damping="0.3" friction="0.1"/></joint>
</robot>
"""


def state(values: dict[str, list[float]]) -> tuple[list[float], list[float]]:
    return values["q"], values["v"]


def test_passive_forces_and_armature_are_those_of_mujoco() -> None:
    """As loaded: MuJoCo counts them in, so do we. `forces` are its qfrc_passive, H has the armature."""
    robot = kg.load(FILE)
    inertia, forward = interpreted(robot, "H"), interpreted(robot, "qdd")
    forces, energy = interpreted(robot, "forces"), interpreted(robot, "energy")
    for values in NUMBERS["states"]:
        q, v = state(values)
        assert np.allclose(inertia(q), values["H"], rtol=1e-12, atol=1e-13)
        assert np.allclose(forces(q, v), values["forces"], rtol=1e-12, atol=1e-13)
        assert np.allclose(forward(q, v, np.zeros(len(v))), values["qdd"], rtol=1e-10, atol=1e-10)
        assert energy(q, v)[0] == pytest.approx(values["energy"][0], rel=1e-12)


def test_the_motion_is_that_of_mujoco() -> None:
    robot = kg.load(FILE)
    names = (*robot.layout.positions, *robot.layout.velocities)
    initial = dict(zip(names, np.concatenate(state(NUMBERS["start"])).tolist(), strict=True))
    run = kg.simulate(robot, 1, state=initial, rtol=1e-10)
    end = run.array()[-1]
    assert np.abs(end - np.concatenate(state(NUMBERS["end"]))).max() < 1e-6
    assert run["dissipated"][-1] > 0
    assert run.checks[0].error < 1e-8


def test_a_robot_can_be_had_without_them() -> None:
    bare, full = kg.load(FILE, elements=False), kg.load(FILE)
    assert bare == load_mjcf(FILE).mechanism
    assert not bare.elements and full.bodies == bare.bodies
    assert set(bare.armature) == {ZERO} and len(set(full.armature)) == 4
    kept = [extra for extra in full.extras if not isinstance(extra, JointLimits)]
    assert not any(isinstance(extra, JointFriction | JointSpring) for extra in kept)


def test_urdf_joints_resist_on_request(tmp_path: Path) -> None:
    """Pinocchio ignores damping and friction of a URDF, so does `load` unless it is told."""
    file = tmp_path / "r.urdf"
    file.write_text(URDF, "utf-8")
    assert not kg.load(file).elements
    (friction,) = kg.load(file, elements=True).elements
    assert isinstance(friction, Friction) and friction.name == "friction_j_1_"
    tau = kg.compile(kg.load(file, elements=True), "tau")
    free = kg.compile(kg.load(file), "tau")
    assert tau([0.2], [0.7], [0]) - free([0.2], [0.7], [0]) == pytest.approx(0.3 * 0.7 + 0.1 * np.tanh(70))
    (damper,) = kg.load(file, elements=JointModel()).elements
    assert isinstance(damper, Damper)


def test_ranges_become_stops() -> None:
    robot = parse_urdf(URDF).mechanism
    stopped = with_elements(robot, JointModel(passive=False, limit_stiffness=1e6, limit_damping=1e6))
    (limit,) = stopped.elements
    assert isinstance(limit, Limit)
    run = kg.simulate(stopped, 2, state={"j_1": 0.4, "j_1'": 3}, method="bdf")
    assert 0.5 < np.abs(run["j_1"]).max() < 0.51


BALL = (
    '<mujoco><worldbody><body><joint name="ball" type="ball" stiffness="2" damping="1" armature="1" range="0 30"/>'
    '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'
)


def test_ball_joints_turn_back_along_the_shortest_way() -> None:
    """Against the rotation vector; at rest the force vanishes and its slope is that of the spring."""
    ball = with_elements(parse_mjcf(BALL).mechanism)
    assert [type(extra) for extra in ball.extras] == [JointLimits]
    assert [type(element) for element in ball.elements] == [Damper, Damper, Damper, Spring]
    graph = kg.derive(ball, "forces,d(forces)/d(dq)")
    axis, still = np.array([0.6, 0, 0.8]), dict.fromkeys(("ball_wx", "ball_wy", "ball_wz"), 0.0)

    def at(angle: float) -> dict[str, np.ndarray]:
        quaternion = [np.cos(angle / 2), *(np.sin(angle / 2) * axis)]
        return interpret(graph, still | {f"ball_e{i}": float(part) for i, part in enumerate(quaternion)})

    for angle in (1e-9, 0.3, -2.0, 3.1):
        assert at(angle)["forces"] == pytest.approx(-2 * angle * axis, rel=1e-12, abs=1e-17)
        assert at(angle + 2 * np.pi)["forces"] == pytest.approx(-2 * angle * axis, rel=1e-6)
    rest = at(0.0)
    assert not np.any(rest["forces"])
    assert rest["d(forces)/d(dq)"] == pytest.approx(-2 * np.eye(3))


@pytest.mark.soak
def test_ranges_of_ball_joints_become_stops() -> None:
    stopped = with_elements(parse_mjcf(BALL).mechanism, JointModel(passive=False, limit_stiffness=100))
    (limit,) = stopped.elements
    assert isinstance(limit, Limit) and limit.lower is None
    forces = kg.compile(stopped, "forces")
    for angle, force in ((np.pi / 6 - 0.01, 0), (np.pi / 6 + 0.01, -1)):
        assert forces([np.cos(angle / 2), 0, np.sin(angle / 2), 0], [0, 0, 0]) == pytest.approx([0, force, 0])


def test_armature_has_no_momentum() -> None:
    """Momentum in space is that of the bodies alone; a rotor about the world's z axis once was counted in."""
    bare, full = kg.load(FILE, elements=False), kg.load(FILE)
    q, v = state(NUMBERS["states"][0])
    assert np.array_equal(kg.compile(full, "momentum")(q, v), kg.compile(bare, "momentum")(q, v))
    assert kg.compile(full, "energy")(q, v)[0] > kg.compile(bare, "energy")(q, v)[0]
