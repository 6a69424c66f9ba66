"""Compiled sweeps over the chains of a closed mechanism: motion outwards, articulated inertia inwards, and
recovery.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np

from kinegraph.jit.marks import inlined, loop
from kinegraph.recursive.arrays import (
    ACCELERATION,
    AMOUNT,
    COSINE,
    KIND,
    NO_VECTOR,
    PARENT,
    RATE,
    ROTATION,
    SHIFT,
    SLOT,
    Floats,
    Integers,
    Joints,
    Linear,
    Matrix,
    MotionArrays,
    Tree,
    Vector,
    add,
    back,
    cross,
    dot,
    matrix,
    plus,
    product,
    put,
    scaled,
    times,
    vector,
)
from kinegraph.recursive.articulated_body import (
    NO_HANDLE,
    ArticulatedWork,
    Handle,
    add_handle,
    biased,
    freed,
    handed,
    has_inertia,
    joined,
    own_columns,
    rigid,
    stored_handle,
)
from kinegraph.recursive.newton_euler import placed, propagated_motion, rates, to_parent

# Columns of what is known of an end of a chain: axes (row by row) and point, their velocities, and accelerations less
# gravity while no coordinate accelerates; all in the axes of the ground.
AXES, POINT, VELOCITY_OF_POINT, SPIN, PULL, TWIST = 0, 9, 12, 15, 18, 21
END = 24

# Kinds of rows: the points of two ends coincide along an axis of the ground; an axis of one is perpendicular to one of
# the other; the second point is in the plane through the first that is normal to an axis of the first; the points keep
# their distance.
COINCIDE, PERPENDICULAR, LEVEL, DISTANCE = 0, 1, 2, 3
# Columns of Closing.row
KIND_OF_ROW, FIRST_END, SECOND_END, FIRST_AXIS, SECOND_AXIS, GROUP = 0, 1, 2, 3, 4, 5


class Work(NamedTuple):
    """One row per step, then one per velocity: what the sweeps over chains leave for each other."""

    step: Floats  #: (n, 4) as in MotionArrays
    omega: Floats
    bias: Floats
    still: Floats  #: (n, 6) acceleration less gravity while no coordinate accelerates
    place: Floats  #: (n, 12) axes and origin in the ground
    speed: Floats  #: (n, 3) velocity of the origin, in own axes
    column: Floats
    pull: Floats
    excess: Floats
    pivot: Floats
    push: Floats  #: (velocities, directions) what a unit force at an end does on a velocity
    result: Floats  #: (velocities,)


class Ends(NamedTuple):
    """Frames on steps, ordered by step: those that loops tie, and points that springs and dampers pull at."""

    step: Integers
    turn: Floats  #: (ends, 9)
    point: Floats  #: (ends, 3)


class Directions(NamedTuple):
    """Unit forces (axis 0 to 2) and moments (3 to 5) at ends along the axes of the ground, ordered by step."""

    end: Integers
    axis: Integers


class Part(NamedTuple):
    """A chain: its steps as runs (first, last + 1), and the directions and ends on it, by number."""

    spans: Integers  #: (runs, 2)
    directions: Integers
    ends: Integers


class Reduction(NamedTuple):
    """What a part hands on: articulated inertias and forces at steps that carry several, by slot; compliance and
    free acceleration along its directions."""

    stored: Floats  #: (slots, 35)
    loads: Floats  #: (slots, directions, 6)
    compliance: Floats  #: (directions, directions)
    free: Floats  #: (directions,)


class Closing(NamedTuple):
    """The rows of all loops that take part, and how fast what they miss shall vanish (Baumgarte)."""

    row: Integers  #: (rows, 6)
    sign: Floats  #: of a row; for a distance its length
    alpha: float
    beta: float


# From a body outwards over its chains: where all steps are, how they move, and what the ends do.


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


# From the tips of a chain inwards: its articulated inertia, what unit forces at its ends do; then outwards again.

#: Inertia taken out since the last step with inertia of its own, about axes and along them.
Spent: TypeAlias = tuple[float, float]


@loop
def reduced(
    tree: Tree,
    joints: Joints,
    linear: Linear,
    ends: Ends,
    directions: Directions,
    part_: Part,
    q: Floats,
    v: Floats,
    tau: Floats,
    forces: Floats,
    work: Work,
    reduction: Reduction,
) -> int:
    """Reduce a part to the step it hangs on; `forces` act on all ends, in the axes of the ground.

    `reduction` holds what hangs on the steps of this part already, and is added to. Returns the velocity that nothing
    with inertia resists, or -1.
    """
    moving = MotionArrays(work.step, linear.slope, q, v, v)
    live = np.zeros((part_.directions.size, 6))
    waiting, stuck = (part_.directions.size, part_.ends.size), -1
    propagated, spent = NO_HANDLE, (0.0, 0.0)
    for run in range(len(part_.spans) - 1, -1, -1):
        for j in range(part_.spans[run, 1] - 1, part_.spans[run, 0] - 1, -1):
            here = joined(rigid(tree, vector(work.omega, j, 0), j), propagated)
            if tree.link[j, SLOT] >= 0:
                here, spent = _hanging(here, spent, reduction, part_, live, tree.link[j, SLOT])
            here, waiting = _acting(here, waiting, ends, directions, part_, forces, work, live, j)
            spent = (0.0, 0.0) if has_inertia(tree, j) else spent
            if joints.closes[j]:
                here, spent, lost = _freed_joint(here, spent, tree, joints, tau, part_, work, reduction, live, j)
                stuck = lost if lost >= 0 and stuck < 0 else stuck
            turn, offset = placed(tree, moving, j)
            propagated = handed(here, turn, offset)
            spent = (spent[0] + dot(offset, offset) * spent[1], spent[1])
            _hand_loads(live, turn, offset)
            parent = tree.link[j, PARENT]
            if parent != j - 1 or j == part_.spans[run, 0]:
                add_handle(reduction.stored, tree.link[parent, SLOT], propagated, spent)
                propagated, spent = NO_HANDLE, (0.0, 0.0)
                _keep_loads(live, reduction.loads, tree.link[parent, SLOT], part_)
    return stuck


@inlined
def _hanging(
    here: Handle, spent: Spent, reduction: Reduction, part_: Part, live: Floats, slot: int
) -> tuple[Handle, Spent]:
    """Add what other steps than the next hang on this one."""
    more, also = stored_handle(reduction.stored, slot)
    for r in range(part_.directions.size):
        for c in range(6):
            live[r, c] += reduction.loads[slot, part_.directions[r], c]
    return joined(here, more), (spent[0] + also[0], spent[1] + also[1])


@inlined
def _acting(
    here: Handle,
    waiting: tuple[int, int],
    ends: Ends,
    directions: Directions,
    part_: Part,
    forces: Floats,
    work: Work,
    live: Floats,
    j: int,
) -> tuple[Handle, tuple[int, int]]:
    """Add the forces on the ends of a step, and begin with the unit loads there; `waiting` counts those further in."""
    count, left = waiting
    while left > 0 and ends.step[part_.ends[left - 1]] == j:
        left -= 1
        here = _pulled(here, ends, work, part_.ends[left], forces)
    while count > 0 and ends.step[directions.end[part_.directions[count - 1]]] == j:
        count -= 1
        _unit_load(ends, directions, work, part_.directions[count], live, count)
    return here, (count, left)


@inlined
def _freed_joint(
    here: Handle,
    spent: Spent,
    tree: Tree,
    joints: Joints,
    tau: Floats,
    part_: Part,
    work: Work,
    reduction: Reduction,
    live: Floats,
    j: int,
) -> tuple[Handle, Spent, int]:
    """Take the velocities of a joint out of what is beyond it; which of them moves nothing with inertia, or -1."""
    view = ArticulatedWork(work.omega, work.bias, work.column, work.pull, work.excess, work.pivot)
    stuck = -1
    for c in range(joints.last[j] - 1, joints.first[j] - 1, -1):
        k = joints.members[c]
        here, spent, lost = freed(here, spent, tau, view, k, tree.armature[k])
        _felt(part_, work, reduction, live, j, k)
        stuck = k if lost else stuck
    return biased(here, vector(work.bias, j, 0), vector(work.bias, j, 3)), spent, stuck


@inlined
def _hand_loads(live: Floats, turn: Matrix, offset: Vector) -> None:
    for r in range(len(live)):
        n, f = to_parent(turn, offset, vector(live, r, 0), vector(live, r, 3))
        put(live, r, 0, n)
        put(live, r, 3, f)


@inlined
def _keep_loads(live: Floats, loads: Floats, slot: int, part_: Part) -> None:
    for r in range(len(live)):
        for c in range(6):
            loads[slot, part_.directions[r], c] += live[r, c]
            live[r, c] = 0.0


@inlined
def _pulled(here: Handle, ends: Ends, work: Work, e: int, forces: Floats) -> Handle:
    """The bias of a step on which a force acts at an end."""
    force = back(matrix(work.place, ends.step[e], 0), vector(forces, e, 0))
    moment = cross(vector(ends.point, e, 0), force)
    return here[0], here[1], here[2], plus(here[3], scaled(-1.0, moment)), plus(here[4], scaled(-1.0, force))


@inlined
def _unit_load(ends: Ends, directions: Directions, work: Work, d: int, live: Floats, r: int) -> None:
    """Begin with a unit force or moment, in the axes of the step it acts on."""
    e, axis = directions.end[d], directions.axis[d]
    j = ends.step[e]
    first = 3 * (axis % 3)
    unit = vector(work.place, j, first)  # a row of the axes: an axis of the ground seen from the step
    if axis < 3:
        add(live, r, 0, cross(vector(ends.point, e, 0), unit))
        add(live, r, 3, unit)
    else:
        add(live, r, 0, unit)


@inlined
def _felt(part_: Part, work: Work, reduction: Reduction, live: Floats, j: int, k: int) -> None:
    """What a velocity feels of all loads, taken out of them; it adds to compliance and free acceleration."""
    column, other = vector(work.column, k, 0), vector(work.column, k, 3)
    n, f = vector(work.pull, k, 0), vector(work.pull, k, 3)
    inverse = 1.0 / work.pivot[k]
    still = work.excess[k] - dot(n, vector(work.still, j, 0)) - dot(f, vector(work.still, j, 3))
    for r in range(part_.directions.size):
        push = dot(column, vector(live, r, 0)) + dot(other, vector(live, r, 3))
        d = part_.directions[r]
        work.push[k, d] = push
        share = push * inverse
        add(live, r, 0, scaled(-share, n))
        add(live, r, 3, scaled(-share, f))
        reduction.free[d] += share * still
        for s in range(r + 1):
            reduction.compliance[d, part_.directions[s]] += share * work.push[k, part_.directions[s]]


@loop
def recovered(
    tree: Tree,
    joints: Joints,
    linear: Linear,
    part_: Part,
    q: Floats,
    v: Floats,
    work: Work,
    multipliers: Floats,
    reach: Floats,
) -> None:
    """Accelerations of a part under forces along its directions; `reach` holds those of steps that carry several."""
    moving = MotionArrays(work.step, linear.slope, q, v, v)
    angular, linear_ = vector(reach, 0, 0), vector(reach, 0, 3)
    for run in range(len(part_.spans)):
        for j in range(part_.spans[run, 0], part_.spans[run, 1]):
            parent = tree.link[j, PARENT]
            if parent != j - 1 or j == part_.spans[run, 0]:
                angular, linear_ = vector(reach, tree.link[parent, SLOT], 0), vector(reach, tree.link[parent, SLOT], 3)
            turn, offset = placed(tree, moving, j)
            angular, linear_ = propagated_motion(turn, offset, angular, linear_)
            if joints.closes[j]:
                angular, linear_ = plus(angular, vector(work.bias, j, 0)), plus(linear_, vector(work.bias, j, 3))
                for c in range(joints.first[j], joints.last[j]):
                    k = joints.members[c]
                    excess = work.excess[k]
                    for d in part_.directions:
                        excess += work.push[k, d] * multipliers[d]
                    pull = dot(vector(work.pull, k, 0), angular) + dot(vector(work.pull, k, 3), linear_)
                    work.result[k] = (excess - pull) / work.pivot[k]
                    angular = plus(angular, scaled(work.result[k], vector(work.column, k, 0)))
                    linear_ = plus(linear_, scaled(work.result[k], vector(work.column, k, 3)))
            if tree.link[j, SLOT] >= 0:
                put(reach, tree.link[j, SLOT], 0, angular)
                put(reach, tree.link[j, SLOT], 3, linear_)
