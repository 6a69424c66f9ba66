"""Planar loops of any length, bar by bar: forces at all joints from a block-tridiagonal system, in O(n).

Every bar is free but for the forces at its two joints; with C its centre of mass, s and e the ways from C to its start
and end, each end accelerates by f/m + p (p.f)/G, p = s or e turned by a right angle, G the central moment of inertia.
The joints are eliminated from both grounds towards the one that closes the loop: what is left there is J H^-1 J^T of
the multiplier form, with its pivots. Accelerations are less gravity, so that the grounds alone accelerate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kinegraph.jit.marks import inlined, part
from kinegraph.recursive.arrays import Floats, Integers

# Columns of Ring.bar: 1/m, 1/G, the ways to start and end in the bar's axes
LIGHT, TURNS, START, END_OF_BAR = 0, 1, 2, 4
# Columns of the memory of a bar: p of start and end; p'' of both ends without forces; moment over G
_S, _E, _FREE_S, _FREE_E, _MOMENT = 0, 2, 4, 6, 8
# Columns of the memory of a joint: inverse block, right side, coupling to the next joint, force
_INVERSE, _RIGHT, _COUPLING, _FORCE = 0, 3, 5, 9


class Ring(NamedTuple):
    """The bars in the order of the walk from ground to ground; `chain` is the order in which angles add up, with the
    bar before each in it (or -1); `closing` is how many bars come before the joint that closes the loop."""

    bar: Floats  #: (bars, 6)
    chain: Integers  #: (bars, 2): bar of the walk, bar it stands on
    offset: Floats  #: constant part of each bar's angle against the one before, in the order of the walk
    sign: Floats
    position: Integers
    velocity: Integers
    closing: int
    gravity: tuple[float, float]


@part
def ring_accelerations(ring: Ring, q: Floats, v: Floats, tau: Floats, result: Floats) -> tuple[Floats, Floats]:
    """Accelerations into `result`; force at the closing joint with its two pivots, and S."""
    count = len(ring.bar)
    bars, joints = np.empty((count, 9)), np.empty((count + 1, 11))
    _moved(ring, q, v, tau, bars)
    matrix, right = _eliminated(ring, bars, joints)
    found = _closing(matrix, right)
    joints[ring.closing, _FORCE], joints[ring.closing, _FORCE + 1] = found[0], found[1]
    for k in range(ring.closing - 1, -1, -1):
        _recover(joints, k, k + 1)
    for k in range(ring.closing + 1, count + 1):
        _recover(joints, k, k - 1)
    _accelerated(ring, bars, joints, result)
    return found, matrix


@inlined
def _moved(ring: Ring, q: Floats, v: Floats, tau: Floats, bars: Floats) -> None:
    """Angles add up along the chains; the moment in a joint acts on its bar and back on the one it stands on."""
    count = len(ring.bar)
    angle, rate = np.empty(count), np.empty(count)
    moment = np.zeros(count)
    for i in range(count):
        k, base = ring.chain[i, 0], ring.chain[i, 1]
        own = ring.sign[k] * tau[ring.velocity[k]]
        angle[k] = ring.offset[k] + ring.sign[k] * q[ring.position[k]]
        rate[k] = ring.sign[k] * v[ring.velocity[k]]
        moment[k] += own
        if base >= 0:
            angle[k] += angle[base]
            rate[k] += rate[base]
            moment[base] -= own
    for k in range(count):
        c, s, square = math.cos(angle[k]), math.sin(angle[k]), rate[k] * rate[k]
        turn = moment[k] * ring.bar[k, TURNS]
        bars[k, _MOMENT] = turn
        for at, way, free in ((_S, START, _FREE_S), (_E, END_OF_BAR, _FREE_E)):
            x, y = ring.bar[k, way], ring.bar[k, way + 1]
            u, w = c * x - s * y, s * x + c * y
            bars[k, at], bars[k, at + 1] = -w, u
            bars[k, free], bars[k, free + 1] = -w * turn - u * square, u * turn - w * square


@inlined
def _compliance(ring: Ring, bars: Floats, k: int, a: int, b: int) -> tuple[float, float, float, float]:
    """How the end at column a accelerates under a force at that of column b."""
    light, turns = ring.bar[k, LIGHT], ring.bar[k, TURNS]
    x, y = turns * bars[k, a], turns * bars[k, a + 1]
    return light + x * bars[k, b], x * bars[k, b + 1], y * bars[k, b], light + y * bars[k, b + 1]


@inlined
def _eliminated(ring: Ring, bars: Floats, joints: Floats) -> tuple[Floats, Floats]:
    """What is left of block and right side at the closing joint, from both sides."""
    count = len(ring.bar)
    matrix, right = np.zeros((2, 2)), np.zeros(2)
    fixed = (-ring.gravity[0], -ring.gravity[1])
    block, side = (0.0, 0.0, 0.0), fixed  # the ground before the first joint
    for k in range(ring.closing):
        block, side = _passed(ring, bars, joints, k, k, block, side, 1.0, _S, _E, _FREE_S, _FREE_E)
    _add(matrix, right, block, side, 1.0)
    block, side = (0.0, 0.0, 0.0), fixed
    for k in range(count - 1, ring.closing - 1, -1):
        block, side = _passed(ring, bars, joints, k, k + 1, block, side, -1.0, _E, _S, _FREE_E, _FREE_S)
    _add(matrix, right, block, side, -1.0)
    return matrix, right


@inlined
def _add(
    matrix: Floats, right: Floats, block: tuple[float, float, float], side: tuple[float, float], sign: float
) -> None:
    matrix[0, 0] += block[0]
    matrix[0, 1] += block[1]
    matrix[1, 0] += block[1]
    matrix[1, 1] += block[2]
    right[0] += sign * side[0]
    right[1] += sign * side[1]


@inlined
def _passed(
    ring: Ring,
    bars: Floats,
    joints: Floats,
    k: int,
    joint: int,
    block: tuple[float, float, float],
    side: tuple[float, float],
    sign: float,
    near: int,
    far: int,
    free_near: int,
    free_far: int,
) -> tuple[tuple[float, float, float], tuple[float, float]]:
    """Go over one bar: compliance and free acceleration of its far end, with all that is behind it."""
    a, b, _, d = _compliance(ring, bars, k, near, near)
    a, b, d = a + block[0], b + block[1], d + block[2]
    inverse = 1.0 / (a * d - b * b)
    r0, r1 = sign * (side[0] - bars[k, free_near]), sign * (side[1] - bars[k, free_near + 1])
    i00, i01, i11 = d * inverse, -b * inverse, a * inverse
    c00, c01, c10, c11 = _compliance(ring, bars, k, near, far)
    joints[joint, _INVERSE], joints[joint, _INVERSE + 1], joints[joint, _INVERSE + 2] = i00, i01, i11
    joints[joint, _RIGHT], joints[joint, _RIGHT + 1] = r0, r1
    joints[joint, _COUPLING], joints[joint, _COUPLING + 1] = c00, c01
    joints[joint, _COUPLING + 2], joints[joint, _COUPLING + 3] = c10, c11
    x00, x01 = i00 * c00 + i01 * c10, i00 * c01 + i01 * c11
    x10, x11 = i01 * c00 + i11 * c10, i01 * c01 + i11 * c11
    e, f, _, g = _compliance(ring, bars, k, far, far)
    y0, y1 = x00 * r0 + x10 * r1, x01 * r0 + x11 * r1
    rest = (e - c00 * x00 - c10 * x10, f - c00 * x01 - c10 * x11, g - c01 * x01 - c11 * x11)
    return rest, (bars[k, free_far] + sign * y0, bars[k, free_far + 1] + sign * y1)


@inlined
def _closing(matrix: Floats, right: Floats) -> Floats:
    """Force and pivots: the last row is eliminated first, as in the multiplier form."""
    a, b, d = matrix[0, 0], matrix[0, 1], matrix[1, 1]
    ratio = b / d
    pivot = a - ratio * b
    found = np.empty(4)
    found[0] = (right[0] - ratio * right[1]) / pivot
    found[1] = (right[1] - b * found[0]) / d
    found[2] = found[3] = 4.0 * pivot * d / ((a + d) * (a + d))
    return found


@inlined
def _recover(joints: Floats, k: int, following: int) -> None:
    """The force at a joint from that at the next one towards the closing joint."""
    f0, f1 = joints[following, _FORCE], joints[following, _FORCE + 1]
    r0 = joints[k, _RIGHT] + joints[k, _COUPLING] * f0 + joints[k, _COUPLING + 1] * f1
    r1 = joints[k, _RIGHT + 1] + joints[k, _COUPLING + 2] * f0 + joints[k, _COUPLING + 3] * f1
    joints[k, _FORCE] = joints[k, _INVERSE] * r0 + joints[k, _INVERSE + 1] * r1
    joints[k, _FORCE + 1] = joints[k, _INVERSE + 1] * r0 + joints[k, _INVERSE + 2] * r1


@inlined
def _accelerated(ring: Ring, bars: Floats, joints: Floats, result: Floats) -> None:
    count = len(ring.bar)
    angular = np.empty(count)
    for k in range(count):
        pushed = bars[k, _S] * joints[k, _FORCE] + bars[k, _S + 1] * joints[k, _FORCE + 1]
        pulled = bars[k, _E] * joints[k + 1, _FORCE] + bars[k, _E + 1] * joints[k + 1, _FORCE + 1]
        angular[k] = bars[k, _MOMENT] + ring.bar[k, TURNS] * (pushed - pulled)
    for i in range(count):
        k, base = ring.chain[i, 0], ring.chain[i, 1]
        change = angular[k] - angular[base] if base >= 0 else angular[k]
        result[ring.velocity[k]] = ring.sign[k] * change
