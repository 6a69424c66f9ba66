"""The small system of the loops: forces at the ends of the chains such that the loops stay closed.

S lambda = r with S = T C T^T, C the compliance of the ends and T what a unit of each row's multiplier does there. S is
eliminated from its last row to the first, as in the multiplier form, and the product of a joint's pivots is compared
with its rows' own entries: near 0 the position is singular.
"""

from __future__ import annotations

import numpy as np

from kinegraph.jit.marks import inlined, part
from kinegraph.large.algebra import cross, dot, plus, scaled, vector
from kinegraph.large.chains.records import (
    AXES,
    COINCIDE,
    FIRST_AXIS,
    FIRST_END,
    GROUP,
    KIND_OF_ROW,
    POINT,
    PULL,
    SECOND_AXIS,
    SECOND_END,
    SPIN,
    TWIST,
    VELOCITY_OF_POINT,
    Closing,
    Directions,
)
from kinegraph.large.records import Floats, Vector


@part
def closed(
    closing: Closing, directions: Directions, ends: Floats, compliance: Floats, free: Floats
) -> tuple[Floats, Floats, Floats]:
    """Forces along all directions; by row the multiplier, the pivot, what is missed and how fast (rows, 4); and S."""
    rows, count = len(closing.row), directions.end.size
    transfer, found = np.zeros((rows, count)), np.zeros((rows, 4))
    right = np.zeros(rows)
    for i in range(rows):
        value, rate, change = _row(closing, i, ends)
        _transferred(closing, i, ends, directions, transfer)
        found[i, 2], found[i, 3] = value, rate
        right[i] = -change - 2.0 * closing.alpha * rate - closing.beta * closing.beta * value
        for d in range(count):
            right[i] -= transfer[i, d] * free[d]
    matrix = _compliance_of_rows(transfer, compliance)
    _solved(matrix.copy(), closing, right, found)
    forces = np.zeros(count)
    for i in range(rows):
        for d in range(count):
            forces[d] += transfer[i, d] * found[i, 0]
    return forces, found, matrix


@inlined
def _compliance_of_rows(transfer: Floats, compliance: Floats) -> Floats:
    rows, count = transfer.shape
    half, matrix = np.zeros((rows, count)), np.zeros((rows, rows))
    for i in range(rows):
        for d in range(count):
            for e in range(count):
                entry = compliance[d, e] if d >= e else compliance[e, d]
                half[i, d] += transfer[i, e] * entry
    for i in range(rows):
        for j in range(rows):
            for d in range(count):
                matrix[i, j] += half[i, d] * transfer[j, d]
    return matrix


@inlined
def _axis(ends: Floats, e: int, axis: int) -> Vector:
    return (ends[e, AXES + axis], ends[e, AXES + 3 + axis], ends[e, AXES + 6 + axis])


@inlined
def _row(closing: Closing, i: int, ends: Floats) -> tuple[float, float, float]:
    """What a row misses, how fast, and how that changes while no coordinate accelerates."""
    row, sign = closing.row[i], closing.sign[i]
    a, b = row[SECOND_END], row[FIRST_END]
    if row[KIND_OF_ROW] == COINCIDE:
        x = row[FIRST_AXIS]
        value, rate = (
            ends[a, POINT + x] - ends[b, POINT + x],
            ends[a, VELOCITY_OF_POINT + x] - ends[b, VELOCITY_OF_POINT + x],
        )
        return value, rate, ends[a, PULL + x] - ends[b, PULL + x]
    u, w = _axis(ends, a, row[SECOND_AXIS]), _axis(ends, b, row[FIRST_AXIS])
    turned_u, bent_u = _axis_motion(ends, a, u)
    turned_w, bent_w = _axis_motion(ends, b, w)
    change = dot(bent_u, w) + 2.0 * dot(turned_u, turned_w) + dot(u, bent_w)
    return sign * dot(u, w), sign * (dot(turned_u, w) + dot(u, turned_w)), sign * change


@inlined
def _axis_motion(ends: Floats, e: int, u: Vector) -> tuple[Vector, Vector]:
    spin = vector(ends, e, SPIN)
    turned = cross(spin, u)
    return turned, plus(cross(vector(ends, e, TWIST), u), cross(spin, turned))


@inlined
def _transferred(closing: Closing, i: int, ends: Floats, directions: Directions, transfer: Floats) -> None:
    """A unit multiplier pulls at the second end, and back at the first."""
    row = closing.row[i]
    moment = (0.0, 0.0, 0.0)
    if row[KIND_OF_ROW] != COINCIDE:
        u, w = _axis(ends, row[SECOND_END], row[SECOND_AXIS]), _axis(ends, row[FIRST_END], row[FIRST_AXIS])
        moment = scaled(closing.sign[i], cross(u, w))
    for d in range(directions.end.size):
        end, axis = directions.end[d], directions.axis[d]
        way = (1.0 if end == row[SECOND_END] else 0.0) - (1.0 if end == row[FIRST_END] else 0.0)
        if row[KIND_OF_ROW] == COINCIDE:
            transfer[i, d] = way if axis == row[FIRST_AXIS] else 0.0
        elif axis >= 3:
            transfer[i, d] = way * moment[axis - 3]


@inlined
def _solved(matrix: Floats, closing: Closing, right: Floats, found: Floats) -> None:
    """Multipliers and pivots, eliminating from the last row to the first."""
    rows = right.size
    mean, size = np.zeros(rows), np.zeros(rows)
    for i in range(rows):
        for j in range(rows):
            if closing.row[j, GROUP] == closing.row[i, GROUP]:
                mean[i] += matrix[j, j]
                size[i] += 1.0
    for k in range(rows - 1, -1, -1):
        for i in range(k):
            ratio = matrix[k, i] / matrix[k, k]
            right[i] -= ratio * right[k]
            for j in range(i + 1):
                matrix[i, j] -= ratio * matrix[k, j]
                matrix[j, i] = matrix[i, j]
    for k in range(rows):
        rest = right[k]
        for i in range(k):
            rest -= matrix[k, i] * found[i, 0]
        found[k, 0] = rest / matrix[k, k]
    for i in range(rows):
        found[i, 1] = 1.0
        for j in range(rows):
            if closing.row[j, GROUP] == closing.row[i, GROUP]:
                found[i, 1] *= matrix[j, j] * size[i] / mean[i]
