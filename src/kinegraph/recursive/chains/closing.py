"""The forces that keep loops closed, and compiled steps of runs over chains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinegraph.jit.marks import call_with, inlined, loop, part
from kinegraph.recursive.arrays import (
    SLOT,
    Floats,
    Integers,
    Joints,
    Linear,
    Tree,
    Vector,
    copy,
    cross,
    dot,
    plus,
    scaled,
    vector,
)
from kinegraph.recursive.chains.sweeps import (
    AXES,
    COINCIDE,
    DISTANCE,
    END,
    FIRST_AXIS,
    FIRST_END,
    GROUP,
    KIND_OF_ROW,
    PERPENDICULAR,
    POINT,
    PULL,
    SECOND_AXIS,
    SECOND_END,
    SPIN,
    TWIST,
    VELOCITY_OF_POINT,
    Closing,
    Directions,
    Ends,
    Part,
    Reduction,
    Work,
    moved_outwards,
    recovered,
    reduced,
)

# The small system of the loops: forces at the ends of the chains such that the loops stay closed.
#
# S lambda = r with S = T C T^T, C the compliance of the ends and T what a unit of each row's multiplier does there. S
# is eliminated from its last row to the first, as in the multiplier form, and the product of a joint's pivots is
# compared with its rows' own entries: near 0 the position is singular.


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
    if row[KIND_OF_ROW] != PERPENDICULAR:
        return _gap_row(row[KIND_OF_ROW], _axis(ends, b, row[FIRST_AXIS]), sign, ends, a, b)
    u, w = _axis(ends, a, row[SECOND_AXIS]), _axis(ends, b, row[FIRST_AXIS])
    turned_u, bent_u = _axis_motion(ends, a, u)
    turned_w, bent_w = _axis_motion(ends, b, w)
    change = dot(bent_u, w) + 2.0 * dot(turned_u, turned_w) + dot(u, bent_w)
    return sign * dot(u, w), sign * (dot(turned_u, w) + dot(u, turned_w)), sign * change


@inlined
def _from(ends: Floats, b: int, a: int, column: int) -> Vector:
    """A vector of one end less that of another."""
    return plus(vector(ends, a, column), scaled(-1.0, vector(ends, b, column)))


@inlined
def _gap_row(kind: int, u: Vector, length: float, ends: Floats, a: int, b: int) -> tuple[float, float, float]:
    """The same of the vector d between two points: u.d for an axis u of the first end, or (d.d - length^2)/2."""
    d, speed, pull = _from(ends, b, a, POINT), _from(ends, b, a, VELOCITY_OF_POINT), _from(ends, b, a, PULL)
    if kind == DISTANCE:
        return 0.5 * (dot(d, d) - length * length), dot(d, speed), dot(speed, speed) + dot(d, pull)
    turned, bent = _axis_motion(ends, b, u)
    change = dot(bent, d) + 2.0 * dot(turned, speed) + dot(u, pull)
    return dot(u, d), dot(turned, d) + dot(u, speed), change


@inlined
def _axis_motion(ends: Floats, e: int, u: Vector) -> tuple[Vector, Vector]:
    spin = vector(ends, e, SPIN)
    turned = cross(spin, u)
    return turned, plus(cross(vector(ends, e, TWIST), u), cross(spin, turned))


@inlined
def _transferred(closing: Closing, i: int, ends: Floats, directions: Directions, transfer: Floats) -> None:
    """A unit multiplier acts at the second end, and back at the first: a force, a moment, or both at the first."""
    row = closing.row[i]
    kind, first, second = row[KIND_OF_ROW], row[FIRST_END], row[SECOND_END]
    force, moment, back_at_first = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if kind == PERPENDICULAR:
        u, w = _axis(ends, second, row[SECOND_AXIS]), _axis(ends, first, row[FIRST_AXIS])
        moment = scaled(closing.sign[i], cross(u, w))
        back_at_first = scaled(-1.0, moment)
    elif kind != COINCIDE:
        d = _from(ends, first, second, POINT)
        force = d if kind == DISTANCE else _axis(ends, first, row[FIRST_AXIS])
        back_at_first = cross(force, d)
    for k in range(directions.end.size):
        end, axis = directions.end[k], directions.axis[k]
        way = (1.0 if end == second else 0.0) - (1.0 if end == first else 0.0)
        if kind == COINCIDE:
            transfer[i, k] = way if axis == row[FIRST_AXIS] else 0.0
        elif axis < 3:
            transfer[i, k] = way * force[axis]
        else:
            transfer[i, k] = (moment[axis - 3] if end == second else 0.0) + (
                back_at_first[axis - 3] if end == first else 0.0
            )


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


# Steps of runs over chains, compiled throughout: each worker moves its own chains and the body they hang on.


class Worker(NamedTuple):
    """What one worker computes with. `home` is what chains are reduced to, which all workers move; `own` are its own
    chains; `everywhere` are the ends that all workers know."""

    tree: Tree
    joints: Joints
    linear: Linear
    ends: Ends
    directions: Directions
    closing: Closing
    home: Part
    own: Part
    everywhere: Integers
    ground: Integers  #: the ends fixed to the ground
    gravity: Floats
    work: Work
    total: int  #: the address of what adds up messages of all workers, or 0


def message_size(worker: Worker) -> int:
    """How many numbers workers hand over in one evaluation: motion of ends, inertias, loads, compliance."""
    count, slots = worker.directions.end.size, worker.tree.slots
    return int(worker.ends.step.size * END + slots * (35 + 6 * count) + count * count + count)


@inlined
def _views(worker: Worker, message: Floats) -> tuple[Floats, Reduction]:
    """The parts of a message: the motion of the ends, and what is reduced."""
    ends, slots, count = worker.ends.step.size, worker.tree.slots, worker.directions.end.size
    a = ends * END
    b = a + slots * 35
    c = b + slots * count * 6
    d = c + count * count
    return message[:a].reshape((ends, END)), Reduction(
        message[a:b].reshape((slots, 35)), message[b:c].reshape((slots, count, 6)),
        message[c:d].reshape((count, count)), message[d : d + count],
    )  # fmt: skip


@part
def evaluate(
    worker: Worker, q: Floats, v: Floats, tau: Floats, t: float, message: Floats, pulls: Floats, noted: Floats
) -> int:
    """Accelerations of this worker's chains into work.result; notes the largest miss and the lowest pivot."""
    tree, joints, linear, work = worker.tree, worker.joints, worker.linear, worker.work
    message[:] = 0.0
    motion, reduction = _views(worker, message)
    known = np.zeros(motion.shape)
    work.place[0, :] = 0.0
    work.still[0, :] = 0.0
    for k in range(3):
        work.place[0, 4 * k] = 1.0
        work.still[0, 3 + k] = -worker.gravity[k]
    moved_outwards(tree, joints, linear, worker.ends, worker.home, q, v, t, work, known)
    for e in worker.ground:
        copy(worker.ends.turn[e], known[e])
        copy(worker.ends.point[e], known[e, 9:])
        copy(work.still[0, 3:], known[e, 18:])
    moved_outwards(tree, joints, linear, worker.ends, worker.own, q, v, t, work, motion)
    stuck = reduced(tree, joints, linear, worker.ends, worker.directions, worker.own, q, v, tau, pulls, work, reduction)
    if worker.total != 0:
        call_with(worker.total, message)
    for e in worker.everywhere:
        copy(known[e], motion[e])
    also = reduced(tree, joints, linear, worker.ends, worker.directions, worker.home, q, v, tau, pulls, work, reduction)
    forces, found, _ = closed(worker.closing, worker.directions, motion, reduction.compliance, reduction.free)
    reach = np.zeros((tree.slots, 6))
    copy(work.still[0], reach[tree.link[0, SLOT]])
    recovered(tree, joints, linear, worker.home, q, v, work, forces, reach)
    recovered(tree, joints, linear, worker.own, q, v, work, forces, reach)
    for i in range(len(found)):
        noted[0] = max(noted[0], abs(found[i, 2]))
        noted[1] = min(noted[1], found[i, 1])
    return stuck if stuck >= 0 else also


@loop
def run_steps(
    worker: Worker, q: Floats, v: Floats, tau: Floats, first: int, count: int, step: float, message: Floats,
    noted: Floats,
) -> int:  # fmt: skip
    """So many steps of Runge-Kutta's method of order four, in place, from the step `first` on.

    tau holds the generalized forces at every half step, or one row for all. Returns a velocity nothing resists, or -1.
    """
    size, stuck = len(q), -1
    at, rate, place, speed = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    pulls = np.zeros((worker.ends.step.size, 3))
    qdd = worker.work.result
    for number in range(count):
        copy(q, at)
        copy(v, rate)
        copy(q, place)
        copy(v, speed)
        for stage in range(4):
            half = (stage + 1) // 2  # 0, 1, 1, 2
            t = (first + number) * step + 0.5 * half * step
            row = 2 * number + half if len(tau) > 1 else 0
            lost = evaluate(worker, at, rate, tau[row], t, message, pulls, noted)
            stuck = lost if lost >= 0 else stuck
            weight = step / 6.0 if stage in (0, 3) else step / 3.0
            ahead = step if stage == 2 else 0.5 * step
            for k in range(size):
                place[k] += weight * rate[k]
                speed[k] += weight * qdd[k]
                at[k], rate[k] = q[k] + ahead * rate[k], v[k] + ahead * qdd[k]
        copy(place, q)  # also where nothing resists: other workers wait for messages
        copy(speed, v)
    return stuck
