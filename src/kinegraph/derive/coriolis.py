"""The Coriolis matrix: C_ik = sum of m u_i . (du_k/dt), u_k the velocity field of joint component k at unit rate.

This is Christoffel's matrix (dH/dt - 2C is skew), formed in O(n depth) steps. For every k the rate of its field is
carried outwards; the mass beyond a link enters by the composite moments and by B = sum m x (V(x) - V_O)^T.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.derive.algebra import (
    Matrix,
    Vector,
    apply,
    cross,
    minus,
    plus,
    times,
    transpose,
    vector,
)
from kinegraph.derive.composite_body import (
    Column,
    Screw,
    all_screws,
    composite_moments,
    inertia_times,
    own_columns,
    power,
    unit_screws,
)
from kinegraph.derive.energy import link_velocities
from kinegraph.derive.inertia import MassMoments
from kinegraph.derive.layout import Layout
from kinegraph.derive.links import JointKind
from kinegraph.derive.motion import Motion
from kinegraph.graph.scalar import Scalar


class FieldRate(NamedTuple):
    """du/dt at x from a link's origin: linear + turning x x + angular x (V(x) - V_O)."""

    angular: Vector
    turning: Vector
    linear: Vector


class MovingMass(NamedTuple):
    """sum m (V - V_O) and sum m x (V - V_O)^T of all that hangs on a link."""

    first: Vector
    second: Matrix


def coriolis_matrix(layout: Layout, motion: Motion, wanted: frozenset[Column]) -> dict[tuple[Column, Column], Scalar]:
    """The matrix in joint components, key (row, column)."""
    velocities = link_velocities(layout, motion)
    composites = composite_moments(layout)
    moving = _moving_masses(layout, velocities, motion)
    screws = all_screws(layout, wanted)
    entries: dict[tuple[Column, Column], Scalar] = {}
    fields: list[dict[Column, FieldRate]] = [{}]
    for index in range(1, len(layout.tree.links)):
        fields.append(_fields(layout, index, fields[layout.tree.links[index].parent], velocities, motion, wanted))
        for k, field in fields[index].items():
            force, moment = _wrench(composites[index], moving[index], field)
            rows = screws[index] if k.link == index else own_columns(layout, index, wanted)
            for i in rows:
                entries[i, k] = power(screws[index][i], force, moment)
    return entries


def _difference(layout: Layout, index: int, velocities: list[Screw], motion: Motion) -> Vector:
    """Velocity of a link's origin less that of its parent's, in the parent's frame."""
    parent = velocities[layout.tree.links[index].parent]
    result = cross(parent.angular, layout.offsets[index])
    joint = layout.tree.links[index].joint
    axis = layout.seats[index].joint_axis
    if joint is not None and joint.kind is JointKind.PRISMATIC and axis is not None:
        result = plus(result, times(motion.rates[index].velocity[0], axis))
    return result


def _fields(
    layout: Layout,
    index: int,
    below: dict[Column, FieldRate],
    velocities: list[Screw],
    motion: Motion,
    wanted: frozenset[Column],
) -> dict[Column, FieldRate]:
    step = _difference(layout, index, velocities, motion)
    offset = layout.offsets[index]
    found: dict[Column, FieldRate] = {}
    for column, field in below.items():
        linear = plus(field.linear, plus(cross(field.turning, offset), cross(field.angular, step)))
        found[column] = FieldRate(
            layout.outward(index, field.angular), layout.outward(index, field.turning), layout.outward(index, linear)
        )
    spin = velocities[index].angular
    units = unit_screws(layout, index)
    for column in own_columns(layout, index, wanted):
        unit = units[column.component]
        found[column] = FieldRate(unit.angular, cross(spin, unit.angular), cross(spin, unit.linear))
    return found


def _wrench(moments: MassMoments, moving: MovingMass, field: FieldRate) -> tuple[Vector, Vector]:
    e = field.angular
    force = plus(times(moments.mass, field.linear), plus(cross(field.turning, moments.first), cross(e, moving.first)))
    trace = moving.second[0][0] + moving.second[1][1] + moving.second[2][2]
    swirl = minus(times(trace, e), apply(transpose(moving.second), e))
    moment = plus(plus(cross(moments.first, field.linear), inertia_times(moments, field.turning)), swirl)
    return force, moment


def _moving_masses(layout: Layout, velocities: list[Screw], motion: Motion) -> list[MovingMass]:
    found = [_own(moments, screw.angular) for moments, screw in zip(layout.moments, velocities, strict=True)]
    composites = composite_moments(layout)
    for index in range(len(found) - 1, 0, -1):
        parent = layout.tree.links[index].parent
        step = _difference(layout, index, velocities, motion)
        found[parent] = _joined(found[parent], _inward(layout, index, found[index], composites[index], step))
    return found


def _own(moments: MassMoments, spin: Vector) -> MovingMass:
    """sum m x (w x x)^T = - S [w]x, whose rows are w x (rows of S)."""
    rows = [cross(spin, moments.second.column(i)) for i in range(3)]
    return MovingMass(cross(spin, moments.first), (rows[0], rows[1], rows[2]))


def _joined(a: MovingMass, b: MovingMass) -> MovingMass:
    rows = [plus(x, y) for x, y in zip(a.second, b.second, strict=True)]
    return MovingMass(plus(a.first, b.first), (rows[0], rows[1], rows[2]))


def _inward(layout: Layout, index: int, mass: MovingMass, moments: MassMoments, step: Vector) -> MovingMass:
    offset = layout.offsets[index]
    half = [layout.inward(index, row) for row in mass.second]
    columns = [layout.inward(index, vector(column)) for column in zip(*half, strict=True)]
    turned = transpose((columns[0], columns[1], columns[2]))
    first = layout.inward(index, mass.first)
    centre = layout.inward(index, moments.first)
    rows = [
        plus(turned[i], plus(times(offset[i], first), times(centre[i] + moments.mass * offset[i], step)))
        for i in range(3)
    ]
    return MovingMass(plus(first, times(moments.mass, step)), (rows[0], rows[1], rows[2]))
