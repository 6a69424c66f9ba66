"""The calls of Pinocchio and MuJoCo that are used most, each beside one line of `kg.robot`, executed and compared.

    pip install pin mujoco
    python -m benchmarks robot-calls [--markdown]

The lines of CALLS are the ones that run: the table of docs/robot.md is printed by --markdown. Pinocchio reads a URDF
with a free base, an angle without limits, and joints whose order is not that of their names; MuJoCo reads an MJCF with
a free body, a ball joint, armature, springs and dampers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kinegraph as kg

LIMIT = 1e-10

LINK = """<link name="{0}"><inertial><origin xyz="{1} 0.02 -0.1" rpy="0.1 0.2 0.3"/><mass value="{2}"/>
<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.0015"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="{4}" rpy="0.3 -0.2 0.1"/>
<axis xyz="{5}"/>{6}</joint>"""
ENDS = '<limit lower="-1" upper="2" velocity="3" effort="40"/>'
URDF = f"""<robot name="walker">{LINK.format("torso", 0.1, 5)}{LINK.format("thigh", 0.2, 2)}
{LINK.format("shin", 0.0, 1)}{LINK.format("wheel", 0.03, 0.5)}{LINK.format("mast", 0.0, 1.5)}<link name="hand"/>
{JOINT.format("z_hip", "revolute", "torso", "thigh", "0.1 0.2 -0.1", "1 0 0", ENDS)}
{JOINT.format("knee", "revolute", "thigh", "shin", "0 0 -0.4", "0 1 0", ENDS)}
{JOINT.format("roll", "continuous", "shin", "wheel", "0 0.1 -0.4", "0 1 0", "")}
{JOINT.format("a_lift", "prismatic", "torso", "mast", "0 0 0.3", "0 0 1", ENDS)}
{JOINT.format("grip", "fixed", "mast", "hand", "0.1 0 0.2", "1 0 0", "")}</robot>"""
MJCF = """<mujoco model="walker"><compiler angle="radian"/>
<option gravity="0.1 0.2 -9.81" integrator="RK4" timestep="0.001"><flag energy="enable" contact="disable"/></option>
<worldbody><body name="torso"><freejoint name="root"/><geom type="box" size="0.2 0.1 0.15" pos="0.02 0.01 0"/>
<body name="thigh" pos="0.1 0.2 -0.1" euler="0.3 0.1 0.2"><joint name="hip" axis="1 0 0" armature="0.1" damping="0.5"
 range="-3 3"/><geom type="capsule" fromto="0 0 0 0.1 0 -0.4" size="0.05"/>
<body name="shin" pos="0.1 0 -0.4"><joint name="knee" axis="0 1 0.2" stiffness="3" range="-3 3"/>
<geom type="capsule" fromto="0 0 0 0 0.1 -0.4" size="0.04"/></body></body>
<body name="upper" pos="0 0 0.3"><joint name="ball" type="ball"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>
<body name="hand" pos="0.3 0.1 0"><joint name="reach" type="slide" axis="1 0 0" range="-3 3"/>
<geom type="box" size="0.1 0.05 0.02"/></body></body></body></worldbody></mujoco>"""


@dataclass(frozen=True)
class Call:
    """One task: the line of `kg.robot`, and the lines of Pinocchio and MuJoCo, the last value of which is compared."""

    task: str
    robot: str
    pinocchio: str = ""
    mujoco: str = ""


_KINEMATICS = "pin.forwardKinematics(model, data, q, v, a); pin.updateFramePlacements(model, data); "
_RATES = "pin.computeJointJacobiansTimeVariation(model, data, q, v); pin.updateFramePlacements(model, data); "
ALIGNED = "pin.LOCAL_WORLD_ALIGNED"

CALLS = (
    Call("inverse dynamics", "robot.inverse_dynamics(q, v, a)", "pin.rnea(model, data, q, v, a)",
         "d.qacc[:] = a; mujoco.mj_inverse(m, d); d.qfrc_inverse"),
    Call("inverse dynamics, wrench on a body", "robot.inverse_dynamics(q, v, a, wrenches={frame: f})",
         "pin.rnea(model, data, q, v, a, on_joints(f))",
         "d.qacc[:] = a; mujoco.mj_inverse(m, d); d.qfrc_inverse - applied(f)"),
    Call("forward dynamics", "robot.forward_dynamics(q, v, tau)", "pin.aba(model, data, q, v, tau)",
         "d.qfrc_applied[:] = tau; mujoco.mj_forward(m, d); d.qacc"),
    Call("forward dynamics, wrench on a body", "robot.forward_dynamics(q, v, tau, wrenches={frame: f})",
         "pin.aba(model, data, q, v, tau, on_joints(f))",
         "d.qfrc_applied[:] = tau + applied(f); mujoco.mj_forward(m, d); d.qacc"),
    Call("inertia matrix", "robot.mass_matrix(q)", "pin.crba(model, data, q)",
         "x = np.zeros((m.nv, m.nv)); mujoco.mj_fullM(m, d, x); x"),
    Call("its inverse", "robot.inverse_mass_matrix(q)", "pin.computeMinverse(model, data, q)",
         "x = np.eye(m.nv); mujoco.mj_solveM(m, d, x, np.eye(m.nv)); x"),
    Call("inertia matrix times a vector", "robot.mass_matrix(q) @ a", "pin.crba(model, data, q) @ a",
         "x = np.zeros(m.nv); mujoco.mj_mulM(m, d, x, a); x"),
    Call("gravity", "robot.gravity(q)", "pin.computeGeneralizedGravity(model, data, q)",
         "d.qvel[:] = 0; mujoco.mj_forward(m, d); d.qfrc_bias"),
    Call("forces at rest under a wrench", "robot.gravity(q, wrenches={frame: f})",
         "pin.computeStaticTorque(model, data, q, on_joints(f))"),
    Call("forces at a = 0", "robot.bias(q, v)", "pin.nonLinearEffects(model, data, q, v)",
         "d.qfrc_bias - d.qfrc_passive"),
    Call("velocity forces by the Coriolis matrix", "robot.coriolis(q, v) @ v",
         "pin.computeCoriolisMatrix(model, data, q, v) @ v"),
    Call("derivative of inverse dynamics by q", "robot.inverse_dynamics_derivatives(q, v, a)[0]",
         "pin.computeRNEADerivatives(model, data, q, v, a)[0]"),
    Call("derivative of inverse dynamics by v", "robot.inverse_dynamics_derivatives(q, v, a)[1]",
         "pin.computeRNEADerivatives(model, data, q, v, a)[1]"),
    Call("derivative of forward dynamics by q", "robot.forward_dynamics_derivatives(q, v, tau)[0]",
         "pin.computeABADerivatives(model, data, q, v, tau)[0]"),
    Call("derivative of forward dynamics by v", "robot.forward_dynamics_derivatives(q, v, tau)[1]",
         "pin.computeABADerivatives(model, data, q, v, tau)[1]"),
    Call("derivative of gravity by q", "robot.inverse_dynamics_derivatives(q, 0 * v, 0 * v)[0]",
         "pin.computeGeneralizedGravityDerivatives(model, data, q)"),
    Call("kinetic energy", "robot.kinetic_energy(q, v)", "pin.computeKineticEnergy(model, data, q, v)",
         "mujoco.mj_energyVel(m, d); d.energy[1]"),
    Call("potential energy", "robot.potential_energy(q)", "pin.computePotentialEnergy(model, data, q)",
         "mujoco.mj_energyPos(m, d); d.energy[0]"),
    Call("mass", "robot.mass", "pin.computeTotalMass(model)", "mujoco.mj_getTotalmass(m)"),
    Call("center of mass", "robot.com(q)", "pin.centerOfMass(model, data, q)", "d.subtree_com[1]"),
    Call("its Jacobian", "robot.com_jacobian(q)", "pin.jacobianCenterOfMass(model, data, q)",
         "x = np.zeros((3, m.nv)); mujoco.mj_jacSubtreeCom(m, d, x, 1); x"),
    Call("its velocity", "robot.com_velocity(q, v)", "pin.centerOfMass(model, data, q, v); data.vcom[0]",
         "mujoco.mj_subtreeVel(m, d); d.subtree_linvel[1]"),
    Call("its acceleration", "robot.com_acceleration(q, v, a)", "pin.centerOfMass(model, data, q, v, a); data.acom[0]"),
    Call("centroidal momentum", "robot.centroidal_momentum(q, v)",
         "pin.computeCentroidalMomentum(model, data, q, v).vector",
         "mujoco.mj_subtreeVel(m, d); np.r_[d.subtree_linvel[1] * m.body_subtreemass[1], d.subtree_angmom[1]]"),
    Call("centroidal momentum matrix", "robot.centroidal_matrix(q)", "pin.ccrba(model, data, q, v)"),
    Call("its angular rows", "robot.centroidal_matrix(q)[3:]", "pin.ccrba(model, data, q, v)[3:]",
         "x = np.zeros((3, m.nv)); mujoco.mj_angmomMat(m, d, x, 1); x"),
    Call("rate of centroidal momentum", "robot.centroidal_rate(q, v, a)",
         "pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a).vector"),
    Call("pose of a frame", "robot.pose(frame, q)",
         "pin.framesForwardKinematics(model, data, q); data.oMf[i].homogeneous", "pose(d.xpos[i], d.xmat[i])"),
    Call("Jacobian", "robot.jacobian(frame, q)", f"pin.computeFrameJacobian(model, data, q, i, {ALIGNED})",
         "x = np.zeros((6, m.nv)); mujoco.mj_jacBody(m, d, x[:3], x[3:], i); x"),
    Call("Jacobian, local", 'robot.jacobian(frame, q, "local")',
         "pin.computeFrameJacobian(model, data, q, i, pin.LOCAL)"),
    Call("Jacobian, world", 'robot.jacobian(frame, q, "world")',
         "pin.computeFrameJacobian(model, data, q, i, pin.WORLD)"),
    Call("rate of the Jacobian", "robot.jacobian_rate(frame, q, v)",
         _RATES + f"pin.getFrameJacobianTimeVariation(model, data, i, {ALIGNED})",
         "x = np.zeros((6, m.nv)); mujoco.mj_jacDot(m, d, x[:3], x[3:], d.xpos[i], i); x"),
    Call("rate of the Jacobian, local", 'robot.jacobian_rate(frame, q, v, "local")',
         _RATES + "pin.getFrameJacobianTimeVariation(model, data, i, pin.LOCAL)"),
    Call("rate of the Jacobian, world", 'robot.jacobian_rate(frame, q, v, "world")',
         _RATES + "pin.getFrameJacobianTimeVariation(model, data, i, pin.WORLD)"),
    Call("velocity of a frame", "robot.velocity(frame, q, v)",
         _KINEMATICS + f"pin.getFrameVelocity(model, data, i, {ALIGNED}).vector",
         "x = np.zeros(6); mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, i, x, 0); np.r_[x[3:], x[:3]]"),
    Call("velocity of a frame, local", 'robot.velocity(frame, q, v, "local")',
         _KINEMATICS + "pin.getFrameVelocity(model, data, i, pin.LOCAL).vector",
         "x = np.zeros(6); mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, i, x, 1); np.r_[x[3:], x[:3]]"),
    Call("acceleration of a frame", "robot.acceleration(frame, q, v, a)",
         _KINEMATICS + f"pin.getFrameClassicalAcceleration(model, data, i, {ALIGNED}).vector"),
    Call("spatial acceleration of a frame", "robot.spatial_acceleration(frame, q, v, a)",
         _KINEMATICS + "pin.getFrameAcceleration(model, data, i, pin.LOCAL).vector"),
    Call("operational-space inertia", "robot.operational_inertia(frame, q)",
         f"J = pin.computeFrameJacobian(model, data, q, i, {ALIGNED}); "
         "np.linalg.inv(J @ pin.computeMinverse(model, data, q) @ J.T)"),
    Call("forces of a wrench", "robot.jacobian(frame, q).T @ f", "",
         "x = np.zeros(m.nv); mujoco.mj_applyFT(m, d, f[:3], f[3:], d.xpos[i], i, x); x"),
    Call("neutral positions", "robot.neutral()", "pin.neutral(model)"),
    Call("positions after a displacement", "robot.integrate(q, v)", "pin.integrate(model, q, v)",
         "x = q.copy(); mujoco.mj_integratePos(m, x, v, 1); x"),
    Call("displacement between positions", "robot.difference(q, q2)", "pin.difference(model, q, q2)",
         "x = np.zeros(m.nv); mujoco.mj_differentiatePos(m, x, 1, q, q2); x"),
    Call("positions between two", "robot.interpolate(q, q2, 0.3)", "pin.interpolate(model, q, q2, 0.3)"),
    Call("distance of positions", "robot.distance(q, q2)", "pin.distance(model, q, q2)"),
    Call("unit quaternions", "robot.normalize(3 * q)", "pin.normalize(model, 3 * q)"),
    Call("limits of a joint", "robot.position_limits()[0][robot.order.joint(joint)[0]]",
         "j = model.joints[model.getJointId(joint)]; model.lowerPositionLimit[j.idx_q : j.idx_q + j.nq]",
         "m.joint(joint).range[:1]"),
    Call("limits of velocity", "robot.velocity_limits()[robot.order.joint(joint)[1]]",
         "j = model.joints[model.getJointId(joint)]; model.upperVelocityLimit[j.idx_v : j.idx_v + j.nv]"),
    Call("limits of effort", "robot.effort_limits()[robot.order.joint(joint)[1]]",
         "j = model.joints[model.getJointId(joint)]; model.upperEffortLimit[j.idx_v : j.idx_v + j.nv]"),
    Call("place of a joint in v", "robot.order.joint(joint)[1].start",
         "model.joints[model.getJointId(joint)].idx_v", "m.joint(joint).dofadr[0]"),
)  # fmt: skip


@dataclass(frozen=True)
class Side:
    """A program, the robot in its order, and the names its lines use."""

    name: str
    robot: Any
    names: dict[str, Any]

    def lines(self, call: Call) -> str:
        """The lines of this program."""
        found: str = getattr(call, self.name)
        return found

    def value(self, lines: str) -> Any:
        """The value of the last line after the others."""
        names = {"np": np, **self.names}
        *before, last = lines.split("; ")
        exec("\n".join(before), names)
        return np.array(eval(last, names), dtype=float)

    def error(self, call: Call) -> float:
        """How far the two differ, beside the largest number."""
        _reset(self)
        theirs, ours = self.value(self.lines(call)), self.value(call.robot)
        if np.shape(theirs) != np.shape(ours):
            return float("inf")
        return float(np.max(np.abs(ours - theirs)) / max(1.0, float(np.max(np.abs(theirs)))))


def _states(robot: Any) -> dict[str, Any]:
    random = np.random.default_rng(5)
    v, a, tau = random.normal(size=(3, robot.nv))
    names = {"q": robot.normalize(robot.random(1)), "q2": robot.random(2), "v": v, "a": a, "tau": tau}
    return {**names, "f": random.normal(size=6), "robot": robot, "frame": "hand"}


def pinocchio_side(folder: Path) -> Side:
    """The URDF with a free base, in Pinocchio's order."""
    import pinocchio as pin

    path = folder / "walker.urdf"
    path.write_text(URDF)
    robot = kg.robot(kg.load(path, floating=True), order="pinocchio")
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data, names, i = model.createData(), _states(robot), model.getFrameId("hand")

    def on_joints(wrench: Any) -> Any:
        pin.framesForwardKinematics(model, data, names["q"])
        forces = [pin.Force.Zero() for _ in range(model.njoints)]
        frame = model.frames[i]
        there = pin.SE3(data.oMi[frame.parentJoint].rotation.T, frame.placement.translation)
        forces[frame.parentJoint] = there.act(pin.Force(wrench))
        return forces

    extra = {"pin": pin, "model": model, "data": data, "i": i, "joint": "knee", "on_joints": on_joints}
    return Side("pinocchio", robot, {**names, **extra})


def mujoco_side(folder: Path) -> Side:
    """The MJCF, in MuJoCo's order."""
    import mujoco

    path = folder / "walker.xml"
    path.write_text(MJCF)
    robot = kg.robot(path, order="mujoco")
    m = mujoco.MjModel.from_xml_path(str(path))
    d, names, i = mujoco.MjData(m), _states(robot), m.body("hand").id

    def applied(wrench: Any) -> Any:
        x = np.zeros(m.nv)
        mujoco.mj_applyFT(m, d, wrench[:3], wrench[3:], d.xpos[i], i, x)
        return x

    def pose(position: Any, axes: Any) -> Any:
        return np.block([[axes.reshape(3, 3), position[:, None]], [np.zeros(3), np.ones(1)]])

    extra = {"mujoco": mujoco, "m": m, "d": d, "i": i, "joint": "knee", "pose": pose}
    return Side("mujoco", robot, {**names, **extra, "applied": applied})


def _reset(side: Side) -> None:
    """MuJoCo keeps the state in its data: before each line it is that of the comparison."""
    if side.name == "mujoco":
        mujoco, m, d = (side.names[name] for name in ("mujoco", "m", "d"))
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = side.names["q"], side.names["v"]
        mujoco.mj_forward(m, d)


def markdown() -> str:
    """The table of docs/robot.md."""
    rows = ["| task | `kg.robot` | Pinocchio | MuJoCo |", "|---|---|---|---|"]
    for call in CALLS:
        theirs = (f"`{lines}`" if lines else "" for lines in (call.pinocchio, call.mujoco))
        rows.append(f"| {call.task} | `{call.robot}` | {' | '.join(theirs)} |")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> int:
    """Run all lines; 1 if one differs by more than LIMIT."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/robot.md and stop")
    if parser.parse_args(arguments).markdown:
        print(markdown())
        return 0
    with tempfile.TemporaryDirectory() as folder:
        sides = [pinocchio_side(Path(folder)), mujoco_side(Path(folder))]
        worst = 0.0
        for call in CALLS:
            errors = {side.name: side.error(call) for side in sides if side.lines(call)}
            worst = max(worst, *errors.values())
            print(f"{call.task:40} " + "  ".join(f"{name} {error:.1e}" for name, error in errors.items()))
    print(f"{len(CALLS)} calls, largest difference {worst:.1e}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
