"""All constraints of a mechanism as rows over its velocities: loops, couplings of coordinates, expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass

from kinegraph.derive.constraints.chain import chain_motion, common_ancestor
from kinegraph.derive.constraints.joint_rows import PointAxes, joint_rows
from kinegraph.derive.constraints.rows import Pair, Row
from kinegraph.derive.dynamics.composite_body import Screw
from kinegraph.derive.elements.element_names import ElementNames
from kinegraph.derive.tree.algebra import apply, cross, dot, negative, plus, transpose, vector, zero_vector
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.kinematics import jacobian
from kinegraph.derive.tree.links import first_frame, second_frame
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.joint_types import Rotation, Translation
from kinegraph.model.constraints.records import Constraint, Coupling, Loop, row_names
from kinegraph.model.expression import Name, names
from kinegraph.model.mechanism import Mechanism


@dataclass(frozen=True)
class TieRow:
    """One row over the velocities: value = 0 (None: it restricts velocities only), jacobian v + ... = rate = 0,
    jacobian v' + bias = 0."""

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
        """True if it says nothing, whatever the state: out-of-plane rows of a planar loop."""
        return (self.value is None or self.value.is_zero) and all(entry.is_zero for entry in self.jacobian)


class Ties:
    """The rows of one mechanism in one layout; `motion` has velocities and no accelerations.

    `seeds` are the displacements: which symbols move, and how much, with each velocity.
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
        self._pairs: dict[str, Pair] = {}
        self._in_own_axes: frozenset[str] = frozenset()

    def in_own_axes(self, loops: Iterable[str]) -> Ties:
        """The same with points of these loops compared along axes of their first frames."""
        found = copy(self)
        found._in_own_axes = frozenset(loops)
        return found

    def has_own_axes(self, loop: Loop) -> bool:
        """Whether its points are compared along axes of its first frame."""
        return loop.name in self._in_own_axes

    def rows(self, stated: bool = False) -> list[TieRow]:
        """All rows in the order of the model: loops, then constraints. stated: as the model states them."""
        found: list[TieRow] = []
        for loop in self.mechanism.loops:
            found += self.loop_rows(loop, stated) if isinstance(loop, Loop) else [self._coupling(loop)]
        return found + [self._constraint(one) for one in self.mechanism.constraints]

    def loop_rows(self, loop: Loop, stated: bool = False) -> list[TieRow]:
        """The rows of one loop."""
        rows = self._joint_rows(loop, stated)
        return [self._over_velocities(name, row) for name, row in zip(row_names(loop), rows, strict=True)]

    def _joint_rows(self, loop: Loop, stated: bool) -> list[Row]:
        length = None if loop.joint.length is None else self.names.scalar(loop.joint.length)
        own = PointAxes.OWN if self.has_own_axes(loop) else PointAxes.ANCESTOR
        return joint_rows(loop.joint, self._pair(loop), length, PointAxes.STATED if stated else own)

    def loops_on_moving_bodies(self) -> list[Loop]:
        """Loops with points that coincide whose ancestor moves: the axes it is computed in differ from plan to plan."""
        loops = (loop for loop in self.mechanism.loops if isinstance(loop, Loop))
        return [one for one in loops if one.type.fixes.translation is Translation.ALL and self.ancestor(one) != 0]

    def _pair(self, loop: Loop) -> Pair:
        if loop.name not in self._pairs:
            bodies, ancestor = self.layout.tree.bodies, self.ancestor(loop)
            places = bodies[second_frame(loop)], bodies[first_frame(loop)]
            frames = [chain_motion(self.layout, self.motion, ancestor, place) for place in places]
            self._pairs[loop.name] = Pair(*frames)
        return self._pairs[loop.name]

    def ancestor(self, loop: Loop) -> int:
        """The outermost link that both frames of a loop stand on."""
        bodies = self.layout.tree.bodies
        return common_ancestor(self.layout.tree, bodies[first_frame(loop)].link, bodies[second_frame(loop)].link)

    def wrenches(self, loop: Loop) -> list[Screw]:
        """For every row of the mechanism as it is computed with: moment and force of its unit multiplier on the loop's
        second frame, at that frame's point, in the axes of the ancestor. Those of other loops are zero."""
        none = Screw(zero_vector(self.layout.tree.like), zero_vector(self.layout.tree.like))
        own = dict(zip(row_names(loop), self._joint_rows(loop, stated=False), strict=True))
        names = (name for tie in (*self.mechanism.loops, *self.mechanism.constraints) for name in row_names(tie))
        return [own[name].wrench if name in own else none for name in names]

    def closing_rows(self, loop: Loop) -> list[list[Scalar]]:
        """By velocity: how the second frame of a loop moves against the first, along and about the axes of the first.

        Relative motion is taken at the point of the second frame; six rows, translations before turns.
        """
        pair = self._pair(loop)
        screws = dict(pair.a.screws)
        for column, (angular, linear) in pair.b.screws.items():
            screws[column] = Screw(negative(angular), negative(plus(linear, cross(angular, pair.gap))))
        turn = transpose(pair.b.rotation)
        turned = {column: Screw(apply(turn, one.angular), apply(turn, one.linear)) for column, one in screws.items()}
        return jacobian(turned, self.motion.columns, len(self.motion.velocities), self.layout.tree.like.number(0))

    def facing(self) -> list[Scalar]:
        """Cosines between the same axes of both frames of loops that keep them parallel, three each.

        Their rows are zero after half turns and where axes have changed places, too; all are one where the frames are
        parallel indeed.
        """
        loops = (loop for loop in self.mechanism.loops if isinstance(loop, Loop))
        pairs = (self._pair(loop) for loop in loops if loop.type.fixes.rotation is Rotation.ALL)
        return [dot(pair.a.axis(axis), pair.b.axis(axis)) for pair in pairs for axis in range(3)]

    def in_stated_axes(self, multipliers: Sequence[Scalar]) -> list[Scalar]:
        """Multipliers of the rows computed with, as those of the stated rows: forces in points that coincide are
        turned from the ancestor's axes into the first frame's."""
        found: list[Scalar] = []
        for loop in self.mechanism.loops:
            own = list(multipliers[len(found) : len(found) + len(row_names(loop))])
            if isinstance(loop, Loop) and self._is_turned(loop):
                own[:3] = apply(transpose(self._pair(loop).b.rotation), vector(own[:3]))
            found += own
        return found + list(multipliers[len(found) :])

    def _is_turned(self, loop: Loop) -> bool:
        """Whether forces along its rows are not along the axes of its first frame."""
        return loop.type.fixes.translation is Translation.ALL and not self.has_own_axes(loop)

    def _over_velocities(self, name: str, row: Row) -> TieRow:
        entries = [self.layout.tree.like.number(0)] * len(self.motion.velocities)
        for column, value in row.jacobian.items():
            for index, factor in self.motion.columns[column.link][column.component].items():
                entries[index] = entries[index] + factor * value
        return TieRow(name, row.value, tuple(entries), row.rate, row.bias)

    def _coupling(self, loop: Coupling) -> TieRow:
        residual = Name(loop.first) - loop.ratio * Name(loop.second) - loop.offset
        return self.holonomic(row_names(loop)[0], self.names.scalar(residual))

    def _constraint(self, constraint: Constraint) -> TieRow:
        residual = self.names.scalar(constraint.residual)
        if self._has_rates(constraint):
            return self.nonholonomic(constraint.name, residual)
        return self.holonomic(constraint.name, residual)

    def _has_rates(self, constraint: Constraint) -> bool:
        velocities = set(self.mechanism.layout.velocities)
        return any(name in velocities or name.endswith("'") for name in names(constraint.residual))

    def holonomic(self, name: str, value: Scalar) -> TieRow:
        """The row value = 0 with its derivatives in time and coordinates."""
        entries = tuple(Scalar(self.builder, way(value.index)) for way in self._directions)
        rate = self.names.total_rate(value)
        return TieRow(name, value, entries, rate, self.names.total_rate(rate))

    def nonholonomic(self, name: str, rate: Scalar) -> TieRow:
        """Linear in the velocities; the bias is what changes although the velocities do not."""
        symbols = [self.names[velocity].index for velocity in self.mechanism.layout.velocities]
        one = self.builder.one
        entries = tuple(Scalar(self.builder, ForwardDerivative(self.builder, {s: one})(rate.index)) for s in symbols)
        return TieRow(name, None, entries, rate, self.names.total_rate(rate))
