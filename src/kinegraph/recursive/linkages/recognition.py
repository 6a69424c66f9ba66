"""Which mechanisms are planar linkages of bars and pins, their numbers, and the order of elimination."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.tree.algebra import FOLLOWING
from kinegraph.model.constraints import Loop, Rotation, Translation
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.arrays import (
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
from kinegraph.recursive.flatten import FlatMechanism, Frame, flattened_tree, moves_with_time
from kinegraph.recursive.forward import elimination
from kinegraph.recursive.linkages.pins import (
    ANGLE,
    BAR,
    CENTER,
    LIGHT,
    ORIGIN,
    SINGULAR,
    TURNS,
    Linkage,
    LinkageSystem,
)


@dataclass(frozen=True)
class Order:
    """`order`, `other`, `target` and `pair` of a linkage: pins with few neighbors first, those closing loops last."""

    order: Integers
    other: Integers
    target: Integers
    pair: Integers


def elimination_order(pins: Sequence[tuple[int, int]], bars: int) -> Order:
    """The order for pins given by the bars they join (-1 the ground); the first `bars` pins close no loop."""
    on_bar: list[list[int]] = [[] for _ in range(bars)]
    for number, ends in enumerate(pins):
        for bar in set(ends) - {-1}:
            on_bar[bar].append(number)
    beside = _neighbors(on_bar, len(pins))
    sequence, later = _least_degree(beside, bars)
    rank = {pin: k for k, pin in enumerate(sequence)}
    entry: dict[tuple[int, int], int] = {}
    first = [0]
    for pin in sequence:
        entry |= {(pin, one): len(entry) + k for k, one in enumerate(later[pin])}
        first.append(len(entry))
    target = [entry[a, b] for pin in sequence for i, a in enumerate(later[pin]) for b in later[pin][i + 1 :]]
    pairs = []
    for bar, own in enumerate(on_bar):
        own.sort(key=rank.__getitem__)
        pairs += [(bar, a, b, entry[a, b]) for i, a in enumerate(own) for b in own[i + 1 :]]
    return Order(
        np.array(list(zip([*sequence, -1], first, strict=True)), dtype=np.int64),
        np.array([one for pin in sequence for one in later[pin]], dtype=np.int64),
        np.array(target, dtype=np.int64),
        np.array(pairs, dtype=np.int64).reshape(-1, 4),
    )


def _neighbors(on_bar: Sequence[Sequence[int]], count: int) -> list[set[int]]:
    """The pins that share a bar with each pin."""
    beside: list[set[int]] = [set() for _ in range(count)]
    for own in on_bar:
        for pin in own:
            beside[pin].update(own)
    for pin, others in enumerate(beside):
        others.discard(pin)
    return beside


def _least_degree(beside: list[set[int]], bars: int) -> tuple[list[int], list[list[int]]]:
    """The order, and by pin its neighbors at the time it goes, in that order."""
    waiting = [(pin >= bars, len(others), pin) for pin, others in enumerate(beside)]
    heapq.heapify(waiting)
    sequence: list[int] = []
    gone: list[set[int]] = [set() for _ in beside]
    done = [False] * len(beside)
    while waiting:
        _, degree, pin = heapq.heappop(waiting)
        if done[pin] or degree != len(beside[pin]):
            continue
        done[pin] = True
        sequence.append(pin)
        gone[pin] = beside[pin]
        for one in gone[pin]:
            beside[one] |= gone[pin]
            beside[one] -= {one, pin}
            heapq.heappush(waiting, (one >= bars, len(beside[one]), one))
    rank = {pin: k for k, pin in enumerate(sequence)}
    return sequence, [sorted(others, key=rank.__getitem__) for others in gone]


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
    if any(moves_with_time(loop) for loop in loops):
        return None
    flat = flattened_tree(mechanism, parameters)
    if len(loops) < len(mechanism.loops) or not _turn_in_plane(flat, len(mechanism.layout.velocities)):
        return None
    axis = int(flat.tree.link[1, AXIS])
    ends = [[flat.fixed(one.body, one.transforms) for one in (loop.first, loop.second)] for loop in loops]
    if not all(_closes_in_plane(loop, pair, axis) for loop, pair in zip(loops, ends, strict=True)):
        return None
    linkage = _linkage(flat, axis, ends)
    if linkage is None or not _in_one_plane(flat, axis, ends) or not _independent(linkage):
        return None
    return linkage, [f"{loop.name}.{'xyz'[k]}" for loop in loops for k in sorted(FOLLOWING[axis])]


def _closes_in_plane(loop: Loop, ends: Sequence[Frame], axis: int) -> bool:
    """Does a loop hold two points together, and turn about no other axis than that of the plane?"""
    fixes = loop.type.fixes
    if fixes.translation is not Translation.ALL or fixes.rotation not in (Rotation.FREE, Rotation.ACROSS):
        return False
    if fixes.rotation is Rotation.FREE:
        return True
    column = loop.joint.axes[0].value
    return all(abs(end.turn[3 * axis + column]) == 1.0 for end in ends)


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


def _independent(linkage: Linkage) -> bool:
    """Does every loop restrict the motion? A loop that is stated twice does not."""
    q, none = np.random.default_rng(5).uniform(-1, 1, len(linkage.bar)), np.zeros(len(linkage.bar))
    return bool(np.all(LinkageSystem(linkage, ()).evaluated(q, none, none)[1] > SINGULAR))


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
    """From the centers of mass of both bars to every pin, in their axes; the pins that close loops come last."""
    center = np.vstack([bar[:, CENTER : CENTER + 2], np.zeros((1, 2))])  # the last is the ground's, -1
    one, other = np.array(pins, dtype=np.int64).T
    points = np.array([[end.origin[k] for end in pair for k in FOLLOWING[axis]] for pair in ends])
    own = np.hstack([np.zeros((len(bar), 2)), bar[:, ORIGIN : ORIGIN + 2]])
    apart: Floats = np.vstack([own, points]) - np.hstack([center[one], center[other]])
    return apart


def bars_of(flat: FlatMechanism, axis: int) -> Floats:
    """The numbers of every bar, as `Linkage.bar` has them."""
    u, v = FOLLOWING[axis]
    fixed = flat.tree.constant[1:]
    bar = np.zeros((len(fixed), BAR))
    with np.errstate(all="ignore"):
        mass = fixed[:, MASS]
        center = fixed[:, [MOMENT + u, MOMENT + v]] / mass[:, None]
        bar[:, LIGHT] = 1 / mass
        bar[:, TURNS] = 1 / (fixed[:, INERTIA + axis] - mass * np.sum(center * center, axis=1))
    bar[:, CENTER : CENTER + 2] = center
    bar[:, ORIGIN : ORIGIN + 2] = fixed[:, [OFFSET + u, OFFSET + v]]
    turn = np.arctan2(fixed[:, PLACEMENT + 3 * v + u], fixed[:, PLACEMENT + 4 * u])
    bar[:, ANGLE] = turn + flat.linear.constant[1:]
    return bar
