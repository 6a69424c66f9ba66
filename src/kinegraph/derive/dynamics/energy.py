"""Energy and momentum of the whole mechanism."""

from __future__ import annotations

from fractions import Fraction

from kinegraph.derive.dynamics.composite_body import Screw, composite_moments, momentum_of, unit_screws
from kinegraph.derive.tree.algebra import Vector, cross, dot, plus, times, zero_vector
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.graph.build import Scalar


def link_velocities(layout: FrameAssignment, motion: Motion) -> list[Screw]:
    """For every link: angular velocity and velocity of the origin, in its frame of computation."""
    zero = zero_vector(layout.tree.like)
    found = [Screw(zero, zero)]
    for index in range(1, len(layout.tree.links)):
        parent = found[layout.tree.links[index].parent]
        linear = plus(parent.linear, cross(parent.angular, layout.offsets[index]))
        angular, linear = layout.outward(index, parent.angular), layout.outward(index, linear)
        for screw, rate in zip(unit_screws(layout, index), motion.rates[index].velocity, strict=True):
            angular = plus(angular, times(rate, screw.angular))
            linear = plus(linear, times(rate, screw.linear))
        found.append(Screw(angular, linear))
    return found


def kinetic_energy(layout: FrameAssignment, motion: Motion) -> Scalar:
    """1/2 sum (v . momentum + w . angular momentum) over the links."""
    total = layout.tree.like.number(0)
    for moments, screw in zip(layout.moments, link_velocities(layout, motion), strict=True):
        linear, angular = momentum_of(moments, screw)
        total = total + dot(screw.linear, linear) + dot(screw.angular, angular)
    return Fraction(1, 2) * total


def potential_energy(layout: FrameAssignment) -> Scalar:
    """- g . (total first moment), zero with all mass at the fixed origin."""
    composites = composite_moments(layout)
    return -dot(layout.tree.gravity, composites[0].first)


def total_momentum(layout: FrameAssignment, motion: Motion) -> tuple[Vector, Vector]:
    """Linear momentum, and angular momentum about the fixed origin, in fixed axes."""
    momenta = [
        momentum_of(moments, screw)
        for moments, screw in zip(layout.moments, link_velocities(layout, motion), strict=True)
    ]
    for index in range(len(momenta) - 1, 0, -1):
        parent = layout.tree.links[index].parent
        linear, angular = layout.inward(index, momenta[index][0]), layout.inward(index, momenta[index][1])
        angular = plus(angular, cross(layout.offsets[index], linear))
        momenta[parent] = plus(momenta[parent][0], linear), plus(momenta[parent][1], angular)
    return momenta[0]
