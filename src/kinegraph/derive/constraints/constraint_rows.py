"""Constraint rows over the velocities: loop-closing joints, couplings of coordinates, and expressions.

Each row has a value, a Jacobian and a bias. Rows of a loop follow from the motion of both frames relative to
their common ancestor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import Enum, auto

from kinegraph.derive.dynamics.composite_body import Column, Screw
from kinegraph.derive.elements.element_values import ElementNames
from kinegraph.derive.tree.algebra import (
    FOLLOWING,
    Matrix,
    Vector,
    apply,
    cross,
    dot,
    identity,
    minus,
    negative,
    plus,
    times,
    transpose,
    unit_vector,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.kinematics import jacobian
from kinegraph.derive.tree.links import JointKind, Placement, Tree, first_frame, second_frame
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.model.constraints import Constraint, Coupling, Joint, Loop, Rotation, Translation, row_names
from kinegraph.model.expressions import Name, names
from kinegraph.model.mechanism import Axis, Mechanism
from kinegraph.model.names import is_rate

# ---- The motion of a frame relative to an ancestor link
#
# A closing joint depends only on the relative motion of its two frames, so their nearest common ancestor may be taken
# as fixed. In a chain of parallel axes all segments are already expressed in one frame, so nothing is rotated.


@dataclass(frozen=True)
class ChainMotion:
    """The motion of a frame relative to the ancestor, in the ancestor's axes; bias: accelerations at q'' = 0."""

    point: Vector
    velocity: Vector
    angular_velocity: Vector
    bias_acceleration: Vector
    bias_angular_acceleration: Vector
    #: Velocity of the point and angular velocity due to a unit rate of every joint component of the chain.
    screws: dict[Column, Screw]
    rotation: Matrix

    def axis(self, index: int) -> Vector:
        """An axis of the frame."""
        return transpose(self.rotation)[index]


def common_ancestor(tree: Tree, first: int, second: int) -> int:
    """The nearest common ancestor of two links. Parents have smaller indices than children."""
    while first != second:
        if first > second:
            first = tree.links[first].parent
        else:
            second = tree.links[second].parent
    return first


def path_between(tree: Tree, ancestor: int, link: int) -> list[int]:
    """The links from an ancestor (excluded) to a link (included)."""
    path = []
    while link != ancestor:
        path.append(link)
        link = tree.links[link].parent
    return path[::-1]


class _ChainRecursion:
    """Recursion from the ancestor outward, with all vectors in the ancestor's axes."""

    def __init__(self, layout: FrameAssignment, motion: Motion) -> None:
        zero = zero_vector(layout.tree.like)
        self.layout, self.motion = layout, motion
        self.turn = identity(layout.tree.like)
        self.point = self.velocity = self.acceleration = zero
        self.spin = self.spin_change = zero
        self.joints: list[tuple[Column, bool, Vector, Vector]] = []

    def move(self, segment: Vector) -> None:
        """Advance along a segment fixed in the current link."""
        swing = cross(self.spin, segment)
        self.point = plus(self.point, segment)
        self.velocity = plus(self.velocity, swing)
        curved = plus(cross(self.spin_change, segment), cross(self.spin, swing))
        self.acceleration = plus(self.acceleration, curved)

    def enter(self, index: int) -> None:
        """Advance to a link, through its joint."""
        link = self.layout.tree.links[index]
        assert link.joint is not None
        self.move(apply(self.turn, self.layout.offsets[index]))
        rows = [self.layout.outward(index, row) for row in self.turn]
        self.turn = (rows[0], rows[1], rows[2])
        for component, axis in enumerate(self._axes(index, link.joint.kind)):
            prismatic = link.joint.kind is JointKind.PRISMATIC
            self.joints.append((Column(index, component), prismatic, axis, self.point))
        if link.joint.kind is JointKind.PRISMATIC:
            self._shift(index)
        else:
            self._spin(index)

    def _axes(self, index: int, kind: JointKind) -> list[Vector]:
        if kind is JointKind.SPHERICAL:
            return list(transpose(self.turn))
        local = self.layout.link_frames[index].joint_axis
        assert local is not None
        return [apply(self.turn, local)]

    def _shift(self, index: int) -> None:
        rates, axis = self.motion.rates[index], self.joints[-1][2]
        self.velocity = plus(self.velocity, times(rates.velocity[0], axis))
        coriolis = cross(self.spin, times(2 * rates.velocity[0], axis))
        self.acceleration = plus(self.acceleration, plus(times(rates.acceleration[0], axis), coriolis))

    def _spin(self, index: int) -> None:
        rates = self.motion.rates[index]
        axes = [entry[2] for entry in self.joints if entry[0].link == index]
        spin = _sum([times(rate, axis) for rate, axis in zip(rates.velocity, axes, strict=True)])
        gain = _sum([times(rate, axis) for rate, axis in zip(rates.acceleration, axes, strict=True)])
        self.spin_change = plus(plus(self.spin_change, gain), cross(self.spin, spin))
        self.spin = plus(self.spin, spin)


def chain_motion(layout: FrameAssignment, motion: Motion, ancestor: int, place: Placement) -> ChainMotion:
    """The motion of a placed frame relative to an ancestor of its link. `motion` carries no accelerations."""
    walk = _ChainRecursion(layout, motion)
    for index in path_between(layout.tree, ancestor, place.link):
        walk.enter(index)
    link_frame = layout.link_frames[place.link]
    walk.move(apply(walk.turn, link_frame.place(place.position)))
    columns = [apply(walk.turn, link_frame.place(column)) for column in transpose(place.rotation)]
    return ChainMotion(
        walk.point, walk.velocity, walk.spin, walk.acceleration, walk.spin_change,
        {column: _screw(prismatic, axis, origin, walk.point) for column, prismatic, axis, origin in walk.joints},
        transpose((columns[0], columns[1], columns[2])),
    )  # fmt: skip


def _screw(prismatic: bool, axis: Vector, origin: Vector, point: Vector) -> Screw:
    if prismatic:
        return Screw(zero_vector(axis[0]), axis)
    arm = point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]
    return Screw(axis, cross(axis, arm))


def _sum(vectors: list[Vector]) -> Vector:
    total = vectors[0]
    for item in vectors[1:]:
        total = plus(total, item)
    return total


# ---- Rows of closing joints
#
# Rows follow from the positions and axes of the joints, not from differentiation by every coordinate, so the number of
# operations is linear in the length of the chains. The two frames of a joint are A and B; d is the vector from B to A.


@dataclass(frozen=True)
class JointRow:
    """One scalar condition: value = 0; sum jacobian[column] rate + drift = 0; sum jacobian[column] q'' + bias = 0.

    `jacobian` is by joint component. `rate` is the total time derivative, including prescribed motion. `wrench` is the
    effect of a unit multiplier on A at A's point (moment, then force), in the axes of the ancestor.
    """

    value: Scalar
    jacobian: Mapping[Column, Scalar]
    rate: Scalar
    bias: Scalar
    wrench: Screw

    def negative(self) -> JointRow:
        """The same condition with opposite sign."""
        jacobian = {column: -entry for column, entry in self.jacobian.items()}
        wrench = Screw(negative(self.wrench.angular), negative(self.wrench.linear))
        return JointRow(-self.value, jacobian, -self.rate, -self.bias, wrench)


@dataclass(frozen=True)
class FramePair:
    """The two frames of a closing joint, both relative to their common ancestor and in its axes."""

    a: ChainMotion
    b: ChainMotion

    @property
    def gap(self) -> Vector:
        """From the second origin to the first."""
        return minus(self.a.point, self.b.point)

    @property
    def gap_rate(self) -> Vector:
        """The velocity of the first origin relative to the second."""
        return minus(self.a.velocity, self.b.velocity)

    @property
    def gap_bias(self) -> Vector:
        """The relative acceleration at q'' = 0."""
        return minus(self.a.bias_acceleration, self.b.bias_acceleration)

    def gap_screws(self) -> dict[Column, Screw]:
        """For a unit rate of every joint: the rate of d, and the angular velocity of A or B."""
        return self.a.screws | {column: Screw(s.angular, negative(s.linear)) for column, s in self.b.screws.items()}

    def coincide(self, axis: int) -> JointRow:
        """The points agree along an axis of the ancestor."""
        jacobian = {column: screw.linear[axis] for column, screw in self.gap_screws().items()}
        wrench = _force(unit_vector(self.gap[axis], axis))
        return JointRow(self.gap[axis], jacobian, self.gap_rate[axis], self.gap_bias[axis], wrench)

    def coincide_along(self, axis: int) -> JointRow:
        """The points agree along an axis of B: the same condition, in axes that do not depend on the plan."""
        u = self.b.axis(axis)
        jacobian = {column: dot(u, screw.linear) for column, screw in self.gap_screws().items()}
        return JointRow(dot(u, self.gap), jacobian, dot(u, self.gap_rate), dot(u, self.gap_bias), _force(u))

    def level(self, axis: int) -> JointRow:
        """A's point is in the plane through B's point normal to an axis of B: u . d = 0."""
        u, d = self.b.axis(axis), self.gap
        turned, bent = _axis_motion(self.b, u)
        moment = cross(u, d)
        jacobian = {column: dot(u, screw.linear) for column, screw in self.gap_screws().items()}
        for column, screw in self.b.screws.items():
            jacobian[column] = jacobian[column] + dot(screw.angular, moment)
        rate = dot(turned, d) + dot(u, self.gap_rate)
        bias = dot(bent, d) + 2 * dot(turned, self.gap_rate) + dot(u, self.gap_bias)
        return JointRow(dot(u, d), jacobian, rate, bias, _force(u))

    def perpendicular(self, first: int, second: int) -> JointRow:
        """An axis of A is perpendicular to an axis of B."""
        u, w = self.a.axis(first), self.b.axis(second)
        turned_u, bent_u = _axis_motion(self.a, u)
        turned_w, bent_w = _axis_motion(self.b, w)
        moment = cross(u, w)
        jacobian = {column: dot(screw.angular, moment) for column, screw in self.a.screws.items()}
        jacobian |= {column: -dot(screw.angular, moment) for column, screw in self.b.screws.items()}
        rate = dot(turned_u, w) + dot(u, turned_w)
        bias = dot(bent_u, w) + 2 * dot(turned_u, turned_w) + dot(u, bent_w)
        return JointRow(dot(u, w), jacobian, rate, bias, Screw(moment, zero_vector(u[0])))

    def distance(self, length: Scalar) -> JointRow:
        """The points keep their distance: (d . d - length^2) / 2 = 0."""
        d, rate = self.gap, self.gap_rate
        half = d[0].number(1) / 2
        jacobian = {column: dot(d, screw.linear) for column, screw in self.gap_screws().items()}
        value = half * (dot(d, d) - length * length)
        return JointRow(value, jacobian, dot(d, rate), dot(rate, rate) + dot(d, self.gap_bias), _force(d))


def _force(force: Vector) -> Screw:
    return Screw(zero_vector(force[0]), force)


def _axis_motion(frame: ChainMotion, u: Vector) -> tuple[Vector, Vector]:
    """First and second time derivative of a vector fixed in a frame, the second at q'' = 0."""
    turned = cross(frame.angular_velocity, u)
    return turned, plus(cross(frame.bias_angular_acceleration, u), cross(frame.angular_velocity, turned))


# ---- Rows of every type of closing joint
#
# Rows have the order and the names of the model: translations along the axes of the first frame, then rotations about
# them. Each row is the small displacement of the second frame along or about that axis, so its multiplier is the force
# or moment that the first frame exerts on the second.


class PointAxes(Enum):
    """The axes in which coinciding points are compared. All three are equivalent when the points coincide.

    STATED: as in the model, along the axes of the first frame, including their rotation. OWN: along the same axes,
    without their rotation. ANCESTOR: along the axes of the ancestor, which takes the fewest operations.
    """

    STATED = auto()
    OWN = auto()
    ANCESTOR = auto()


def joint_rows(joint: Joint, pair: FramePair, length: Scalar | None, axes: PointAxes) -> list[JointRow]:
    """The rows of a joint; A of the pair is its second frame, B the first."""
    fixes = joint.type.fixes
    translations = _translations(fixes.translation, joint.axes, pair, length, axes)
    return [*translations, *_rotations(fixes.rotation, joint.axes, pair)]


def _translations(
    fixed: Translation, axes: tuple[Axis, ...], pair: FramePair, length: Scalar | None, compared: PointAxes
) -> Iterator[JointRow]:
    match fixed:
        case Translation.ALL:
            for axis in range(3):
                yield _coincide(pair, axis, compared)
        case Translation.ALONG:
            yield pair.level(axes[0].value)
        case Translation.ACROSS:
            for axis in range(3):
                if axis != axes[0].value:
                    yield pair.level(axis)
        case Translation.LENGTH:
            assert length is not None
            yield pair.distance(length)


def _coincide(pair: FramePair, axis: int, compared: PointAxes) -> JointRow:
    match compared:
        case PointAxes.STATED:
            return pair.level(axis)
        case PointAxes.OWN:
            return pair.coincide_along(axis)
        case PointAxes.ANCESTOR:
            return pair.coincide(axis)


def _rotations(fixed: Rotation, axes: tuple[Axis, ...], pair: FramePair) -> Iterator[JointRow]:
    match fixed:
        case Rotation.ALL:
            for axis in range(3):
                following, last = FOLLOWING[axis]
                yield pair.perpendicular(following, last)
        case Rotation.ACROSS:
            yield from _across(axes[0].value, pair)
        case Rotation.NORMAL:
            yield pair.perpendicular(axes[1].value, axes[0].value)


def _across(axis: int, pair: FramePair) -> Iterator[JointRow]:
    """Rows of rotation about the two other axes, as cosines between the joint's axis and those axes."""
    following, last = FOLLOWING[axis]
    rows = {following: pair.perpendicular(axis, last).negative(), last: pair.perpendicular(axis, following)}
    for turned in sorted(rows):
        yield rows[turned]


# ---- Constraints of a mechanism as rows over its velocities


@dataclass(frozen=True)
class ConstraintRow:
    """One row over the velocities: value = 0, rate = jacobian v + ... = 0, jacobian v' + bias = 0.

    The value is None if the row restricts velocities only.
    """

    name: str
    value: Scalar | None
    jacobian: tuple[Scalar, ...]
    rate: Scalar
    bias: Scalar

    def zero_value(self) -> Scalar:
        """The value; zero for a row that restricts velocities only."""
        return self.rate.number(0) if self.value is None else self.value

    @property
    def is_empty(self) -> bool:
        """True if the row is zero at every state, such as out-of-plane rows of a planar loop."""
        return (self.value is None or self.value.is_zero) and all(entry.is_zero for entry in self.jacobian)


class ConstraintEquations:
    """The rows of one mechanism in one frame assignment. `motion` has velocities and no accelerations.

    seeds: for each velocity the symbols that it changes, and their rates.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        layout: FrameAssignment,
        motion: Motion,
        names_of: ElementNames,
        seeds: Sequence[dict[int, int]],
    ) -> None:
        self.mechanism = mechanism
        self.layout, self.motion = layout, motion
        self.names = names_of
        self.builder: GraphBuilder = layout.tree.like.builder
        self._directions = [ForwardDerivative(self.builder, one) for one in seeds]
        self._pairs: dict[str, FramePair] = {}
        self._in_own_axes: frozenset[str] = frozenset()

    def in_own_axes(self, loops: Iterable[str]) -> ConstraintEquations:
        """A copy that compares the points of these loops along the axes of their first frames."""
        found = copy(self)
        found._in_own_axes = frozenset(loops)
        return found

    def has_own_axes(self, loop: Loop) -> bool:
        """Are the points of a loop compared along the axes of its first frame?"""
        return loop.name in self._in_own_axes

    def rows(self, stated: bool = False) -> list[ConstraintRow]:
        """All rows in the order of the model: loops, then constraints. stated: as the model states them."""
        found: list[ConstraintRow] = []
        for loop in self.mechanism.loops:
            found += self.loop_rows(loop, stated) if isinstance(loop, Loop) else [self._coupling(loop)]
        return found + [self._constraint(one) for one in self.mechanism.constraints]

    def loop_rows(self, loop: Loop, stated: bool = False) -> list[ConstraintRow]:
        """The rows of one loop."""
        rows = self._joint_rows(loop, stated)
        return [self._over_velocities(name, row) for name, row in zip(row_names(loop), rows, strict=True)]

    def _joint_rows(self, loop: Loop, stated: bool) -> list[JointRow]:
        length = None if loop.joint.length is None else self.names.scalar(loop.joint.length)
        own = PointAxes.OWN if self.has_own_axes(loop) else PointAxes.ANCESTOR
        return joint_rows(loop.joint, self._pair(loop), length, PointAxes.STATED if stated else own)

    def loops_on_moving_bodies(self) -> list[Loop]:
        """Loops with coinciding points and a moving ancestor, whose axes depend on the plan."""
        loops = (loop for loop in self.mechanism.loops if isinstance(loop, Loop))
        return [one for one in loops if one.type.fixes.translation is Translation.ALL and self.ancestor(one) != 0]

    def _pair(self, loop: Loop) -> FramePair:
        if loop.name not in self._pairs:
            bodies, ancestor = self.layout.tree.bodies, self.ancestor(loop)
            places = bodies[second_frame(loop)], bodies[first_frame(loop)]
            frames = [chain_motion(self.layout, self.motion, ancestor, place) for place in places]
            self._pairs[loop.name] = FramePair(*frames)
        return self._pairs[loop.name]

    def ancestor(self, loop: Loop) -> int:
        """The nearest common ancestor of both frames of a loop."""
        bodies = self.layout.tree.bodies
        return common_ancestor(self.layout.tree, bodies[first_frame(loop)].link, bodies[second_frame(loop)].link)

    def wrenches(self, loop: Loop) -> list[Screw]:
        """For every computed row of the mechanism: moment and force of its unit multiplier on the loop's second frame,
        at that frame's point, in the axes of the ancestor; zero for rows of other loops."""
        none = Screw(zero_vector(self.layout.tree.like), zero_vector(self.layout.tree.like))
        own = dict(zip(row_names(loop), self._joint_rows(loop, stated=False), strict=True))
        constraints = (*self.mechanism.loops, *self.mechanism.constraints)
        return [own[name].wrench if name in own else none for one in constraints for name in row_names(one)]

    def closing_rows(self, loop: Loop) -> list[list[Scalar]]:
        """The motion of the second frame of a loop relative to the first, by velocity, in the axes of the first.

        The relative velocity is that of the second frame's point. Six rows, translations before rotations.
        """
        pair = self._pair(loop)
        screws = dict(pair.a.screws)
        for column, (angular, linear) in pair.b.screws.items():
            screws[column] = Screw(negative(angular), negative(plus(linear, cross(angular, pair.gap))))
        turn = transpose(pair.b.rotation)
        turned = {column: Screw(apply(turn, one.angular), apply(turn, one.linear)) for column, one in screws.items()}
        return jacobian(turned, self.motion.columns, len(self.motion.velocities), self.layout.tree.like.number(0))

    def facing(self) -> list[Scalar]:
        """Three cosines between corresponding axes for each loop that keeps its frames parallel.

        The rows of such a loop also vanish after a half turn or a permutation of axes. The cosines are one only if the
        frames are parallel.
        """
        loops = (loop for loop in self.mechanism.loops if isinstance(loop, Loop))
        pairs = (self._pair(loop) for loop in loops if loop.type.fixes.rotation is Rotation.ALL)
        return [dot(pair.a.axis(axis), pair.b.axis(axis)) for pair in pairs for axis in range(3)]

    def in_stated_axes(self, multipliers: Sequence[Scalar]) -> list[Scalar]:
        """Multipliers of the stated rows from those of the computed rows: forces at coinciding points are rotated
        from the ancestor's axes into those of the first frame."""
        found: list[Scalar] = []
        for loop in self.mechanism.loops:
            own = list(multipliers[len(found) : len(found) + len(row_names(loop))])
            if isinstance(loop, Loop) and self._is_rotated(loop):
                own[:3] = apply(transpose(self._pair(loop).b.rotation), vector(own[:3]))
            found += own
        return found + list(multipliers[len(found) :])

    def _is_rotated(self, loop: Loop) -> bool:
        """Are the axes of a loop's rows different from those of its first frame?"""
        return loop.type.fixes.translation is Translation.ALL and not self.has_own_axes(loop)

    def _over_velocities(self, name: str, row: JointRow) -> ConstraintRow:
        entries = [self.layout.tree.like.number(0)] * len(self.motion.velocities)
        for column, value in row.jacobian.items():
            for index, factor in self.motion.columns[column.link][column.component].items():
                entries[index] = entries[index] + factor * value
        return ConstraintRow(name, row.value, tuple(entries), row.rate, row.bias)

    def _coupling(self, loop: Coupling) -> ConstraintRow:
        residual = Name(loop.first) - loop.ratio * Name(loop.second) - loop.offset
        return self.holonomic(row_names(loop)[0], self.names.scalar(residual))

    def _constraint(self, constraint: Constraint) -> ConstraintRow:
        residual = self.names.scalar(constraint.residual)
        if self._has_rates(constraint):
            return self.nonholonomic(constraint.name, residual)
        return self.holonomic(constraint.name, residual)

    def _has_rates(self, constraint: Constraint) -> bool:
        velocities = set(self.mechanism.layout.velocities)
        return any(name in velocities or is_rate(name) for name in names(constraint.residual))

    def holonomic(self, name: str, value: Scalar) -> ConstraintRow:
        """The row value = 0 with its derivatives in time and coordinates."""
        entries = tuple(Scalar(self.builder, derivative(value.index)) for derivative in self._directions)
        rate = self.names.total_rate(value)
        return ConstraintRow(name, value, entries, rate, self.names.total_rate(rate))

    def nonholonomic(self, name: str, rate: Scalar) -> ConstraintRow:
        """The row rate = 0, linear in the velocities; the bias is the change of the rate at constant velocities."""
        symbols = [self.names[velocity].index for velocity in self.mechanism.layout.velocities]
        one = self.builder.one
        entries = tuple(Scalar(self.builder, ForwardDerivative(self.builder, {s: one})(rate.index)) for s in symbols)
        return ConstraintRow(name, None, entries, rate, self.names.total_rate(rate))
