"""From a body outwards over its chains: where all steps are, how they move, and what the ends do."""

from __future__ import annotations

import math

from kinegraph.jit.marks import inlined, loop
from kinegraph.large.algebra import NO_VECTOR, back, cross, matrix, plus, product, put, scaled, times, vector
from kinegraph.large.articulated import own_columns
from kinegraph.large.chains.records import (
    AXES,
    POINT,
    PULL,
    SPIN,
    TWIST,
    VELOCITY_OF_POINT,
    Ends,
    Part,
    Work,
)
from kinegraph.large.kinematics import placed, propagated_motion, rates
from kinegraph.large.records import (
    ACCELERATION,
    AMOUNT,
    COSINE,
    KIND,
    PARENT,
    RATE,
    ROTATION,
    SHIFT,
    Floats,
    Joints,
    Linear,
    Matrix,
    MotionArrays,
    Tree,
    Vector,
)


@loop
def moved_outwards(
    tree: Tree,
    joints: Joints,
    linear: Linear,
    ends: Ends,
    part_: Part,
    q: Floats,
    v: Floats,
    t: float,
    work: Work,
    found: Floats,
) -> None:
    """Move the steps of a part, outwards; `found` receives the motion of its ends."""
    moving = MotionArrays(work.step, linear.slope, q, v, v)
    for run in range(len(part_.spans)):
        for j in range(part_.spans[run, 0], part_.spans[run, 1]):
            _displaced(tree, linear, q, v, t, work.step, j)
            _outwards(tree, joints, moving, work, j)
    for e in part_.ends:
        _end(ends, work, e, found)


@inlined
def _displaced(tree: Tree, linear: Linear, q: Floats, v: Floats, t: float, step: Floats, j: int) -> None:
    p, rate = linear.constant[j] + linear.drift[j] * t, linear.drift[j]
    for e in range(tree.row[j], tree.row[j + 1]):
        p += linear.slope[e] * q[linear.source[e]]
        rate += linear.slope[e] * v[tree.column[e]]
    revolute = tree.link[j, KIND] == ROTATION
    step[j, COSINE] = math.cos(p) if revolute else 1.0
    step[j, AMOUNT] = math.sin(p) if revolute else p
    step[j, RATE], step[j, ACCELERATION] = rate, 0.0


@inlined
def _outwards(tree: Tree, joints: Joints, moving: MotionArrays, work: Work, j: int) -> None:
    i = tree.link[j, PARENT]
    turn, offset = placed(tree, moving, j)
    before = vector(work.omega, i, 0)
    omega, angular, linear = _terms(tree, moving, turn, offset, before, j)
    _still(work, turn, offset, i, j, angular, linear)
    _placed(tree, moving, work, turn, offset, i, j)
    if not joints.opens[j]:
        already = propagated_motion(turn, offset, vector(work.bias, i, 0), vector(work.bias, i, 3))
        angular, linear = plus(angular, already[0]), plus(linear, already[1])
        for c in range(joints.first[j], joints.last[j]):
            k = joints.members[c]
            column = propagated_motion(turn, offset, vector(work.column, k, 0), vector(work.column, k, 3))
            put(work.column, k, 0, column[0])
            put(work.column, k, 3, column[1])
    else:
        for c in range(joints.first[j], joints.last[j]):
            put(work.column, joints.members[c], 0, NO_VECTOR)
            put(work.column, joints.members[c], 3, NO_VECTOR)
    put(work.omega, j, 0, omega)
    put(work.bias, j, 0, angular)
    put(work.bias, j, 3, linear)
    own_columns(tree, moving, work.column, j)


@inlined
def _terms(
    tree: Tree, moving: MotionArrays, turn: Matrix, offset: Vector, before: Vector, j: int
) -> tuple[Vector, Vector, Vector]:
    """Angular velocity, and what a step adds to accelerations while no coordinate accelerates."""
    rate = rates(tree, moving, j)[0]
    spun = back(turn, before)
    centripetal = back(turn, cross(before, cross(before, offset)))
    if tree.link[j, KIND] == SHIFT:
        return spun, NO_VECTOR, plus(centripetal, scaled(2.0, cross(spun, rate)))
    return plus(spun, rate), cross(spun, rate), centripetal


@inlined
def _still(work: Work, turn: Matrix, offset: Vector, i: int, j: int, angular: Vector, linear: Vector) -> None:
    still = propagated_motion(turn, offset, vector(work.still, i, 0), vector(work.still, i, 3))
    put(work.still, j, 0, plus(still[0], angular))
    put(work.still, j, 3, plus(still[1], linear))


@inlined
def _placed(tree: Tree, moving: MotionArrays, work: Work, turn: Matrix, offset: Vector, i: int, j: int) -> None:
    axes = matrix(work.place, i, 0)
    turned = product(axes, turn)
    put(work.place, j, 0, (turned[0], turned[1], turned[2]))
    put(work.place, j, 3, (turned[3], turned[4], turned[5]))
    put(work.place, j, 6, (turned[6], turned[7], turned[8]))
    put(work.place, j, 9, plus(vector(work.place, i, 9), times(axes, offset)))
    speed = propagated_motion(turn, offset, vector(work.omega, i, 0), vector(work.speed, i, 0))[1]
    prismatic = tree.link[j, KIND] == SHIFT
    put(work.speed, j, 0, plus(speed, rates(tree, moving, j)[0]) if prismatic else speed)


@inlined
def _end(ends: Ends, work: Work, e: int, found: Floats) -> None:
    """Axes, point and motion of an end, in the axes of the ground."""
    j, point = ends.step[e], vector(ends.point, e, 0)
    axes, omega = matrix(work.place, j, 0), vector(work.omega, j, 0)
    turned = product(axes, matrix(ends.turn, e, 0))
    put(found, e, AXES, (turned[0], turned[1], turned[2]))
    put(found, e, AXES + 3, (turned[3], turned[4], turned[5]))
    put(found, e, AXES + 6, (turned[6], turned[7], turned[8]))
    put(found, e, POINT, plus(vector(work.place, j, 9), times(axes, point)))
    swing = cross(omega, point)
    put(found, e, VELOCITY_OF_POINT, times(axes, plus(vector(work.speed, j, 0), swing)))
    put(found, e, SPIN, times(axes, omega))
    twist, pull = vector(work.still, j, 0), vector(work.still, j, 3)
    put(found, e, PULL, times(axes, plus(pull, plus(cross(twist, point), cross(omega, swing)))))
    put(found, e, TWIST, times(axes, twist))
