"""From the tips of a chain inwards: its articulated inertia, what unit forces at its ends do; then outwards again."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from kinegraph.jit.marks import inlined, loop
from kinegraph.large.algebra import add, back, cross, dot, matrix, plus, put, scaled, vector
from kinegraph.large.articulated import (
    NO_HANDLE,
    Articulated,
    Handle,
    add_handle,
    biased,
    freed,
    handed,
    has_inertia,
    joined,
    rigid,
    stored_handle,
)
from kinegraph.large.chains.records import Directions, Ends, Part, Reduction, Work
from kinegraph.large.kinematics import placed, propagated_motion, to_parent
from kinegraph.large.records import PARENT, SLOT, Floats, Joints, Linear, Matrix, MotionArrays, Tree, Vector

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
    view = Articulated(work.omega, work.bias, work.column, work.pull, work.excess, work.pivot)
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
