"""The names that elements use, with their values in a derivation and their rates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from kinegraph.derive.elements.points import Points
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.quasi_velocities import position_rates
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.graph.scalar import Scalar
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component


class ElementNames(Names):
    """What the names of a law stand for: also points, `tip.x`, and their velocities, `tip.x'`."""

    def __init__(self, mechanism: Mechanism, bound: Mapping[str, Expression], layout: FrameAssignment) -> None:
        super().__init__(layout.tree.like.builder, mechanism, bound)
        self.points = Points(mechanism, layout, self)
        self._mechanism = mechanism

    def _new(self, name: str) -> Scalar:
        found = component(name)
        if found is None:
            return super()._new(name)
        position = self.points.named(found.point)["xyz".index(found.axis)]
        return self.total_rate(position) if found.rate else position

    def total_rate(self, gamma: Scalar) -> Scalar:
        """gamma' along the motion."""
        return Scalar(self.builder, self.total_derivative(gamma.index))

    def explicit_rate(self, gamma: Scalar) -> Scalar:
        """The part of gamma' that is there at rest: the derivative by time at fixed q."""
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
