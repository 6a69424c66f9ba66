"""What struts and rods share: a line to the joint on the ring that swings on a universal joint, and its angles.

The joint on the base stops the line from turning about itself; where the joint at the ring is universal, that one turns
what stands behind it, and the angle between both is the leg's twist.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

from kinegraph.derive.platforms.legs.constants import LegNumbers
from kinegraph.derive.platforms.legs.leg import Acceleration, Forces, JointMotion, Leg
from kinegraph.derive.platforms.legs.swing import Across, CrossAxes, Swing, across, cross_axes
from kinegraph.derive.platforms.ring import FreeMotion
from kinegraph.derive.tree.algebra import Vector
from kinegraph.graph.scalar import Scalar
from kinegraph.model.platforms.records import LegType


class SwingingLeg(Leg):
    """A leg with a line of a length that ends in its joint on the ring."""

    line: Vector
    length: Scalar
    inverse_length: Scalar

    def __init__(self, kind: LegType, numbers: LegNumbers, ring: FreeMotion, joint: JointMotion) -> None:
        super().__init__(numbers, ring, joint)
        self.kind = kind

    @property
    @abstractmethod
    def extension_rate(self) -> Scalar:
        """The rate of the length."""

    @property
    @abstractmethod
    def end_velocity(self) -> Vector:
        """Of the line's end on the ring, seen from its other end by an observer who does not turn."""

    @abstractmethod
    def _beta(self, about_two: Scalar) -> Scalar:
        """The rate of beta of a line that turns about its axis 2."""

    @cached_property
    def at_base(self) -> Swing:
        """What does not turn about the line relative to the base."""
        return self._swing(self._axes(self.joint.base_axis), self.joint.base_spin, False)

    @cached_property
    def at_ring(self) -> Swing:
        """What the universal joint at the ring turns about the line."""
        return self._swing(self._axes(self.numbers.ring_axis), self.ring.spin, True)

    def _swing(self, axes: CrossAxes, carrier_spin: Vector | None, on_ring: bool) -> Swing:
        return Swing(
            axes, self.length, self.inverse_length, self.extension_rate, self.end_velocity, carrier_spin, on_ring
        )

    def _axes(self, reference: Vector) -> CrossAxes:
        lies = self._lies_to(reference)
        return cross_axes(self.line, self.length, self.inverse_length, lies, lies.aside.reciprocal())

    def _lies_to(self, reference: Vector) -> Across:
        return across(self.line, self.length * self.length, reference)

    def _of_angles(self, forces: Forces) -> Vector:
        """The moment, on a part behind the joint on the base, that takes what forces on the leg's angles do."""
        about = self.extension_rate.number(0) if forces.twist is None else forces.twist
        return -(forces.alpha * self.at_base.axes.inverse_cosine), -self._beta(forces.beta), about

    @abstractmethod
    def _driven_rates(self, alpha: Scalar) -> tuple[Scalar, Scalar]:
        """The rate of the drive, and of alpha from what the line turns about the joint's first axis."""

    @abstractmethod
    def _driven_accelerations(self, acceleration: Acceleration, alpha: Scalar) -> tuple[Scalar, Scalar]:
        """The same of second derivatives."""

    @abstractmethod
    def _end_acceleration(self, acceleration: Acceleration) -> Vector:
        """What goes with `end_velocity`."""

    def rates(self) -> tuple[Scalar, ...]:
        one, two, _ = self.at_base.relative_spin
        found = *self._driven_rates(one * self.at_base.axes.inverse_cosine), self._beta(two)
        return (*found, self.at_ring.spin[2] - self.at_base.spin[2]) if self.kind.universal_at_ring else found

    def accelerations(self, acceleration: Acceleration) -> tuple[Scalar, ...]:
        end, swing = self._end_acceleration(acceleration), self.at_base
        curl = swing.curl(swing.axes.into(end), acceleration.base)
        first, second, _ = swing.relative_change(curl, acceleration.base)
        one, two, _ = swing.relative_spin
        alpha = (first + one * two * swing.axes.tangent) * swing.axes.inverse_cosine
        found = *self._driven_accelerations(acceleration, alpha), self._beta(second)
        if not self.kind.universal_at_ring:
            return found
        spun = self.at_ring.curl(self.at_ring.axes.into(end), acceleration.ring)
        return (*found, spun.change[2] - curl.change[2])
