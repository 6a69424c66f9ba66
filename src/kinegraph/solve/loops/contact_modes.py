"""From a state to the next mode of every contact: impacts first, then forces, then which contacts act, slip and stick.

A contact takes part if its gap is zero. If it closes with a speed, there is an impact. Contacts that neither close nor
open then get forces that obey Coulomb's law, or open. `solve.contacts.transition` decides with the same functions in
the cases that `decide` leaves to Python: the first mode of a run, rebounds that accumulate, contacts that depend on
each other, and states without a solution.
"""

from __future__ import annotations

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import part
from kinegraph.solve.loops.contact_forces import are_independent, respond
from kinegraph.solve.loops.contact_memory import (
    CLOSED,
    CONE,
    DRAG,
    HELD,
    HOLD,
    IMPACT,
    JAM,
    MARGIN,
    MODE,
    POISSON,
    RELEASE,
    REST,
    SEQUENTIAL,
    SLIP,
    SLIP_MARGIN,
    SLIPS,
    STICKS,
    WATCHED,
    Contacts,
    ContactView,
    observe_contacts,
)
from kinegraph.solve.loops.contact_tolerances import (
    ACCUMULATED,
    BELOW,
    CALM,
    CONE_MARGIN,
    FLOOR,
    FORCE_MARGIN,
    GAINED,
    MOST_IMPACTS,
    RESOLVED,
    SHIFT,
    SLIP_ACCELERATION,
    STILL,
    SUDDEN,
    UNRESOLVED,
    UNSEEN,
)
from kinegraph.solve.loops.step import System

# Results of an impact: the velocities afterwards are known, or why they are not.
POSSIBLE, NO_IMPULSE, CREATES_ENERGY = range(3)

NEVER = 1e300  # the time of a rebound that does not occur
_FIRST, _SHORTEST = 1 / 8, 1e-13  # the first step of a rebound, as a part of its time; and its lower limit


@part
def decide(system: System, contacts: Contacts, t: float, state: Floats) -> float:
    """Decide on the mode after an event that ended one; contacts.closed: the contacts whose gap ended it.

    Writes the new mode to contacts.fresh, the new state to `trial`. Returns the time of the shortest rebound, NEVER
    where there is none, or -1 where Python has to decide.
    """
    contacts.jammed[:] = 0
    observe_contacts(system, contacts, t, state, contacts.first)
    find_closed(contacts, contacts.first)
    for d in range(len(state)):
        contacts.trial[d] = state[d]
    if collide(contacts, contacts.first) != POSSIBLE:
        return -1.0
    observe_contacts(system, contacts, t, contacts.trial, contacts.after)
    find_still(contacts, contacts.first, contacts.after, True)
    find_resting(contacts, contacts.after)
    if not find_forces(system, contacts, contacts.after, t):
        return -1.0
    shortest = shortest_rebound(contacts, contacts.after)
    if shortest < 0.0 or not find_modes(contacts, contacts.after):
        return -1.0
    return shortest


@part
def first_step_of(fixed: bool, begin: float, rebound: float, left: float) -> float:
    """The first step of a phase: `begin`, or short beside a rebound that ends in the time left."""
    if fixed or rebound >= left:
        return begin
    careful = max(_FIRST * rebound, _SHORTEST)
    return min(careful, begin) if begin > 0.0 else careful


@part
def below(view: ContactView, k: int) -> float:
    """Gaps up to this are closed: they are rounding."""
    return float(BELOW * view.spans[k] + FLOOR)


@part
def margin(view: ContactView, k: int) -> float:
    """How far a gap that rests at zero may fall below zero: more than events take for rounding."""
    return below(view, k) + float(UNSEEN * view.reaches[k])


@part
def find_closed(contacts: Contacts, view: ContactView) -> None:
    """Contacts that take part: those whose gap is due, that were closed, or whose gap is zero."""
    for k in range(len(contacts.closed)):
        limit = margin(view, k) if contacts.modes[k, HELD] > 0.0 else below(view, k)
        if contacts.modes[k, CLOSED] > 0.0 or view.gaps[k] <= limit:
            contacts.closed[k] = 1


@part
def find_still(contacts: Contacts, first: ContactView, view: ContactView, modes: bool) -> None:
    """Velocities of rows that count as zero, beside those around them and those that forces cause at once.

    modes: after slip in the current mode, the margin of the slip counts, too.
    """
    fastest = quickest = 0.0
    for row in range(len(view.rates)):
        fastest = max(fastest, first.speeds[row], view.speeds[row])
        quickest = max(quickest, abs(view.free[row]))
    for row in range(len(view.rates)):
        contacts.still[row] = STILL * fastest + SUDDEN * contacts.duration * quickest + 1e-300
    if not modes:
        return
    for k in range(len(contacts.modes)):
        if contacts.modes[k, WATCHED] == SLIP:
            margin = contacts.modes[k, SLIP_MARGIN]
            wide = 4.0 * (margin if contacts.slips[k] == 1 else margin**0.5)
            for place in range(contacts.slips[k]):
                row = contacts.normals[k] + 1 + place
                contacts.still[row] = max(contacts.still[row], wide)


# impacts


@part
def closes(contacts: Contacts, view: ContactView) -> bool:
    """Whether a contact that takes part closes with a speed."""
    find_still(contacts, view, view, False)
    for k in range(len(contacts.closed)):
        row = contacts.normals[k]
        if contacts.closed[k] and not view.rates[row] >= -contacts.still[row]:
            return True
    return False


@part
def collide(contacts: Contacts, view: ContactView) -> int:
    """Let contacts impact that close with a speed: `trial` gets the velocities afterwards. Says whether it can be."""
    contacts.hit[:] = 0
    if not closes(contacts, view):
        return POSSIBLE
    closed = 0
    for k in range(len(contacts.closed)):
        closed += contacts.closed[k]
    for row in range(len(view.rates)):
        contacts.rates[row], contacts.impulse[row] = view.rates[row], 0.0
    if contacts.counts[SEQUENTIAL] and closed > 1:
        done = one_by_one(contacts, view)
    else:
        done = together(contacts, view, contacts.closed, 1.0)
    if not done:
        return NO_IMPULSE
    for k in range(len(contacts.closed)):
        contacts.hit[k] = 1 if contacts.closed[k] and contacts.impulse[contacts.normals[k]] > 0.0 else 0
    push(contacts, view)
    return CREATES_ENERGY if creates_energy(contacts, view) else POSSIBLE


@part
def together(contacts: Contacts, view: ContactView, who: Integers, bounce: float) -> bool:
    """One impact of the given contacts, from the current rates; bounce: 0 without restitution, else 1.

    By Newton's law the normal velocities are reversed, by Poisson's law the impulses of compression are repeated.
    """
    newton = not contacts.counts[POISSON]
    for row in range(len(contacts.rates)):
        contacts.right[row] = contacts.rates[row]
    for k in range(len(who)):
        if who[k] and newton:
            row = contacts.normals[k]
            contacts.right[row] += bounce * contacts.restitution[k] * min(contacts.rates[row], 0.0)
    contacts.known[:] = 0
    if not respond(contacts, view.compliance, who):
        return False
    add(contacts, view)
    if newton or bounce == 0.0:
        return True
    return expand(contacts, view, who)


@part
def expand(contacts: Contacts, view: ContactView, who: Integers) -> bool:
    """Poisson's expansion: at least the given part of the impulses of compression (Glocker)."""
    for k in range(len(who)):
        contacts.prior[k] = contacts.restitution[k] * contacts.forces[contacts.normals[k]] if who[k] else 0.0
    for row in range(len(contacts.rates)):
        contacts.right[row] = contacts.rates[row]
    contacts.known[:] = 0
    found = respond(contacts, view.compliance, who)
    contacts.prior[:] = 0.0
    add(contacts, view)
    return bool(found)


@part
def add(contacts: Contacts, view: ContactView) -> None:
    """Add the forces to the impulses, and update the rates."""
    for row in range(len(contacts.forces)):
        contacts.impulse[row] += contacts.forces[row]
    for row in range(len(contacts.rates)):
        total = view.rates[row]
        for other in range(len(contacts.rates)):
            total += view.compliance[row, other] * contacts.impulse[other]
        contacts.rates[row] = total


@part
def one_by_one(contacts: Contacts, view: ContactView) -> bool:
    """The fastest closing contact first, alone, until none closes; any rest is taken together, without restitution."""
    largest = 0.0
    for k in range(len(contacts.closed)):
        if contacts.closed[k]:
            largest = max(largest, abs(view.rates[contacts.normals[k]]))
    for _ in range(MOST_IMPACTS):
        fastest = fastest_closing(contacts, view, CALM * largest)
        if fastest < 0:
            break
        for k in range(len(contacts.alone)):
            contacts.alone[k] = 1 if k == fastest else 0
        if not together(contacts, view, contacts.alone, 1.0):
            return False
    for k in range(len(contacts.closed)):
        if contacts.closed[k] and contacts.rates[contacts.normals[k]] < 0.0:
            return together(contacts, view, contacts.closed, 0.0)
    return True


@part
def fastest_closing(contacts: Contacts, view: ContactView, calm: float) -> int:
    """The contact that closes fastest, relative to its compliance; -1 where none closes any more."""
    found, most, closing = -1, 0.0, False
    for k in range(len(contacts.closed)):
        if not contacts.closed[k]:
            continue
        row = contacts.normals[k]
        closing = closing or contacts.rates[row] < -max(contacts.still[row], calm)
        speed = -contacts.rates[row] / view.compliance[row, row] ** 0.5
        if found < 0 or speed > most:
            found, most = k, speed
    return found if closing else -1


@part
def push(contacts: Contacts, view: ContactView) -> None:
    """Apply the impulses to the velocities of `trial`."""
    for row in range(len(contacts.impulse)):
        if contacts.impulse[row] != 0.0:
            for d in range(view.responses.shape[1]):
                contacts.trial[contacts.velocities + d] += contacts.impulse[row] * view.responses[row, d]


@part
def creates_energy(contacts: Contacts, view: ContactView) -> bool:
    """Whether the impulses add more energy than rounding: with friction, a restitution law may."""
    gained = level = 0.0
    for row in range(len(view.rates)):
        change = 0.0
        for other in range(len(view.rates)):
            change += view.compliance[row, other] * contacts.impulse[other]
        gained += contacts.impulse[row] * (view.rates[row] + 0.5 * change)
        level += abs(contacts.impulse[row] * view.rates[row])
    return not gained <= GAINED * level


# forces


@part
def find_resting(contacts: Contacts, view: ContactView) -> None:
    """Contacts that neither open nor close."""
    for k in range(len(contacts.closed)):
        row = contacts.normals[k]
        contacts.resting[k] = 1 if contacts.closed[k] and view.rates[row] <= contacts.still[row] else 0


@part
def find_noise(system: System, contacts: Contacts, t: float) -> None:
    """How much rounding may change accelerations of rows: the effect of moving the state a little to both sides."""
    for side in range(2):
        for d in range(len(contacts.trial)):
            # not all in the same direction, which may change nothing
            step = SHIFT * (1.0 + abs(contacts.trial[d])) * (1.0 if d % 2 == 0 else -0.7)
            contacts.shift[d] = contacts.trial[d] + (step if side == 0 else -step)
        observe_contacts(system, contacts, t, contacts.shift, contacts.probe)
        for row in range(len(contacts.noise)):
            if side == 0:
                contacts.noise[row] = contacts.probe.free[row]
            else:
                contacts.noise[row] = abs(contacts.noise[row] - contacts.probe.free[row])


@part
def find_forces(system: System, contacts: Contacts, view: ContactView, t: float) -> bool:
    """The forces of contacts that rest at `trial`; whether there are any that obey the laws."""
    contacts.noise[:] = 0.0
    contacts.forces[:] = 0.0
    contacts.acts[:] = 0
    contacts.known[:] = 0
    resting = 0
    for k in range(len(contacts.resting)):
        resting += contacts.resting[k]
        if contacts.resting[k] and contacts.friction[k] > 0.0:
            find_drag(contacts, view, k)
    if resting == 0:
        return True
    find_noise(system, contacts, t)
    for row in range(len(view.free)):
        contacts.right[row] = 0.0 if abs(view.free[row]) <= contacts.noise[row] else view.free[row]
    return respond(contacts, view.compliance, contacts.resting)


@part
def find_drag(contacts: Contacts, view: ContactView, k: int) -> None:
    """The friction force per normal force of a contact that slips."""
    square = 0.0
    for place in range(contacts.slips[k]):
        row = contacts.normals[k] + 1 + place
        square += view.rates[row] ** 2
        if abs(view.rates[row]) > contacts.still[row]:
            contacts.known[k] = 1
    for place in range(contacts.slips[k]):
        slip = view.rates[contacts.normals[k] + 1 + place]
        contacts.drag[k, place] = -contacts.friction[k] * slip / square**0.5 if contacts.known[k] else 0.0


@part
def acceleration(contacts: Contacts, view: ContactView, row: int) -> float:
    """The acceleration of a row with the forces."""
    total = view.free[row]
    for other in range(len(contacts.forces)):
        total += view.compliance[row, other] * contacts.forces[other]
    return float(total)


@part
def rebound_of(contacts: Contacts, view: ContactView, k: int) -> tuple[float, float]:
    """The speed of a contact that opens, and the acceleration back; both zero where the contact does not rebound."""
    row = contacts.normals[k]
    if not contacts.closed[k] or contacts.resting[k] or not view.rates[row] > 0.0:
        return 0.0, 0.0
    speed, back = float(view.rates[row]), -acceleration(contacts, view, row)
    if not back > 0.0:
        return 0.0, 0.0
    return speed, back


@part
def time_left(contacts: Contacts, k: int, speed: float, back: float) -> float:
    """The time until all rebounds that follow this one are over (a Zeno sequence)."""
    return 2.0 * speed / back / float(max(1.0 - contacts.restitution[k], 1e-300))


@part
def is_over(contacts: Contacts, view: ContactView, k: int, speed: float, back: float, coarse: float) -> bool:
    """Whether a rebound and its followers are over within a moment, or lower than rounding; coarse: times so much."""
    if time_left(contacts, k, speed, back) < ACCUMULATED * contacts.duration:
        return True
    return bool(0.5 * speed * speed / back < coarse * (RESOLVED * view.spans[k] + UNRESOLVED * view.reaches[k]))


@part
def shortest_rebound(contacts: Contacts, view: ContactView) -> float:
    """The time of the shortest rebound, NEVER without one; -1 where a sequence of rebounds is over in a moment."""
    shortest, hit = NEVER, False
    for k in range(len(contacts.hit)):
        hit = hit or contacts.hit[k] == 1
    for k in range(len(contacts.closed)):
        speed, back = rebound_of(contacts, view, k)
        if back == 0.0:
            continue
        if hit and is_over(contacts, view, k, speed, back, 1.0):
            return -1.0
        shortest = min(shortest, 2.0 * speed / back)
    return shortest


# modes


@part
def find_modes(contacts: Contacts, view: ContactView) -> bool:
    """The modes from the forces; False where the rows that act are not clearly independent, and Python decides."""
    contacts.fresh[:] = 0.0
    count = 0
    for k in range(len(contacts.acts)):
        if contacts.acts[k]:
            contacts.problem.order[count] = contacts.normals[k]
            count += 1
    for k in range(len(contacts.acts)):
        if contacts.acts[k] and contacts.friction[k] > 0.0:
            if contacts.known[k] and not is_slipping(contacts, view, k):
                contacts.known[k] = 0
            for place in range(0 if contacts.known[k] else contacts.slips[k]):
                contacts.problem.order[count] = contacts.normals[k] + 1 + place
                count += 1
    if not are_independent(contacts.square, view.compliance, contacts.problem.order, count):
        return False
    for k in range(len(contacts.acts)):
        if contacts.acts[k]:
            close(contacts, view, k)
        elif not leave_open(contacts, view, k):
            return False
    return True


@part
def is_slipping(contacts: Contacts, view: ContactView, k: int) -> bool:
    """Whether a contact whose friction is at its limit slips, or begins to. Other contacts may hold it."""
    for place in range(contacts.slips[k]):
        row = contacts.normals[k] + 1 + place
        if abs(view.rates[row]) > contacts.still[row]:
            return True
        if abs(acceleration(contacts, view, row)) > SLIP_ACCELERATION * level_of(contacts, view, row):
            return True
    return False


@part
def level_of(contacts: Contacts, view: ContactView, row: int) -> float:
    """The size of the terms whose sum is the acceleration of a row."""
    total = abs(view.free[row])
    for other in range(len(contacts.forces)):
        total += abs(view.compliance[row, other] * contacts.forces[other])
    return float(total)


@part
def leave_open(contacts: Contacts, view: ContactView, k: int) -> bool:
    """The mode of an open contact; False where the closed ones may hold it."""
    missing = max(0.0, -view.gaps[k]) if contacts.closed[k] else 0.0
    contacts.fresh[k, MARGIN] = missing
    if not contacts.resting[k]:
        return True
    count = 0
    for other in range(len(contacts.acts)):
        if contacts.acts[other] or other == k:
            contacts.problem.order[count] = contacts.normals[other]
            count += 1
    contacts.fresh[k, MARGIN] = missing + margin(view, k)
    return bool(are_independent(contacts.square, view.compliance, contacts.problem.order, count))


@part
def close(contacts: Contacts, view: ContactView, k: int) -> None:
    """The mode of a contact whose force acts."""
    row = contacts.normals[k]
    mode = contacts.fresh[k]
    level, loudest, least = level_of(contacts, view, row) / view.compliance[row, row], 0.0, contacts.still[0]
    for other in range(len(contacts.noise)):
        loudest, least = max(loudest, contacts.noise[other]), min(least, contacts.still[other])
    rounding = 4.0 * loudest / view.compliance[row, row]
    mode[CLOSED], mode[MARGIN] = 1.0, FORCE_MARGIN * level + rounding
    if contacts.friction[k] == 0.0 or contacts.slips[k] == 0:
        return
    if contacts.known[k]:
        mode[WATCHED], mode[SLIP_MARGIN] = SLIP, least if contacts.slips[k] == 1 else least * least
        for place in range(contacts.slips[k]):
            mode[DRAG + place] = contacts.drag[k, place]
        return
    most = contacts.friction[k] * level
    mode[STICKS], mode[WATCHED] = 1.0, CONE
    mode[SLIP_MARGIN] = CONE_MARGIN * most**2 + most * rounding + rounding**2


@part
def adopt(contacts: Contacts) -> None:
    """The fresh mode becomes the current mode."""
    for k in range(len(contacts.modes)):
        for item in range(MODE):
            contacts.modes[k, item] = contacts.fresh[k, item]


@part
def has_changed(contacts: Contacts, k: int, change: int) -> bool:
    """Whether a contact changes in this manner (IMPACT to STICK) from the current mode to the fresh one."""
    old, new = contacts.modes[k], contacts.fresh[k]
    was, now = old[CLOSED] + old[HELD] > 0.0, new[CLOSED] + new[HELD] > 0.0
    if change == IMPACT:
        return bool(contacts.hit[k] > 0)
    if change == JAM:
        return bool(contacts.jammed[k] > 0)
    if change == REST:
        return bool(now and not was and not new[HELD] > 0.0)
    if change == HOLD:
        return bool(new[HELD] > old[HELD])
    if change == RELEASE:
        return bool(was and not now)
    turned = contacts.slips[k] == 1 and new[DRAG] * old[DRAG] < 0.0
    changed = new[WATCHED] != old[WATCHED] or (new[WATCHED] == SLIP and turned)
    return bool(was and now and changed and new[WATCHED] == (SLIP if change == SLIPS else CONE))
