"""Which mode a run goes on with from a state, and from which velocities: impacts first, then forces.

A contact takes part if its gap is zero. If it closes with a speed there is an impact. A rebound whose followers would
all be over within a moment (a Zeno sequence) is not taken: the contact stays closed. Then the contacts that neither
close nor open get the forces that obey Coulomb's law, or open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.contacts.coulomb import respond
from kinegraph.solve.contacts.impact import impulses
from kinegraph.solve.contacts.mode import ContactMode, ContactSet, Mode, Snapshot, Watched
from kinegraph.solve.contacts.modes_of import modes_of
from kinegraph.solve.contacts.response import ActingContact, Response
from kinegraph.solve.contacts.trouble import ContactTrouble, Trouble
from kinegraph.solve.loops.contacts.thresholds import ACCUMULATED, RESOLVED, STILL, SUDDEN, UNRESOLVED

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
class Settled:
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


def settle(
    contacts: ContactSet,
    time: float,
    state: Floats,
    before: Mode | None,
    due: frozenset[int] = frozenset(),
    coarse: float = 1.0,
) -> Settled:
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
            return Settled(modes, course.state, _happened(course, before, modes), soonest)
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
