"""Quantities used by elements: points and directions of bodies, names with their rates, and work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from kinegraph.derive.dynamics.newton_euler import projected
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import Vector, apply, dot, identity, minus, plus, vector, zero_vector
from kinegraph.derive.tree.displacements import Motion, MotionBuilder, position_rates
from kinegraph.derive.tree.expressions import Names
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import Placement, position_in
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.model.elements import Anchor
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component


class Points:
    """Points and directions of bodies in the fixed frame, without rotation matrices.

    A name means the origin of a body or, if there is no such body, an output point.
    """

    def __init__(self, mechanism: Mechanism, layout: FrameAssignment, names: Names) -> None:
        self.layout = layout
        self.names = names
        self._outputs = {point.name: point for point in mechanism.points}
        self._positions: dict[str, Vector] = {}

    def frame(self, name: str | None) -> Placement:
        """The frame of a body, of the body of an output point, or the fixed frame."""
        tree = self.layout.tree
        if name is not None and name not in tree.bodies:
            name = self._outputs[name].body
        if name is None:
            return Placement(0, identity(tree.like), zero_vector(tree.like))
        return tree.bodies[name]

    def named(self, name: str) -> Vector:
        """The position of the point of this name, in the fixed frame."""
        if name not in self._positions:
            self._positions[name] = self.anchored(Anchor(name))
        return self._positions[name]

    def placed(self, anchor: Anchor) -> Placement:
        """The placement of an anchor on its link, with the axes of its body."""
        local = anchor.position
        if anchor.of is not None and anchor.of not in self.layout.tree.bodies:
            local = self._outputs[anchor.of].position
        frame = self.frame(anchor.of)
        return replace(frame, position=position_in(frame, vector([self.names.scalar(item) for item in local])))

    def anchored(self, anchor: Anchor) -> Vector:
        """The position of an anchor, in the fixed frame."""
        place = self.placed(anchor)
        return self._outside(place.link, place.position)

    def _outside(self, link: int, position: Vector) -> Vector:
        """A point of a link in the fixed frame: transformed inward from frame to frame, which is Horner's rule."""
        position = self.layout.link_frames[link].place(position)
        while link > 0:
            position = plus(self.layout.offsets[link], self.layout.inward(link, position))
            link = self.layout.tree.links[link].parent
        return position

    def segment(self, first: Anchor, second: Anchor) -> tuple[Vector, Scalar]:
        """The vector from one anchor to another of the same body, in the fixed frame, and its squared length."""
        here, there = self.placed(first), self.placed(second)
        along = minus(there.position, here.position)
        return self._turned(here.link, along), dot(along, along)

    def turned_out(self, frame: Placement, components: Vector) -> Vector:
        """A direction given in a body's axes, in the axes of the fixed frame."""
        return self._turned(frame.link, apply(frame.rotation, components))

    def _turned(self, link: int, direction: Vector) -> Vector:
        """A direction of a link, in the axes of the fixed frame."""
        direction = self.layout.link_frames[link].place(direction)
        while link > 0:
            direction = self.layout.inward(link, direction)
            link = self.layout.tree.links[link].parent
        return direction

    # moments

    def body_moment(self, frame: Placement, moment: Vector, motion: Motion) -> list[Scalar]:
        """The generalized forces of a moment in a body's axes, rotated inward from joint to joint."""
        totals = [self.layout.tree.like.number(0)] * len(motion.velocities)
        link = frame.link
        moment = self.layout.link_frames[link].place(apply(frame.rotation, moment))
        while link > 0:
            self._project(link, moment, motion, totals)
            moment = self.layout.inward(link, moment)
            link = self.layout.tree.links[link].parent
        return totals

    def world_moment(self, frame: Placement, moment: Vector, motion: Motion) -> list[Scalar]:
        """The generalized forces of a moment in fixed axes, rotated outward from joint to joint."""
        totals = [self.layout.tree.like.number(0)] * len(motion.velocities)
        path: list[int] = []
        link = frame.link
        while link > 0:
            path.append(link)
            link = self.layout.tree.links[link].parent
        for step in reversed(path):
            moment = self.layout.outward(step, moment)
            self._project(step, moment, motion, totals)
        return totals

    def _project(self, link: int, moment: Vector, motion: Motion, totals: list[Scalar]) -> None:
        components = projected(self.layout, link, zero_vector(self.layout.tree.like), moment)
        for column, torque in zip(motion.columns[link], components, strict=True):
            for index, factor in column.items():
                totals[index] = totals[index] + factor * torque


class ElementNames(Names):
    """The names in expressions of elements, including points (`tip.x`), their velocities (`tip.x'`) and angular
    velocities (`tip.wz`)."""

    def __init__(self, mechanism: Mechanism, bound: Mapping[str, Expression], layout: FrameAssignment) -> None:
        super().__init__(layout.tree.like.builder, mechanism, bound)
        self.points = Points(mechanism, layout, self)
        self._mechanism = mechanism
        self._spins: dict[str, list[Scalar]] = {}

    def _new(self, name: str) -> Scalar:
        found = component(name)
        if found is None:
            return super()._new(name)
        if found.spin:
            return self._spin(found.point)[found.row]
        position = self.points.named(found.point)[found.row]
        return self.total_rate(position) if found.rate else position

    def _spin(self, point: str) -> list[Scalar]:
        """The angular velocity of a body in fixed axes, three zeros first: what every joint before it adds."""
        if point not in self._spins:
            layout = self.points.layout
            view = kinematics.seen_from(layout, kinematics.fixed_frame(self.number(0)))
            rates = MotionBuilder(self.builder, self._mechanism).motion(layout.tree, True, False).rates
            found = [self.number(0)] * 6
            for column, screw in kinematics.point_screws(layout, view, self.points.frame(point)).items():
                rate = rates[column.link].velocity[column.component]
                found[3:] = [one + rate * part for one, part in zip(found[3:], screw.angular, strict=True)]
            self._spins[point] = found
        return self._spins[point]

    def total_rate(self, gamma: Scalar) -> Scalar:
        """The time derivative gamma' along the motion."""
        return Scalar(self.builder, self.total_derivative(gamma.index))

    def explicit_rate(self, gamma: Scalar) -> Scalar:
        """The partial derivative of gamma by time, at fixed q."""
        return Scalar(self.builder, self._explicit(gamma.index))

    @cached_property
    def total_derivative(self) -> ForwardDerivative:
        """The derivative by time along the motion."""
        return ForwardDerivative(self.builder, self._position_seeds | {self._time: self.builder.one})

    @cached_property
    def _explicit(self) -> ForwardDerivative:
        return ForwardDerivative(self.builder, {self._time: self.builder.one})

    @property
    def _time(self) -> int:
        return self.builder.symbol(Kind.TIME, "t")

    @property
    def _position_seeds(self) -> dict[int, int]:
        v = [self[name] for name in self._mechanism.layout.velocities]
        rates = position_rates(self._mechanism, self.builder, v)
        return {
            self[name].index: rate.index for name, rate in zip(self._mechanism.layout.positions, rates, strict=True)
        }


@dataclass(frozen=True)
class ElementWork:
    """A force and its target, on which it does work; a target that is a rate acts through dbeta/dv, not dgamma/dq."""

    force: Scalar
    target: Scalar
    is_rate: bool = False


@dataclass(frozen=True)
class Storing:
    """An energy and its force, opposite to the growth of its target; for energies that should not be differentiated."""

    energy: Scalar
    work: ElementWork
