"""Contact forces and impulses with Coulomb friction: linear along one direction, cones along two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.solve.contacts.complementarity import Floats, solve_complementarity

# Contacts that take part in an impact or carry forces, and what comes of it.


@dataclass(frozen=True)
class ActingContact:
    """A contact that takes part. rows: of its slip directions. drag: the friction force per normal force along each,
    where it is known to slip; None where it may stick. prior: a normal impulse it has in any case."""

    normal: int
    rows: tuple[int, ...]
    friction: float
    drag: tuple[float, ...] | None = None
    prior: float = 0.0


@dataclass(frozen=True)
class Response:
    """The forces by row; for each contact whether its normal row acts, and its friction force per normal force where it
    slips (None: it sticks, or nothing works along the surface)."""

    forces: Floats
    acts: tuple[bool, ...]
    drags: tuple[tuple[float, ...] | None, ...]


# Coulomb's law along two directions: its cone is round, so there is no linear complementarity problem.
#
# Contact by contact, again and again, shows which of them act, stick and slip. Then these are taken as known: forces
# follow from linear equations, and directions of slip from the velocities that these give, until nothing changes.

_ROUNDS = ((400, 1e-5), (4_000, 1e-8), (40_000, 1e-12))  # sweeps, and the change after which modes are tried
_POLISHED, _MOST = 1e-14, 200
_RIGHT = 1e-9  # by how much polished forces may miss the laws


def respond_in_cones(compliance: Floats, q: Floats, contacts: Sequence[ActingContact]) -> Response | None:
    """The forces; None where none are found."""
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
    """Bring one contact's forces to what the laws say, those of the others as they are; returns the change."""
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
    """Forces to the last digits, for the modes that approximate ones show; None if these were not the right ones."""
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
    """The drag against the slip that there is now."""
    if one.drag is not None or drag is None:
        return drag
    against = _unit(-rates[list(one.rows)])
    if against is None:
        return None
    # Half of the way: where directions would go to and fro, they meet.
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


# Forces or impulses of several contacts at once: no pull, no penetration, Coulomb's law along the surface.
#
# The rows of contact k are its normal and its slip directions. With W the response of all rows to unit forces and q
# what the rows do without them, r = W f + q. For the normal r >= 0, f >= 0, r f = 0; along the surface |f| <= mu f_n,
# and where it slips the force is mu f_n against the slip. Accelerations and forces obey these laws, and so do the
# velocities after an impact and its impulses.


def respond(compliance: Floats, q: Floats, contacts: Sequence[ActingContact]) -> Response | None:
    """The forces; None where there are none that obey the laws."""
    if len(contacts) == 1 and not contacts[0].rows:
        return _alone(compliance, q, contacts[0])
    if any(len(one.rows) == 2 and one.drag is None and one.friction > 0.0 for one in contacts):
        return respond_in_cones(compliance, q, contacts)
    return _direct(compliance, q, contacts)


def _alone(compliance: Floats, q: Floats, contact: ActingContact) -> Response:
    """One contact without friction."""
    k = contact.normal
    forces = np.zeros(len(q))
    rest = q[k] + compliance[k, k] * contact.prior
    forces[k] = contact.prior + max(-rest / compliance[k, k], 0.0)
    return Response(forces, (bool(rest < 0.0),), (None,))


def _direct(compliance: Floats, q: Floats, contacts: Sequence[ActingContact]) -> Response | None:
    """Along one direction the laws are linear: one complementarity problem."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(compliance), 1e-300))
    scaled = compliance * scale[:, None] * scale
    count = len(contacts)
    sticking = [k for k, one in enumerate(contacts) if one.rows and one.drag is None]
    size = count + 3 * len(sticking)
    matrix, right = np.zeros((size, size)), np.zeros(size)
    effects = [_effect(one, scaled, scale) for one in contacts]
    rest = q * scale + sum((scaled[:, one.normal] * (one.prior / scale[one.normal]) for one in contacts), np.zeros(1))
    for i, one in enumerate(contacts):
        right[i] = rest[one.normal]
        matrix[i, :count] = [effect[one.normal] for effect in effects]
    for place, k in enumerate(sticking):
        one, at = contacts[k], count + 3 * place
        row = one.rows[0]
        column = scaled[:, row]
        for i, other in enumerate(contacts):
            matrix[i, at], matrix[i, at + 1] = column[other.normal], -column[other.normal]
        for further, j in enumerate(sticking):
            there = count + 3 * further
            entry = column[contacts[j].rows[0]]
            matrix[there, at], matrix[there, at + 1] = entry, -entry
            matrix[there + 1, at], matrix[there + 1, at + 1] = -entry, entry
        matrix[at, :count] = [effect[row] for effect in effects]
        matrix[at + 1, :count] = [-effect[row] for effect in effects]
        matrix[at, at + 2] = matrix[at + 1, at + 2] = 1.0
        ratio = one.friction * scale[one.normal] / scale[row]
        matrix[at + 2, k], matrix[at + 2, at : at + 2] = ratio, -1.0
        right[at], right[at + 1] = rest[row], -rest[row]
        right[at + 2] = one.friction * one.prior / scale[row]
    found = solve_complementarity(matrix, right)
    if found is None:
        return None
    return _forces(found.z, found.basic, contacts, sticking, scale)


def _effect(one: ActingContact, scaled: Floats, scale: Floats) -> Floats:
    """What a unit of the normal force does on all rows, with the friction of a known slip."""
    total = scaled[:, one.normal].copy()
    for row, drag in zip(one.rows, one.drag or (), strict=False):
        total += drag * scale[one.normal] / scale[row] * scaled[:, row]
    return total


def _forces(
    z: Floats, basic: np.ndarray, contacts: Sequence[ActingContact], sticking: Sequence[int], scale: Floats
) -> Response:
    count = len(contacts)
    forces = np.zeros(len(scale))
    drags: list[tuple[float, ...] | None] = []
    for k, one in enumerate(contacts):
        forces[one.normal] = one.prior + z[k] * scale[one.normal]
        drags.append(one.drag)
        if one.drag is not None:
            forces[list(one.rows)] = [drag * forces[one.normal] for drag in one.drag]
    for place, k in enumerate(sticking):
        at, one = count + 3 * place, contacts[k]
        forces[one.rows[0]] = (z[at] - z[at + 1]) * scale[one.rows[0]]
        if basic[at + 2] and basic[at] != basic[at + 1]:
            drags[k] = (one.friction if basic[at] else -one.friction,)
    return Response(forces, tuple(bool(item) for item in basic[:count]), tuple(drags))
