"""Coulomb friction along two directions: its cone is round, so there is no linear complementarity problem.

Relaxation contact by contact shows which contacts act, stick and slip. Then these are taken as known: forces follow
from linear equations, and directions of slip from the resulting velocities, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import intrinsic
from kinegraph.solve.loops.contact_memory import Contacts


@dataclass(frozen=True)
class ActingContact:
    """A contact that takes part. rows: of its slip directions. drag: the friction force per normal force along each,
    where it is known to slip; None where it may stick. prior: a normal force that acts in any case."""

    normal: int
    rows: tuple[int, ...]
    friction: float
    drag: tuple[float, ...] | None = None
    prior: float = 0.0


@dataclass(frozen=True)
class Response:
    """The forces by row; for each contact whether its normal force acts, and its friction force per normal force where
    it slips (None: it sticks, or has no friction)."""

    forces: Floats
    acts: tuple[bool, ...]
    drags: tuple[tuple[float, ...] | None, ...]


_ROUNDS = ((400, 1e-5), (4_000, 1e-8), (40_000, 1e-12))  # sweeps, and the change after which modes are tried
_POLISHED, _MOST = 1e-14, 200
_RIGHT = 1e-9  # by how much polished forces may miss the laws


@intrinsic
def respond_in_cones(contacts: Contacts, compliance: Floats, who: Integers) -> bool:
    """As `contact_forces.respond`, for cones. Compiled loops leave this to Python: there the result is False."""
    acting = [k for k in range(len(who)) if who[k]]
    response = solve_cones(compliance, contacts.right, [_acting_contact(contacts, k) for k in acting])
    contacts.acts[:] = 0
    contacts.forces[:] = 0.0
    if response is None:
        return False
    contacts.forces[:] = response.forces
    for k, acts, drag in zip(acting, response.acts, response.drags, strict=True):
        contacts.acts[k], contacts.known[k] = acts, drag is not None
        contacts.drag[k] = 0.0
        contacts.drag[k, : len(drag or ())] = drag or ()
    return True


def _acting_contact(contacts: Contacts, k: int) -> ActingContact:
    normal, friction = int(contacts.normals[k]), float(contacts.friction[k])
    slips = int(contacts.slips[k]) if friction > 0.0 else 0
    drag = tuple(contacts.drag[k, :slips].tolist()) if contacts.known[k] else None
    return ActingContact(normal, tuple(range(normal + 1, normal + 1 + slips)), friction, drag, float(contacts.prior[k]))


def solve_cones(compliance: Floats, q: Floats, contacts: Sequence[ActingContact]) -> Response | None:
    """The forces for rates q without them; None where none are found."""
    forces = np.zeros(len(q))
    for one in contacts:
        forces[one.normal] = one.prior
    for sweeps, wanted in _ROUNDS:
        for _ in range(sweeps):
            change = max(_relax(compliance, q, one, forces) for one in contacts)
            if change <= wanted * float(np.max(np.abs(forces), initial=1e-300)):
                break
        found = _polished(compliance, q, contacts, forces)
        if found is not None:
            return found
    drags = [_drag(compliance, q, one, forces) for one in contacts]
    acts = tuple(bool(forces[one.normal] > one.prior) for one in contacts)
    return Response(forces, acts, tuple(drags)) if _obeys(compliance, q, contacts, forces, drags) else None


def _relax(compliance: Floats, q: Floats, one: ActingContact, forces: Floats) -> float:
    """Solve the laws of one contact for given forces of the others; returns the change."""
    rows = list(one.rows)
    before = forces[[one.normal, *rows]].copy()
    n = one.normal
    forces[n] = max(one.prior, forces[n] - float(compliance[n] @ forces + q[n]) / compliance[n, n])
    if one.drag is not None:
        forces[rows] = np.array(one.drag) * forces[n]
    elif rows:
        step = 1.0 / float(np.trace(compliance[np.ix_(rows, rows)]))
        trial = forces[rows] - step * (compliance[rows] @ forces + q[rows])
        length, bound = float(np.linalg.norm(trial)), one.friction * forces[n]
        forces[rows] = trial if length <= bound else trial * (bound / length)
    return float(np.max(np.abs(forces[[n, *rows]] - before)))


def _polished(compliance: Floats, q: Floats, contacts: Sequence[ActingContact], start: Floats) -> Response | None:
    """Accurate forces for the modes that approximate forces show; None if these modes are wrong."""
    acts = [bool(start[one.normal] > one.prior) for one in contacts]
    drags = [_drag(compliance, q, one, start) for one in contacts]
    forces = start
    for _ in range(_MOST):
        new = _solved(compliance, q, contacts, acts, drags)
        change = float(np.max(np.abs(new - forces)))
        forces = new
        rates = compliance @ forces + q
        drags = [_followed(one, drag, rates) for one, drag in zip(contacts, drags, strict=True)]
        if change <= _POLISHED * float(np.max(np.abs(forces), initial=1e-300)):
            break
    if not _obeys(compliance, q, contacts, forces, drags):
        return None
    return Response(forces, tuple(acts), tuple(drags))


def _drag(compliance: Floats, q: Floats, one: ActingContact, forces: Floats) -> tuple[float, ...] | None:
    """The friction force per normal force where a contact slips; None where it sticks."""
    rows = list(one.rows)
    if one.drag is not None or not rows:
        return one.drag
    if float(np.linalg.norm(forces[rows])) < one.friction * forces[one.normal] * (1 - 1e-6):
        return None
    return _followed(one, (), compliance @ forces + q)


def _followed(one: ActingContact, drag: tuple[float, ...] | None, rates: Floats) -> tuple[float, ...] | None:
    """The drag against the current slip."""
    if one.drag is not None or drag is None:
        return drag
    against = _unit(-rates[list(one.rows)])
    if against is None:
        return None
    # The mean with the last direction: otherwise directions may alternate.
    mean = _unit(against + np.array(drag) / one.friction) if drag else against
    return None if mean is None else tuple(float(part) for part in one.friction * mean)


def _unit(vector: Floats) -> Floats | None:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else None


def _solved(
    compliance: Floats,
    q: Floats,
    contacts: Sequence[ActingContact],
    acts: Sequence[bool],
    drags: Sequence[tuple[float, ...] | None],
) -> Floats:
    """The forces of modes: acting normals and sticking directions stand still. Where rows depend, the least forces."""
    columns, rows, base = [], [], np.zeros(len(q))
    for one, acting, drag in zip(contacts, acts, drags, strict=True):
        unit = np.zeros(len(q))
        unit[one.normal] = 1.0
        unit[list(one.rows)] = drag if drag is not None else 0.0
        base += one.prior * unit
        sticking = one.rows if drag is None and (acting or one.prior > 0.0) else ()
        columns += [unit] * acting + [np.eye(len(q))[row] for row in sticking]
        rows += [one.normal] * acting + list(sticking)
    if not rows:
        return base
    effect = compliance[rows] @ np.array(columns).T
    wanted = -(q[rows] + compliance[rows] @ base)
    return np.asarray(base + np.linalg.lstsq(effect, wanted, rcond=1e-11)[0] @ np.array(columns))


def _obeys(
    compliance: Floats,
    q: Floats,
    contacts: Sequence[ActingContact],
    forces: Floats,
    drags: Sequence[tuple[float, ...] | None],
) -> bool:
    rates = compliance @ forces + q
    speed, force = _RIGHT * float(np.max(np.abs(q))), _RIGHT * float(np.max(np.abs(forces), initial=0.0))
    for one, drag in zip(contacts, drags, strict=True):
        rows, normal = list(one.rows), forces[one.normal]
        if normal < one.prior - force or rates[one.normal] < -speed:
            return False
        if (normal - one.prior) > force and rates[one.normal] > speed:
            return False
        if drag is None and rows and float(np.linalg.norm(forces[rows])) > one.friction * normal + force:
            return False
        if drag is None and rows and normal > force and float(np.linalg.norm(rates[rows])) > speed:
            return False
        if drag is not None and one.drag is None and not _against(one, drag, rates[rows], speed):
            return False
    return True


def _against(one: ActingContact, drag: tuple[float, ...], slip: Floats, speed: float) -> bool:
    """Whether the drag is against the slip, if there is any."""
    length = float(np.linalg.norm(slip))
    return length <= speed or bool(np.allclose(np.array(drag) * length, -one.friction * slip, rtol=0.0, atol=speed))
