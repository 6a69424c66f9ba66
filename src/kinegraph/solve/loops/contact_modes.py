"""Contact modes decided in compiled loops: impacts, rest, release, slip and stick.

`solve.contacts.transition` says what is decided and why; this module does the same for the usual cases. Python
decides on the first mode of a run, rebounds that accumulate, contacts that depend on each other, friction along
two directions that may stick, and broken laws.
"""

from __future__ import annotations

from kinegraph.jit.marks import part
from kinegraph.solve.loops.contact_forces import are_independent, is_linear, respond
from kinegraph.solve.loops.contact_memory import (
    CLOSED,
    CONE,
    DRAG,
    HELD,
    MARGIN,
    MODE,
    POISSON,
    SEQUENTIAL,
    SLIP,
    SLIP_MARGIN,
    STICKS,
    WATCHED,
    Contacts,
    ContactView,
    look,
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
from kinegraph.solve.loops.marks import Floats, Integers
from kinegraph.solve.loops.step import System


@part
def decide(system: System, contacts: Contacts, t: float, state: Floats) -> float:
    """Decide on the mode after an event that ended one; contacts.closed says which gaps did.

    The new mode is left in contacts.fresh, the new state in `trial`. Returns how long the shortest rebound takes,
    infinity where there is none, or -1 where Python is to decide.
    """
    first, after = contacts.first, contacts.after
    look(system, contacts, t, state, first)
    find_closed(contacts, first)
    for d in range(len(state)):
        contacts.trial[d] = state[d]
    if closes(contacts, first):
        if not impact(contacts, first):
            return -1.0
    else:
        contacts.hit[:] = 0
    look(system, contacts, t, contacts.trial, after)
    find_still(contacts, first, after, True)
    resting = find_resting(contacts, after)
    contacts.noise[:] = 0.0
    contacts.forces[:] = 0.0
    contacts.acts[:] = 0
    if resting:
        find_noise(system, contacts, t)
        if not find_forces(contacts, after):
            return -1.0
    shortest = rebound(contacts, after)
    if shortest < 0.0 or not find_modes(contacts, after):
        return -1.0
    return shortest


@part
def below(view: ContactView, k: int) -> float:
    """Gaps up to this are closed."""
    return float(BELOW * view.spans[k] + FLOOR)


@part
def margin(view: ContactView, k: int) -> float:
    """What a gap that rests at zero may go below it."""
    return below(view, k) + float(UNSEEN * view.reaches[k])


@part
def find_closed(contacts: Contacts, view: ContactView) -> None:
    """Contacts that take part: those that are due, were closed, or have no gap."""
    for k in range(len(contacts.closed)):
        limit = margin(view, k) if contacts.modes[k, HELD] > 0.0 else below(view, k)
        if contacts.modes[k, CLOSED] > 0.0 or view.gaps[k] <= limit:
            contacts.closed[k] = 1


@part
def find_still(contacts: Contacts, first: ContactView, view: ContactView, modes: bool) -> None:
    """Velocities of rows that count as zero."""
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
def impact(contacts: Contacts, view: ContactView) -> bool:
    """Impulses, and the velocities afterwards in `trial`. Whether loops can tell."""
    closed = 0
    for k in range(len(contacts.closed)):
        closed += contacts.closed[k]
        contacts.known[k] = 0
    for row in range(len(view.rates)):
        contacts.rates[row], contacts.impulse[row] = view.rates[row], 0.0
    if not is_linear(contacts, contacts.closed):
        return False
    if contacts.counts[SEQUENTIAL] and closed > 1:
        done = one_by_one(contacts, view)
    else:
        done = together(contacts, view, contacts.closed, 1.0)
    for k in range(len(contacts.closed)):
        contacts.hit[k] = 1 if contacts.closed[k] and contacts.impulse[contacts.normals[k]] > 0.0 else 0
    push(contacts, view)
    return done and not creates_energy(contacts, view)


@part
def together(contacts: Contacts, view: ContactView, who: Integers, bounce: float) -> bool:
    """One impact of the contacts given, from the rates at hand; bounce: 0 without any restitution, else 1."""
    newton = not contacts.counts[POISSON]
    for row in range(len(contacts.rates)):
        contacts.right[row] = contacts.rates[row]
    for k in range(len(who)):
        if who[k] and newton:
            row = contacts.normals[k]
            contacts.right[row] += bounce * contacts.restitution[k] * min(contacts.rates[row], 0.0)
    if not forget_slip(contacts) or not respond(contacts, view.compliance, who):
        return False
    add(contacts, view)
    if newton or bounce == 0.0:
        return True
    return expand(contacts, view, who)


@part
def forget_slip(contacts: Contacts) -> bool:
    """No contact is known to slip."""
    for k in range(len(contacts.known)):
        contacts.known[k] = 0
    return True


@part
def expand(contacts: Contacts, view: ContactView, who: Integers) -> bool:
    """Poisson's second part: at least the given part of the impulses of compression, which are at hand."""
    for k in range(len(who)):
        contacts.prior[k] = contacts.restitution[k] * contacts.forces[contacts.normals[k]] if who[k] else 0.0
    for row in range(len(contacts.rates)):
        contacts.right[row] = contacts.rates[row]
        for k in range(len(who)):
            contacts.right[row] += view.compliance[row, contacts.normals[k]] * contacts.prior[k]
    found = forget_slip(contacts) and respond(contacts, view.compliance, who)
    contacts.prior[:] = 0.0
    add(contacts, view)
    return bool(found)


@part
def add(contacts: Contacts, view: ContactView) -> None:
    """Add the forces at hand to the impulses; rates follow."""
    for row in range(len(contacts.forces)):
        contacts.impulse[row] += contacts.forces[row]
    for row in range(len(contacts.rates)):
        total = view.rates[row]
        for other in range(len(contacts.rates)):
            total += view.compliance[row, other] * contacts.impulse[other]
        contacts.rates[row] = total


@part
def one_by_one(contacts: Contacts, view: ContactView) -> bool:
    """The fastest closing contact first, alone, until none closes; what is left at last is taken together."""
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
    """The contact that closes fastest beside its compliance; -1 where none closes any more."""
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
    """Add what the impulses do to the velocities of `trial`."""
    for row in range(len(contacts.impulse)):
        if contacts.impulse[row] != 0.0:
            for d in range(view.responses.shape[1]):
                contacts.trial[contacts.velocities + d] += contacts.impulse[row] * view.responses[row, d]


@part
def creates_energy(contacts: Contacts, view: ContactView) -> bool:
    """Whether the impulses bring more energy than rounding."""
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
def find_resting(contacts: Contacts, view: ContactView) -> bool:
    """Contacts that neither open nor close; whether there are any."""
    found = False
    for k in range(len(contacts.closed)):
        row = contacts.normals[k]
        contacts.resting[k] = 1 if contacts.closed[k] and view.rates[row] <= contacts.still[row] else 0
        found = found or contacts.resting[k] == 1
    return found


@part
def find_noise(system: System, contacts: Contacts, t: float) -> None:
    """What rounding may do to accelerations of rows, seen by moving the state a little to both sides."""
    for side in range(2):
        for d in range(len(contacts.trial)):
            step = SHIFT * (1.0 + abs(contacts.trial[d])) * (1.0 if d % 2 == 0 else -0.7)
            contacts.shift[d] = contacts.trial[d] + (step if side == 0 else -step)
        look(system, contacts, t, contacts.shift, contacts.probe)
        for row in range(len(contacts.noise)):
            if side == 0:
                contacts.noise[row] = contacts.probe.free[row]
            else:
                contacts.noise[row] = abs(contacts.noise[row] - contacts.probe.free[row])


@part
def find_forces(contacts: Contacts, view: ContactView) -> bool:
    """The forces of contacts that rest; whether loops can tell."""
    for row in range(len(view.free)):
        contacts.right[row] = 0.0 if abs(view.free[row]) <= contacts.noise[row] else view.free[row]
    for k in range(len(contacts.resting)):
        contacts.known[k] = 0
        if contacts.resting[k] and contacts.friction[k] > 0.0:
            find_drag(contacts, view, k)
    return is_linear(contacts, contacts.resting) and respond(contacts, view.compliance, contacts.resting)


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
    """Of a row, with the forces at hand."""
    total = view.free[row]
    for other in range(len(contacts.forces)):
        total += view.compliance[row, other] * contacts.forces[other]
    return float(total)


@part
def rebound(contacts: Contacts, view: ContactView) -> float:
    """How long the shortest rebound takes; -1 where a sequence of them is over in a moment."""
    shortest, hit = 1e300, False
    for k in range(len(contacts.hit)):
        hit = hit or contacts.hit[k] == 1
    for k in range(len(contacts.closed)):
        row = contacts.normals[k]
        if not contacts.closed[k] or contacts.resting[k] or not view.rates[row] > 0.0:
            continue
        speed, back = view.rates[row], -acceleration(contacts, view, row)
        if not back > 0.0:
            continue
        shortest = min(shortest, 2.0 * speed / back)
        left = 2.0 * speed / back / max(1.0 - contacts.restitution[k], 1e-300)
        hidden = RESOLVED * view.spans[k] + UNRESOLVED * view.reaches[k]
        if hit and (left < ACCUMULATED * contacts.duration or 0.5 * speed * speed / back < hidden):
            return -1.0
    return shortest


# modes


@part
def find_modes(contacts: Contacts, view: ContactView) -> bool:
    """The modes by the forces; whether all rows that act are clearly independent, else Python is to tell."""
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
    """Whether a contact whose friction is at its limit slips, or begins to."""
    for place in range(contacts.slips[k]):
        row = contacts.normals[k] + 1 + place
        if abs(view.rates[row]) > contacts.still[row]:
            return True
        if abs(acceleration(contacts, view, row)) > SLIP_ACCELERATION * level_of(contacts, view, row):
            return True
    return False


@part
def level_of(contacts: Contacts, view: ContactView, row: int) -> float:
    """The size of what the acceleration of a row is made of."""
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
    """The fresh mode becomes the one at hand."""
    for k in range(len(contacts.modes)):
        for item in range(MODE):
            contacts.modes[k, item] = contacts.fresh[k, item]
