"""Forward dynamics by the articulated-body method, and for velocities of the steps themselves."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from kinegraph.jit.marks import inlined, part
from kinegraph.recursive.arrays import (
    AXIS,
    INERTIA,
    KIND,
    MASS,
    MOMENT,
    NO_MATRIX,
    NO_VECTOR,
    PARENT,
    QUATERNION,
    SHIFT,
    SLOT,
    VELOCITY,
    Elimination,
    Floats,
    Joints,
    Matrix,
    MotionArrays,
    Tree,
    Vector,
    add,
    add_matrix,
    back,
    combined,
    dot,
    matrix,
    outer,
    plus,
    product,
    put,
    scaled,
    skew,
    symmetric,
    times,
    transposed,
    vector,
)
from kinegraph.recursive.newton_euler import gyroscopic, keep, placed, propagated_motion, to_parent, velocity_terms

#: Articulated inertia [[J, B], [B', M]] with bias moment and force beyond a step.
Handle: TypeAlias = tuple[Matrix, Matrix, Matrix, Vector, Vector]

NO_HANDLE: Handle = (NO_MATRIX, NO_MATRIX, NO_MATRIX, NO_VECTOR, NO_VECTOR)
ROUNDING = 4e-15  # what may remain, relatively, of an inertia that was taken out altogether


class ArticulatedWork(NamedTuple):
    """What the loops of the articulated-body method leave for each other: rows per step, then rows per velocity."""

    omega: Floats
    bias: Floats  #: acceleration of the end of a joint against its base if no velocity changes
    column: Floats  #: velocity of the end of a joint against its base per unit of its velocity
    pull: Floats  #: articulated inertia times column
    excess: Floats
    pivot: Floats


@part
def forward(tree: Tree, joints: Joints, moving: MotionArrays, tau: Floats, gravity: Vector) -> tuple[Floats, int]:
    """Accelerations by the articulated-body method, and the velocity without inertia that stopped it (or -1).

    `moving.acceleration` holds the part of p'' that does not depend on the unknown accelerations. A joint with several
    velocities is treated as that many joints with nothing between them, so only scalars are divided by.
    """
    steps, count = len(tree.link), tau.size
    work = ArticulatedWork(
        np.empty((steps, 3)), np.empty((steps, 6)), np.zeros((count, 6)), np.empty((count, 6)),
        np.empty(count), np.empty(count),
    )  # fmt: skip
    _outwards(tree, joints, moving, work)
    stuck = _inwards(tree, joints, moving, tau, work)
    return _accelerations(tree, joints, moving, gravity, work), stuck


@inlined
def _outwards(tree: Tree, joints: Joints, moving: MotionArrays, work: ArticulatedWork) -> None:
    """Angular velocities, and for each joint its columns and bias at its last step."""
    put(work.omega, 0, 0, NO_VECTOR)
    for j in range(1, len(tree.link)):
        i = tree.link[j, PARENT]
        turn, offset = placed(tree, moving, j)
        omega, angular, linear = velocity_terms(tree, moving, turn, offset, vector(work.omega, i, 0), j)
        if not joints.opens[j]:
            before = propagated_motion(turn, offset, vector(work.bias, i, 0), vector(work.bias, i, 3))
            angular, linear = plus(angular, before[0]), plus(linear, before[1])
            for c in range(joints.first[j], joints.last[j]):
                k = joints.members[c]
                column = propagated_motion(turn, offset, vector(work.column, k, 0), vector(work.column, k, 3))
                put(work.column, k, 0, column[0])
                put(work.column, k, 3, column[1])
        put(work.omega, j, 0, omega)
        put(work.bias, j, 0, angular)
        put(work.bias, j, 3, linear)
        own_columns(tree, moving, work.column, j)


@inlined
def own_columns(tree: Tree, moving: MotionArrays, column: Floats, j: int) -> None:
    """Add the motion that the velocities of step j give it in its own axes."""
    if tree.link[j, KIND] == QUATERNION:
        for k in range(3):
            column[tree.link[j, VELOCITY] + k, k] = 1.0
        return
    at = tree.link[j, AXIS] + (3 if tree.link[j, KIND] == SHIFT else 0)
    for e in range(tree.row[j], tree.row[j + 1]):
        column[tree.column[e], at] += moving.slope[e]


@inlined
def _inwards(tree: Tree, joints: Joints, moving: MotionArrays, tau: Floats, work: ArticulatedWork) -> int:
    """Free each joint's velocities from the inertia beyond it, and hand the rest to the parent."""
    stuck = -1
    stored = np.zeros((tree.slots, 35))
    propagated, spent = NO_HANDLE, (0.0, 0.0)
    for j in range(len(tree.link) - 1, 0, -1):
        here = joined(rigid(tree, vector(work.omega, j, 0), j), propagated)
        if tree.link[j, SLOT] >= 0:
            more, also_spent = stored_handle(stored, tree.link[j, SLOT])
            here, spent = joined(here, more), (spent[0] + also_spent[0], spent[1] + also_spent[1])
        if has_inertia(tree, j):
            spent = (0.0, 0.0)
        if joints.closes[j]:
            for c in range(joints.last[j] - 1, joints.first[j] - 1, -1):
                k = joints.members[c]
                here, spent, lost = freed(here, spent, tau, work, k, tree.armature[k])
                if lost and stuck < 0:
                    stuck = k
            here = biased(here, vector(work.bias, j, 0), vector(work.bias, j, 3))
        turn, offset = placed(tree, moving, j)
        propagated = handed(here, turn, offset)
        spent = (spent[0] + dot(offset, offset) * spent[1], spent[1])
        if tree.link[j, PARENT] != j - 1:
            add_handle(stored, tree.link[tree.link[j, PARENT], SLOT], propagated, spent)
            propagated, spent = NO_HANDLE, (0.0, 0.0)
    return stuck


@inlined
def rigid(tree: Tree, omega: Vector, j: int) -> Handle:
    """The inertia of what is fixed to step j, and the forces its rotation takes."""
    m = tree.constant[j, MASS]
    n, f = gyroscopic(tree, omega, j)
    return (
        symmetric(tree.constant, j, INERTIA),
        skew(vector(tree.constant, j, MOMENT)),
        (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m),
        n,
        f,
    )


@inlined
def has_inertia(tree: Tree, j: int) -> bool:
    """Whether anything with mass or moments is fixed to step j."""
    return bool(tree.constant[j, MASS] != 0.0 or dot(vector(tree.constant, j, INERTIA), (1.0, 1.0, 1.0)) != 0.0)


@inlined
def joined(a: Handle, b: Handle) -> Handle:
    """Two articulated inertias of one step together."""
    return (
        combined(a[0], b[0], 1.0),
        combined(a[1], b[1], 1.0),
        combined(a[2], b[2], 1.0),
        plus(a[3], b[3]),
        plus(a[4], b[4]),
    )


@inlined
def stored_handle(rows: Floats, i: int) -> tuple[Handle, tuple[float, float]]:
    """The inertia and what was spent, as stored for a step that others stand on."""
    handle = matrix(rows, i, 0), matrix(rows, i, 9), matrix(rows, i, 18), vector(rows, i, 27), vector(rows, i, 30)
    return handle, (rows[i, 33], rows[i, 34])


@inlined
def add_handle(rows: Floats, i: int, handle: Handle, spent: tuple[float, float]) -> None:
    """Add an inertia to what is stored for a step that others stand on."""
    add_matrix(rows, i, 0, handle[0])
    add_matrix(rows, i, 9, handle[1])
    add_matrix(rows, i, 18, handle[2])
    add(rows, i, 27, handle[3])
    add(rows, i, 30, handle[4])
    rows[i, 33] += spent[0]
    rows[i, 34] += spent[1]


@inlined
def freed(
    here: Handle, spent: tuple[float, float], tau: Floats, work: ArticulatedWork, k: int, armature: float
) -> tuple[Handle, tuple[float, float], bool]:
    """Take velocity k out of an articulated inertia. True if there was none, up to the rounding of what was spent.

    `spent` is the inertia taken out since the last step with inertia of its own: about axes and along them.
    """
    J, B, M, moment, force = here
    angular, linear = vector(work.column, k, 0), vector(work.column, k, 3)
    n = plus(times(J, angular), times(B, linear))
    f = plus(back(B, angular), times(M, linear))
    pivot = dot(angular, n) + dot(linear, f) + armature
    excess = tau[k] - dot(angular, moment) - dot(linear, force)
    put(work.pull, k, 0, n)
    put(work.pull, k, 3, f)
    work.pivot[k], work.excess[k] = pivot, excess
    scale, share = -1.0 / pivot, excess / pivot
    J, B, M = combined(J, outer(n, n), scale), combined(B, outer(n, f), scale), combined(M, outer(f, f), scale)
    rest = (J, B, M, plus(moment, scaled(share, n)), plus(force, scaled(share, f)))
    before = spent[0] * dot(angular, angular) + spent[1] * dot(linear, linear)
    return rest, (spent[0] + dot(n, n) / pivot, spent[1] + dot(f, f) / pivot), vanished(pivot, before)


@inlined
def vanished(pivot: float, before: float) -> bool:
    """Whether nothing but rounding is left of an inertia; not of NaN, which goes through to the result."""
    return pivot <= ROUNDING * before


@inlined
def biased(here: Handle, angular: Vector, linear: Vector) -> Handle:
    """The same inertia, with the forces that the known acceleration of its joint takes."""
    J, B, M, moment, force = here
    n = plus(times(J, angular), times(B, linear))
    f = plus(back(B, angular), times(M, linear))
    return J, B, M, plus(moment, n), plus(force, f)


@inlined
def handed(here: Handle, turn: Matrix, offset: Vector) -> Handle:
    """The same inertia and bias at the parent's origin in the parent's axes."""
    back, arm = transposed(turn), skew(offset)
    J = product(product(turn, here[0]), back)
    B = product(product(turn, here[1]), back)
    M = product(product(turn, here[2]), back)
    shifted = combined(B, product(arm, M), 1.0)
    J = combined(combined(J, product(arm, transposed(B)), 1.0), product(shifted, arm), -1.0)
    n, f = to_parent(turn, offset, here[3], here[4])
    return J, shifted, M, n, f


@inlined
def _accelerations(tree: Tree, joints: Joints, moving: MotionArrays, gravity: Vector, work: ArticulatedWork) -> Floats:
    """Outwards again: accelerations of the steps and of the velocities."""
    result = np.empty(work.pivot.size)
    stored = np.zeros((tree.slots, 9))
    angular, linear = NO_VECTOR, scaled(-1.0, gravity)
    keep(tree, stored, 0, (angular, linear, linear))
    for j in range(1, len(tree.link)):
        if tree.link[j, PARENT] != j - 1:
            slot = tree.link[tree.link[j, PARENT], SLOT]
            angular, linear = vector(stored, slot, 0), vector(stored, slot, 3)
        turn, offset = placed(tree, moving, j)
        angular, linear = propagated_motion(turn, offset, angular, linear)
        if joints.closes[j]:
            angular, linear = plus(angular, vector(work.bias, j, 0)), plus(linear, vector(work.bias, j, 3))
            for c in range(joints.first[j], joints.last[j]):
                k = joints.members[c]
                pull = dot(vector(work.pull, k, 0), angular) + dot(vector(work.pull, k, 3), linear)
                result[k] = (work.excess[k] - pull) / work.pivot[k]
                angular = plus(angular, scaled(result[k], vector(work.column, k, 0)))
                linear = plus(linear, scaled(result[k], vector(work.column, k, 3)))
        keep(tree, stored, j, (angular, linear, linear))
    return result


@part
def solve(tree: Tree, order: Elimination, slope: Floats, right: Floats, count: int) -> Floats:
    """x of dp/dq x = right, `right` given per step."""
    x = np.zeros(count)
    for i in range(order.step.size):
        j, pivot = order.step[i], order.entry[i]
        rest = right[j]
        for e in range(tree.row[j], tree.row[j + 1]):
            if e != pivot:
                rest -= slope[e] * x[tree.column[e]]
        x[tree.column[pivot]] = rest / slope[pivot]
    return x


@part
def solve_transposed(tree: Tree, order: Elimination, slope: Floats, right: Floats) -> Floats:
    """y, per step, of (dp/dq)' y = right."""
    y, rest = np.zeros(len(tree.link)), right.copy()
    for i in range(order.step.size - 1, -1, -1):
        j, pivot = order.step[i], order.entry[i]
        y[j] = rest[tree.column[pivot]] / slope[pivot]
        for e in range(tree.row[j], tree.row[j + 1]):
            rest[tree.column[e]] -= slope[e] * y[j]
    return y
