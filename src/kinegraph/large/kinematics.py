"""How each step moves in its parent, and how velocities and forces pass between the two."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from kinegraph.jit.marks import inlined, part
from kinegraph.large.algebra import (
    NO_VECTOR,
    along,
    axis_turn,
    back,
    cross,
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
from kinegraph.large.records import (
    ACCELERATION,
    AMOUNT,
    AXIS,
    COSINE,
    INERTIA,
    KIND,
    MOMENT,
    OFFSET,
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
)

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
