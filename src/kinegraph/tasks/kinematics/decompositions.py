"""Closed forms of inverse kinematics: which arms have one, and all their solutions as a graph of the wanted pose.

Spherical wrist: three axes that meet in one point. The point is placed by the other three joints, of which two
neighbours are parallel or meet; then the wrist turns. Three parallel axes (2, 3, 4) before two that meet (5, 6).
Either may stand at the other end of the arm: what the hand sees of the base is an arm, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kinegraph.derive.tree.algebra import Matrix, Vector, apply, dot, minus, plus, transpose, vector
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.tasks.kinematics.moves import Geometry, Move, Turn, constant, constant_of, place_back, vector_back
from kinegraph.tasks.kinematics.serial_arm import ArmJoint, SerialArm
from kinegraph.tasks.kinematics.three_joints import parallel, place_solver
from kinegraph.tasks.operating_point import Floats

SOLUTIONS, MARGINS = "solutions", "margins"
_CLOSE = 1e-10
#: The entries of the wanted displacement G = pose home^-1 by rows.
SYMBOLS = tuple(Symbol(Kind.INPUT, f"{name}{i}") for i in range(3) for name in ("x", "y", "z", "p"))


@dataclass(frozen=True)
class ClosedForm:
    """The solutions of an arm as a graph of SYMBOLS; each a row of amounts, in the order of its joints.

    backwards: SYMBOLS stand for the inverse displacement, and amounts are those of the reversed arm.
    """

    name: str
    graph: Graph
    backwards: bool = False

    @property
    def branches(self) -> int:
        """How many solutions there are at most."""
        return self.graph.output(SOLUTIONS).shape[0]


def closed_form(arm: SerialArm) -> ClosedForm | None:
    """The closed form of an arm with six joints; None if none is known."""
    for backwards in (False, True):
        seen = arm.reversed() if backwards else arm
        for name, plan in (("spherical wrist", _spherical_wrist), ("three parallel axes", _three_parallel)):
            graph = plan(seen)
            if graph is not None:
                return ClosedForm(f"{name} at the base" if backwards else name, graph, backwards)
    return None


def place_closed_form(arm: SerialArm) -> ClosedForm | None:
    """The same for three joints that place a point; the last column of SYMBOLS is the point."""
    if len(arm.joints) != 3:
        return None
    solve = place_solver(arm.joints, arm.home[:3, 3])
    if solve is None:
        return None
    geometry, _, place = _wanted()
    return ClosedForm("three joints", _graph(geometry, solve(geometry, place)))


def _wanted() -> tuple[Geometry, Matrix, Vector]:
    """The symbols of the displacement."""
    builder = GraphBuilder()
    entries = [Scalar(builder, builder.symbol(symbol.kind, symbol.name)) for symbol in SYMBOLS]
    rows = [vector(entries[4 * i : 4 * i + 3]) for i in range(3)]
    return Geometry(entries[0]), (rows[0], rows[1], rows[2]), vector(entries[3::4])


def _graph(geometry: Geometry, branches: list[tuple[Move, ...]]) -> Graph:
    amounts = [move.amount.index for moves in branches for move in moves]
    margins = [margin.index for margin in dict.fromkeys(geometry.margins)]
    shape = len(branches), len(branches[0])
    outputs = [Output(SOLUTIONS, shape, tuple(amounts)), Output(MARGINS, (len(margins),), tuple(margins))]
    return geometry.like.builder.graph(outputs)


def meeting_point(*joints: ArmJoint) -> Floats | None:
    """Where the axes of revolute joints meet; None if they do not, or in more than one point."""
    if not all(joint.turns for joint in joints):
        return None
    across = [np.eye(3) - np.outer(joint.direction, joint.direction) for joint in joints]
    rights = [matrix @ joint.point for matrix, joint in zip(across, joints, strict=True)]
    matrix = np.sum(across, axis=0)
    if np.linalg.cond(matrix) > 1e8:
        return None
    point = np.linalg.solve(matrix, np.sum(rights, axis=0))
    misses = [one @ point - right for one, right in zip(across, rights, strict=True)]
    return point if np.max(np.abs(misses)) < _CLOSE else None


def _spherical_wrist(arm: SerialArm) -> Graph | None:
    centre = meeting_point(*arm.joints[3:]) if len(arm.joints) == 6 else None
    if centre is None or any(parallel(*pair) for pair in pairwise(arm.joints[3:])):
        return None
    solve = place_solver(arm.joints[:3], centre)
    if solve is None:
        return None
    geometry, turn, shift = _wanted()
    place = plus(apply(turn, constant(geometry.like, centre)), shift)
    branches: list[tuple[Move, ...]] = []
    for moves in solve(geometry, place):
        branches += [(*moves, *wrist) for wrist in _wrist(geometry, arm.joints[3:], turn, moves)]
    return _graph(geometry, branches)


def _wrist(
    geometry: Geometry, joints: tuple[ArmJoint, ...], turn: Matrix, moves: tuple[Move, ...]
) -> list[tuple[Turn, Turn, Turn]]:
    """The two ways to make what the moves before the wrist leave of a rotation."""
    first, second, third = joints
    onto, turned = constant(geometry.like, first.direction), constant(geometry.like, third.direction)
    aim = vector_back(moves, apply(turn, turned))
    found = []
    for middle in geometry.projecting(second, turned, onto, dot(onto, aim)):
        before = geometry.rotation_between(first, middle.vector(turned), aim)
        aside = constant(geometry.like, _across(third.direction))
        last = geometry.rotation_between(third, aside, vector_back((*moves, before, middle), apply(turn, aside)))
        found.append((before, middle, last))
    return found


def _across(direction: Floats) -> Floats:
    """A unit vector at right angles, along an axis where possible."""
    axis = np.eye(3)[int(np.argmin(np.abs(direction)))]
    found = axis - (axis @ direction) * direction
    return np.asarray(found / np.linalg.norm(found))


def _three_parallel(arm: SerialArm) -> Graph | None:
    if arm.kinds != "RRRRRR":
        return None
    one, two, three, four, five, six = arm.joints
    normal, meeting = two.direction, meeting_point(five, six)
    if meeting is None or not (parallel(two, three) and parallel(three, four)):
        return None
    if parallel(one, two) or parallel(four, five) or parallel(five, six):
        return None
    return _ParallelAxes(arm, normal, meeting).graph()


class _ParallelAxes:
    """The closed form of three parallel axes."""

    def __init__(self, arm: SerialArm, normal: Floats, meeting: Floats) -> None:
        self.joints, self.meeting = arm.joints, meeting
        self.geometry, self.turn, self.shift = _wanted()
        self.axis = constant(self.geometry.like, normal)
        level = float(normal @ arm.joints[1].point)
        self.points = [joint.point + (level - normal @ joint.point) * normal for joint in arm.joints[1:4]]

    def graph(self) -> Graph:
        """All branches: two for the base, two for the wrist, two for the elbow."""
        branches: list[tuple[Move, ...]] = []
        for base in self._bases():
            for wrist in self._wrists(base):
                branches += [(base, *elbow, *wrist) for elbow in self._elbows(base, wrist)]
        return _graph(self.geometry, branches)

    def _bases(self) -> list[Turn]:
        """Where axes 5 and 6 meet keeps its height above the plane of the parallel joints."""
        joint = self.joints[0]
        place = plus(apply(self.turn, self._constant(self.meeting)), self.shift)
        arm = minus(place, self._constant(joint.point))
        height = dot(self.axis, self._constant(self.meeting - joint.point))
        return self.geometry.projecting(joint, arm, self.axis, height, sign=-1)

    def _wrists(self, base: Turn) -> list[tuple[Turn, Turn]]:
        five, six = self.joints[4:]
        aim = apply(transpose(self.turn), base.vector(self.axis))
        onto = self._constant(six.direction)
        found = []
        for middle in self.geometry.projecting(five, self.axis, onto, dot(onto, aim), sign=-1):
            last = self.geometry.rotation_between(six, middle.inverse.vector(self.axis), aim).inverse
            found.append((middle, last))
        return found

    def _elbows(self, base: Turn, wrist: tuple[Turn, Turn]) -> list[tuple[Turn, Turn, Turn]]:
        shoulder, elbow, hand = self.joints[1:4]
        start, middle, end = self.points
        back = place_back(wrist, self._constant(end))
        aim = minus(base.inverse.place(plus(apply(self.turn, back), self.shift)), self._constant(start))
        upper, lower = self._constant(middle - start), end - middle
        along, aside = (float(2 * (middle - start) @ one) for one in (lower, np.cross(elbow.direction, lower)))
        rest = constant_of(self.geometry.like, float((middle - start) @ (middle - start) + lower @ lower))
        like = self.geometry.like
        found = []
        for bend in self.geometry.summing(
            elbow, constant_of(like, along), constant_of(like, aside), dot(aim, aim) - rest
        ):
            reach = plus(upper, bend.vector(self._constant(lower)))
            lift = self.geometry.rotation_between(shoulder, reach, aim)
            mark = self._constant(_across(hand.direction))
            turned = base.inverse.vector(apply(self.turn, vector_back(wrist, mark)))
            last = self.geometry.rotation_between(hand, mark, vector_back((lift, bend), turned))
            found.append((lift, bend, last))
        return found

    def _constant(self, values: Floats) -> Vector:
        return constant(self.geometry.like, values)
