"""Which mechanisms are planar loops of bars, and their numbers in the order of the walk around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinegraph.large.chains.planar import Ring
from kinegraph.large.flat.flatten import FlatMechanism, flattened_tree
from kinegraph.large.flat.frames import Frame
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
from kinegraph.model.constraints.joint_types import Rotation, Translation
from kinegraph.model.constraints.records import Loop
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism

#: The two axes of the plane across each axis, in the order in which a right angle turns one into the other.
FOLLOWING = ((1, 2), (2, 0), (0, 1))


def planar_loop(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> tuple[Ring, list[str]] | None:
    """The mechanism as a ring of bars, with the names of its two rows; None if it is anything else."""
    if len(mechanism.loops) != 1 or mechanism.constraints or mechanism.contacts or mechanism.elements:
        return None
    loop, flat = mechanism.loops[0], flattened_tree(mechanism, parameters)
    if not isinstance(loop, Loop) or not _turns_only(flat):
        return None
    axis = int(flat.tree.link[1, AXIS])
    ends = [flat.fixed(one.body, one.transforms) for one in (loop.first, loop.second)]
    chains = [chain_to(flat, end.step) for end in ends]
    steps = np.concatenate(chains)
    if not closes_in_plane(loop, ends, axis) or len(steps) != len(flat.tree.link) - 1 or len(set(steps)) < len(steps):
        return None
    ring = ring_of(flat, axis, chains, ends)
    names = [f"{loop.name}.{'xyz'[k]}" for k in FOLLOWING[axis]]
    return (ring, names) if np.all(np.isfinite(ring.bar)) and np.all(ring.bar[:, :2] > 0) else None


def _turns_only(flat: FlatMechanism) -> bool:
    """Does every step turn about the same axis, by plus or minus one coordinate of its own?"""
    tree, linear = flat.tree, flat.linear
    if flat.nonlinear is not None or flat.constant_gravity is None or len(tree.link) < 2 or np.any(tree.armature):
        return False
    axis = int(tree.link[1, AXIS])
    one_axis = np.all(tree.link[1:, KIND] == ROTATION) and np.all(tree.link[1:, AXIS] == axis)
    parallel = np.all(tree.constant[1:, PLACEMENT + 4 * axis] == 1.0)
    own = np.all(np.diff(tree.row)[1:] == 1) and np.unique(tree.column).size == tree.column.size
    return bool(one_axis and parallel and own and np.all(np.abs(linear.slope) == 1.0) and not np.any(linear.drift))


def closes_in_plane(loop: Loop, ends: Sequence[Frame], axis: int) -> bool:
    """Does a loop hold two points together, and turn about no other axis than that of the plane?"""
    fixes = loop.type.fixes
    if fixes.translation is not Translation.ALL or fixes.rotation not in (Rotation.FREE, Rotation.ACROSS):
        return False
    if fixes.rotation is Rotation.FREE:
        return True
    column = loop.joint.axes[0].value
    return all(abs(end.turn[3 * axis + column]) == 1.0 for end in ends)


def chain_to(flat: FlatMechanism, step: int) -> Integers:
    """The steps from the ground to a step."""
    parent, found = flat.tree.link[:, PARENT], []
    while step:
        found.append(step)
        step = int(parent[step])
    return np.array(found[::-1], dtype=np.int64)


def ring_of(flat: FlatMechanism, axis: int, chains: Sequence[Integers], ends: Sequence[Frame]) -> Ring:
    """The first chain outwards, then the second one inwards."""
    tree, linear = flat.tree, flat.linear
    walk = np.concatenate([chains[0], chains[1][::-1]])
    first, count = len(chains[0]), len(walk)
    start, end = _directions(flat, axis, chains, ends)
    bar = np.zeros((count, 6))
    mass = tree.constant[walk, MASS]
    centre = tree.constant[walk][:, [MOMENT + k for k in FOLLOWING[axis]]] / mass[:, None]
    bar[:, 0] = 1 / mass
    bar[:, 1] = 1 / (tree.constant[walk, INERTIA + axis] - mass * np.sum(centre * centre, axis=1))
    bar[:, 2:4], bar[:, 4:6] = start - centre, end - centre
    entry = tree.row[walk]
    u, v = FOLLOWING[axis]
    turn = np.arctan2(tree.constant[walk, PLACEMENT + 3 * v + u], tree.constant[walk, PLACEMENT + 4 * u])
    assert flat.constant_gravity is not None
    return Ring(
        bar, _order(first, count), turn + linear.constant[walk], linear.slope[entry], linear.source[entry],
        tree.column[entry], first, (flat.constant_gravity[u], flat.constant_gravity[v]),
    )  # fmt: skip


def _order(first: int, count: int) -> Integers:
    """The bars of both chains from the ground outwards, each with the one it stands on."""
    bars = np.concatenate([np.arange(first), np.arange(count - 1, first - 1, -1)])
    base = np.concatenate([np.arange(first) - 1, np.arange(count - 1, first - 1, -1) + 1])
    base[base == count] = -1
    return np.stack([bars, base], axis=1)


def _directions(
    flat: FlatMechanism, axis: int, chains: Sequence[Integers], ends: Sequence[Frame]
) -> tuple[Floats, Floats]:
    """From each bar's origin to where it is entered and left, in its own axes."""
    outer = []
    for chain, end in zip(chains, ends, strict=True):
        following = flat.tree.constant[chain[1:], OFFSET : OFFSET + 3]
        points = [following, np.array([end.origin])] if len(chain) else [np.zeros((0, 3))]
        outer.append(np.concatenate(points)[:, list(FOLLOWING[axis])])
    none = [np.zeros_like(one) for one in outer]
    return np.concatenate([none[0], outer[1][::-1]]), np.concatenate([outer[0], none[1]])
