"""Three joints that bring a point to a place, in closed form where two neighbouring axes are parallel or meet.

With x the place after the second and third joint, x lies on a circle about the first axis and on one about the second:

    w1 . (x - p1) = w1 . (place - p1)       |x - p1| = |place - p1|
    w2 . (x - p2) = w2 . (f - p2)           |x - p2| = |f - p2|,   f where the third joint brings the point
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinegraph.derive.tree.algebra import Vector, dot, minus, plus
from kinegraph.graph.scalar import Scalar
from kinegraph.tasks.kinematics.moves import Geometry, Move, PrismaticMove, Turn, constant, constant_of
from kinegraph.tasks.kinematics.serial_arm import ArmJoint
from kinegraph.tasks.operating_point import Floats

_CLOSE = 1e-10

Solve: TypeAlias = Callable[[Geometry, Vector], list[tuple[Move, ...]]]


def place_solver(joints: Sequence[ArmJoint], point: Floats) -> Solve | None:
    """How three joints bring a point (at q = 0) to a place; None if there is no closed form."""
    one, two, three = joints
    if not (one.turns and two.turns):
        return None
    task = _PointProblem(one, two, three, point)
    if task.first_meets and not task.first_parallel and task.changes_distance_from(_nearest(one, two)[0]):
        return task.meeting_first
    if not three.turns or np.linalg.norm(np.cross(three.direction, point - three.point)) < _CLOSE:
        return None  # the third joint does not move the point as it should
    if task.first_parallel and not task.first_meets and not task.last_parallel:
        return task.parallel_first
    if task.last_parallel and not task.first_parallel and task.changes_distance_from(two.point):
        return task.parallel_last
    return task.meeting_last if task.last_meets and not task.first_parallel and not task.last_parallel else None


def parallel(first: ArmJoint, second: ArmJoint) -> bool:
    """Whether two axes have the same direction, or opposite ones."""
    return bool(np.linalg.norm(np.cross(first.direction, second.direction)) < _CLOSE)


def _nearest(first: ArmJoint, second: ArmJoint) -> tuple[Floats, Floats]:
    """Points of two axes that are nearest to each other."""
    if parallel(first, second):
        along = (second.point - first.point) @ first.direction
        return first.point + along * first.direction, second.point
    matrix = np.column_stack([first.direction, -second.direction])
    s, t = np.linalg.lstsq(matrix, second.point - first.point, rcond=None)[0]
    return first.point + s * first.direction, second.point + t * second.direction


@dataclass(frozen=True, eq=False)
class _PointProblem:
    """One problem: two revolute joints, a third, and the point at q = 0."""

    one: ArmJoint
    two: ArmJoint
    three: ArmJoint
    point: Floats

    @property
    def first_parallel(self) -> bool:
        return parallel(self.one, self.two)

    @property
    def first_meets(self) -> bool:
        first, second = _nearest(self.one, self.two)
        return bool(np.linalg.norm(first - second) < _CLOSE)

    @property
    def last_parallel(self) -> bool:
        return self.three.turns and parallel(self.two, self.three)

    @property
    def last_meets(self) -> bool:
        first, second = _nearest(self.two, self.three)
        return self.three.turns and bool(np.linalg.norm(first - second) < _CLOSE)

    def changes_distance_from(self, centre: Floats) -> bool:
        """Whether the third joint moves the point nearer to a centre or away from it."""
        if not self.three.turns:
            return True
        axis = self.three.direction
        return all(np.linalg.norm(np.cross(axis, end - self.three.point)) > _CLOSE for end in (centre, self.point))

    def meeting_first(self, geometry: Geometry, place: Vector) -> list[tuple[Move, ...]]:
        """Axes 1 and 2 meet: the third joint gives the distance, then the two circles lie on one sphere."""
        centre, _ = _nearest(self.one, self.two)
        arm = minus(place, constant(geometry.like, centre))
        square, like = dot(arm, arm), geometry.like
        found: list[tuple[Move, ...]] = []
        for third in self._at_distance(geometry, centre, square):
            reach = minus(third.place(constant(like, self.point)), constant(like, centre))
            axes = self.one.direction, self.two.direction
            heights = dot(constant(like, axes[0]), arm), dot(constant(like, axes[1]), reach)
            for x in geometry.line_and_sphere(axes, heights, square):
                found.append(self._turned(geometry, plus(x, constant(like, centre)), place, third))
        return found

    def parallel_first(self, geometry: Geometry, place: Vector) -> list[tuple[Move, ...]]:
        """Axes 1 and 2 are parallel: the third joint gives the height, then circles in a plane meet."""
        like, axis = geometry.like, self.one.direction
        start, end = _nearest(self.one, self.two)
        apart = end - start
        arm = minus(place, constant(like, start))
        height = dot(constant(like, axis), arm)
        found: list[tuple[Move, ...]] = []
        for third in self._at_height(geometry, axis, start, height):
            reach = minus(third.place(constant(like, self.point)), constant(like, end))
            along = (dot(arm, arm) - dot(reach, reach) + constant_of(like, float(apart @ apart))) / 2
            for x in geometry.line_and_sphere((axis, apart), (height, along), dot(arm, arm)):
                found.append(self._turned(geometry, plus(x, constant(like, start)), place, third))
        return found

    def parallel_last(self, geometry: Geometry, place: Vector) -> list[tuple[Move, ...]]:
        """Axes 2 and 3 are parallel: x keeps its height along them whatever the third joint does."""
        like, (start, _) = geometry.like, _nearest(self.one, self.two)
        arm = minus(place, constant(like, start))
        axes = self.one.direction, self.two.direction
        heights = dot(constant(like, axes[0]), arm), constant_of(like, float(axes[1] @ (self.point - start)))
        found: list[tuple[Move, ...]] = []
        for x in geometry.line_and_sphere(axes, heights, dot(arm, arm)):
            at = plus(x, constant(like, start))
            reach = minus(at, constant(like, self.two.point))
            for third in self._at_distance(geometry, self.two.point, dot(reach, reach)):
                found.append(self._turned(geometry, at, place, third))
        return found

    def meeting_last(self, geometry: Geometry, place: Vector) -> list[tuple[Move, ...]]:
        """Axes 2 and 3 meet: x keeps its distance from there whatever the third joint does."""
        like, (centre, _), start = geometry.like, _nearest(self.two, self.three), self.one.point
        arm, apart = minus(place, constant(like, start)), centre - start
        fixed = float((self.point - centre) @ (self.point - centre))
        along = (dot(arm, arm) + constant_of(like, float(apart @ apart) - fixed)) / 2
        height = dot(constant(like, self.one.direction), arm)
        found: list[tuple[Move, ...]] = []
        for x in geometry.line_and_sphere((self.one.direction, apart), (height, along), dot(arm, arm)):
            at = plus(x, constant(like, start))
            level = dot(constant(like, self.two.direction), minus(at, constant(like, centre)))
            for third in self._at_height(geometry, self.two.direction, centre, level):
                found.append(self._turned(geometry, at, place, third))
        return found

    def _at_distance(self, geometry: Geometry, centre: Floats, square: Scalar) -> list[Turn] | list[PrismaticMove]:
        """The third joint such that the point is at a distance, given squared, from a centre."""
        like, three = geometry.like, self.three
        if not three.turns:
            return self._prismatic_moves(geometry, centre, square)
        apart, arm = three.point - centre, self.point - three.point
        rest = constant_of(like, float(apart @ apart + arm @ arm))
        return geometry.projecting(three, constant(like, arm), constant(like, 2 * apart), square - rest)

    def _prismatic_moves(self, geometry: Geometry, centre: Floats, square: Scalar) -> list[PrismaticMove]:
        like, apart = geometry.like, self.point - centre
        along = constant_of(like, float(apart @ self.three.direction))
        across = constant_of(like, float(apart @ apart) - float(apart @ self.three.direction) ** 2)
        root = geometry.root(square - across, square)
        return [PrismaticMove(self.three, r - along) for r in (root, -root)]

    def _at_height(self, geometry: Geometry, axis: Floats, start: Floats, height: Scalar) -> list[Turn]:
        """The third joint such that the point is at a height along an axis, measured from a point."""
        like, three = geometry.like, self.three
        level = height - constant_of(like, float(axis @ (three.point - start)))
        return geometry.projecting(three, constant(like, self.point - three.point), constant(like, axis), level)

    def _turned(self, geometry: Geometry, x: Vector, place: Vector, third: Move) -> tuple[Move, ...]:
        """The turns of joints 2 and 1 that lead through x."""
        like = geometry.like
        reach = third.place(constant(like, self.point))
        first, second = constant(like, self.one.point), constant(like, self.two.point)
        two = geometry.rotation_between(self.two, minus(reach, second), minus(x, second))
        one = geometry.rotation_between(self.one, minus(x, first), minus(place, first))
        return one, two, third
