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
from kinegraph.codegen.kernel import Code
from kinegraph.jit.marks import loop, part
from kinegraph.solve.loops.collision_points import CollisionMemory, CollisionPoints, append_point, find_collisions
from kinegraph.solve.loops.collision_shapes import Shapes, Vector, across, cross, place_shapes
from kinegraph.solve.loops.impulses import Rows, energy_gain, solve_impulses, solve_pushes
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import LEFT, LOOPS_OPEN, NOT_A_NUMBER, RUNNING, System, Work, project
from kinegraph.solve.loops.stepping import BASE, STEP, TIME, advance_clock, runge_kutta_step
from kinegraph.solve.loops.stepping import COUNT as COUNTED

#: How a step ended: more contacts than there is memory for; the mass matrix is not positive definite.
TOO_MANY_CONTACTS, NO_MASS = 20, 21

#: A gap below this part of the typical length is closed.
CLOSED = 1e-9

#: A step has at most so many parts, each found by so many tries; the shortest, and how exactly it ends at an impact.
MOST_PARTS, TRIES, SHORTEST, LATE = 12, 12, 1e-9, 1e-6

# The columns of `previous`. Its first row holds how many contacts there are, the last change of a rate (m/s), how far
# constant forces moved a gap in the step, how far gaps may be open that are still watched, the energy that impulses
# took and pushes have not given back, and 1 after the first step.
PAIR, POINT, NORMAL, GAP, FORCE, MOMENT = 0, 1, 4, 7, 8, 11
COLUMNS = 14
COUNT, RESIDUAL, LIFT, WATCHED, BANK, BEGUN = range(6)


class ContactModel(NamedTuple):
    """What touches, and how. The fixed frame is body 0 and has no entries.

    poses, motion: kernels x -> 4 x 4 poses of all bodies; x -> their velocities, Jacobians, and the inertia matrix (or
    its inverse on what constraints allow, if `inverse`). moves: x with v as a displacement -> that of q. gaps,
    gap_rows: kernels of the contacts that are given by gaps: values; rates and Jacobian of their rows.
    friction, restitution, bounds, widths: of pairs, then of gaps. The bound is the dry friction of a joint, as a force,
    and 0 of a contact. Rows of dry friction have the gap 0 at all times.
    """

    poses: Code
    motion: Code
    moves: Code
    gaps: Code
    gap_rows: Code
    inverse: bool
    sizes: Integers
    gap_first: Integers
    shapes: Shapes
    friction: Floats
    restitution: Floats
    bounds: Floats
    widths: Integers
    tolerance: float
    rounds: int


# Entries of `sizes`: positions, velocities, bodies, contacts by gaps, and where in x constant forces begin.
POSITIONS, VELOCITIES, BODIES, GAPS, FORCES = range(5)


class ContactMemory(NamedTuple):
    """Memory of one step.

    back: the way back from the velocities at its end to those before; shift: a displacement; held: the accelerations
    by constant forces. ahead: gaps at the end without constant forces. earlier: the same contact in `previous`.
    saved: y before the step.
    """

    poses: Floats
    motion: Floats
    moves: Floats
    gaps: Floats
    gap_rows: Floats
    collisions: CollisionMemory
    touches: CollisionPoints
    rows: Rows
    inertia: Floats
    shift: Floats
    back: Floats
    held: Floats
    facts: Floats
    pushes: Floats
    ahead: Floats
    wrenches: Floats
    earlier: Integers
    saved: Floats


# The columns of `facts`, of each contact: how fast its gap changed before the step; how far constant forces moved it;
# the part of the step for which its impulse acts; its rebound; the acceleration of its gap; the speed and the time at
# which it closes.
BEGAN, LIFTED, SHARE, REBOUND, FALL, HIT, CLOSES = range(7)
FACTS = 7


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
    for count in range(MOST_PARTS):
        length, low, high = left, 0.0, left
        ending = approach(system, work, model, memory, previous, begun, length, h)
        for _ in range(TRIES if count + 1 < MOST_PARTS else 0):
            if ending != RUNNING:
                break
            at = first_impact(memory, length, h)
            if at < length - LATE * h:
                high = length
                length = at if at > low else 0.5 * (low + high)
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
        if not left > 0.0:
            break
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
    """x[:n] after h without impulses, and the rows of all that touches then. whole: the length of the whole step."""
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


@part
def find_candidates(work: Work, model: ContactModel, memory: ContactMemory, margin: float) -> bool:
    """All contacts within the margin; False if there is no room. Contacts by gaps have pairs after those of shapes."""
    touches = memory.touches
    touches.total[0] = 0
    if len(model.shapes.pairs) > 0:
        if model.sizes[BODIES] > 0:
            call(model.poses, work.x, memory.poses, 0)
        place_shapes(model.shapes, memory.poses, memory.collisions.frames)
        if not find_collisions(model.shapes, memory.collisions, margin, touches):
            return False
    if model.sizes[GAPS] > 0:
        call(model.gaps, work.x, memory.gaps, 0)
        for k in range(model.sizes[GAPS]):
            found = memory.gaps[k] <= margin
            if found and not append_point(touches, len(model.shapes.pairs) + k, _NOWHERE, _NOWHERE, memory.gaps[k]):
                return False
    return True


_NOWHERE = (0.0, 0.0, 0.0)


# ---- The response to forces


@part
def factor(model: ContactModel, memory: ContactMemory) -> bool:
    """The Cholesky factor of the inertia matrix, from the end, so that branches of a tree stay apart."""
    n, start = model.sizes[VELOCITIES], inertia_place(model)
    h = memory.inertia
    for i in range(n):
        for j in range(n):
            h[i, j] = memory.motion[start + i * n + j]
    for k in range(n - 1, -1, -1):
        if not h[k, k] > 0.0:
            return False
        h[k, k] = sqrt(h[k, k])
        for j in range(k):
            h[k, j] /= h[k, k]
        for i in range(k):
            if h[k, i] != 0.0:
                for j in range(i + 1):
                    h[i, j] -= h[k, i] * h[k, j]
    return True


@part
def inertia_place(model: ContactModel) -> int:
    """Where the inertia matrix begins."""
    bodies = model.sizes[BODIES]
    return int(6 * bodies * (1 + model.sizes[VELOCITIES]))


@part
def answer(model: ContactModel, memory: ContactMemory, force: Floats, found: Floats) -> None:
    """H^-1 times a force."""
    n, h = model.sizes[VELOCITIES], memory.inertia
    if model.inverse:
        start = inertia_place(model)
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += memory.motion[start + i * n + j] * force[j]
            found[i] = total
        return
    for i in range(n):
        found[i] = force[i]
    for k in range(n - 1, -1, -1):  # H = U^T U with the rows of U in `inertia`
        if found[k] != 0.0:
            found[k] /= h[k, k]
            for j in range(k):
                found[j] -= h[k, j] * found[k]
    for k in range(n):
        total = found[k]
        for j in range(k):
            total -= h[k, j] * found[j]
        found[k] = total / h[k, k]


@part
def held_response(model: ContactModel, memory: ContactMemory, x: Floats) -> None:
    """The accelerations that the constant forces cause."""
    n = model.sizes[VELOCITIES]
    for d in range(n):
        memory.back[d] = x[model.sizes[FORCES] + d]
    answer(model, memory, memory.back, memory.held)


# ---- Rows


@part
def make_rows(work: Work, model: ContactModel, memory: ContactMemory, slack: float, h: float) -> None:
    """The rows of all contacts whose gaps would be smaller without the constant forces; others are dropped."""
    rows, touches, n = memory.rows, memory.touches, model.sizes[VELOCITIES]
    for d in range(n):
        place = model.sizes[POSITIONS] + d
        memory.back[d] = work.y[place] - work.x[place]
    row, taken = 0, 0
    for k in range(touches.total[0]):
        pair = touches.pairs[k]
        width = model.widths[pair]
        if pair < len(model.shapes.pairs):
            shape_rows(model, memory, k, row, width)
        else:
            rows_of_gap(model, memory, pair - len(model.shapes.pairs), row, width)
        bound = h * model.bounds[pair]
        lift = 0.5 * h * h * inner(rows.jacobian[row], memory.held, n) if bound == 0.0 else 0.0
        if touches.gaps[k] - lift > slack:
            continue
        memory.facts[taken, BEGAN] = rows.rates[row] + inner(rows.jacobian[row], memory.back, n)
        memory.facts[taken, LIFTED] = abs(lift)
        memory.ahead[taken] = touches.gaps[k] - lift
        for i in range(width):
            rows.free[row + i] = rows.rates[row + i] - h * inner(rows.jacobian[row + i], memory.held, n)
            rows.targets[row + i], rows.impulses[row + i] = 0.0, 0.0
        rows.first[taken], rows.widths[taken], rows.bounds[taken] = row, width, bound
        for d in range(3):
            rows.friction[taken, d] = model.friction[pair, d]
        move_contact(touches, k, taken)
        row, taken = row + width, taken + 1
    rows.sizes[0], rows.sizes[1] = row, taken
    touches.total[0] = taken


@part
def move_contact(touches: CollisionPoints, source: int, target: int) -> None:
    """Copy a contact to an earlier place."""
    touches.pairs[target], touches.gaps[target] = touches.pairs[source], touches.gaps[source]
    for d in range(3):
        touches.points[target, d] = touches.points[source, d]
        touches.normals[target, d] = touches.normals[source, d]


@part
def shape_rows(model: ContactModel, memory: ContactMemory, k: int, row: int, width: int) -> None:
    """The rows of a contact of two shapes; their rates with the velocities at the end of the step."""
    touches, rows = memory.touches, memory.rows
    pair = touches.pairs[k]
    point = (touches.points[k, 0], touches.points[k, 1], touches.points[k, 2])
    normal = (touches.normals[k, 0], touches.normals[k, 1], touches.normals[k, 2])
    side = across(normal)
    for i in range(width):
        rows.rates[row + i] = 0.0
        for d in range(model.sizes[VELOCITIES]):
            rows.jacobian[row + i, d] = 0.0
    for end in range(2):
        body = model.shapes.bodies[model.shapes.pairs[pair, end]] - 1
        if body >= 0:
            sign = 1.0 if end == 1 else -1.0
            add_row(model, memory, body, point, normal, sign, row, False)
            if width >= 3:
                add_row(model, memory, body, point, side, sign, row + 1, False)
                add_row(model, memory, body, point, cross(normal, side), sign, row + 2, False)
            if width >= 4:
                add_row(model, memory, body, point, normal, sign, row + 3, True)
            if width == 6:
                add_row(model, memory, body, point, side, sign, row + 4, True)
                add_row(model, memory, body, point, cross(normal, side), sign, row + 5, True)


@part
def add_row(
    model: ContactModel, memory: ContactMemory, body: int, point: Vector, d: Vector, sign: float, row: int, turn: bool
) -> None:
    """Add the velocity (or angular velocity) of a body's point along d."""
    n, poses, motion, rows = model.sizes[VELOCITIES], memory.poses, memory.motion, memory.rows
    arm = (point[0] - poses[16 * body + 3], point[1] - poses[16 * body + 7], point[2] - poses[16 * body + 11])
    moment = d if turn else cross(arm, d)
    force = _NOWHERE if turn else d
    x, y, z = sign * force[0], sign * force[1], sign * force[2]
    a, b, c = sign * moment[0], sign * moment[1], sign * moment[2]
    v = 6 * body
    rows.rates[row] += x * motion[v] + y * motion[v + 1] + z * motion[v + 2]
    rows.rates[row] += a * motion[v + 3] + b * motion[v + 4] + c * motion[v + 5]
    at = 6 * model.sizes[BODIES] + 6 * n * body
    for k in range(n):
        total = x * motion[at + k] + y * motion[at + n + k] + z * motion[at + 2 * n + k]
        total += a * motion[at + 3 * n + k] + b * motion[at + 4 * n + k] + c * motion[at + 5 * n + k]
        rows.jacobian[row, k] += total


@part
def rows_of_gap(model: ContactModel, memory: ContactMemory, gap: int, row: int, width: int) -> None:
    """The rows of a contact that is given by a gap."""
    rows, n = memory.rows, model.sizes[VELOCITIES]
    first, total = model.gap_first[gap], model.gap_first[model.sizes[GAPS]]
    for i in range(width):
        rows.rates[row + i] = memory.gap_rows[first + i]
        for d in range(n):
            rows.jacobian[row + i, d] = memory.gap_rows[total + (first + i) * n + d]


@part
def inner(row: Floats, values: Floats, n: int) -> float:
    """The inner product of the first n entries."""
    total = 0.0
    for d in range(n):
        total += row[d] * values[d]
    return total


# ---- Impulses


@part
def respond(model: ContactModel, memory: ContactMemory) -> None:
    """The responses of all rows, and the matrix J H^-1 J^T."""
    rows, n = memory.rows, model.sizes[VELOCITIES]
    for i in range(rows.sizes[0]):
        answer(model, memory, rows.jacobian[i], rows.responses[i])
    for i in range(rows.sizes[0]):
        for j in range(i + 1):
            total = inner(rows.jacobian[i], rows.responses[j], n)
            rows.matrix[i, j], rows.matrix[j, i] = total, total


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
        memory.shift[d] = -0.5 * h * h * memory.held[d]
        work.x[start + d] -= h * memory.held[d]
    for contact in range(rows.sizes[1]):
        share = h * memory.facts[contact, SHARE]
        for row in range(rows.first[contact], rows.first[contact] + rows.widths[contact]):
            impulse = rows.impulses[row]
            if impulse != 0.0:
                for d in range(n):
                    work.x[start + d] += impulse * rows.responses[row, d]
                    memory.shift[d] += share * impulse * rows.responses[row, d]
    push_apart(model, memory, previous, h)
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
            for i in range(width):
                for d in range(n):
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
