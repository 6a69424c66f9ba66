"""Mode transitions: from a state to the next mode of every contact, by impacts first and then by forces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinegraph.model.mechanism import ImpactLaw, ImpactOrder
from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.contacts.friction import ActingContact, Response, respond
from kinegraph.solve.contacts.mode import ContactMode, ContactSet, ContactTrouble, Mode, Snapshot, Trouble, Watched
from kinegraph.solve.loops.contact_tolerances import (
    ACCUMULATED,
    CALM,
    CONE_MARGIN,
    FORCE_MARGIN,
    GAINED,
    MOST_IMPACTS,
    RESOLVED,
    SLIP_ACCELERATION,
    STILL,
    SUDDEN,
    UNRESOLVED,
)

# Impacts: the velocities after contacts have closed with a speed.
#
# Along the surface Coulomb's law holds for the impulses and the slip after the impact. No impact may create energy:
# where the law of restitution would, with friction, the run ends and says so.


def impulses(contacts: ContactSet, view: Snapshot, closed: Sequence[int], approach: Floats) -> Floats:
    """The impulse of every row. approach: speeds below are no approach."""
    if contacts.impacts.order is ImpactOrder.SIMULTANEOUS or len(closed) == 1:
        found = _together(contacts, view.compliance, view.rates, closed)
    else:
        found = _one_by_one(contacts, view, closed, approach)
    gained = float(found @ (view.rates + 0.5 * view.compliance @ found))
    level = float(np.abs(found) @ np.abs(view.rates))
    if gained > GAINED * level:
        raise ContactTrouble(Trouble.ENERGY, [contacts.names[k] for k in closed if found[contacts.normals[k]] > 0])
    return found


def _together(
    contacts: ContactSet, compliance: Floats, rates: Floats, closed: Sequence[int], plastic: bool = False
) -> Floats:
    """All of them at once; plastic: without any restitution."""
    bounce = {k: 0.0 if plastic else contacts.restitution[k] for k in closed}
    taken = [_acting(contacts, k) for k in closed]
    if contacts.impacts.law is ImpactLaw.POISSON:
        return _poisson(contacts, compliance, rates, taken, [bounce[k] for k in closed])
    q = rates.copy()
    for k in closed:
        row = contacts.normals[k]
        q[row] += bounce[k] * min(q[row], 0.0)
    return _solved(contacts, compliance, q, taken)


def _poisson(
    contacts: ContactSet, compliance: Floats, rates: Floats, taken: Sequence[ActingContact], bounce: Sequence[float]
) -> Floats:
    """Compression until nothing closes, then expansion with at least the given part of its impulses (Glocker)."""
    compression = _solved(contacts, compliance, rates, taken)
    if not any(bounce):
        return compression
    further = [
        ActingContact(one.normal, one.rows, one.friction, prior=ratio * float(compression[one.normal]))
        for one, ratio in zip(taken, bounce, strict=True)
    ]
    return compression + _solved(contacts, compliance, rates + compliance @ compression, further)


def _one_by_one(contacts: ContactSet, view: Snapshot, closed: Sequence[int], approach: Floats) -> Floats:
    """The fastest closing contact first, alone, until none closes; what is left at last is taken together."""
    rates, total = view.rates.copy(), np.zeros(len(view.rates))
    rows = np.array([contacts.normals[k] for k in closed])
    sizes = np.sqrt(view.compliance[rows, rows])
    limit = np.maximum(approach[rows], CALM * float(np.max(np.abs(rates[rows]))))
    for _ in range(MOST_IMPACTS):
        if np.all(rates[rows] >= -limit):
            break
        fastest = closed[int(np.argmin(rates[rows] / sizes))]
        found = _together(contacts, view.compliance, rates, [fastest])
        total += found
        rates = view.rates + view.compliance @ total
    if np.any(rates[rows] < 0.0):
        total += _together(contacts, view.compliance, rates, closed, plastic=True)
    return total


def _acting(contacts: ContactSet, k: int) -> ActingContact:
    rows = contacts.tangents(k) if contacts.friction[k] > 0.0 else ()
    return ActingContact(contacts.normals[k], rows, contacts.friction[k])


def _solved(contacts: ContactSet, compliance: Floats, q: Floats, taken: Sequence[ActingContact]) -> Floats:
    found = respond(compliance, q, taken)
    if found is None:
        names = [contacts.names[k] for k, row in enumerate(contacts.normals) if any(row == one.normal for one in taken)]
        raise ContactTrouble(Trouble.NO_IMPULSE, names)
    return found.forces


# Rows of closed contacts that depend on others: four legs of a table, two ends of a rod that both stick.
#
# The motion does not determine how they share the load. Those that are left out keep what they have: no normal force,
# or friction in a fixed ratio to the normal force.

_DEPENDENT = 1e-9  # what is left of a row of unit size after those before it


def without_dependent_normals(
    contacts: ContactSet, compliance: Floats, forces: Floats, acting: Sequence[int]
) -> list[int]:
    """Contacts whose normals are independent, so that all that is done can be done by forces that do not pull."""
    retained = list(acting)
    while len(retained) > 1:
        rows = [contacts.normals[k] for k in retained]
        scale = 1.0 / np.sqrt(np.diag(compliance)[rows])
        values, vectors = np.linalg.eigh(compliance[np.ix_(rows, rows)] * scale[:, None] * scale)
        if values[0] > _DEPENDENT:
            break
        shift = vectors[:, 0] * scale
        shift = shift if np.any(shift < 0.0) and np.min(shift) <= -np.max(shift) else -shift
        present = np.array([forces[row] for row in rows])
        ratios = np.where(shift < 0.0, present / np.where(shift < 0.0, -shift, 1.0), np.inf)
        retained.pop(int(np.argmin(ratios)))
    return retained


def independent_rows(
    contacts: ContactSet,
    compliance: Floats,
    acting: Sequence[int],
    sticking: Sequence[int],
    forces: Floats,
    extra: int | None = None,
) -> set[int]:
    """Of the sticking contacts (or of one more normal, `extra`) those whose rows depend on none before them."""
    taken = [contacts.normals[k] for k in acting]
    found: set[int] = set()
    if extra is not None:
        return {extra} if _independent(compliance, taken, [contacts.normals[extra]]) else set()
    for k in sorted(sticking, key=lambda k: _used(contacts, forces, k)):
        rows = list(contacts.tangents(k))
        if _independent(compliance, taken, rows):
            taken += rows
            found.add(k)
    return found


def _used(contacts: ContactSet, forces: Floats, k: int) -> float:
    """How much of its friction a contact needs; those that need least are the surest to go on sticking."""
    bound = contacts.friction[k] * float(forces[contacts.normals[k]])
    return float(np.linalg.norm(forces[list(contacts.tangents(k))])) / bound if bound > 0.0 else 1.0


def _independent(compliance: Floats, taken: Sequence[int], rows: Sequence[int]) -> bool:
    together = [*taken, *rows]
    scale = 1.0 / np.sqrt(np.maximum(np.diag(compliance)[together], 1e-300))
    matrix = compliance[np.ix_(together, together)] * scale[:, None] * scale
    return bool(np.linalg.eigvalsh(matrix)[0] > _DEPENDENT)


# The modes of contacts from their forces: which act, which slip, which are held by others, and how each may end.


def modes_of(
    contacts: ContactSet,
    view: Snapshot,
    still: Floats,
    noise: Floats,
    closed: Sequence[int],
    resting: Sequence[int],
    found: Response,
) -> Mode:
    """What every contact does from now on: which are closed, which slip and which stick."""
    acting = [k for k, acts in zip(resting, found.acts, strict=True) if acts]
    acting = without_dependent_normals(contacts, view.compliance, found.forces, acting)
    slips = {k: drag for k, drag in zip(resting, found.drags, strict=True) if k in acting and drag is not None}
    slips = {k: drag for k, drag in slips.items() if _slips(contacts, view, still, found.forces, k)}
    sticking = [k for k in acting if contacts.friction[k] > 0.0 and k not in slips]
    own = independent_rows(contacts, view.compliance, acting, sticking, found.forces)
    modes = []
    for k in range(len(contacts.names)):
        if k in acting:
            modes.append(_closed(contacts, view, still, noise, found.forces, k, slips.get(k), k in own))
        else:
            modes.append(_open(contacts, view, k, closed, resting, acting))
    return tuple(modes)


def _slips(contacts: ContactSet, view: Snapshot, still: Floats, forces: Floats, k: int) -> bool:
    """Whether a contact whose friction is at its limit slips, or begins to; others may hold it."""
    rows = list(contacts.tangents(k))
    level = np.abs(view.free[rows]) + np.abs(view.compliance[rows]) @ np.abs(forces)
    accelerations = view.free[rows] + view.compliance[rows] @ forces
    return bool(
        np.any(np.abs(view.rates[rows]) > still[rows]) or np.any(np.abs(accelerations) > SLIP_ACCELERATION * level)
    )


def _open(
    contacts: ContactSet, view: Snapshot, k: int, closed: Sequence[int], resting: Sequence[int], acting: Sequence[int]
) -> ContactMode:
    below = max(0.0, -float(view.gaps[k])) if k in closed else 0.0
    if k not in resting:
        return ContactMode(margin=below)
    independent = independent_rows(contacts, view.compliance, acting, [], view.free, extra=k)
    return ContactMode(held=not independent, margin=view.margin_below(k) + below)


def _closed(
    contacts: ContactSet,
    view: Snapshot,
    still: Floats,
    noise: Floats,
    forces: Floats,
    k: int,
    drag: tuple[float, ...] | None,
    own: bool,
) -> ContactMode:
    row, rows = contacts.normals[k], list(contacts.tangents(k))
    level = _level(view, forces, row)
    rounding = 4.0 * float(np.max(noise)) / float(view.compliance[row, row])
    margin = FORCE_MARGIN * level + rounding
    if contacts.friction[k] == 0.0:
        return ContactMode(closed=True, margin=margin, drag=(0.0,) * len(rows))
    if drag is not None:
        least = float(np.min(still))  # that of rows which did not slip before: margins must not grow
        slip_margin = least if len(rows) == 1 else least * least
        return ContactMode(True, drag=drag, watched=Watched.SLIP, margin=margin, slip_margin=slip_margin)
    if own:
        most = contacts.friction[k] * level
        slip_margin = CONE_MARGIN * most**2 + most * rounding + rounding**2
        return ContactMode(True, False, True, (), Watched.CONE, margin, slip_margin)
    ratio = tuple(float(part / forces[row]) if forces[row] > 0.0 else 0.0 for part in forces[rows])
    return ContactMode(closed=True, drag=ratio, margin=margin)


def _level(view: Snapshot, forces: Floats, row: int) -> float:
    """The size of what a force is made of."""
    total = abs(float(view.free[row])) + float(np.abs(view.compliance[row]) @ np.abs(forces))
    return total / float(view.compliance[row, row])


# Which mode a run goes on with from a state, and from which velocities: impacts first, then forces.
#
# A contact takes part if its gap is zero. If it closes with a speed there is an impact. A rebound whose followers would
# all be over within a moment (a Zeno sequence) is not taken: the contact stays closed. Then the contacts that neither
# close nor open get the forces that obey Coulomb's law, or open.

_PENETRATES = 1e-8
_MOST_TRIES = 8


@dataclass(frozen=True)
class ContactChange:
    """What happened to a contact (`impact`, `rest`, `held`, `release`, `slip`, `stick`, `jam`), and when."""

    contact: int
    word: str
    time: float


@dataclass(frozen=True)
class Rebound:
    """How long a rebound takes, and how high it goes."""

    time: float
    height: float


@dataclass(frozen=True)
class ModeDecision:
    """The mode to go on with, the state to go on from, what happened, and the shortest rebound, if there is one."""

    mode: Mode
    state: Floats
    happened: tuple[ContactChange, ...]
    rebound: Rebound | None = None


@dataclass
class _Course:
    """What has been found so far."""

    time: float
    state: Floats
    beginning: Floats
    captured: set[int] = field(default_factory=set)
    rest_at: dict[int, float] = field(default_factory=dict)
    hit: set[int] = field(default_factory=set)
    jammed: set[int] = field(default_factory=set)


def decide_mode(
    contacts: ContactSet,
    time: float,
    state: Floats,
    before: Mode | None,
    due: frozenset[int] = frozenset(),
    coarse: float = 1.0,
) -> ModeDecision:
    """The mode of a state; `before` is the mode the run comes from, None at its beginning.

    due: contacts whose conditions ended that mode. coarse: how much larger than usual rebounds may be that are not
    taken, where rounding keeps them from becoming smaller.
    """
    first = contacts.look(time, state)
    if before is None:
        _require_apart(contacts, first)
    closed = [k for k in range(len(contacts.names)) if k in due or _is_closed(first, before, k)]
    course = _Course(time, state, state)
    for _ in range(_MOST_TRIES + len(closed)):
        view = _impact(contacts, course, first, closed)
        still = _still(contacts, first, view, before)
        view = _hold(contacts, course, view, still, closed)
        resting = [k for k in closed if _stands(contacts, view, still, course, k)]
        noise = contacts.noise(time, course.state) if resting else np.zeros(len(view.free))
        found = _forces(contacts, view, still, noise, resting)
        if found is None:
            first = _jam(contacts, course, view, still, resting)
            course.beginning = course.state
        elif _capture(contacts, course, view, found, closed, resting, coarse):
            course.state = course.beginning
        else:
            modes = modes_of(contacts, view, still, noise, closed, resting, found)
            soonest = _soonest(contacts, view, found, closed, resting)
            return ModeDecision(modes, course.state, _happened(course, before, modes), soonest)
    raise ContactTrouble(Trouble.CHATTER, [contacts.names[k] for k in closed])


def _require_apart(contacts: ContactSet, view: Snapshot) -> None:
    for k, (gap, span) in enumerate(zip(view.gaps, view.spans, strict=True)):
        if gap < -_PENETRATES * span - 1e-15:
            raise ContactTrouble(Trouble.PENETRATES, [contacts.names[k]], f" ({gap:.6g})")


def _is_closed(view: Snapshot, before: Mode | None, k: int) -> bool:
    if before is not None and before[k].closed:
        return True
    held = before is not None and before[k].held
    return bool(view.gaps[k] <= (view.margin_below(k) if held else view.closed_below(k)))


def _still(contacts: ContactSet, first: Snapshot, view: Snapshot, before: Mode | None) -> Floats:
    """Velocities of rows that count as zero: beside those around them, and beside what forces bring about at once."""
    fastest = max(first.speeds.max(), view.speeds.max())
    sudden = SUDDEN * contacts.duration * np.abs(view.free).max()
    found = np.full(len(view.rates), STILL * fastest + sudden + 1e-300)
    for k, mode in enumerate(before or ()):
        rows = list(contacts.tangents(k))
        if mode.watched is Watched.SLIP:
            margin = mode.slip_margin if len(rows) == 1 else np.sqrt(mode.slip_margin)
            found[rows] = np.maximum(found[rows], 4.0 * margin)
    return found


# impacts


def _impact(contacts: ContactSet, course: _Course, view: Snapshot, closed: Sequence[int]) -> Snapshot:
    """Let those impact that close with a speed; the snapshot afterwards."""
    limit = _still(contacts, view, view, None)
    if all(view.rates[contacts.normals[k]] >= -limit[contacts.normals[k]] for k in closed):
        return view
    found = impulses(contacts, view, closed, limit)
    course.hit |= {k for k in closed if found[contacts.normals[k]] > 0.0}
    return _pushed(contacts, course, view, found)


def _hold(contacts: ContactSet, course: _Course, view: Snapshot, still: Floats, closed: Sequence[int]) -> Snapshot:
    """Take the last speed from contacts whose rebounds are over, and keep closed and sticking what is."""
    if not course.captured:
        return view
    standing = [k for k in closed if _stands(contacts, view, still, course, k)]
    rows = [contacts.normals[k] for k in standing]
    small = np.maximum(still, 10.0 * float(np.max(np.abs(view.rates[rows]))))
    for k in standing:
        sliding = contacts.tangents(k) if contacts.friction[k] > 0.0 else ()
        rows += sliding if all(abs(view.rates[row]) <= small[row] for row in sliding) else ()
    impulse = np.zeros(len(view.rates))
    impulse[rows] = -np.linalg.pinv(view.compliance[np.ix_(rows, rows)], hermitian=True) @ view.rates[rows]
    return _pushed(contacts, course, view, impulse)


def _pushed(contacts: ContactSet, course: _Course, view: Snapshot, impulse: Floats) -> Snapshot:
    course.state = course.state.copy()
    course.state[contacts.changed] += impulse @ view.responses
    return contacts.look(course.time, course.state)


def _stands(contacts: ContactSet, view: Snapshot, still: Floats, course: _Course, k: int) -> bool:
    """Whether a contact neither opens nor closes."""
    row = contacts.normals[k]
    return k in course.captured or bool(abs(view.rates[row]) <= still[row]) or bool(view.rates[row] < 0.0)


def _capture(
    contacts: ContactSet,
    course: _Course,
    view: Snapshot,
    found: Response,
    closed: Sequence[int],
    resting: Sequence[int],
    coarse: float,
) -> bool:
    """Find rebounds whose sequence is over in a moment; from now on they are none. Whether there were any."""
    captured = False
    for k, speed, back in _rebounds(contacts, view, found, closed, resting):
        rebound = _rebound(speed, back)
        left = rebound.time / max(1.0 - contacts.restitution[k], 1e-300)
        hidden = coarse * (RESOLVED * view.spans[k] + UNRESOLVED * view.reaches[k])
        if course.hit and (left < ACCUMULATED * contacts.duration or rebound.height < hidden):
            course.captured.add(k)
            course.rest_at[k] = course.time + (left if left < 1e-6 * contacts.duration else 0.0)
            captured = True
    return captured


def _rebounds(
    contacts: ContactSet, view: Snapshot, found: Response, closed: Sequence[int], resting: Sequence[int]
) -> Iterator[tuple[int, float, float]]:
    """Contacts that open with a speed and are accelerated back, with both."""
    accelerations = view.free + view.compliance @ found.forces
    for k in closed:
        row = contacts.normals[k]
        speed, back = float(view.rates[row]), -float(accelerations[row])
        if k not in resting and back > 0.0 and speed > 0.0:
            yield k, speed, back


def _soonest(
    contacts: ContactSet, view: Snapshot, found: Response, closed: Sequence[int], resting: Sequence[int]
) -> Rebound | None:
    rebounds = [_rebound(*one[1:]) for one in _rebounds(contacts, view, found, closed, resting)]
    return min(rebounds, key=lambda one: one.time, default=None)


def _rebound(speed: float, back: float) -> Rebound:
    return Rebound(2.0 * speed / back, 0.5 * speed * speed / back)


# forces


def _forces(
    contacts: ContactSet, view: Snapshot, still: Floats, noise: Floats, resting: Sequence[int]
) -> Response | None:
    if not resting:
        return Response(np.zeros(len(view.free)), (), ())
    free = np.where(np.abs(view.free) <= noise, 0.0, view.free)
    return respond(view.compliance, free, [_acting_contact(contacts, view, still, k) for k in resting])


def _acting_contact(contacts: ContactSet, view: Snapshot, still: Floats, k: int) -> ActingContact:
    rows = contacts.tangents(k) if contacts.friction[k] > 0.0 else ()
    slip = view.rates[list(rows)]
    drag = None
    if rows and np.any(np.abs(slip) > still[list(rows)]):
        drag = tuple(float(part) for part in -contacts.friction[k] * slip / np.linalg.norm(slip))
    return ActingContact(contacts.normals[k], rows, contacts.friction[k], drag)


def _jam(contacts: ContactSet, course: _Course, view: Snapshot, still: Floats, resting: Sequence[int]) -> Snapshot:
    """Where no force obeys Coulomb's law in slip (Painleve), an impulse along the surface ends the slip at once."""
    sliding = [
        k for k in resting if _acting_contact(contacts, view, still, k).drag is not None and k not in course.jammed
    ]
    for k in sliding:
        rows = [contacts.normals[k], *contacts.tangents(k)]
        impulse = np.zeros(len(view.rates))
        wanted = -view.rates[rows]
        wanted[0] = 0.0
        impulse[rows] = np.linalg.solve(view.compliance[np.ix_(rows, rows)], wanted)
        if impulse[rows[0]] > 0.0 and np.linalg.norm(impulse[rows[1:]]) <= contacts.friction[k] * impulse[rows[0]]:
            course.jammed.add(k)
            return _pushed(contacts, course, view, impulse)
    raise ContactTrouble(Trouble.NO_FORCE, [contacts.names[k] for k in resting])


def _happened(course: _Course, before: Mode | None, after: Mode) -> tuple[ContactChange, ...]:
    found: list[ContactChange] = []
    for k, new in enumerate(after):
        old = before[k] if before is not None else ContactMode()
        words: Iterable[str] = _words(old, new, k in course.hit, k in course.jammed)
        for word in words:
            found.append(ContactChange(k, word, course.rest_at.get(k, course.time) if word == "rest" else course.time))
    return tuple(found)


def _words(old: ContactMode, new: ContactMode, hit: bool, jammed: bool) -> Iterable[str]:
    was, now = old.closed or old.held, new.closed or new.held
    if hit:
        yield "impact"
    if jammed:
        yield "jam"
    if now and not was and not new.held:
        yield "rest"
    if new.held and not old.held:
        yield "held"
    if was and not now:
        yield "release"
    turned = len(new.drag) == len(old.drag) == 1 and new.drag[0] * old.drag[0] < 0.0
    if now and was and (new.watched is not old.watched or (new.watched is Watched.SLIP and turned)):
        yield from {Watched.SLIP: ["slip"], Watched.CONE: ["stick"], Watched.NOTHING: []}[new.watched]
