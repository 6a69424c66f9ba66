"""Planar linkages pin by pin: compiled sweeps, C functions with their tables, and the system for plain arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinegraph.jit.bitcode import compiled
from kinegraph.jit.marks import callback, doubles_at, inlined, integers_at, loop, part
from kinegraph.recursive.arrays import Floats, Integers
from kinegraph.recursive.c_interface import Addressed, Tables, joined

# Columns of Linkage.bar: 1/m, 1/G with G the central moment of inertia, center of mass in the bar's axes, origin in the
# axes of the bar it stands on, angle against that bar while all coordinates are zero
LIGHT, TURNS, CENTER, ORIGIN, ANGLE, BAR = 0, 1, 2, 4, 6, 7
# Columns of Linkage.pin: the bars it joins, -1 for the ground
ONE, OTHER = 0, 1
# Columns of Linkage.order: the pin, and the first of its entries
PIN, FIRST = 0, 1
# Columns of Linkage.pair: the bar, two of its pins (the one eliminated earlier first), the entry of their block
ON, EARLIER, LATER, ENTRY = 0, 1, 2, 3


class Linkage(NamedTuple):
    """Bars, each after the one it stands on; the pin of every bar to that one, then the pins that close loops.

    Forces at the pins solve a symmetric system of 2 x 2 blocks, eliminated in `order`: pins that close loops last.
    Block `e` stands in the row of its pin and the column of pin `other[e]`; `target` are the blocks that change when a
    pin is eliminated, for every two of its entries.
    """

    bar: Floats  #: (bars, 7)
    base: Integers  #: the bar each stands on, -1 for the ground
    pin: Integers  #: (pins, 2)
    place: Floats  #: (pins, 4): from both bars' centers of mass (or the ground's origin) to the pin, in their axes
    order: Integers  #: (pins + 1, 2)
    other: Integers
    target: Integers
    pair: Integers  #: (pairs, 4)
    row: Integers  #: row[k]:row[k+1] are the entries of a bar's displacement in `column` and `slope`
    column: Integers
    slope: Floats
    solved: Integers  #: (bars, 2): an order of bars in which each has one unknown coordinate left, and its entry
    gravity: Floats

    @property
    def loops(self) -> int:
        """How many pins close loops."""
        return len(self.pin) - len(self.bar)


# Compiled recursions over bars and pins: accelerations, and the projection of states onto the loops.
#
# Every bar is free but for the forces at its pins, each of which moves its ends by f/m + p (p.f)/G, p the way from the
# center of mass turned by a right angle. What the pins miss without forces is the right side: free accelerations, or
# what loops miss by position and velocity. After all pins of the tree J H^-1 J^T of the multiplier form is left.

# Columns of the memory of a bar: angle and rate, cosine and sine, its origin and the velocity of that, and what
# rounding has taken from angle and origin: over 10,000 bars it would open loops by 1e-9
_TURN, _RATE, _COS, _SIN, _PLACE, _SPEED, _LEFT, _LEFT_PLACE, _MEMORY = 0, 1, 2, 3, 4, 6, 8, 9, 11
#: Below this pivot a position is singular, and accelerations would be rounding.
SINGULAR = 1e-11


@part
def accelerations(linkage: Linkage, q: Floats, v: Floats, tau: Floats, result: Floats, pivots: Floats) -> None:
    """Accelerations under generalized forces, and by loop a pivot between 0 (singular) and 1; NaN where one is 0."""
    bars = _moved(linkage, q, v)
    arms = _arms(linkage, bars)
    moment = _moments(linkage, tau)
    blocks, diagonal = _factorized(linkage, arms, pivots)
    force = np.empty((len(linkage.pin), 2))
    for p in range(len(linkage.pin)):
        x, y = _free(linkage, bars, arms, moment, p, ONE)
        u, w = _free(linkage, bars, arms, moment, p, OTHER)
        force[p, 0], force[p, 1] = u - x, w - y
    _solved(linkage, blocks, diagonal, force)
    turned = _turned(linkage, arms, force)
    for k in range(len(linkage.bar)):
        turned[k] += moment[k] * linkage.bar[k, TURNS]
    _by_coordinate(linkage, turned, result)
    for k in range(pivots.size):
        if singular(pivots[k]):
            result[:] = np.nan


@inlined
def singular(pivot: float) -> bool:
    """Whether a position has nothing but rounding left of a row; so has NaN."""
    return not pivot > SINGULAR


@part
def projected_states(
    linkage: Linkage, q: Floats, v: Floats, place: Floats, speed: Floats, pivots: Floats, missed: Floats
) -> None:
    """One Newton step onto the loops in the metric of H: positions and velocities after it, what loops missed before it
    (four numbers each: by position, by velocity)."""
    bars = _moved(linkage, q, v)
    arms = _arms(linkage, bars)
    blocks, diagonal = _factorized(linkage, arms, pivots)
    first = len(linkage.bar)
    for p in range(first, len(linkage.pin)):
        _miss(linkage, bars, p, missed, 4 * (p - first))
    force = np.empty((len(linkage.pin), 2))
    for part_ in range(2):
        force[:] = 0.0
        for p in range(first, len(linkage.pin)):
            force[p, 0] = -missed[4 * (p - first) + 2 * part_]
            force[p, 1] = -missed[4 * (p - first) + 2 * part_ + 1]
        _solved(linkage, blocks, diagonal, force)
        turned = _turned(linkage, arms, force)
        target, given = (place, q) if part_ == 0 else (speed, v)
        _by_coordinate(linkage, turned, target)
        for i in range(len(q)):
            target[i] += given[i]


@inlined
def _sum(a: float, b: float) -> tuple[float, float]:
    """A sum, and what rounding has taken from it (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@part
def _moved(linkage: Linkage, q: Floats, v: Floats) -> Floats:
    """Angles and places of all bars, from the ground outwards, and how fast they change."""
    count = len(linkage.bar)
    bars = np.zeros((count, _MEMORY))
    for k in range(count):
        own, rate = linkage.bar[k, ANGLE], 0.0
        for e in range(linkage.row[k], linkage.row[k + 1]):
            own += linkage.slope[e] * q[linkage.column[e]]
            rate += linkage.slope[e] * v[linkage.column[e]]
        x, y, base = linkage.bar[k, ORIGIN], linkage.bar[k, ORIGIN + 1], linkage.base[k]
        if base >= 0:
            a, b = bars[base, _COS] * x - bars[base, _SIN] * y, bars[base, _SIN] * x + bars[base, _COS] * y
            own, left = _sum(bars[base, _TURN], own)
            x, left_x = _sum(bars[base, _PLACE], a)
            y, left_y = _sum(bars[base, _PLACE + 1], b)
            bars[k, _LEFT] = bars[base, _LEFT] + left
            bars[k, _LEFT_PLACE] = bars[base, _LEFT_PLACE] + left_x
            bars[k, _LEFT_PLACE + 1] = bars[base, _LEFT_PLACE + 1] + left_y
            bars[k, _SPEED] = bars[base, _SPEED] - bars[base, _RATE] * b
            bars[k, _SPEED + 1] = bars[base, _SPEED + 1] + bars[base, _RATE] * a
            rate += bars[base, _RATE]
        c, s = math.cos(own), math.sin(own)
        bars[k, _TURN], bars[k, _RATE], bars[k, _PLACE], bars[k, _PLACE + 1] = own, rate, x, y
        bars[k, _COS], bars[k, _SIN] = c - bars[k, _LEFT] * s, s + bars[k, _LEFT] * c
    return bars


@part
def _arms(linkage: Linkage, bars: Floats) -> Floats:
    """From the centers of mass of both bars to every pin, in the axes of the ground."""
    arms = np.empty((len(linkage.pin), 4))
    for p in range(len(linkage.pin)):
        for side in range(2):
            k = linkage.pin[p, side]
            x, y = linkage.place[p, 2 * side], linkage.place[p, 2 * side + 1]
            if k >= 0:
                x, y = bars[k, _COS] * x - bars[k, _SIN] * y, bars[k, _SIN] * x + bars[k, _COS] * y
            arms[p, 2 * side], arms[p, 2 * side + 1] = x, y
    return arms


@inlined
def _free(linkage: Linkage, bars: Floats, arms: Floats, moment: Floats, p: int, side: int) -> tuple[float, float]:
    """How one side of a pin accelerates without forces at pins."""
    k = linkage.pin[p, side]
    if k < 0:
        return 0.0, 0.0
    x, y = arms[p, 2 * side], arms[p, 2 * side + 1]
    turn, square = moment[k] * linkage.bar[k, TURNS], bars[k, _RATE] * bars[k, _RATE]
    return linkage.gravity[0] - y * turn - x * square, linkage.gravity[1] + x * turn - y * square


@inlined
def _miss(linkage: Linkage, bars: Floats, p: int, missed: Floats, at: int) -> None:
    """By how much, and how fast, the two sides of a pin are apart."""
    small_x, small_y = 0.0, 0.0  # taken off last: large parts cancel first
    for i in range(4):
        missed[at + i] = 0.0
    for side in range(2):
        k, sign = linkage.pin[p, side], 1.0 - 2.0 * side
        x, y = linkage.place[p, 2 * side], linkage.place[p, 2 * side + 1]
        if k < 0:
            missed[at] += sign * x
            missed[at + 1] += sign * y
            continue
        x, y = x + linkage.bar[k, CENTER], y + linkage.bar[k, CENTER + 1]
        x, y = bars[k, _COS] * x - bars[k, _SIN] * y, bars[k, _SIN] * x + bars[k, _COS] * y
        missed[at] += sign * bars[k, _PLACE]
        missed[at + 1] += sign * bars[k, _PLACE + 1]
        small_x += sign * (x + bars[k, _LEFT_PLACE])
        small_y += sign * (y + bars[k, _LEFT_PLACE + 1])
        missed[at + 2] += sign * (bars[k, _SPEED] - bars[k, _RATE] * y)
        missed[at + 3] += sign * (bars[k, _SPEED + 1] + bars[k, _RATE] * x)
    missed[at] += small_x
    missed[at + 1] += small_y


@inlined
def _moments(linkage: Linkage, tau: Floats) -> Floats:
    """The moments on the bars that generalized forces stand for."""
    moment, rest = np.zeros(len(linkage.bar)), tau.copy()
    for i in range(len(linkage.solved) - 1, -1, -1):
        k, pivot = linkage.solved[i, 0], linkage.solved[i, 1]
        own = rest[linkage.column[pivot]] / linkage.slope[pivot]
        for e in range(linkage.row[k], linkage.row[k + 1]):
            rest[linkage.column[e]] -= linkage.slope[e] * own
        moment[k] += own
        if linkage.base[k] >= 0:
            moment[linkage.base[k]] -= own
    return moment


@part
def _by_coordinate(linkage: Linkage, turned: Floats, result: Floats) -> None:
    """Coordinates from the turns of all bars."""
    for i in range(len(linkage.solved)):
        k, pivot = linkage.solved[i, 0], linkage.solved[i, 1]
        rest = turned[k] - (turned[linkage.base[k]] if linkage.base[k] >= 0 else 0.0)
        for e in range(linkage.row[k], linkage.row[k + 1]):
            if e != pivot:
                rest -= linkage.slope[e] * result[linkage.column[e]]
        result[linkage.column[pivot]] = rest / linkage.slope[pivot]


@part
def _turned(linkage: Linkage, arms: Floats, force: Floats) -> Floats:
    """How forces at the pins turn the bars."""
    turned = np.zeros(len(linkage.bar))
    for p in range(len(linkage.pin)):
        for side in range(2):
            k = linkage.pin[p, side]
            if k >= 0:
                own = arms[p, 2 * side] * force[p, 1] - arms[p, 2 * side + 1] * force[p, 0]
                turned[k] += (1.0 - 2.0 * side) * own * linkage.bar[k, TURNS]
    return turned


@inlined
def _stated(linkage: Linkage, arms: Floats) -> tuple[Floats, Floats]:
    """The system of the pins: blocks beside the diagonal, and xx, xy, yy of those on it."""
    blocks, diagonal = np.zeros((len(linkage.other), 4)), np.zeros((len(linkage.pin), 3))
    for p in range(len(linkage.pin)):
        for side in range(2):
            k = linkage.pin[p, side]
            if k >= 0:
                x, y = arms[p, 2 * side], arms[p, 2 * side + 1]
                light, turns = linkage.bar[k, LIGHT], linkage.bar[k, TURNS]
                diagonal[p, 0] += light + turns * y * y
                diagonal[p, 1] -= turns * x * y
                diagonal[p, 2] += light + turns * x * x
    for i in range(len(linkage.pair)):
        k, a, b = linkage.pair[i, ON], linkage.pair[i, EARLIER], linkage.pair[i, LATER]
        s, t = (0 if linkage.pin[a, ONE] == k else 1), (0 if linkage.pin[b, ONE] == k else 1)
        sign = 1.0 if s == t else -1.0
        light, turns = sign * linkage.bar[k, LIGHT], sign * linkage.bar[k, TURNS]
        x, y, u, w = arms[a, 2 * s], arms[a, 2 * s + 1], arms[b, 2 * t], arms[b, 2 * t + 1]
        e = linkage.pair[i, ENTRY]
        blocks[e, 0] += light + turns * y * w
        blocks[e, 1] -= turns * y * u
        blocks[e, 2] -= turns * x * w
        blocks[e, 3] += light + turns * x * u
    return blocks, diagonal


@part
def _factorized(linkage: Linkage, arms: Floats, pivots: Floats) -> tuple[Floats, Floats]:
    """Eliminate pin by pin: the blocks as they were when their pin went, and the inverses on the diagonal."""
    blocks, diagonal = _stated(linkage, arms)
    count, first, at = len(linkage.pin), len(linkage.bar), 0
    mean = np.ones(count)
    for i in range(count):
        if i == first:
            for p in range(first, count):
                mean[p] = 0.5 * (diagonal[p, 0] + diagonal[p, 2])
        p, start, end = linkage.order[i, PIN], linkage.order[i, FIRST], linkage.order[i + 1, FIRST]
        a, b, d = diagonal[p, 0], diagonal[p, 1], diagonal[p, 2]
        size = a * d - b * b
        if p >= first:
            pivots[p - first] = size / (mean[p] * mean[p])
        a, b, d = d / size, -b / size, a / size
        diagonal[p, 0], diagonal[p, 1], diagonal[p, 2] = a, b, d
        for e in range(start, end):
            x00, x01 = a * blocks[e, 0] + b * blocks[e, 2], a * blocks[e, 1] + b * blocks[e, 3]
            x10, x11 = b * blocks[e, 0] + d * blocks[e, 2], b * blocks[e, 1] + d * blocks[e, 3]
            other = linkage.other[e]
            diagonal[other, 0] -= blocks[e, 0] * x00 + blocks[e, 2] * x10
            diagonal[other, 1] -= blocks[e, 0] * x01 + blocks[e, 2] * x11
            diagonal[other, 2] -= blocks[e, 1] * x01 + blocks[e, 3] * x11
            for f in range(e + 1, end):
                to = linkage.target[at]
                at += 1
                blocks[to, 0] -= x00 * blocks[f, 0] + x10 * blocks[f, 2]
                blocks[to, 1] -= x00 * blocks[f, 1] + x10 * blocks[f, 3]
                blocks[to, 2] -= x01 * blocks[f, 0] + x11 * blocks[f, 2]
                blocks[to, 3] -= x01 * blocks[f, 1] + x11 * blocks[f, 3]
    return blocks, diagonal


@part
def _solved(linkage: Linkage, blocks: Floats, diagonal: Floats, force: Floats) -> None:
    """The forces at all pins, in place of the right sides."""
    count = len(linkage.pin)
    for i in range(count):
        p = linkage.order[i, PIN]
        x = diagonal[p, 0] * force[p, 0] + diagonal[p, 1] * force[p, 1]
        y = diagonal[p, 1] * force[p, 0] + diagonal[p, 2] * force[p, 1]
        for e in range(linkage.order[i, FIRST], linkage.order[i + 1, FIRST]):
            other = linkage.other[e]
            force[other, 0] -= blocks[e, 0] * x + blocks[e, 2] * y
            force[other, 1] -= blocks[e, 1] * x + blocks[e, 3] * y
    for i in range(count - 1, -1, -1):
        p = linkage.order[i, PIN]
        x, y = force[p, 0], force[p, 1]
        for e in range(linkage.order[i, FIRST], linkage.order[i + 1, FIRST]):
            u, w = force[linkage.other[e], 0], force[linkage.other[e], 1]
            x -= blocks[e, 0] * u + blocks[e, 1] * w
            y -= blocks[e, 2] * u + blocks[e, 3] * w
        force[p, 0] = diagonal[p, 0] * x + diagonal[p, 1] * y
        force[p, 1] = diagonal[p, 1] * x + diagonal[p, 2] * y


# A linkage as three tables for C functions: sizes, integers, doubles.

# Places in the table of sizes: lengths of arrays; where q, v and tau begin in x; how long the state is.
BARS, PINS, OTHERS, TARGETS, PAIRS, ENTRIES, Q, V, TAU, STATE = range(10)
SIZES = 10


def linkage_tables(linkage: Linkage, places: Sequence[int], state: int) -> Tables:
    """The tables of a linkage; `places` are those of q, v and tau in x, `state` the length of a state."""
    counts = [
        len(linkage.bar), len(linkage.pin), len(linkage.other), len(linkage.target), len(linkage.pair),
        len(linkage.column),
    ]  # fmt: skip
    integers = (
        linkage.base, linkage.pin, linkage.order, linkage.other, linkage.target, linkage.pair, linkage.row,
        linkage.column, linkage.solved,
    )  # fmt: skip
    doubles = linkage.bar, linkage.place, linkage.slope, linkage.gravity
    return joined([*counts, *places, state], integers, doubles)


@inlined
def lengths(s: Integers) -> tuple[int, int]:
    """How long the tables of integers and doubles are."""
    n, p = s[BARS], s[PINS]
    whole = n + 2 * p + 2 * (p + 1) + s[OTHERS] + s[TARGETS] + 4 * s[PAIRS] + (n + 1) + s[ENTRIES] + 2 * n
    return whole, BAR * n + 4 * p + s[ENTRIES] + 2


@inlined
def linkage_from(s: Integers, whole: Integers, real: Floats) -> Linkage:
    """The linkage the tables hold."""
    n, p = s[BARS], s[PINS]
    pin, order = n, n + 2 * p
    other = order + 2 * (p + 1)
    target = other + s[OTHERS]
    pair = target + s[TARGETS]
    row = pair + 4 * s[PAIRS]
    column = row + n + 1
    solved = column + s[ENTRIES]
    slope = BAR * n + 4 * p
    return Linkage(
        real[: BAR * n].reshape((n, BAR)), whole[:n], whole[pin:order].reshape((p, 2)),
        real[BAR * n : slope].reshape((p, 4)), whole[order:other].reshape((p + 1, 2)), whole[other:target],
        whole[target:pair], whole[pair:row].reshape((s[PAIRS], 4)), whole[row:column], whole[column:solved],
        real[slope : slope + s[ENTRIES]], whole[solved : solved + 2 * n].reshape((n, 2)), real[slope + s[ENTRIES] :],
    )  # fmt: skip


@callback
def linkage_accelerations(sizes: int, integers: int, doubles: int, x: int, y: int) -> None:
    """Write the accelerations to y; NaN in a singular position."""
    s = integers_at(sizes, (SIZES,))
    whole, real = lengths(s)
    linkage = linkage_from(s, integers_at(integers, (whole,)), doubles_at(doubles, (real,)))
    n = s[BARS]
    q, v = doubles_at(x, (s[Q] + n,))[s[Q] :], doubles_at(x, (s[V] + n,))[s[V] :]
    tau = doubles_at(x, (s[TAU] + n,))[s[TAU] :]
    accelerations(linkage, q, v, tau, doubles_at(y, (n,)), np.empty(s[PINS] - n))


@callback
def linkage_projection(sizes: int, integers: int, doubles: int, x: int, y: int) -> None:
    """Write the state after one step onto the loops to y, and two equal pivots for the rows of every loop."""
    s = integers_at(sizes, (SIZES,))
    whole, real = lengths(s)
    linkage = linkage_from(s, integers_at(integers, (whole,)), doubles_at(doubles, (real,)))
    n, size, loops = s[BARS], s[STATE], s[PINS] - s[BARS]
    state, found = doubles_at(x, (size,)), doubles_at(y, (size + 2 * loops,))
    pivots = np.empty(loops)
    projected_states(linkage, state[:n], state[n : 2 * n], found[:n], found[n : 2 * n], pivots, np.empty(4 * loops))
    for k in range(2 * n, size):
        found[k] = state[k]
    for k in range(2 * loops):
        found[size + k] = pivots[k // 2]


@loop
def _accelerations(linkage: Linkage, q: Floats, v: Floats, tau: Floats, result: Floats, pivots: Floats) -> None:
    accelerations(linkage, q, v, tau, result, pivots)


@loop
def _taken_back(
    linkage: Linkage, q: Floats, v: Floats, place: Floats, speed: Floats, pivots: Floats, missed: Floats
) -> None:
    projected_states(linkage, q, v, place, speed, pivots, missed)


class LinkageSystem:
    """A planar linkage, ready for numbers; `rows` are the names of two rows for every loop."""

    def __init__(self, linkage: Linkage, rows: Sequence[str]) -> None:
        self.linkage = linkage
        self.rows = tuple(rows)

    def evaluated(self, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats]:
        """Accelerations, and the pivot of every loop, 1 to 0 (singular)."""
        result, pivots = np.empty(len(v)), np.empty(self.linkage.loops)
        compiled(_accelerations)(self.linkage, q, v, tau, result, pivots)
        return result, pivots

    def projected_states(self, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Positions and velocities after one step onto the loops; by loop its pivot, and what x, y, x', y' missed."""
        place, speed = np.empty(len(q)), np.empty(len(v))
        pivots, missed = np.empty(self.linkage.loops), np.empty(4 * self.linkage.loops)
        compiled(_taken_back)(self.linkage, q, v, place, speed, pivots, missed)
        return place, speed, pivots, missed.reshape(-1, 4)

    def accelerations_at(self, places: Sequence[int]) -> Addressed:
        """Code by its address for accelerations; `places` are those of q, v, tau (and t) in x."""
        return Addressed(compiled(linkage_accelerations).address, linkage_tables(self.linkage, places[:3], 0))

    def projection_at(self, state: int) -> Addressed:
        """Code by its address for one step of a state of so many entries, q and v first, onto the loops."""
        count = len(self.linkage.bar)
        return Addressed(compiled(linkage_projection).address, linkage_tables(self.linkage, (0, count, 0), state))
