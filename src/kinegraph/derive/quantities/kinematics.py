"""Poses, velocities, accelerations and Jacobians of bodies and points; axes and lever arms of joints."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from kinegraph.derive.dynamics.composite_body import Column, Screw, Square
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import cross, dot, minus, plus, vector, zero_vector
from kinegraph.derive.tree.displacements import position_rates
from kinegraph.derive.tree.links import center_of_mass
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.model.expressions import TIME
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


# Poses, velocities, accelerations and Jacobians of bodies and points, in fixed axes or those of any body.


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
    return _in_axes(derivation, quantity, by_time(derivation, _velocity(derivation, quantity), accelerations=True))


def acceleration_bias(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The acceleration of a point above the angular acceleration of its body while all accelerations a are zero."""
    return _in_axes(derivation, quantity, by_time(derivation, _velocity(derivation, quantity)))


def jacobian_rate(derivation: Derivation, quantity: Quantity) -> Square:
    """The derivative of the entries of a Jacobian by time."""
    return _rows_by_time(derivation, jacobian(derivation, quantity))


def by_time(derivation: Derivation, scalars: Iterable[Scalar], accelerations: bool = False) -> list[Scalar]:
    """Derivatives by time; unless `accelerations` are asked for, velocities do not change."""
    builder, mechanism = derivation.builder, derivation.mechanism
    motion = derivation.motion(velocities=True, accelerations=accelerations)
    rates = position_rates(mechanism, builder, motion.velocities)
    seeds = {builder.symbol(Kind.TIME, TIME): builder.one}
    for name, rate in zip(mechanism.layout.positions, rates, strict=True):
        seeds[builder.symbol(Kind.COORDINATE, name)] = rate.index
    if accelerations:
        seeds |= {v.index: a.index for v, a in zip(motion.velocities, motion.accelerations, strict=True)}
    along = ForwardDerivative(builder, seeds)
    return [Scalar(builder, along(item.index)) for item in scalars]


def _rows_by_time(derivation: Derivation, rows: Square) -> Square:
    return [by_time(derivation, row) for row in rows]


def _velocity(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """In fixed axes: what every joint before the point adds, also those that time moves."""
    view = kinematics.seen_from(derivation.layout, kinematics.fixed_frame(derivation.zero))
    return _driven(
        derivation, kinematics.point_screws(derivation.layout, view, derivation.place(quantity, quantity.of))
    )


def _driven(derivation: Derivation, screws: dict[Column, Screw]) -> list[Scalar]:
    """The sum of screws, each at the rate of its joint."""
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


# Spatial vectors (twists): of the point of the body that is at the origin of the frame they are given in, so that they
# change from frame to frame as Featherstone's motion vectors do.


def spatial_jacobian(derivation: Derivation, quantity: Quantity) -> Square:
    """The 6 x n matrix from v to the spatial velocity of a body."""
    view = kinematics.seen_from(derivation.layout, derivation.frame(quantity))
    place = derivation.place(quantity, quantity.of)
    screws = kinematics.screws_at(derivation.layout, view, place.link, zero_vector(derivation.zero))
    return kinematics.jacobian(screws, derivation.at_rest.columns, derivation.size, derivation.zero)


def spatial_jacobian_rate(derivation: Derivation, quantity: Quantity) -> Square:
    """The derivative of the entries of a spatial Jacobian by time."""
    return _rows_by_time(derivation, spatial_jacobian(derivation, quantity))


def spatial_velocity(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The spatial velocity of a body against the fixed frame."""
    return _moved_to_frame(derivation, quantity, _twist(derivation, quantity))


def spatial_acceleration(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The spatial acceleration of a body: its spatial velocity differentiated in the fixed frame."""
    found = by_time(derivation, _twist(derivation, quantity), accelerations=True)
    return _moved_to_frame(derivation, quantity, found)


def _twist(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The spatial velocity in the fixed frame."""
    view = kinematics.seen_from(derivation.layout, kinematics.fixed_frame(derivation.zero))
    link = derivation.place(quantity, quantity.of).link
    return _driven(derivation, kinematics.screws_at(derivation.layout, view, link, zero_vector(derivation.zero)))


def _moved_to_frame(derivation: Derivation, quantity: Quantity, found: list[Scalar]) -> list[Scalar]:
    """A spatial vector of the fixed frame at the origin of another one, along its axes."""
    if not quantity.frame:
        return found
    view = kinematics.seen_from(derivation.layout, kinematics.fixed_frame(derivation.zero))
    origin = kinematics.position(derivation.layout, view, derivation.frame(quantity))
    linear, angular = vector(found[:3]), vector(found[3:])
    return _in_axes(derivation, quantity, [*plus(linear, cross(angular, origin)), *angular])


# Axes of joints and vectors from joints to centers of mass: Rackovic's e_i and r_ji.


def axis(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The unit vector about or along which a joint moves."""
    view = kinematics.seen_from(derivation.layout, derivation.frame(quantity))
    joint = _joint(derivation, quantity, quantity.of)
    screw = kinematics.joint_screws(derivation.layout, view, joint.link)[joint.component]
    return list(plus(screw.angular, screw.linear))  # one of them is zero


def arm(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The vector from the point where a joint sits to the center of mass of a body."""
    layout = derivation.described_layout
    view = kinematics.seen_from(layout, derivation.frame(quantity, layout.tree))
    joint, _, body = quantity.of.partition(":")
    if body not in layout.tree.bodies:
        raise DerivationError(f"{quantity}: there is no body {body!r}\n  {did_you_mean(body, layout.tree.bodies)}")
    place = layout.tree.bodies[body]
    center = center_of_mass(place, derivation.mechanism.body(body), derivation.names)
    link = _joint(derivation, quantity, joint).link
    return list(minus(kinematics.position(layout, view, center), view.origins[link]))


def _joint(derivation: Derivation, quantity: Quantity, name: str) -> Column:
    """The one joint component a name stands for."""
    found = _components(derivation, name)
    if len(found) == 1:
        return found[0]
    if not found:
        known = [
            *derivation.mechanism.layout.positions,
            *derivation.mechanism.layout.velocities,
            *derivation.tree.bodies,
        ]
        raise DerivationError(f"{quantity}: {name!r} is not a joint\n  {did_you_mean(name, known)}")
    raise DerivationError(f"{quantity}: {name!r} stands for {len(found)} axes\n  {_remedy(derivation, found)}")


def _components(derivation: Derivation, name: str) -> list[Column]:
    """The joint components that a coordinate or velocity moves, or that lie between a body and its base."""
    mechanism = derivation.mechanism
    for velocity in (name, f"{name}'"):
        if velocity in mechanism.layout.velocities:
            index = mechanism.layout.velocities.index(velocity)
            return [column for column in sorted(derivation.driven) if index in _moved_by(derivation, column)]
    if name not in derivation.tree.bodies:
        return []
    base = mechanism.body(name).base
    link, last = derivation.tree.bodies[name].link, derivation.tree.bodies[base].link if base is not None else 0
    found = []
    while link != last:
        found += [Column(link, component) for component in range(len(derivation.at_rest.columns[link]))]
        link = derivation.tree.links[link].parent
    return found


def _moved_by(derivation: Derivation, column: Column) -> Collection[int]:
    """The velocities that move a joint component."""
    return derivation.at_rest.columns[column.link][column.component]


def _remedy(derivation: Derivation, found: list[Column]) -> str:
    names = derivation.mechanism.layout.velocities
    moving = {names[index] for column in found for index in _moved_by(derivation, column)}
    if len(moving) == len(found):
        return f"name one of them by its velocity: {', '.join(sorted(moving))}"
    return "name a body that one joint alone moves"
