"""Steps with rigid contacts: the compiled loops of `kg.simulator(contacts=...)`.

A step is one of the classical Runge-Kutta method, in which the contact forces that stayed the same in the steps before
act as constant forces. At its end the shapes that touch are found, and impulses are chosen so that no contact
approaches (`impulses`). Each contact knows when in the step it closed: its gap and rates determine a parabola. A step
is divided at impacts, where impulses act at once. All others act evenly, so a body at rest stays where it is. What
still overlaps is pushed apart without changing a velocity.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import loop, part
from kinegraph.solve.loops.collision_points import CollisionPoints
from kinegraph.solve.loops.collision_shapes import Vector, across, cross
from kinegraph.solve.loops.contact_model import (
    BANK,
    BEGAN,
    BEGUN,
    CLOSES,
    COUNT,
    FALL,
    FORCE,
    FORCES,
    GAP,
    GAPS,
    HIT,
    LIFT,
    LIFTED,
    MOMENT,
    NORMAL,
    PAIR,
    POINT,
    POSITIONS,
    REBOUND,
    RESIDUAL,
    SHARE,
    VELOCITIES,
    WATCHED,
    ContactMemory,
    ContactModel,
)  # fmt: skip
from kinegraph.solve.loops.contact_passing import place_before, unseen_after
from kinegraph.solve.loops.contact_rows import (
    factor,
    find_candidates,
    held_response,
    make_rows,
    respond,
    second_half,
)
from kinegraph.solve.loops.impulse_rows import Rows
from kinegraph.solve.loops.impulses import energy_gain, solve_impulses, solve_pushes
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import LEFT, LOOPS_OPEN, NOT_A_NUMBER, RUNNING, System, Work, project
from kinegraph.solve.loops.stepping import BASE, STEP, TIME, advance_clock, runge_kutta_step
from kinegraph.solve.loops.stepping import COUNT as COUNTED

#: How a step ended: more contacts than there is memory for; the mass matrix is not positive definite.
TOO_MANY_CONTACTS, NO_MASS = 20, 21

#: A gap below this part of the typical length is closed.
CLOSED = 1e-9

#: Constant forces may move a gap by this part of the typical length.
FAR = 1e-2

#: A step has at most so many parts, each found by so many tries; the shortest, and how exactly it ends at an impact.
MOST_PARTS, TRIES, SHORTEST, LATE = 12, 12, 1e-9, 1e-6

#: A step has at most so many parts that end before a fast shape could pass another.
MOST_PASSED = 200


@part
def contact_step(
    system: System, work: Work, model: ContactModel, memory: ContactMemory, previous: Floats, t: float, h: float
) -> int:
    """Take a step from y, in parts that end at impacts; says how it ended. Constant forces are at the end of x.

    If it fails, y is as before.
    """
    size, begun, left = len(work.y), t, h
    for d in range(size):
        memory.saved[d] = work.y[d]
    parts, passed = 0, 0
    while left > 0.0:
        length, low = left, 0.0
        place_before(work, model, memory, begun)
        ending = approach(system, work, model, memory, previous, begun, length, h)
        if ending == RUNNING and passed < MOST_PASSED:
            safe = unseen_after(model, memory, length)
            if safe < length:
                passed, length = passed + 1, max(safe, SHORTEST * h)
                ending = approach(system, work, model, memory, previous, begun, length, h)
        high, parts = length, parts + 1
        for _ in range(TRIES if parts - passed < MOST_PARTS else 0):
            if ending != RUNNING:
                break
            at = first_impact(memory, length, h)
            if at < length - 2.0 * LATE * h:
                high = length
                length = min(at + 0.01 * (high - at), at + LATE * h) if at > low else 0.5 * (low + high)
            elif at <= length or length >= high:  # the part ends at an impact, or there is none
                break
            else:
                low = length
                length = 0.5 * (low + high) if high - low > LATE * h else high
            ending = approach(system, work, model, memory, previous, begun, length, h)
        if ending == RUNNING:
            ending = finish(system, work, model, memory, previous, begun, length, h)
        if ending != RUNNING:
            for d in range(size):
                work.y[d] = memory.saved[d]
            return int(ending)
        for d in range(size):
            work.y[d] = work.x[d]
        begun, left = begun + length, left - length
    return RUNNING


@part
def approach(
    system: System,
    work: Work,
    model: ContactModel,
    memory: ContactMemory,
    previous: Floats,
    t: float,
    h: float,
    whole: float,
) -> int:
    """x[:n] after h without impulses, and the rows of all that touches then. whole: the length of the whole step.

    Constant forces that are far out of balance do not act: a light body between heavy ones would be thrown far away,
    to be brought back by impulses.
    """
    ending = free_motion(system, work, model, memory, previous, t, h, whole)
    if ending == RUNNING and not balanced(model, memory, h):
        for d in range(model.sizes[VELOCITIES]):
            work.x[model.sizes[FORCES] + d] = 0.0
        ending = free_motion(system, work, model, memory, previous, t, h, whole)
    return int(ending)


@part
def balanced(model: ContactModel, memory: ContactMemory, h: float) -> bool:
    """Whether constant forces move gaps about as far as the other forces do, and not far."""
    lift, fall = 0.0, 0.0
    for contact in range(memory.rows.sizes[1]):
        lift, fall = max(lift, memory.facts[contact, LIFTED]), max(fall, abs(memory.facts[contact, FALL]))
    return lift <= min(5.0 * h * h * fall, FAR * model.shapes.scale)


@part
def free_motion(
    system: System,
    work: Work,
    model: ContactModel,
    memory: ContactMemory,
    previous: Floats,
    t: float,
    h: float,
    whole: float,
) -> int:
    """x[:n] after h with constant forces only, and the rows of all that touches then."""
    ending = runge_kutta_step(system, work, t, h)
    if ending != RUNNING:
        return int(ending)
    slack = CLOSED * model.shapes.scale
    memory.rows.sizes[0], memory.rows.sizes[1] = 0, 0
    work.x[len(work.y)] = t + h
    if not find_candidates(work, model, memory, slack + 2.0 * previous[0, LIFT] + previous[0, WATCHED]):
        return TOO_MANY_CONTACTS
    if memory.touches.total[0] == 0 and not has_forces(model, work.x):
        return RUNNING
    call(model.motion, work.x, memory.motion, 0)
    if model.sizes[GAPS] > 0:
        call(model.gap_rows, work.x, memory.gap_rows, 0)
    if not model.inverse and not factor(model, memory):
        return NO_MASS
    held_response(model, memory, work.x)
    make_rows(work, model, memory, slack + previous[0, WATCHED], h)
    prepare(model, memory, slack, h, whole)
    return RUNNING


@part
def first_impact(memory: ContactMemory, length: float, whole: float) -> float:
    """When the first contact hits that is faster than anything falls in two steps; beyond the end if none does."""
    found, fall = 2.0 * whole, 0.0
    for contact in range(memory.rows.sizes[1]):
        fall = max(fall, abs(memory.facts[contact, FALL]))
    for contact in range(memory.rows.sizes[1]):
        facts = memory.facts[contact]
        if -facts[HIT] > 2.0 * fall * whole:
            found = min(found, max(facts[CLOSES], SHORTEST * whole), length)
    return found


@part
def finish(
    system: System,
    work: Work,
    model: ContactModel,
    memory: ContactMemory,
    previous: Floats,
    t: float,
    h: float,
    whole: float,
) -> int:
    """Impulses at the end of a part of a step, and the state after them."""
    if memory.rows.sizes[1] == 0 and not has_forces(model, work.x):
        for k in range(BEGUN):
            previous[0, k] = 0.0
        previous[0, BEGUN] = 1.0
        return RUNNING
    respond(model, memory)
    warm_start(model, memory, previous, h)
    solve(model, memory, previous)
    if first_impact(memory, h, whole) <= h:
        answer_at_once(memory, previous, h)
    ending = move(system, work, model, memory, previous, t, h)
    if ending == RUNNING:
        keep_contacts(work, model, memory, previous, h, whole)
    return int(ending)


@part
def has_forces(model: ContactModel, x: Floats) -> bool:
    """Whether constant forces act."""
    size = 0.0
    for d in range(model.sizes[VELOCITIES]):
        size += abs(x[model.sizes[FORCES] + d])
    return size > 0.0


# ---- Impulses


@part
def prepare(model: ContactModel, memory: ContactMemory, slack: float, h: float, whole: float) -> None:
    """Targets of all normal rows, and the part of the step for which each impulse acts.

    In the step a gap is g + c s + a s^2 / 2, with its rates before and at the end. Where it is zero the contact closes.
    It rebounds, or stays closed if it would rebound less than it accelerates in the whole step. A
    contact that is still open may not approach by more than its gap in the next step, unless it will rebound there.
    """
    rows, fastest = memory.rows, 0.0
    for contact in range(rows.sizes[1]):
        if rows.bounds[contact] == 0.0:
            fastest = max(fastest, -rows.free[rows.first[contact]])
    for contact in range(rows.sizes[1]):
        facts, row = memory.facts[contact], rows.first[contact]
        began, ended = facts[BEGAN], rows.free[row]
        acceleration, gap = (ended - began) / h, memory.ahead[contact]
        facts[FALL] = acceleration
        if rows.bounds[contact] > 0.0:
            facts[FALL], facts[REBOUND], facts[SHARE], facts[HIT], facts[CLOSES] = 0.0, 0.0, 0.5, 0.0, h
            continue
        if gap > slack:
            bounces = -model.restitution[memory.touches.pairs[contact]] * ended > abs(acceleration) * whole
            rows.targets[row] = -1e300 if bounces else -gap / whole
            facts[REBOUND], facts[SHARE], facts[HIT], facts[CLOSES] = 0.0, 0.5, 0.0, h
            continue
        at = closing_time(gap - 0.5 * h * (began + ended), began, acceleration, h)
        speed = min(0.0, began + acceleration * at)
        left = h - at
        rebound = -model.restitution[memory.touches.pairs[contact]] * speed
        bounces = rebound > abs(acceleration) * whole
        facts[REBOUND], facts[HIT], facts[CLOSES] = rebound if bounces else 0.0, speed, at
        if bounces:
            rows.targets[row] = max(0.0, rebound + acceleration * left)
            facts[SHARE] = left / h
        else:
            facts[SHARE] = share_of(-ended, -speed, -acceleration, left, h, fastest)


@part
def share_of(stopped: float, speed: float, fall: float, left: float, h: float, fastest: float) -> float:
    """The part of the step for which an impulse acts that stops an approach: at once what hits, evenly what falls.

    An impulse that only carries what others stop acts evenly; `fastest` is the largest approach.
    """
    if not (stopped > 0.0 and left < h):
        return 0.5
    own = min(left * (speed + 0.5 * max(0.0, fall) * left) / (h * stopped), left / h)
    return 0.5 + min(1.0, 10.0 * stopped / fastest) * (own - 0.5)


@part
def answer_at_once(memory: ContactMemory, previous: Floats, h: float) -> None:
    """In a part that ends at an impact, contacts that were there before carry it at once: all beyond their force."""
    rows = memory.rows
    for contact in range(rows.sizes[1]):
        found = memory.earlier[contact]
        if found > 0 and memory.facts[contact, HIT] == 0.0 and rows.bounds[contact] == 0.0:
            before, now = 0.0, 0.0
            for d in range(3):
                before += (h * previous[found, FORCE + d]) ** 2
            for i in range(rows.first[contact], rows.first[contact] + min(rows.widths[contact], 3)):
                now += rows.impulses[i] ** 2
            if now > before:
                memory.facts[contact, SHARE] *= sqrt(before / now)


@part
def closing_time(gap: float, rate: float, acceleration: float, h: float) -> float:
    """The first time at which gap + rate s + acceleration s^2 / 2 is zero, from 0 to h."""
    if gap <= 0.0:
        return 0.0
    square = rate * rate - 2.0 * acceleration * gap
    if square < 0.0:
        return h
    below = sqrt(square) - rate
    return min(2.0 * gap / below, h) if below > 0.0 else h


@part
def warm_start(model: ContactModel, memory: ContactMemory, previous: Floats, h: float) -> None:
    """Begin with the impulses of the step before, by pair and nearest point."""
    rows, touches = memory.rows, memory.touches
    for contact in range(rows.sizes[1]):
        found = earlier_contact(touches, previous, contact)
        memory.earlier[contact] = found
        if found > 0:
            row, width = rows.first[contact], rows.widths[contact]
            for i in range(width):
                rows.impulses[row + i] = h * along_row(model, touches, contact, previous[found], i)


@part
def earlier_contact(touches: CollisionPoints, previous: Floats, contact: int) -> int:
    """The row of `previous` with the same contact; 0 if it is new."""
    best, least = 0, 1e300
    for k in range(1, int(previous[0, COUNT]) + 1):
        if previous[k, PAIR] == touches.pairs[contact]:
            square = 0.0
            for d in range(3):
                square += (previous[k, POINT + d] - touches.points[contact, d]) ** 2
            if square < least:
                best, least = k, square
    return best


@part
def along_row(model: ContactModel, touches: CollisionPoints, contact: int, previous: Floats, i: int) -> float:
    """The part of a previous force along a row of a contact."""
    if touches.pairs[contact] >= len(model.shapes.pairs):
        return float(previous[FORCE + i])
    d = direction(touches, contact, i % 3)
    at = FORCE if i < 3 else MOMENT
    return float(previous[at] * d[0] + previous[at + 1] * d[1] + previous[at + 2] * d[2])


@part
def direction(touches: CollisionPoints, contact: int, i: int) -> Vector:
    """The normal of a contact or one of the two directions along its surface."""
    normal = (touches.normals[contact, 0], touches.normals[contact, 1], touches.normals[contact, 2])
    if i == 0:
        return normal
    side = across(normal)
    return side if i == 1 else cross(normal, side)


@part
def solve(model: ContactModel, memory: ContactMemory, previous: Floats) -> None:
    """All impulses. Rebounds become smaller where they would add energy, as with several contacts and friction."""
    rows = memory.rows
    fastest, bounces = 0.0, False
    for i in range(rows.sizes[0]):
        fastest = max(fastest, abs(rows.free[i]))
    for contact in range(rows.sizes[1]):
        bounces = bounces or memory.facts[contact, REBOUND] > 0.0
    previous[0, RESIDUAL] = solve_impulses(rows, model.tolerance * fastest, model.rounds)
    factor = 1.0
    while bounces and factor > 0.0 and energy_gain(rows) > 1e-12 * fastest * total_impulse(rows):
        smaller = factor - 0.125
        for contact in range(rows.sizes[1]):
            if memory.facts[contact, REBOUND] > 0.0:
                rows.targets[rows.first[contact]] *= smaller / factor
        factor = smaller
        previous[0, RESIDUAL] = solve_impulses(rows, model.tolerance * fastest, model.rounds)


@part
def total_impulse(rows: Rows) -> float:
    """The sum of all impulses without sign."""
    total = 0.0
    for i in range(rows.sizes[0]):
        total += abs(rows.impulses[i])
    return total


# ---- The state after the step


@part
def move(
    system: System, work: Work, model: ContactModel, memory: ContactMemory, previous: Floats, t: float, h: float
) -> int:
    """Velocities after the impulses, and positions."""
    rows, n, start = memory.rows, model.sizes[VELOCITIES], model.sizes[POSITIONS]
    for d in range(n):
        memory.shift[d], memory.change[d] = 0.0, 0.0
    for contact in range(rows.sizes[1]):
        share = h * memory.facts[contact, SHARE]
        for row in range(rows.first[contact], rows.first[contact] + rows.widths[contact]):
            impulse = rows.impulses[row]
            if impulse != 0.0:
                for d in range(n):
                    memory.change[d] += impulse * rows.responses[row, d]
                    memory.shift[d] += share * impulse * rows.responses[row, d]
    push_apart(model, memory, previous, h)
    second_half(model, memory, memory.change)
    second_half(model, memory, memory.shift)
    for d in range(n):
        work.x[start + d] += memory.change[d] - h * memory.held[d]
        memory.shift[d] -= 0.5 * h * h * memory.held[d]
    displace(work, model, memory)
    project(system, work, t + h)
    for d in range(len(work.y)):
        if not isfinite(work.x[d]):
            return NOT_A_NUMBER
    if system.projection != 0 and work.projected[LEFT] > 0.0:
        return LOOPS_OPEN
    return RUNNING


@part
def push_apart(model: ContactModel, memory: ContactMemory, previous: Floats, h: float) -> None:
    """Displacements for gaps that would be negative at the end of the step.

    They cost energy where they act against gravity or other forces. After the first step they give back no more than
    the impulses took, so contacts never add energy.
    """
    rows, worst = memory.rows, 0.0
    previous[0, BANK] += max(0.0, -energy_gain(rows))
    for contact in range(rows.sizes[1]):
        gap, n = memory.ahead[contact], rows.first[contact]
        for other in range(rows.sizes[1]):
            share = h * memory.facts[other, SHARE]
            for row in range(rows.first[other], rows.first[other] + rows.widths[other]):
                gap += share * rows.impulses[row] * rows.matrix[n, row]
        memory.ahead[contact] = gap if rows.bounds[contact] == 0.0 else 0.0
        worst = min(worst, memory.ahead[contact])
    least = 1e-3 * CLOSED * model.shapes.scale
    if worst >= -least:
        return
    solve_pushes(rows, memory.ahead, memory.pushes, least, model.rounds)
    cost = 0.0
    for contact in range(rows.sizes[1]):
        cost -= memory.pushes[contact] * memory.facts[contact, FALL]
    part_of = 1.0
    if previous[0, BEGUN] > 0.0 and cost > previous[0, BANK]:
        part_of = previous[0, BANK] / cost
    previous[0, BANK] = max(0.0, previous[0, BANK] - part_of * cost)
    for contact in range(rows.sizes[1]):
        for d in range(model.sizes[VELOCITIES]):
            memory.shift[d] += part_of * memory.pushes[contact] * rows.responses[rows.first[contact], d]


@part
def displace(work: Work, model: ContactModel, memory: ContactMemory) -> None:
    """Add a displacement of the velocities' kind to the positions."""
    n, start = model.sizes[VELOCITIES], model.sizes[POSITIONS]
    for d in range(n):
        memory.back[d] = work.x[start + d]
        work.x[start + d] = memory.shift[d]
    call(model.moves, work.x, memory.moves, 0)
    for d in range(n):
        work.x[start + d] = memory.back[d]
    for d in range(start):
        work.x[d] += memory.moves[d]


@part
def keep_contacts(
    work: Work, model: ContactModel, memory: ContactMemory, previous: Floats, h: float, whole: float
) -> None:
    """Keep forces for the next step: as a first guess, and as constant forces where they stay the same."""
    rows, touches, n = memory.rows, memory.touches, model.sizes[VELOCITIES]
    force, lift, fastest = model.sizes[FORCES], 0.0, 0.0
    over = h if h > 0.1 * whole else whole  # short parts are impacts
    for d in range(n):
        work.x[force + d] = 0.0
    for contact in range(rows.sizes[1]):
        row, width = rows.first[contact], rows.widths[contact]
        lift, fastest = max(lift, memory.facts[contact, LIFTED]), max(fastest, abs(memory.facts[contact, FALL]))
        total_force(model, memory, contact, over)
        if steady(memory, previous, contact):
            columns, pair = model.columns, touches.pairs[contact]
            for i in range(width):
                for a in range(columns.first_pair[pair], columns.first_pair[pair + 1]):
                    d = columns.pairs[a]
                    work.x[force + d] += rows.impulses[row + i] / over * rows.jacobian[row + i, d]
    for contact in range(rows.sizes[1]):
        target = previous[contact + 1]
        target[PAIR], target[GAP] = touches.pairs[contact], memory.ahead[contact]
        for d in range(3):
            target[POINT + d], target[NORMAL + d] = touches.points[contact, d], touches.normals[contact, d]
        for d in range(6):
            target[FORCE + d] = memory.wrenches[contact, d]
    previous[0, COUNT], previous[0, LIFT], previous[0, WATCHED], previous[0, BEGUN] = (
        rows.sizes[1], lift, 2.0 * whole * whole * fastest, 1.0,
    )  # fmt: skip


@part
def steady(memory: ContactMemory, previous: Floats, contact: int) -> bool:
    """Whether a force changed by less than half since the step before."""
    found = memory.earlier[contact]
    if found <= 0:
        return False
    change, size = 0.0, 0.0
    for d in range(6):
        change += (memory.wrenches[contact, d] - previous[found, FORCE + d]) ** 2
        size += previous[found, FORCE + d] ** 2
    return change <= 0.25 * size


@part
def total_force(model: ContactModel, memory: ContactMemory, contact: int, h: float) -> None:
    """The mean force and moment of a contact in the step, in fixed axes; along its rows if it is given by a gap."""
    rows, touches, wrench = memory.rows, memory.touches, memory.wrenches[contact]
    for d in range(6):
        wrench[d] = 0.0
    for i in range(rows.widths[contact]):
        value = rows.impulses[rows.first[contact] + i] / h
        if touches.pairs[contact] >= len(model.shapes.pairs):
            wrench[i] = value
            continue
        axis, at = direction(touches, contact, i % 3), 0 if i < 3 else 3
        wrench[at] += value * axis[0]
        wrench[at + 1] += value * axis[1]
        wrench[at + 2] += value * axis[2]


# ---- Loops


@loop
def take_contact_steps(
    system: System, work: Work, model: ContactModel, memory: ContactMemory, previous: Floats, clock: Floats, count: int
) -> int:
    """Take `count` steps; a step that fails ends them and leaves state and time as they were before it."""
    return contact_steps(system, work, model, memory, previous, clock, count)


@part
def contact_steps(
    system: System, work: Work, model: ContactModel, memory: ContactMemory, previous: Floats, clock: Floats, count: int
) -> int:
    """Take `count` steps; a step that fails ends them and leaves state and time as they were before it."""
    for _ in range(count):
        ending = contact_step(system, work, model, memory, previous, clock[TIME], clock[STEP])
        if ending != RUNNING:
            return int(ending)
        advance_clock(clock)
    return RUNNING


class ContactRows(NamedTuple):
    """Trajectories of a block: states, inputs, parameters, constant forces, previous contacts and endings by row."""

    states: Floats
    inputs: Floats
    parameters: Floats
    forces: Floats
    previous: Floats
    endings: Integers


@loop
def take_contact_steps_of_rows(
    system: System, rows: ContactRows, work: Work, model: ContactModel, memory: ContactMemory, clock: Floats, count: int
) -> int:
    """Take `count` steps with every row of a block; how each ended is in `rows.endings`. The clock is a copy."""
    failed, base, steps = 0, clock[BASE], clock[COUNTED]
    for row in range(len(rows.states)):
        clock[BASE], clock[COUNTED] = base, steps
        clock[TIME] = base + steps * clock[STEP]
        rows.endings[row] = steps_of_row(system, rows, row, work, model, memory, clock, count)
        failed += rows.endings[row] != RUNNING
    clock[COUNTED] = steps + count
    clock[TIME] = base + clock[COUNTED] * clock[STEP]
    return int(failed)


@part
def steps_of_row(
    system: System, rows: ContactRows, row: int, work: Work, model: ContactModel, memory: ContactMemory,
    clock: Floats, count: int,
) -> int:  # fmt: skip
    """The steps of one row."""
    size, inputs, parameters = len(work.y), rows.inputs.shape[1], rows.parameters.shape[1]
    for d in range(size):
        work.y[d] = rows.states[row, d]
    for k in range(inputs):
        work.x[size + 1 + k] = rows.inputs[row, k]
    for k in range(parameters):
        work.x[size + 1 + inputs + k] = rows.parameters[row, k]
    for k in range(rows.forces.shape[1]):
        work.x[size + 1 + inputs + parameters + k] = rows.forces[row, k]
    ending = contact_steps(system, work, model, memory, rows.previous[row], clock, count)
    for d in range(size):
        rows.states[row, d] = work.y[d]
    for k in range(rows.forces.shape[1]):
        rows.forces[row, k] = work.x[size + 1 + inputs + parameters + k]
    return ending
