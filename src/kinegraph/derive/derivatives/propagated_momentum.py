"""Vectors of a joint component propagated to its ancestors, where each gives the entry of a pair with one product.

With u the component's velocity field at unit rate: P = sum m u, L = sum m x x u, N = sum m (V - V_O) x u over all that
hangs on it, about the origin O of the link that has been reached; and wrenches of its fields' rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kinegraph.derive.derivatives.moving_mass import MovingMass
from kinegraph.derive.dynamics.composite_body import Column, inertia_times
from kinegraph.derive.tree.algebra import Vector, cross, plus
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.inertia import MassMoments


class Wrench(NamedTuple):
    force: Vector
    moment: Vector


class PropagatedMomentum(NamedTuple):
    """P, L and N, and any wrenches."""

    momentum: Vector
    angular: Vector
    counter: Vector
    wrenches: tuple[Wrench, ...]


def of_prismatic(
    moments: MassMoments, moving: MovingMass, axis: Vector, wrenches: tuple[Wrench, ...]
) -> PropagatedMomentum:
    """What a prismatic joint sends: its field is the axis everywhere."""
    momentum = (moments.mass * axis[0], moments.mass * axis[1], moments.mass * axis[2])
    return PropagatedMomentum(momentum, cross(moments.first, axis), cross(moving.first, axis), wrenches)


def of_revolute(
    moments: MassMoments, moving: MovingMass, axis: Vector, wrenches: tuple[Wrench, ...]
) -> PropagatedMomentum:
    """What a revolute joint sends: its field is axis x x."""
    return PropagatedMomentum(
        cross(axis, moments.first), inertia_times(moments, axis), moving.transposed_moment(axis), wrenches
    )


def at_ancestors(
    layout: FrameAssignment, column: Column, propagated: PropagatedMomentum, steps: list[Vector]
) -> Iterator[tuple[int, PropagatedMomentum]]:
    """Every ancestor's link, the component's own first, with what has been propagated to it.

    `steps` are the velocities of the links' origins less those of their parents', in the measure `counter` has.
    """
    index = column.link
    while index > 0:
        yield index, propagated
        propagated = _inward(layout, index, propagated, steps[index])
        index = layout.tree.links[index].parent


def _inward(layout: FrameAssignment, index: int, propagated: PropagatedMomentum, step: Vector) -> PropagatedMomentum:
    offset = layout.offsets[index]
    momentum, angular, counter = (layout.inward(index, part) for part in propagated[:3])
    wrenches = []
    for wrench in propagated.wrenches:
        force, moment = layout.inward(index, wrench.force), layout.inward(index, wrench.moment)
        wrenches.append(Wrench(force, plus(moment, cross(offset, force))))
    return PropagatedMomentum(
        momentum, plus(angular, cross(offset, momentum)), plus(counter, cross(step, momentum)), tuple(wrenches)
    )
