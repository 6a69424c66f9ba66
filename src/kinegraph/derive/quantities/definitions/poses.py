"""Poses, velocities, accelerations and Jacobians of bodies and points, in fixed axes or those of any body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import dot, vector
from kinegraph.derive.tree.coordinates import Square
from kinegraph.derive.tree.quasi_velocities import position_rates
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.graph.scalar import Scalar
from kinegraph.model.expression import TIME

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def pose(derivation: Derivation, quantity: Quantity) -> Square:
    """The homogeneous 4 x 4 matrix of a body's frame, or of a point with the axes of its body.

    With `@FRAME` it is the pose as seen from that frame.
    """
    view = kinematics.seen_from(derivation.layout, derivation.frame(quantity))
    return kinematics.pose(derivation.layout, view, derivation.place(quantity, quantity.of))


def jacobian(derivation: Derivation, quantity: Quantity) -> Square:
    """The 6 x n matrix from v to the velocity of a point above the angular velocity of its body.

    Velocities are those against the fixed frame; `@FRAME` chooses the axes they are given in.
    """
    view = kinematics.seen_from(derivation.layout, derivation.frame(quantity))
    screws = kinematics.point_screws(derivation.layout, view, derivation.place(quantity, quantity.of))
    return kinematics.jacobian(screws, derivation.at_rest.columns, derivation.size, derivation.zero)


def velocity(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The velocity of a point above the angular velocity of its body, against the fixed frame; `@FRAME`: its axes."""
    return _in_axes(derivation, quantity, _velocity(derivation, quantity))


def acceleration(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The acceleration of a point above the angular acceleration of its body: velocities differentiated by time."""
    builder, mechanism = derivation.builder, derivation.mechanism
    motion = derivation.motion(velocities=True, accelerations=True)
    rates = position_rates(mechanism, builder, motion.velocities)
    seeds = {builder.symbol(Kind.TIME, TIME): builder.one}
    for name, rate in zip(mechanism.layout.positions, rates, strict=True):
        seeds[builder.symbol(Kind.COORDINATE, name)] = rate.index
    for v, a in zip(motion.velocities, motion.accelerations, strict=True):
        seeds[v.index] = a.index
    by_time = ForwardDerivative(builder, seeds)
    found = [Scalar(builder, by_time(item.index)) for item in _velocity(derivation, quantity)]
    return _in_axes(derivation, quantity, found)


def _velocity(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """In fixed axes: what every joint before the point adds, also those that time moves."""
    view = kinematics.seen_from(derivation.layout, kinematics.fixed_frame(derivation.zero))
    screws = kinematics.point_screws(derivation.layout, view, derivation.place(quantity, quantity.of))
    rates = derivation.motion(velocities=True).rates
    found = [derivation.zero] * 6
    for column, screw in screws.items():
        rate = rates[column.link].velocity[column.component]
        for row, item in enumerate((*screw.linear, *screw.angular)):
            found[row] = found[row] + rate * item
    return found


def _in_axes(derivation: Derivation, quantity: Quantity, found: list[Scalar]) -> list[Scalar]:
    if not quantity.frame:
        return found
    view = kinematics.seen_from(derivation.layout, kinematics.fixed_frame(derivation.zero))
    matrix = kinematics.pose(derivation.layout, view, derivation.frame(quantity))
    x, y, z = (vector([row[k] for row in matrix[:3]]) for k in range(3))
    parts = vector(found[:3]), vector(found[3:])
    return [dot(axis, part) for part in parts for axis in (x, y, z)]
