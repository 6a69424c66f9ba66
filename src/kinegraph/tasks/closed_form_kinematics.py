"""Closed-form inverse kinematics of serial arms: find the subproblems of an arm, and solve them as a graph of the
pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from kinegraph.codegen.kernel import Kernel
from kinegraph.derive.tree.algebra import (
    Matrix,
    Vector,
    apply,
    cross,
    dot,
    minus,
    negative,
    plus,
    times,
    transpose,
    vector,
)
from kinegraph.derive.tree.links import JointKind
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.tasks.operating_point import Floats

# A serial arm by its joint axes: the pose of a body as a product of rotations and translations, exp(x1 q1) ... exp(xn
# qn) home. The axes at q = 0 come from the Jacobian there. Random positions check that the product is the pose, so it
# does not matter how the model describes the arm.

_EXACT = 1e-12


@dataclass(frozen=True, eq=False)
class ArmJoint:
    """A joint by its axis at q = 0: a unit vector and, for a revolute joint, a point."""

    kind: JointKind
    direction: Floats
    point: Floats

    @property
    def turns(self) -> bool:
        """Whether the joint is revolute."""
        return self.kind is JointKind.REVOLUTE

    def displacement(self, amount: float) -> Floats:
        """The 4 x 4 matrix of a rotation or translation."""
        found = np.eye(4)
        if not self.turns:
            found[:3, 3] = amount * self.direction
            return found
        x, y, z = self.direction
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + np.sin(amount) * skew + (1 - np.cos(amount)) * skew @ skew
        found[:3, :3], found[:3, 3] = turn, self.point - turn @ self.point
        return found


@dataclass(frozen=True, eq=False)
class SerialArm:
    """The joints that move a body, in order, and its pose at q = 0. moving: their indices among the coordinates."""

    joints: tuple[ArmJoint, ...]
    home: Floats
    moving: tuple[int, ...]

    def pose(self, amounts: Floats) -> Floats:
        """The pose of the body."""
        found = np.eye(4)
        for joint, amount in zip(self.joints, amounts, strict=True):
            found = found @ joint.displacement(float(amount))
        return np.asarray(found @ self.home)

    @property
    def kinds(self) -> str:
        """The joint types in order, as in `RRP`: R for revolute, P for prismatic."""
        return "".join("R" if joint.turns else "P" for joint in self.joints)

    def reversed(self) -> SerialArm:
        """The arm in reverse order, whose pose at -q is the inverse: the base as seen from the hand."""
        return SerialArm(self.joints[::-1], self.home, self.moving[::-1])


def serial_arm(kernel: Kernel, body: str) -> SerialArm | None:
    """The arm that moves a body; None if the pose is not such a product. The kernel gives pose and Jacobian."""
    size = len(kernel.arguments[0].symbols)
    at_zero = kernel(np.zeros(size))
    home, jacobian = at_zero[f"pose:{body}"], at_zero[f"jacobian:{body}"]
    if not (np.isfinite(home).all() and np.isfinite(jacobian).all()):
        return None
    moving = [k for k in range(size) if np.max(np.abs(jacobian[:, k])) > _EXACT]
    joints = [_joint(jacobian[:, k], home[:3, 3]) for k in moving]
    if not joints or any(joint is None for joint in joints):
        return None
    arm = SerialArm(tuple(joint for joint in joints if joint is not None), np.asarray(home), tuple(moving))
    return arm if _is_product(arm, kernel, body, size) else None


def _joint(column: Floats, place: Floats) -> ArmJoint | None:
    """A joint from its column of the Jacobian; None if it is a screw, or if its variable is not q itself."""
    velocity, turn = column[:3], column[3:]
    if abs(np.linalg.norm(turn) - 1) < _EXACT:
        direction = _clean(turn)
        joint = ArmJoint(JointKind.REVOLUTE, direction, _clean(place - np.cross(velocity, direction)))
        return joint if abs(velocity @ direction) < _EXACT else None
    prismatic = np.linalg.norm(turn) < _EXACT and abs(np.linalg.norm(velocity) - 1) < _EXACT
    return ArmJoint(JointKind.PRISMATIC, _clean(velocity), np.zeros(3)) if prismatic else None


def _clean(values: Floats) -> Floats:
    """The values with rounding errors of zeros and ones removed, and of decimals such as 0.005491."""
    near = np.round(values)
    return np.where(np.abs(values - near) < 1e-15, near, np.round(values, 16))


def _is_product(arm: SerialArm, kernel: Kernel, body: str, size: int) -> bool:
    random = np.random.default_rng(5)
    for _ in range(3):
        q = random.uniform(-2, 2, size)
        if np.max(np.abs(arm.pose(q[list(arm.moving)]) - kernel(q)[f"pose:{body}"])) > 1e-11:
            return False
    return True


# Rotations about and translations along known axes by unknown amounts, and the geometric subproblems that find them
# (after Paden and Kahan). Everything is a graph, so a closed form is compiled like any other quantity.

#: A shorter vector has no direction.
_NOTHING = Fraction(1, 10**24)


def constant(like: Scalar, values: Floats) -> Vector:
    """A vector of numbers."""
    return vector([constant_of(like, float(value)) for value in values])


@dataclass(frozen=True)
class Turn:
    """A rotation about a known axis, by the cosine and sine of its angle (up to a common positive factor)."""

    joint: ArmJoint
    cosine: Scalar
    sine: Scalar

    @property
    def amount(self) -> Scalar:
        """The angle."""
        return self.sine.apply("atan2", self.cosine)

    @property
    def inverse(self) -> Turn:
        """The inverse rotation."""
        return Turn(self.joint, self.cosine, -self.sine)

    def vector(self, a: Vector) -> Vector:
        """A rotated direction (Rodrigues)."""
        axis = constant(self.cosine, self.joint.direction)
        along = times((1 - self.cosine) * dot(axis, a), axis)
        return plus(plus(times(self.cosine, a), times(self.sine, cross(axis, a))), along)

    def place(self, a: Vector) -> Vector:
        """A rotated point."""
        center = constant(self.cosine, self.joint.point)
        return plus(center, self.vector(minus(a, center)))


@dataclass(frozen=True)
class PrismaticMove:
    """A translation along a known direction."""

    joint: ArmJoint
    amount: Scalar

    @property
    def inverse(self) -> PrismaticMove:
        """The inverse translation."""
        return PrismaticMove(self.joint, -self.amount)

    def vector(self, a: Vector) -> Vector:
        """The direction itself: translations do not change it."""
        return a

    def place(self, a: Vector) -> Vector:
        """A translated point."""
        return plus(a, times(self.amount, constant(self.amount, self.joint.direction)))


Move: TypeAlias = Turn | PrismaticMove


def vector_back(moves: Sequence[Move], a: Vector) -> Vector:
    """A direction before a sequence of moves: their inverses are applied, the last first."""
    for move in moves:
        a = move.inverse.vector(a)
    return a


def place_back(moves: Sequence[Move], a: Vector) -> Vector:
    """A point before the moves."""
    for move in moves:
        a = move.inverse.place(a)
    return a


class Geometry:
    """The geometric subproblems. margins: the argument of each square root relative to its scale; negative means
    no solution."""

    def __init__(self, like: Scalar) -> None:
        self.like = like
        self.margins: list[Scalar] = []

    def root(self, square: Scalar, scale: Scalar) -> Scalar:
        """A square root; zero for a negative argument. Forward kinematics then shows that this is not a solution."""
        self.margins.append(square / scale)
        return square.apply("select", square, square.number(0)).apply("sqrt")

    def rotation_between(self, joint: ArmJoint, before: Vector, after: Vector) -> Turn:
        """The rotation that takes one direction to another, both projected along the axis."""
        axis = constant(self.like, joint.direction)
        x = dot(before, after) - dot(axis, before) * dot(axis, after)
        y = dot(axis, cross(before, after))
        square = x * x + y * y
        enough = square - _NOTHING
        one, zero = self.like.number(1), self.like.number(0)
        scale = enough.apply("select", square, one).apply("sqrt").reciprocal()
        return Turn(joint, enough.apply("select", x * scale, one), enough.apply("select", y * scale, zero))

    def projecting(self, joint: ArmJoint, turned: Vector, onto: Vector, value: Scalar, sign: int = 1) -> list[Turn]:
        """The two rotations R (for sign = -1: their inverses) with onto . R turned = value."""
        axis = constant(self.like, joint.direction)
        along = dot(onto, axis) * dot(axis, turned)
        a, b = dot(onto, turned) - along, sign * dot(onto, cross(axis, turned))
        return self.summing(joint, a, b, value - along)

    def summing(self, joint: ArmJoint, a: Scalar, b: Scalar, c: Scalar) -> list[Turn]:
        """The two rotations with a cos + b sin = c."""
        size = a * a + b * b
        root = self.root(size - c * c, size)
        return [Turn(joint, (a * c - b * r) / size, (b * c + a * r) / size) for r in (root, -root)]

    def line_and_sphere(
        self, normals: tuple[Floats, Floats], values: tuple[Scalar, Scalar], square: Scalar
    ) -> list[Vector]:
        """The two points with normals . x = values and |x|^2 = square."""
        first, second = normals
        gram = np.linalg.inv(np.array([[first @ first, first @ second], [second @ first, second @ second]]))
        across = np.cross(first, second)
        weights = [
            sum((constant_of(self.like, entry) * value for entry, value in zip(row, values, strict=True)), self._zero)
            for row in gram
        ]
        foot = plus(times(weights[0], constant(self.like, first)), times(weights[1], constant(self.like, second)))
        length = constant_of(self.like, float(across @ across))
        root = self.root((square - dot(foot, foot)) / length, square / length)
        step = times(root, constant(self.like, across))
        return [plus(foot, step), plus(foot, negative(step))]

    @property
    def _zero(self) -> Scalar:
        return self.like.number(0)


def constant_of(like: Scalar, value: float) -> Scalar:
    """A number, as the shortest decimal of this double: 0.81725 and not what it is in binary."""
    return like.number(Fraction(repr(float(value))))


# Three joints that move a point to a target, in closed form if two adjacent axes are parallel or intersect. With x the
# point after the second and third joint, x is on a circle about the first axis and on one about the second: w1 . (x -
# p1) = w1 . (place - p1), |x - p1| = |place - p1|; and w2 . (x - p2) = w2 . (f - p2), |x - p2| = |f - p2|, where the
# third joint moves the point to f.

_CLOSE = 1e-10

Solve: TypeAlias = Callable[[Geometry, Vector], list[tuple[Move, ...]]]


def place_solver(joints: Sequence[ArmJoint], point: Floats) -> Solve | None:
    """How three joints move a point (at q = 0) to a target; None if there is no closed form."""
    one, two, three = joints
    if not (one.turns and two.turns):
        return None
    task = _PointProblem(one, two, three, point)
    if task.first_meets and not task.first_parallel and task.changes_distance_from(_nearest(one, two)[0]):
        return task.meeting_first
    if not three.turns or np.linalg.norm(np.cross(three.direction, point - three.point)) < _CLOSE:
        return None  # the third joint does not move the point as required
    if task.first_parallel and not task.first_meets and not task.last_parallel:
        return task.parallel_first
    if task.last_parallel and not task.first_parallel and task.changes_distance_from(two.point):
        return task.parallel_last
    return task.meeting_last if task.last_meets and not task.first_parallel and not task.last_parallel else None


def parallel(first: ArmJoint, second: ArmJoint) -> bool:
    """Whether two axes are parallel or antiparallel."""
    return bool(np.linalg.norm(np.cross(first.direction, second.direction)) < _CLOSE)


def _nearest(first: ArmJoint, second: ArmJoint) -> tuple[Floats, Floats]:
    """The closest points of two axes."""
    if parallel(first, second):
        along = (second.point - first.point) @ first.direction
        return first.point + along * first.direction, second.point
    matrix = np.column_stack([first.direction, -second.direction])
    s, t = np.linalg.lstsq(matrix, second.point - first.point, rcond=None)[0]
    return first.point + s * first.direction, second.point + t * second.direction


@dataclass(frozen=True, eq=False)
class _PointProblem:
    """One subproblem: two revolute joints, a third joint, and the point at q = 0."""

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

    def changes_distance_from(self, center: Floats) -> bool:
        """Whether the third joint changes the distance of the point from a center."""
        if not self.three.turns:
            return True
        axis = self.three.direction
        return all(np.linalg.norm(np.cross(axis, end - self.three.point)) > _CLOSE for end in (center, self.point))

    def meeting_first(self, geometry: Geometry, place: Vector) -> list[tuple[Move, ...]]:
        """Axes 1 and 2 intersect: the third joint gives the distance, and both circles are on one sphere."""
        center, _ = _nearest(self.one, self.two)
        arm = minus(place, constant(geometry.like, center))
        square, like = dot(arm, arm), geometry.like
        found: list[tuple[Move, ...]] = []
        for third in self._at_distance(geometry, center, square):
            reach = minus(third.place(constant(like, self.point)), constant(like, center))
            axes = self.one.direction, self.two.direction
            heights = dot(constant(like, axes[0]), arm), dot(constant(like, axes[1]), reach)
            for x in geometry.line_and_sphere(axes, heights, square):
                found.append(self._turned(geometry, plus(x, constant(like, center)), place, third))
        return found

    def parallel_first(self, geometry: Geometry, place: Vector) -> list[tuple[Move, ...]]:
        """Axes 1 and 2 are parallel: the third joint gives the height, and two circles in a plane intersect."""
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
        """Axes 2 and 3 are parallel: the third joint does not change the height of x along them."""
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
        """Axes 2 and 3 intersect: the third joint does not change the distance of x from the intersection."""
        like, (center, _), start = geometry.like, _nearest(self.two, self.three), self.one.point
        arm, apart = minus(place, constant(like, start)), center - start
        fixed = float((self.point - center) @ (self.point - center))
        along = (dot(arm, arm) + constant_of(like, float(apart @ apart) - fixed)) / 2
        height = dot(constant(like, self.one.direction), arm)
        found: list[tuple[Move, ...]] = []
        for x in geometry.line_and_sphere((self.one.direction, apart), (height, along), dot(arm, arm)):
            at = plus(x, constant(like, start))
            level = dot(constant(like, self.two.direction), minus(at, constant(like, center)))
            for third in self._at_height(geometry, self.two.direction, center, level):
                found.append(self._turned(geometry, at, place, third))
        return found

    def _at_distance(self, geometry: Geometry, center: Floats, square: Scalar) -> list[Turn] | list[PrismaticMove]:
        """The third joint for a given squared distance of the point from a center."""
        like, three = geometry.like, self.three
        if not three.turns:
            return self._prismatic_moves(geometry, center, square)
        apart, arm = three.point - center, self.point - three.point
        rest = constant_of(like, float(apart @ apart + arm @ arm))
        return geometry.projecting(three, constant(like, arm), constant(like, 2 * apart), square - rest)

    def _prismatic_moves(self, geometry: Geometry, center: Floats, square: Scalar) -> list[PrismaticMove]:
        like, apart = geometry.like, self.point - center
        along = constant_of(like, float(apart @ self.three.direction))
        across = constant_of(like, float(apart @ apart) - float(apart @ self.three.direction) ** 2)
        root = geometry.root(square - across, square)
        return [PrismaticMove(self.three, r - along) for r in (root, -root)]

    def _at_height(self, geometry: Geometry, axis: Floats, start: Floats, height: Scalar) -> list[Turn]:
        """The third joint for a given height of the point along an axis, measured from a point."""
        like, three = geometry.like, self.three
        level = height - constant_of(like, float(axis @ (three.point - start)))
        return geometry.projecting(three, constant(like, self.point - three.point), constant(like, axis), level)

    def _turned(self, geometry: Geometry, x: Vector, place: Vector, third: Move) -> tuple[Move, ...]:
        """The rotations of joints 2 and 1 through x."""
        like = geometry.like
        reach = third.place(constant(like, self.point))
        first, second = constant(like, self.one.point), constant(like, self.two.point)
        two = geometry.rotation_between(self.two, minus(reach, second), minus(x, second))
        one = geometry.rotation_between(self.one, minus(x, first), minus(place, first))
        return one, two, third


# Closed forms of inverse kinematics: which arms have one, and all their solutions as a graph of the requested pose.
# Spherical wrist: three axes intersect in one point. The other three joints, of which two adjacent ones are parallel or
# intersect, place this point; then the wrist rotates. Three parallel axes (2, 3, 4) before two that intersect (5, 6).
# Either may be at the other end of the arm, because the base as seen from the hand is also an arm.

SOLUTIONS, MARGINS = "solutions", "margins"
#: The entries of the requested displacement G = pose home^-1 by rows.
SYMBOLS = tuple(Symbol(Kind.INPUT, f"{name}{i}") for i in range(3) for name in ("x", "y", "z", "p"))


@dataclass(frozen=True)
class ClosedForm:
    """The solutions of an arm as a graph of SYMBOLS; each is a row of joint values, in the order of its joints.

    backwards: SYMBOLS are the inverse displacement, and the values are those of the reversed arm.
    """

    name: str
    graph: Graph
    backwards: bool = False

    @property
    def branches(self) -> int:
        """The largest possible number of solutions."""
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
    """The intersection of the axes of revolute joints; None if there is none, or more than one point."""
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
    center = meeting_point(*arm.joints[3:]) if len(arm.joints) == 6 else None
    if center is None or any(parallel(*pair) for pair in pairwise(arm.joints[3:])):
        return None
    solve = place_solver(arm.joints[:3], center)
    if solve is None:
        return None
    geometry, turn, shift = _wanted()
    place = plus(apply(turn, constant(geometry.like, center)), shift)
    branches: list[tuple[Move, ...]] = []
    for moves in solve(geometry, place):
        branches += [(*moves, *wrist) for wrist in _wrist(geometry, arm.joints[3:], turn, moves)]
    return _graph(geometry, branches)


def _wrist(
    geometry: Geometry, joints: tuple[ArmJoint, ...], turn: Matrix, moves: tuple[Move, ...]
) -> list[tuple[Turn, Turn, Turn]]:
    """The two wrist rotations that complete the rotation left by the moves before it."""
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
    """A perpendicular unit vector, along an axis if possible."""
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
        """The intersection of axes 5 and 6 keeps its height above the plane of the parallel joints."""
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
