"""Which mechanisms are planar linkages of bars and pins, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinegraph.large.chains.planar_structure import FOLLOWING, closes_in_plane
from kinegraph.large.flat.flatten import FlatMechanism, flattened_tree
from kinegraph.large.flat.frames import Frame
from kinegraph.large.joints import elimination
from kinegraph.large.linkages.order import elimination_order
from kinegraph.large.linkages.records import ANGLE, CENTRE, LIGHT, ORIGIN, TURNS, Linkage
from kinegraph.large.linkages.records import BAR as WIDTH
from kinegraph.large.records import (
    AXIS,
    INERTIA,
    KIND,
    MASS,
    MOMENT,
    OFFSET,
    PARENT,
    PLACEMENT,
    ROTATION,
    Floats,
    Integers,
)
from kinegraph.model.constraints.records import Loop
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism

#: Bars this far apart along the axis of their pins, relative to the largest length, lie in planes that cannot meet.
_APART = 1e-12


def planar_linkage(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None
) -> tuple[Linkage, list[str]] | None:
    """The mechanism as bars and pins, with the names of the two rows of every loop; None if it is anything else."""
    if not mechanism.loops or mechanism.constraints or mechanism.contacts or mechanism.elements:
        return None
    if mechanism.quasivelocities or mechanism.layout.quaternions:
        return None
    loops = [loop for loop in mechanism.loops if isinstance(loop, Loop)]
    flat = flattened_tree(mechanism, parameters)
    if len(loops) < len(mechanism.loops) or not _turn_in_plane(flat, len(mechanism.layout.velocities)):
        return None
    axis = int(flat.tree.link[1, AXIS])
    ends = [[flat.fixed(one.body, one.transforms) for one in (loop.first, loop.second)] for loop in loops]
    if not all(closes_in_plane(loop, pair, axis) for loop, pair in zip(loops, ends, strict=True)):
        return None
    linkage = _linkage(flat, axis, ends)
    if linkage is None or not _in_one_plane(flat, axis, ends):
        return None
    return linkage, [f"{loop.name}.{'xyz'[k]}" for loop in loops for k in sorted(FOLLOWING[axis])]


def _turn_in_plane(flat: FlatMechanism, velocities: int) -> bool:
    """Does every step turn about the same axis, by coordinates alone?"""
    tree = flat.tree
    if flat.nonlinear is not None or flat.constant_gravity is None or len(tree.link) != velocities + 1:
        return False
    axis = int(tree.link[1, AXIS])
    one_axis = np.all(tree.link[1:, KIND] == ROTATION) and np.all(tree.link[1:, AXIS] == axis)
    parallel = np.all(tree.constant[1:, PLACEMENT + 4 * axis] == 1.0)
    return bool(one_axis and parallel and not np.any(tree.armature) and not np.any(flat.linear.drift))


def _in_one_plane(flat: FlatMechanism, axis: int, ends: Sequence[Sequence[Frame]]) -> bool:
    """Do the two sides of every loop have one height above the plane?"""
    tree = flat.tree
    height = np.zeros(len(tree.link))
    for j, (base, step) in enumerate(zip(tree.link[1:, PARENT], tree.constant[1:, OFFSET + axis], strict=True), 1):
        height[j] = height[base] + step
    sides = [[height[end.step] + end.origin[axis] for end in pair] for pair in ends]
    size = 1 + float(np.max(np.abs(tree.constant[:, OFFSET : OFFSET + 3])))
    return all(abs(a - b) <= _APART * size for a, b in sides)


def _linkage(flat: FlatMechanism, axis: int, ends: Sequence[Sequence[Frame]]) -> Linkage | None:
    solved = elimination(flat)
    bar = bars_of(flat, axis)
    if solved is None or not np.all(np.isfinite(bar)) or not np.all(bar[:, :2] > 0):
        return None
    assert flat.constant_gravity is not None
    plane = list(FOLLOWING[axis])
    tree, base = flat.tree, flat.tree.link[1:, PARENT] - 1
    closing = [tuple(end.step - 1 for end in pair) for pair in ends]
    pins = [*zip(range(len(base)), base.tolist(), strict=True), *((a, b) for a, b in closing)]
    if any(a == b for a, b in pins):
        return None
    order = elimination_order(pins, len(bar))
    return Linkage(
        bar, np.ascontiguousarray(base), np.array(pins, dtype=np.int64), pin_places(bar, pins, ends, axis), order.order,
        order.other, order.target, order.pair, np.ascontiguousarray(tree.row[1:]), tree.column, flat.linear.slope,
        np.stack([solved.step - 1, solved.entry], axis=1), np.array([flat.constant_gravity[k] for k in plane]),
    )  # fmt: skip


def pin_places(
    bar: Floats, pins: Sequence[tuple[int, int]] | Integers, ends: Sequence[Sequence[Frame]], axis: int
) -> Floats:
    """From the centres of mass of both bars to every pin, in their axes; the pins that close loops come last."""
    centre = np.vstack([bar[:, CENTRE : CENTRE + 2], np.zeros((1, 2))])  # the last is the ground's, -1
    one, other = np.array(pins, dtype=np.int64).T
    points = np.array([[end.origin[k] for end in pair for k in FOLLOWING[axis]] for pair in ends])
    own = np.hstack([np.zeros((len(bar), 2)), bar[:, ORIGIN : ORIGIN + 2]])
    apart: Floats = np.vstack([own, points]) - np.hstack([centre[one], centre[other]])
    return apart


def bars_of(flat: FlatMechanism, axis: int) -> Floats:
    """The numbers of every bar, as `Linkage.bar` has them."""
    u, v = FOLLOWING[axis]
    fixed = flat.tree.constant[1:]
    bar = np.zeros((len(fixed), WIDTH))
    with np.errstate(all="ignore"):
        mass = fixed[:, MASS]
        centre = fixed[:, [MOMENT + u, MOMENT + v]] / mass[:, None]
        bar[:, LIGHT] = 1 / mass
        bar[:, TURNS] = 1 / (fixed[:, INERTIA + axis] - mass * np.sum(centre * centre, axis=1))
    bar[:, CENTRE : CENTRE + 2] = centre
    bar[:, ORIGIN : ORIGIN + 2] = fixed[:, [OFFSET + u, OFFSET + v]]
    turn = np.arctan2(fixed[:, PLACEMENT + 3 * v + u], fixed[:, PLACEMENT + 4 * u])
    bar[:, ANGLE] = turn + flat.linear.constant[1:]
    return bar
