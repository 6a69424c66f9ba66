"""Mode transitions where the loops of `solve.loops.contact_modes` leave the decision to Python.

The decision uses the same functions as the loops. Python adds the exceptions: gaps at the start of a run, sequences of
rebounds that end in a moment (Zeno), contacts that depend on each other, and slip without a force (Painleve).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.arrays import Floats, Integers
from kinegraph.solve.contacts.memory import mode_of
from kinegraph.solve.contacts.mode import ContactTrouble, Mode, Trouble
from kinegraph.solve.loops.contact_memory import (
    CHANGES,
    DRAG,
    HELD,
    REST,
    SLIP_MARGIN,
    STICKS,
    WATCHED,
    Contacts,
    ContactView,
    observe_contacts,
)
from kinegraph.solve.loops.contact_modes import (
    CREATES_ENERGY,
    POSSIBLE,
    close,
    collide,
    find_closed,
    find_forces,
    find_modes,
    find_resting,
    find_still,
    has_changed,
    is_over,
    leave_open,
    push,
    rebound_of,
    time_left,
)
from kinegraph.solve.loops.step import System

#: How a contact changes, as loops number it.
CHANGE_NAMES = ("impact", "jam", "rest", "held", "release", "slip", "stick")

_PENETRATES = 1e-8  # of the span of a gap: how far it may be below zero at the start
_MOST_TRIES = 8


@dataclass(frozen=True)
class ContactChange:
    """How a contact changes (one of CHANGE_NAMES), and when."""

    contact: int
    name: str
    time: float


@dataclass(frozen=True)
class Rebound:
    """How long a rebound takes, and how high it goes."""

    time: float
    height: float


@dataclass(frozen=True)
class ModeDecision:
    """The next mode, the state it starts from, the changes of contacts, and the shortest rebound, if there is one."""

    mode: Mode
    state: Floats
    changes: tuple[ContactChange, ...]
    rebound: Rebound | None = None


def decide_mode(
    system: System,
    contacts: Contacts,
    names: Sequence[str],
    time: float,
    state: Floats,
    coarse: float = 1.0,
    starts: bool = False,
) -> ModeDecision:
    """The mode that follows contacts.modes at a state; contacts.closed: the contacts whose gap ended that mode.

    coarse: how much larger than usual rebounds may be that are ignored, where rounding keeps them from becoming
    smaller. starts: whether this is the first mode of a run.
    """
    contacts.jammed[:] = 0
    observe_contacts(system, contacts, time, state, contacts.first)
    if starts:
        _require_apart(contacts, names)
    find_closed(contacts, contacts.first)
    start, hit, rest_at = state, np.zeros_like(contacts.hit), dict[int, float]()
    for _ in range(_MOST_TRIES + int(contacts.closed.sum())):
        contacts.trial[:] = start
        _collide(contacts, names)
        hit |= contacts.hit
        contacts.hit[:] = hit
        observe_contacts(system, contacts, time, contacts.trial, contacts.after)
        find_still(contacts, contacts.first, contacts.after, True)
        if rest_at:
            _hold(contacts, list(rest_at))
            observe_contacts(system, contacts, time, contacts.trial, contacts.after)
        _find_resting(contacts, list(rest_at))
        if not find_forces(system, contacts, contacts.after, time):
            _jam(contacts, names)
            start = contacts.trial.copy()
            observe_contacts(system, contacts, time, start, contacts.first)
        elif captured := _captured(contacts, time, coarse):
            rest_at |= captured
        else:
            if not find_modes(contacts, contacts.after):
                _find_dependent_modes(contacts, contacts.after)
            mode = mode_of(contacts.fresh, contacts.slips.tolist())
            return ModeDecision(mode, contacts.trial.copy(), _changes(contacts, time, rest_at), _soonest(contacts))
    raise ContactTrouble(Trouble.CHATTER, _named(names, contacts.closed))


def _require_apart(contacts: Contacts, names: Sequence[str]) -> None:
    for name, gap, span in zip(names, contacts.first.gaps, contacts.first.spans, strict=True):
        if gap < -_PENETRATES * span - 1e-15:
            raise ContactTrouble(Trouble.PENETRATES, [name], f" ({gap:.6g})")


def _named(names: Sequence[str], flags: Iterable[int]) -> list[str]:
    return [name for name, flag in zip(names, flags, strict=True) if flag]


def _collide(contacts: Contacts, names: Sequence[str]) -> None:
    result = collide(contacts, contacts.first)
    if result == CREATES_ENERGY:
        raise ContactTrouble(Trouble.ENERGY, _named(names, contacts.hit))
    if result != POSSIBLE:
        raise ContactTrouble(Trouble.NO_IMPULSE, _named(names, contacts.closed))


def _tangents(contacts: Contacts, k: int) -> list[int]:
    """The rows of a contact's slip directions."""
    first = int(contacts.normals[k]) + 1
    return list(range(first, first + int(contacts.slips[k])))


# Rebounds


def _captured(contacts: Contacts, time: float, coarse: float) -> dict[int, float]:
    """Contacts whose sequence of rebounds is over in a moment, with the time it ends: they stay closed from now on."""
    captured = {}
    for k in range(len(contacts.closed)):
        speed, back = rebound_of(contacts, contacts.after, k)
        if back > 0.0 and contacts.hit.any() and is_over(contacts, contacts.after, k, speed, back, coarse):
            left = time_left(contacts, k, speed, back)
            captured[k] = time + (left if left < 1e-6 * contacts.duration else 0.0)
    return captured


def _find_resting(contacts: Contacts, captured: Sequence[int]) -> None:
    find_resting(contacts, contacts.after)
    contacts.resting[captured] = 1


def _hold(contacts: Contacts, captured: Sequence[int]) -> None:
    """Stop contacts whose rebounds are over, and keep closed and sticking contacts as they are."""
    view = contacts.after
    _find_resting(contacts, captured)
    resting = np.flatnonzero(contacts.resting).tolist()
    rows = contacts.normals[resting].tolist()
    small = np.maximum(contacts.still, 10.0 * float(np.max(np.abs(view.rates[rows]))))
    for k in resting:
        sliding = _tangents(contacts, k) if contacts.friction[k] > 0.0 else []
        rows += sliding if np.all(np.abs(view.rates[sliding]) <= small[sliding]) else []
    contacts.impulse[:] = 0.0
    contacts.impulse[rows] = -np.linalg.pinv(view.compliance[np.ix_(rows, rows)], hermitian=True) @ view.rates[rows]
    push(contacts, view)


def _soonest(contacts: Contacts) -> Rebound | None:
    """The shortest rebound."""
    found = [rebound_of(contacts, contacts.after, k) for k in range(len(contacts.closed))]
    rebounds = [Rebound(2.0 * speed / back, 0.5 * speed * speed / back) for speed, back in found if back > 0.0]
    return min(rebounds, key=lambda rebound: rebound.time, default=None)


# Slip without a force


def _jam(contacts: Contacts, names: Sequence[str]) -> None:
    """If no force obeys Coulomb's law during slip (Painleve), an impulse along the surface stops the slip at once."""
    view = contacts.after
    for k in np.flatnonzero(contacts.resting).tolist():
        tangents = _tangents(contacts, k)
        slips = contacts.friction[k] > 0.0 and np.any(np.abs(view.rates[tangents]) > contacts.still[tangents])
        if not slips or contacts.jammed[k]:
            continue
        rows = [int(contacts.normals[k]), *tangents]
        wanted = -view.rates[rows]
        wanted[0] = 0.0
        contacts.impulse[:] = 0.0
        contacts.impulse[rows] = np.linalg.solve(view.compliance[np.ix_(rows, rows)], wanted)
        normal, friction = float(contacts.impulse[rows[0]]), float(np.linalg.norm(contacts.impulse[tangents]))
        if normal > 0.0 and friction <= contacts.friction[k] * normal:
            contacts.jammed[k] = 1
            push(contacts, view)
            return
    raise ContactTrouble(Trouble.NO_FORCE, _named(names, contacts.resting))


# Rows of closed contacts that depend on others: four legs of a table, two ends of a rod that both stick.
#
# The motion does not determine how they share the load. Contacts that are left out keep their forces: no normal force,
# or friction in a fixed ratio to the normal force.

_DEPENDENT = 1e-9  # what is left of a row of unit size after those before it


def _find_dependent_modes(contacts: Contacts, view: ContactView) -> None:
    """The modes from the forces, where rows depend on each other."""
    acting = _without_dependent_normals(contacts, view)
    contacts.acts[:] = 0
    contacts.acts[acting] = 1
    sticking = [k for k in acting if contacts.friction[k] > 0.0 and contacts.slips[k] and not contacts.known[k]]
    independent = _independent_rows(contacts, view, acting, sticking)
    contacts.fresh[:] = 0.0
    for k, acts in enumerate(contacts.acts):
        if acts:
            close(contacts, view, k)
        elif not leave_open(contacts, view, k):
            rows = contacts.normals[[*acting, k]]
            contacts.fresh[k, HELD] = _scaled_spectrum(view, rows)[0][0] <= _DEPENDENT
        if k in sticking and k not in independent:
            _follow_normal(contacts, k)


def _follow_normal(contacts: Contacts, k: int) -> None:
    """Friction in a fixed ratio to the normal force."""
    mode, normal = contacts.fresh[k], contacts.forces[contacts.normals[k]]
    mode[STICKS] = mode[WATCHED] = mode[SLIP_MARGIN] = 0.0
    if normal > 0.0:
        mode[DRAG : DRAG + contacts.slips[k]] = contacts.forces[_tangents(contacts, k)] / normal


def _without_dependent_normals(contacts: Contacts, view: ContactView) -> list[int]:
    """Acting contacts with independent normals whose forces can replace those of the others without pulling."""
    retained = np.flatnonzero(contacts.acts).tolist()
    while len(retained) > 1:
        rows = contacts.normals[retained]
        values, vectors, scale = _scaled_spectrum(view, rows)
        if values[0] > _DEPENDENT:
            break
        shift = vectors[:, 0] * scale
        shift = shift if np.any(shift < 0.0) and np.min(shift) <= -np.max(shift) else -shift
        ratios = np.where(shift < 0.0, contacts.forces[rows] / np.where(shift < 0.0, -shift, 1.0), np.inf)
        retained.pop(int(np.argmin(ratios)))
    return retained


def _independent_rows(contacts: Contacts, view: ContactView, acting: list[int], sticking: list[int]) -> set[int]:
    """The sticking contacts whose rows are independent of those before them."""
    taken, independent = contacts.normals[acting].tolist(), set()
    for k in sorted(sticking, key=lambda k: _used_friction(contacts, k)):
        rows = [*taken, *_tangents(contacts, k)]
        if _scaled_spectrum(view, np.array(rows))[0][0] > _DEPENDENT:
            taken = rows
            independent.add(k)
    return independent


def _used_friction(contacts: Contacts, k: int) -> float:
    """The part of its friction that a contact needs; contacts that need least are most likely to stick."""
    bound = float(contacts.friction[k] * contacts.forces[contacts.normals[k]])
    return float(np.linalg.norm(contacts.forces[_tangents(contacts, k)])) / bound if bound > 0.0 else 1.0


def _scaled_spectrum(view: ContactView, rows: Integers) -> tuple[Floats, Floats, Floats]:
    """Eigenvalues and eigenvectors of the compliance of rows, scaled to a unit diagonal; and the scale of each row."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(view.compliance)[rows], 1e-300))
    values, vectors = np.linalg.eigh(view.compliance[np.ix_(rows, rows)] * scale[:, None] * scale)
    return values, vectors, scale


def _changes(contacts: Contacts, time: float, rest_at: dict[int, float]) -> tuple[ContactChange, ...]:
    """How contacts change to the fresh mode."""
    return tuple(
        ContactChange(k, CHANGE_NAMES[change], rest_at.get(k, time) if change == REST else time)
        for k in range(len(contacts.modes))
        for change in range(CHANGES)
        if has_changed(contacts, k, change)
    )
