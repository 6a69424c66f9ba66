"""Inertia matrix and gravity forces from composite bodies: everything beyond a joint, moving as one."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.derive.tree.algebra import Vector, cross, dot, negative, plus, signed_axis, times, zero_vector
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.inertia import MassMoments, axial_inertia
from kinegraph.derive.tree.links import JointKind
from kinegraph.graph.scalar import Scalar


class Screw(NamedTuple):
    """A unit motion of one joint component: angular part and velocity of a link's origin."""

    angular: Vector
    linear: Vector


class Column(NamedTuple):
    """One component of one joint: link and component."""

    link: int
    component: int


def composite_moments(layout: FrameAssignment) -> list[MassMoments]:
    """For every link: the mass moments of all that hangs on it, about its origin, in its frame of computation."""
    composites = list(layout.moments)
    for index in range(len(composites) - 1, 0, -1):
        parent = layout.tree.links[index].parent
        beyond = composites[index]
        turned = MassMoments(
            beyond.mass, layout.inward(index, beyond.first), layout.inward_symmetric(index, beyond.second)
        )
        composites[parent] = composites[parent].plus(turned.shifted(layout.offsets[index]))
    return composites


def unit_screws(layout: FrameAssignment, index: int) -> list[Screw]:
    """The unit motions of a link's own joint, at its origin, in its frame of computation."""
    joint = layout.tree.links[index].joint
    assert joint is not None
    zero = zero_vector(layout.tree.like)
    if joint.kind is JointKind.SPHERICAL:
        one, nil = layout.tree.like.number(1), layout.tree.like.number(0)
        return [Screw((one, nil, nil), zero), Screw((nil, one, nil), zero), Screw((nil, nil, one), zero)]
    axis = layout.link_frames[index].joint_axis
    assert axis is not None
    return [Screw(zero, axis) if joint.kind is JointKind.PRISMATIC else Screw(axis, zero)]


def column_count(layout: FrameAssignment, index: int) -> int:
    """How many velocities the joint of a link has."""
    joint = layout.tree.links[index].joint
    return 0 if joint is None else 3 if joint.kind is JointKind.SPHERICAL else 1


def all_screws(layout: FrameAssignment, wanted: frozenset[Column]) -> list[dict[Column, Screw]]:
    """For every link: the motion of its origin due to each wanted joint component at or below it."""
    found: list[dict[Column, Screw]] = [{}]
    for index in range(1, len(layout.tree.links)):
        parent = layout.tree.links[index].parent
        offset = layout.offsets[index]
        moved: dict[Column, Screw] = {}
        for column, screw in found[parent].items():
            linear = plus(screw.linear, cross(screw.angular, offset))
            moved[column] = Screw(layout.outward(index, screw.angular), layout.outward(index, linear))
        for component, screw in enumerate(unit_screws(layout, index)):
            if Column(index, component) in wanted:
                moved[Column(index, component)] = screw
        found.append(moved)
    return found


def momentum_of(moments: MassMoments, screw: Screw) -> tuple[Vector, Vector]:
    """Linear momentum, and angular momentum about the origin, of a composite body moving as the screw says."""
    linear = plus(times(moments.mass, screw.linear), cross(screw.angular, moments.first))
    angular = plus(inertia_times(moments, screw.angular), cross(moments.first, screw.linear))
    return linear, angular


def inertia_times(moments: MassMoments, angular: Vector) -> Vector:
    """The inertia tensor about the origin times a vector."""
    direction = signed_axis(angular)
    if direction is not None:
        axis, sign = direction
        column = axial_inertia(moments.second, axis)
        return column if sign == 1 else negative(column)
    s = moments.second
    trace_less = (s.yy + s.zz, s.xx + s.zz, s.xx + s.yy)
    x, y, z = angular
    return (
        trace_less[0] * x - s.xy * y - s.xz * z,
        trace_less[1] * y - s.xy * x - s.yz * z,
        trace_less[2] * z - s.xz * x - s.yz * y,
    )


def power(screw: Screw, force: Vector, moment: Vector) -> Scalar:
    """What a wrench at the origin does on a unit motion."""
    return dot(screw.angular, moment) + dot(screw.linear, force)


def inertia_by_screws(layout: FrameAssignment, wanted: frozenset[Column]) -> dict[tuple[Column, Column], Scalar]:
    """H in joint components: every ancestor's motion is propagated to the composite body."""
    composites = composite_moments(layout)
    screws = all_screws(layout, wanted)
    entries: dict[tuple[Column, Column], Scalar] = {}
    for index in range(1, len(layout.tree.links)):
        for column in own_columns(layout, index, wanted):
            linear, angular = momentum_of(composites[index], screws[index][column])
            for other, screw in screws[index].items():
                entries[column, other] = entries[other, column] = power(screw, linear, angular)
    return entries


def inertia_by_wrenches(layout: FrameAssignment, wanted: frozenset[Column]) -> dict[tuple[Column, Column], Scalar]:
    """H in joint components: the composite body's momentum is propagated to every ancestor (Featherstone)."""
    composites = composite_moments(layout)
    entries: dict[tuple[Column, Column], Scalar] = {}
    for index in range(1, len(layout.tree.links)):
        units = unit_screws(layout, index)
        for column in own_columns(layout, index, wanted):
            force, moment = momentum_of(composites[index], units[column.component])
            _carry_in(layout, index, column, force, moment, wanted, entries)
    return entries


def _carry_in(
    layout: FrameAssignment,
    index: int,
    column: Column,
    force: Vector,
    moment: Vector,
    wanted: frozenset[Column],
    entries: dict[tuple[Column, Column], Scalar],
) -> None:
    while index > 0:
        units = unit_screws(layout, index)
        for other in own_columns(layout, index, wanted):
            entries[column, other] = entries[other, column] = power(units[other.component], force, moment)
        force, moment = layout.inward(index, force), layout.inward(index, moment)
        moment = plus(moment, cross(layout.offsets[index], force))
        index = layout.tree.links[index].parent


def own_columns(layout: FrameAssignment, index: int, wanted: frozenset[Column]) -> list[Column]:
    """The wanted columns that belong to the joint of a link."""
    return [c for c in (Column(index, i) for i in range(column_count(layout, index))) if c in wanted]


def gravity_forces(layout: FrameAssignment) -> list[tuple[Scalar, ...]]:
    """The joint forces that hold the mechanism still: - (velocity of the composite first moment) . g."""
    composites = composite_moments(layout)
    gravity = [layout.tree.gravity]
    forces: list[tuple[Scalar, ...]] = [()]
    for index in range(1, len(layout.tree.links)):
        gravity.append(layout.outward(index, gravity[layout.tree.links[index].parent]))
        moments = composites[index]
        forces.append(
            tuple(
                -dot(plus(times(moments.mass, screw.linear), cross(screw.angular, moments.first)), gravity[index])
                for screw in unit_screws(layout, index)
            )
        )
    return forces
