"""From a USD stage to a mechanism: a tree of bodies, and loops where joints are excluded from the articulation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path

import numpy as np

from kinegraph.errors import ModelError, Place
from kinegraph.io.options import AS_WRITTEN, RobotFileOptions
from kinegraph.io.robot.findings import Findings, Robot, accepted_where_needed, report_massless
from kinegraph.io.robot.joint_motion import AnyCoordinate, JointMotion, NameTable, Orientation, all_names, ball, free
from kinegraph.io.robot.placement import AngleReader, shifts
from kinegraph.io.usd.stage import UsdBody, UsdFrame, UsdJoint, UsdScene, read_stage
from kinegraph.model.constraints import Frame, Joint, JointType, Loop
from kinegraph.model.expressions import Expression, Name, Number, expression
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
    inverse,
)
from kinegraph.model.names import STATEMENTS, model_name_from
from kinegraph.model.poses import Floats, pose, quaternion_of_matrix
from kinegraph.model.report import FindingKind, Places
from kinegraph.model.robot_data import Extra, JointLimits
from kinegraph.model.topology import GROUND, Edge, shortest_tree
from kinegraph.model.validation.mechanism import validate

_FREE = "::free::"
#: Poses of a stage in single precision meet joints to this accuracy.
_ACCURACY = 1e-4
#: Positions of joints below this are rounding of the stage.
_NOISE = 1e-6

_TREE = {
    "PhysicsRevoluteJoint": JointType.REVOLUTE,
    "PhysicsPrismaticJoint": JointType.PRISMATIC,
    "PhysicsFixedJoint": JointType.FIXED,
    "PhysicsSphericalJoint": JointType.SPHERICAL,
}
_MOVES = frozenset({"transX", "transY", "transZ"})
_TURNS = frozenset({"rotX", "rotY", "rotZ"})


def load_usd(path: str | PathLike[str], options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read the rigid bodies and joints of a USD file (.usd, .usda, .usdc, .usdz).

    Joints that are excluded from the articulation close loops. Units become m, kg and rad.
    """
    findings = Findings()
    scene = read_stage(Path(path), [Path(root) for root in options.package_roots], findings)
    return _Builder(scene, AngleReader(options.rule, findings), Place(1, 1, str(path))).robot(options.equalities)


class _Builder:
    def __init__(self, scene: UsdScene, angles: AngleReader, place: Place) -> None:
        self.scene = scene
        self.angles = angles
        self.findings = angles.findings
        self.place = place
        self.places = Places()
        self.bodies = {body.path: body for body in scene.bodies}
        if not self.bodies:
            raise ModelError("the stage has no rigid bodies", place, "apply PhysicsRigidBodyAPI to the prims that move")
        self.names = dict(zip(self.bodies, self._unique((b.path, b.name) for b in scene.bodies), strict=True))
        joint_names = self._unique((joint.path, joint.name) for joint in scene.joints)
        self.joints = {joint.path: joint for joint in scene.joints}
        self.joint_names = dict(zip(self.joints, joint_names, strict=True))
        self.table = NameTable(joint_names)
        self.kinds = {joint.path: self._kind(joint) for joint in scene.joints}
        self._coordinates: list[AnyCoordinate] = []
        self._joint_of: dict[str, str] = {}
        self._extras: list[Extra] = []

    @staticmethod
    def _unique(named: Iterable[tuple[str, str]]) -> list[str]:
        """Legal names; a name that occurs twice becomes the whole path."""
        pairs = list(named)
        every = [name for _, name in pairs]
        wanted = [name if every.count(name) == 1 else path.strip("/").replace("/", "_") for path, name in pairs]
        table = NameTable(wanted, STATEMENTS)
        return [table[name] for name in wanted]

    def robot(self, closed: bool) -> Robot:
        """The robot, validated; with its loops if `closed` is set."""
        tree = shortest_tree([*self._free_edges(), *(self._edge(joint) for joint in self.joints.values())])
        made: list[Body] = []
        for path, edge in tree.inward.items():
            made.append(self._body(self.bodies[path], edge))
        cut = [self.joints[edge.joint] for edge in tree.cut]
        if not closed:
            for joint in cut:
                what = "joint that closes a loop, as requested"
                self.findings.count(FindingKind.LEFT_OUT, "loops", what, self.place, joint.name)
        loops = tuple(self._loop(joint) for joint in cut) if closed else ()
        mechanism = Mechanism(
            model_name_from(self.scene.name),
            tuple(made),
            tuple(self._coordinates),
            gravity=self._gravity(),
            extras=tuple(self._extras),
            loops=loops,
        )
        validate(mechanism, self.places)
        report_massless(mechanism, self.findings)
        links = {name: path for path, name in self.names.items()}
        return Robot(replace(mechanism, report=self.findings.report()), links, self._joint_of)

    def _gravity(self) -> tuple[Expression, Expression, Expression]:
        if self.scene.gravity is not None:
            x, y, z = map(Number, self.scene.gravity)
            return x, y, z
        found = [ZERO, ZERO, ZERO]
        found[self.scene.up] = Number(Fraction("-9.81"))
        message = f"gravity is 9.81 against the axis {'XYZ'[self.scene.up]}: the stage has no PhysicsScene"
        self.findings.add(FindingKind.ASSUMED, message, self.place, "gravity")
        return found[0], found[1], found[2]

    # the tree

    def _kind(self, joint: UsdJoint) -> JointType | None:
        """The type of a joint; None for a general joint of several free directions that is none of them."""
        if joint.kind in _TREE:
            return _TREE[joint.kind]
        if joint.kind != "PhysicsJoint":
            remedy = "write a revolute, prismatic, spherical, fixed or general joint"
            raise ModelError(f"the joint {joint.path} is a {joint.kind}, which is not supported", self.place, remedy)
        free = _free_directions(joint)
        if not free:
            return JointType.FIXED
        if set(free) == _TURNS:
            return JointType.SPHERICAL
        if len(free) == 1:
            return JointType.REVOLUTE if free[0] in _TURNS else JointType.PRISMATIC
        return None

    def _edge(self, joint: UsdJoint) -> Edge:
        first, second = (frame.body for frame in joint.frames)
        if first == second:
            raise ModelError(f"the joint {joint.path} connects {first or 'the world'} to itself", self.place)
        may_close = self.kinds[joint.path] is not None
        if not may_close and joint.closes_loop:
            message = f"the joint {joint.path} with several free directions closes a loop, which is not supported"
            raise ModelError(message, self.place, "close the loop at a joint of one axis, a spherical or a fixed joint")
        return Edge(
            joint.path, first or GROUND, second or GROUND, False, may_close, not joint.closes_loop, not may_close
        )

    def _free_edges(self) -> list[Edge]:
        """Free joints: of one body of each part that no joint of the tree connects to the fixed frame."""
        around: dict[str | None, list[str | None]] = {path: [] for path in (GROUND, *self.bodies)}
        seconds = set()
        for joint in self.joints.values():
            if not joint.closes_loop:
                first, second = (frame.body for frame in joint.frames)
                around[first].append(second)
                around[second].append(first)
                seconds.add(second)
        reached: set[str | None] = set()
        found: list[Edge] = []
        for start in (GROUND, *sorted(self.bodies, key=lambda one: one in seconds)):
            if start in reached:
                continue
            if start is not GROUND:
                found.append(Edge(_FREE + start, GROUND, start, False, False, True, True))
            pending: list[str | None] = [start]
            while pending:
                here = pending.pop()
                if here not in reached:
                    reached.add(here)
                    pending.extend(around[here])
        return found

    # bodies

    def _body(self, body: UsdBody, edge: Edge) -> Body:
        name = self.names[body.path]
        if edge.joint.startswith(_FREE):
            base, transforms = None, self._free(body, name)
        else:
            joint = self.joints[edge.joint]
            outwards = joint.frames[1].body == body.path
            base, transforms = joint.frames[0 if outwards else 1].body, self._placed(joint, outwards)
        made = Body(name, self.names[base] if base else None, transforms, self._inertia(body, edge))
        return accepted_where_needed(self.places.mark(made, self.place), self.places, self.findings)

    def _free(self, body: UsdBody, name: str) -> tuple[Transform, ...]:
        if body.kinematic:
            message = f"the kinematic body {name} stays at its place"
            self.findings.add(FindingKind.ASSUMED, message, self.place, "kinematic bodies")
            return (*shifts([Fraction(repr(float(one))) for one in body.position]), *_turned(body.rotation))
        x, y, z = (expression(_cleaned(one)) for one in body.position)
        e0, e1, e2, e3 = (expression(_cleaned(one)) for one in quaternion_of_matrix(body.rotation))
        motion = free(self.table, name, (x, y, z), (e0, e1, e2, e3))
        self._enter(name, motion)
        return motion.transforms

    def _inertia(self, body: UsdBody, edge: Edge) -> Inertia:
        """The inertia that the file states."""
        name = self.names[body.path]
        if body.mass is None and body.moments is None and not body.has_colliders:
            self.findings.count(FindingKind.ASSUMED, "inertia", "bodies without mass have none", self.place, name)
            return Inertia()
        if body.mass is None or (body.moments is None and body.mass):
            if edge.joint in self.kinds and self.kinds[edge.joint] is JointType.FIXED and GROUND in (
                edge.first, edge.second
            ):  # fmt: skip
                return Inertia()
            remedy = "write physics:mass, physics:diagonalInertia and physics:centerOfMass of PhysicsMassAPI"
            message = f"the inertia of the body {body.path} would have to be computed from its collision shapes"
            raise ModelError(message, self.place, remedy)
        if body.center is None and body.has_colliders and body.mass:
            message = "centers of mass that are not stated are the origins of the bodies"
            self.findings.count(FindingKind.ASSUMED, "inertia", message, self.place, name)
        x, y, z = map(Number, body.moments or (Fraction(0),) * 3)
        central = (*(shifts(body.center) if body.center else ()), *self._orientation(body))
        return Inertia(Number(body.mass), x, y, z, central=central)

    def _orientation(self, body: UsdBody) -> tuple[Transform, ...]:
        if body.axes is None:
            return ()
        return self.angles.quaternion(body.axes, f"the principal axes of {body.name}", self.place)

    # joints

    def _frame(self, frame: UsdFrame, joint: UsdJoint) -> tuple[Transform, ...]:
        """The transforms from the body to the frame of a joint."""
        inner: tuple[Transform, ...] = ()
        if frame.place is not None:
            turn, at = frame.place
            inner = (*shifts([Fraction(repr(_cleaned(float(one)))) for one in at]), *_turned(turn))
        turned = self.angles.quaternion(frame.rotation, f"a frame of the joint {joint.name}", self.place)
        return (*inner, *shifts(frame.position), *turned)

    def _placed(self, joint: UsdJoint, outwards: bool) -> tuple[Transform, ...]:
        """The transforms from one body of a joint to the other."""
        start, end = joint.frames if outwards else joint.frames[::-1]
        kind = self.kinds[joint.path]
        if kind is None and not outwards and not joint.locked & _TURNS and joint.locked:
            # Its translations are along axes of the outer body, which turns freely.
            message = f"the joint {joint.path} locks translations along axes of the outer of its bodies"
            raise ModelError(message, self.place, "exchange body0 and body1, with their frames")
        first, second = self._frame(start, joint), self._frame(end, joint)
        relative = self._relative(start, end, first, second)
        motion = self._motion(joint, kind, relative if outwards else _inverse_pose(relative), relative)
        same = outwards or any(isinstance(one, QuaternionCoordinates) for one in motion.coordinates)
        moves = motion.transforms if same else inverse(motion.transforms)
        self._enter(self.joint_names[joint.path], motion)
        return (*first, *moves, *inverse(second))

    def _relative(
        self, start: UsdFrame, end: UsdFrame, first: tuple[Transform, ...], second: tuple[Transform, ...]
    ) -> tuple[Floats, Floats]:
        """The pose of the second frame in the first one, in the stage."""
        (r0, p0), (r1, p1) = (self._in_world(*pair) for pair in ((start, first), (end, second)))
        return r0.T @ r1, r0.T @ (p1 - p0)

    def _in_world(self, frame: UsdFrame, transforms: tuple[Transform, ...]) -> tuple[Floats, Floats]:
        rotation, position = pose(transforms)
        if frame.body is None:
            return rotation, position
        body = self.bodies[frame.body]
        return body.rotation @ rotation, body.rotation @ position + body.position

    def _motion(
        self, joint: UsdJoint, kind: JointType | None, forward: tuple[Floats, Floats], outer: tuple[Floats, Floats]
    ) -> JointMotion:
        """The motion from the first frame of a joint to its second one; it starts as in the stage."""
        if kind is None:
            return self._general_motion(joint, forward, outer)
        free = _free_directions(joint)
        place = "XYZ".index(free[0][-1]) if joint.kind == "PhysicsJoint" and len(free) == 1 else joint.axis
        axis, (turn, at) = Axis(place), forward
        name = self.joint_names[joint.path]
        if kind is JointType.SPHERICAL:
            e0, e1, e2, e3 = (expression(_cleaned(one)) for one in quaternion_of_matrix(outer[0]))
            start: Orientation = (e0, e1, e2, e3)
            self._report_gap(joint, float(np.linalg.norm(outer[1])))
            return ball(self.table, name, start)
        if kind is JointType.FIXED:
            self._report_gap(joint, float(np.linalg.norm(at) + np.abs(turn - np.eye(3)).max()))
            return JointMotion()
        if kind is JointType.PRISMATIC:
            amount = float(at[place])
            rest = np.linalg.norm(np.delete(at, place)) + np.abs(turn - np.eye(3)).max()
        else:
            j, k = (place + 1) % 3, (place + 2) % 3
            amount = math.atan2(turn[k, j] - turn[j, k], turn[j, j] + turn[k, k])
            rest = np.linalg.norm(at) + 1 - turn[place, place]
        self._report_gap(joint, float(rest))
        own = Name(self.table[name])
        coordinate = Coordinate(own.text, expression(_cleaned(amount)))
        ends = (joint.lower, joint.upper) if joint.kind != "PhysicsJoint" else joint.ranges.get(free[0], (None, None))
        self._limit(joint, own, ends)
        move: Transform = Shift(axis, own) if kind is JointType.PRISMATIC else Rotation(axis, own)
        return JointMotion((move,), (coordinate,), ((own,),))

    def _general_motion(
        self, joint: UsdJoint, forward: tuple[Floats, Floats], outer: tuple[Floats, Floats]
    ) -> JointMotion:
        """Shifts along the free directions, then rotations about the free axes, X before Y before Z."""
        free, name = _free_directions(joint), self.joint_names[joint.path]
        whole = set(free) >= _TURNS
        turn, at = outer if whole else forward  # a quaternion describes the outer body
        angles = dict(zip(sorted(_TURNS), _angles(turn), strict=True))
        named = [one for one in free if not (whole and one in _TURNS)]
        owns = {one: Name(self.table.fresh(f"{name}_{one}")) for one in named}
        starts = {one: float(at["XYZ".index(one[-1])]) if one in _MOVES else angles[one] for one in owns}
        moves: list[Transform] = []
        for one, own in owns.items():
            axis = Axis("XYZ".index(one[-1]))
            moves.append(Shift(axis, own) if one in _MOVES else Rotation(axis, own))
            self._limit(joint, own, joint.ranges.get(one, (None, None)))
        coordinates: list[AnyCoordinate] = [
            Coordinate(own.text, expression(_cleaned(starts[one]))) for one, own in owns.items()
        ]
        if whole:
            e0, e1, e2, e3 = (expression(_cleaned(one)) for one in quaternion_of_matrix(turn))
            round_point = ball(self.table, name, (e0, e1, e2, e3))
            moves += round_point.transforms
            coordinates += round_point.coordinates
        locked = [abs(at["XYZ".index(one[-1])]) for one in joint.locked & _MOVES]
        locked += [abs(angles[one]) for one in joint.locked & _TURNS]
        self._report_gap(joint, float(max(locked, default=0.0)))
        return JointMotion(tuple(moves), tuple(coordinates), tuple((own,) for own in owns.values()))

    def _limit(self, joint: UsdJoint, own: Name, ends: tuple[Fraction | None, Fraction | None]) -> None:
        if ends != (None, None):
            self._extras.append(
                JointLimits(joint.name, (own,), *(None if one is None else Number(one) for one in ends))
            )

    def _report_gap(self, joint: UsdJoint, rest: float) -> None:
        if rest > _ACCURACY:
            message = f"the poses of the stage miss the joint {joint.name} by {rest:.1e}; the joint holds"
            self.findings.add(FindingKind.ASSUMED, message, self.place, "poses of bodies")

    def _enter(self, joint: str, motion: JointMotion) -> None:
        for coordinate in motion.coordinates:
            self._coordinates.append(self.places.mark(coordinate, self.place))
            self._joint_of.update(dict.fromkeys(all_names(coordinate), joint))

    def _loop(self, joint: UsdJoint) -> Loop:
        kind = self.kinds[joint.path]
        frames = [
            Frame(self.names[frame.body] if frame.body else None, self._frame(frame, joint)) for frame in joint.frames
        ]
        if joint.lower is not None or joint.upper is not None:
            what = "the limits of a joint that closes a loop"
            self.findings.count(FindingKind.LEFT_OUT, "joint ranges", what, self.place, joint.name)
        assert kind is not None  # such a joint does not close a loop
        free = _free_directions(joint)
        place = "XYZ".index(free[0][-1]) if joint.kind == "PhysicsJoint" and len(free) == 1 else joint.axis
        axes = (Axis(place),) if kind in (JointType.REVOLUTE, JointType.PRISMATIC) else ()
        return self.places.mark(Loop(self.joint_names[joint.path], Joint(kind, axes), *frames), self.place)


def _free_directions(joint: UsdJoint) -> list[str]:
    """The directions of a general joint that are free, translations first."""
    return [one for one in (*sorted(_MOVES), *sorted(_TURNS)) if one not in joint.locked]


def _angles(turn: Floats) -> tuple[float, float, float]:
    """The angles of three rotations about X, Y and Z, one after the other, that make up a rotation."""
    middle = math.asin(min(1.0, max(-1.0, turn[0, 2])))
    return math.atan2(-turn[1, 2], turn[2, 2]), middle, math.atan2(-turn[0, 1], turn[0, 0])


def _cleaned(value: float) -> float:
    """A number of the stage without the rounding of single precision around 0 and 1."""
    nearest = float(round(value))
    return nearest if abs(value - nearest) < _NOISE and abs(nearest) <= 1 else float(value)


def _turned(rotation: Floats) -> tuple[Transform, ...]:
    e0, e1, e2, e3 = (expression(_cleaned(one)) for one in quaternion_of_matrix(rotation))
    return () if ZERO == e1 == e2 == e3 else (Quaternion((e0, e1, e2, e3)),)


def _inverse_pose(relative: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    rotation, position = relative
    return rotation.T, -rotation.T @ position
