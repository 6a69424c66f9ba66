"""Kinematics of all steps, inverse dynamics by recursive Newton-Euler, inertia matrix and energy, compiled."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from kinegraph.jit.marks import inlined, part
from kinegraph.recursive.arrays import (
    ACCELERATION,
    AMOUNT,
    AXIS,
    COSINE,
    INERTIA,
    KIND,
    MASS,
    MOMENT,
    NO_VECTOR,
    OFFSET,
    PARENT,
    PLACEMENT,
    POSITION,
    QUATERNION,
    RATE,
    ROTATION,
    SHIFT,
    SLOT,
    VELOCITY,
    Displacement,
    Floats,
    Linear,
    Matrix,
    MotionArrays,
    Tree,
    Vector,
    add,
    along,
    axis_turn,
    back,
    copy,
    cross,
    dot,
    matrix,
    plus,
    product,
    put,
    quaternion_turn,
    scaled,
    symmetric,
    times,
    vector,
)

# How each step moves in its parent, and how velocities and forces pass between the two.

#: Angular velocity, angular acceleration and acceleration of the origin of a step.
State: TypeAlias = tuple[Vector, Vector, Vector]


@part
def displacements(tree: Tree, linear: Linear, q: Floats, v: Floats, a: Floats, t: float) -> Displacement:
    """Displacements that are linear in coordinates and time."""
    steps = len(tree.link)
    value, rate, acceleration = np.empty(steps), np.empty(steps), np.empty(steps)
    for j in range(steps):
        p, p1, p2 = linear.constant[j] + linear.drift[j] * t, linear.drift[j], 0.0
        for e in range(tree.row[j], tree.row[j + 1]):
            p += linear.slope[e] * q[linear.source[e]]
            p1 += linear.slope[e] * v[tree.column[e]]
            p2 += linear.slope[e] * a[tree.column[e]]
        value[j], rate[j], acceleration[j] = p, p1, p2
    return Displacement(value, rate, acceleration, linear.slope)


@part
def motion(tree: Tree, moved: Displacement, q: Floats, v: Floats, a: Floats) -> MotionArrays:
    """The motion of all steps. Sines are taken here, once for all loops."""
    step = np.empty((len(tree.link), 4))
    for j in range(len(tree.link)):
        revolute = tree.link[j, KIND] == ROTATION
        step[j, COSINE] = math.cos(moved.value[j]) if revolute else 1.0
        step[j, AMOUNT] = math.sin(moved.value[j]) if revolute else moved.value[j]
        step[j, RATE], step[j, ACCELERATION] = moved.rate[j], moved.acceleration[j]
    return MotionArrays(step, moved.slope, q, v, a)


@inlined
def placed(tree: Tree, moving: MotionArrays, j: int) -> tuple[Matrix, Vector]:
    """Axes and origin of step j in its parent."""
    axes, origin, kind = matrix(tree.constant, j, PLACEMENT), vector(tree.constant, j, OFFSET), tree.link[j, KIND]
    if kind == ROTATION:
        return product(axes, axis_turn(tree.link[j, AXIS], moving.step[j, COSINE], moving.step[j, AMOUNT])), origin
    if kind == SHIFT:
        return axes, plus(origin, times(axes, along(tree.link[j, AXIS], moving.step[j, AMOUNT])))
    q, i = moving.q, tree.link[j, POSITION]
    return product(axes, quaternion_turn(q[i], q[i + 1], q[i + 2], q[i + 3])), origin


@inlined
def rates(tree: Tree, moving: MotionArrays, j: int) -> tuple[Vector, Vector]:
    """First and second rate of step j in its parent, about or along its own axes."""
    if tree.link[j, KIND] == QUATERNION:
        k, v, a = tree.link[j, VELOCITY], moving.v, moving.a
        return (v[k], v[k + 1], v[k + 2]), (a[k], a[k + 1], a[k + 2])
    return along(tree.link[j, AXIS], moving.step[j, RATE]), along(tree.link[j, AXIS], moving.step[j, ACCELERATION])


@inlined
def propagated_motion(turn: Matrix, offset: Vector, angular: Vector, linear: Vector) -> tuple[Vector, Vector]:
    """A velocity (or the linear part of an acceleration) of the parent, at the step's origin in the step's axes."""
    return back(turn, angular), back(turn, plus(linear, cross(angular, offset)))


@inlined
def to_parent(turn: Matrix, offset: Vector, moment: Vector, force: Vector) -> tuple[Vector, Vector]:
    """A moment and force at the step's origin, at the parent's origin in the parent's axes."""
    turned = times(turn, force)
    return plus(times(turn, moment), cross(offset, turned)), turned


@inlined
def velocity_terms(
    tree: Tree, moving: MotionArrays, turn: Matrix, offset: Vector, before: Vector, j: int
) -> tuple[Vector, Vector, Vector]:
    """Angular velocity of step j from that of its parent, and what j adds to the propagated accelerations."""
    rate, acceleration = rates(tree, moving, j)
    propagated = back(turn, before)
    centripetal = back(turn, cross(before, cross(before, offset)))
    if tree.link[j, KIND] == SHIFT:
        coriolis = scaled(2.0, cross(propagated, rate))
        return propagated, NO_VECTOR, plus(centripetal, plus(acceleration, coriolis))
    return plus(propagated, rate), plus(acceleration, cross(propagated, rate)), centripetal


@inlined
def gyroscopic(tree: Tree, omega: Vector, j: int) -> tuple[Vector, Vector]:
    """Moment and force of the bodies of step j when its origin and angular velocity do not accelerate."""
    spin = times(symmetric(tree.constant, j, INERTIA), omega)
    return cross(omega, spin), cross(omega, cross(omega, vector(tree.constant, j, MOMENT)))


@inlined
def keep(tree: Tree, stored: Floats, j: int, state: State) -> None:
    """Note the state of step j if other steps than the next stand on it."""
    if tree.link[j, SLOT] >= 0:
        put(stored, tree.link[j, SLOT], 0, state[0])
        put(stored, tree.link[j, SLOT], 3, state[1])
        put(stored, tree.link[j, SLOT], 6, state[2])


# Inverse dynamics and energy over the steps of a tree; `articulated_body` adds forward dynamics.
#
# A *step* is a constant placement followed by one moving elementary transform; step 0 is the ground. All vectors of a
# step are in its own axes, about its own origin, so nothing grows along a chain of 100,000 steps. Accelerations are the
# ordinary ones of the origin (not Featherstone's spatial ones); gravity enters as an acceleration of the ground.
#
# Everything here is compiled once, whatever the mechanism; time and memory are linear in the number of steps. Memory is
# what limits long chains, so a step hands its state to the next in registers, arrays hold only what a later loop needs,
# and a slot is kept for steps that other steps than the next one stand on.


@part
def inverse(tree: Tree, moving: MotionArrays, gravity: Vector) -> Floats:
    """Generalized forces by recursive Newton-Euler."""
    wrench = _wrenches(tree, moving, gravity)
    tau = tree.armature * moving.a
    stored = np.zeros((tree.slots, 6))
    n, f = NO_VECTOR, NO_VECTOR
    for j in range(len(tree.link) - 1, 0, -1):
        n, f = plus(n, vector(wrench, j, 0)), plus(f, vector(wrench, j, 3))
        if tree.link[j, SLOT] >= 0:
            n, f = plus(n, vector(stored, tree.link[j, SLOT], 0)), plus(f, vector(stored, tree.link[j, SLOT], 3))
        _project(tree, moving, n, f, tau, j)
        turn, offset = placed(tree, moving, j)
        n, f = to_parent(turn, offset, n, f)
        if tree.link[j, PARENT] != j - 1:
            add(stored, tree.link[tree.link[j, PARENT], SLOT], 0, n)
            add(stored, tree.link[tree.link[j, PARENT], SLOT], 3, f)
            n, f = NO_VECTOR, NO_VECTOR
    return tau


@inlined
def _wrenches(tree: Tree, moving: MotionArrays, gravity: Vector) -> Floats:
    """Moment and force that move the bodies of each step, about its origin."""
    wrench = np.empty((len(tree.link), 6))
    stored = np.empty((tree.slots, 9))
    state = (NO_VECTOR, NO_VECTOR, scaled(-1.0, gravity))
    keep(tree, stored, 0, state)
    for j in range(1, len(tree.link)):
        if tree.link[j, PARENT] != j - 1:
            slot = tree.link[tree.link[j, PARENT], SLOT]
            state = (vector(stored, slot, 0), vector(stored, slot, 3), vector(stored, slot, 6))
        state = _accelerated(tree, moving, state, j)
        keep(tree, stored, j, state)
        omega, alpha, origin = state
        h = vector(tree.constant, j, MOMENT)
        n, f = gyroscopic(tree, omega, j)
        put(wrench, j, 0, plus(n, plus(times(symmetric(tree.constant, j, INERTIA), alpha), cross(h, origin))))
        put(wrench, j, 3, plus(f, plus(scaled(tree.constant[j, MASS], origin), cross(alpha, h))))
    return wrench


@inlined
def _accelerated(tree: Tree, moving: MotionArrays, parent: State, j: int) -> State:
    turn, offset = placed(tree, moving, j)
    omega, more_angular, more_linear = velocity_terms(tree, moving, turn, offset, parent[0], j)
    angular, linear = propagated_motion(turn, offset, parent[1], parent[2])
    return omega, plus(angular, more_angular), plus(linear, more_linear)


@inlined
def _project(tree: Tree, moving: MotionArrays, moment: Vector, force: Vector, tau: Floats, j: int) -> None:
    """The chain rule: Q_k = sum_j dp_j/dq_k tau_j."""
    if tree.link[j, KIND] == QUATERNION:
        for k in range(3):
            tau[tree.link[j, VELOCITY] + k] += moment[k]
        return
    own = dot(force if tree.link[j, KIND] == SHIFT else moment, along(tree.link[j, AXIS], 1.0))
    for e in range(tree.row[j], tree.row[j + 1]):
        tau[tree.column[e]] += moving.slope[e] * own


@part
def inertia_matrix(tree: Tree, moving: MotionArrays, count: int) -> Floats:
    """H by unit accelerations at rest without gravity: column k is the force that accelerates velocity k alone."""
    matrix, rest, unit, step = np.empty((count, count)), np.zeros(count), np.zeros(count), moving.step.copy()
    alone = MotionArrays(step, moving.slope, moving.q, rest, unit)
    step[:, RATE] = 0.0
    for k in range(count):
        unit[:] = 0.0
        unit[k] = 1.0
        for j in range(len(tree.link)):
            step[j, ACCELERATION] = 0.0
            for e in range(tree.row[j], tree.row[j + 1]):
                step[j, ACCELERATION] += moving.slope[e] * unit[tree.column[e]]
        copy(inverse(tree, alone, NO_VECTOR), matrix[:, k])
    return matrix


@part
def energy(tree: Tree, moving: MotionArrays, gravity: Vector) -> tuple[float, float]:
    """Kinetic and potential energy; the latter is zero for a mass in the origin of the fixed frame."""
    kinetic = 0.5 * (_living_force(tree, moving) + (tree.armature * moving.v**2).sum())
    return kinetic, -dot(gravity, _first_moment(tree, moving))


@inlined
def _living_force(tree: Tree, moving: MotionArrays) -> float:
    """Twice the kinetic energy of the bodies."""
    stored = np.zeros((tree.slots, 9))
    w, u, total = NO_VECTOR, NO_VECTOR, 0.0
    for j in range(1, len(tree.link)):
        if tree.link[j, PARENT] != j - 1:
            slot = tree.link[tree.link[j, PARENT], SLOT]
            w, u = vector(stored, slot, 0), vector(stored, slot, 3)
        turn, offset = placed(tree, moving, j)
        rate, _ = rates(tree, moving, j)
        w, u = propagated_motion(turn, offset, w, u)
        if tree.link[j, KIND] == SHIFT:
            u = plus(u, rate)
        else:
            w = plus(w, rate)
        keep(tree, stored, j, (w, u, u))
        spinning = dot(w, times(symmetric(tree.constant, j, INERTIA), w))
        total += (
            tree.constant[j, MASS] * dot(u, u) + spinning + 2.0 * dot(u, cross(w, vector(tree.constant, j, MOMENT)))
        )
    return total


@inlined
def _first_moment(tree: Tree, moving: MotionArrays) -> Vector:
    """First moment of all mass about the fixed origin, gathered inwards so that no rotation accumulates error."""
    stored = np.zeros((tree.slots, 4))
    m, h = 0.0, NO_VECTOR
    for j in range(len(tree.link) - 1, -1, -1):
        m, h = m + tree.constant[j, MASS], plus(h, vector(tree.constant, j, MOMENT))
        if tree.link[j, SLOT] >= 0:
            m, h = m + stored[tree.link[j, SLOT], 3], plus(h, vector(stored, tree.link[j, SLOT], 0))
        if j == 0:
            break
        turn, offset = placed(tree, moving, j)
        h = plus(scaled(m, offset), times(turn, h))
        if tree.link[j, PARENT] != j - 1:
            slot = tree.link[tree.link[j, PARENT], SLOT]
            add(stored, slot, 0, h)
            stored[slot, 3] += m
            m, h = 0.0, NO_VECTOR
    return h
