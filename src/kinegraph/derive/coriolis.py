"""The Coriolis matrix: C_ik = sum of m u_i . (du_k/dt), u_k the velocity field of joint component k at unit rate.

This is Christoffel's matrix (dH/dt - 2C is skew), formed in O(n depth) steps. For every k the rate of its field is
carried outwards; the mass beyond a link enters by the composite moments and by B = sum m x (V(x) - V_O)^T.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.derive.algebra import (
    Vector,
    cross,
    plus,
    times,
)
from kinegraph.derive.composite_body import (
    Column,
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
from kinegraph.derive.motion import Motion
from kinegraph.derive.moving_mass import MovingMass, moving_masses, origin_steps
from kinegraph.graph.scalar import Scalar


class FieldRate(NamedTuple):
    """du/dt at x from a link's origin: linear + turning x x + angular x (V(x) - V_O)."""

    angular: Vector
    turning: Vector
    linear: Vector


def coriolis_matrix(layout: Layout, motion: Motion, wanted: frozenset[Column]) -> dict[tuple[Column, Column], Scalar]:
    """The matrix in joint components, key (row, column)."""
    spins = [screw.angular for screw in link_velocities(layout, motion)]
    composites = composite_moments(layout)
    steps = origin_steps(layout, spins, motion)
    moving = moving_masses(layout, spins, steps)
    screws = all_screws(layout, wanted)
    entries: dict[tuple[Column, Column], Scalar] = {}
    fields: list[dict[Column, FieldRate]] = [{}]
    for index in range(1, len(layout.tree.links)):
        fields.append(_fields(layout, index, fields[layout.tree.links[index].parent], spins, steps, wanted))
        for k, field in fields[index].items():
            force, moment = _wrench(composites[index], moving[index], field)
            rows = screws[index] if k.link == index else own_columns(layout, index, wanted)
            for i in rows:
                entries[i, k] = power(screws[index][i], force, moment)
    return entries


def _fields(
    layout: Layout,
    index: int,
    below: dict[Column, FieldRate],
    spins: list[Vector],
    steps: list[Vector],
    wanted: frozenset[Column],
) -> dict[Column, FieldRate]:
    offset = layout.offsets[index]
    found: dict[Column, FieldRate] = {}
    for column, field in below.items():
        linear = plus(field.linear, plus(cross(field.turning, offset), cross(field.angular, steps[index])))
        found[column] = FieldRate(
            layout.outward(index, field.angular), layout.outward(index, field.turning), layout.outward(index, linear)
        )
    spin = spins[index]
    units = unit_screws(layout, index)
    for column in own_columns(layout, index, wanted):
        unit = units[column.component]
        found[column] = FieldRate(unit.angular, cross(spin, unit.angular), cross(spin, unit.linear))
    return found


def _wrench(moments: MassMoments, moving: MovingMass, field: FieldRate) -> tuple[Vector, Vector]:
    e = field.angular
    force = plus(times(moments.mass, field.linear), plus(cross(field.turning, moments.first), cross(e, moving.first)))
    moment = plus(plus(cross(moments.first, field.linear), inertia_times(moments, field.turning)), moving.swirl(e))
    return force, moment
