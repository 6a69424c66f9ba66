"""Steps of runs over chains, compiled throughout: each worker moves its own chains and the body they hang on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinegraph.jit.marks import call_with, inlined, loop, part
from kinegraph.large.algebra import copy
from kinegraph.large.chains.closing import closed
from kinegraph.large.chains.inwards import recovered, reduced
from kinegraph.large.chains.outwards import moved_outwards
from kinegraph.large.chains.records import END, Closing, Directions, Ends, Part, Reduction, Work
from kinegraph.large.records import SLOT, Floats, Integers, Joints, Linear, Tree


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
