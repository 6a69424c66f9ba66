"""Forces or impulses of several contacts at once: no pull, no penetration, Coulomb's law along the surface.

The rows of contact k are its normal and its slip directions. With W the response of all rows to unit forces and q what
the rows do without them, r = W f + q. For the normal r >= 0, f >= 0, r f = 0; along the surface |f| <= mu f_n, and
where it slips the force is mu f_n against the slip. Accelerations and forces obey these laws, and so do the velocities
after an impact and its impulses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.solve.contacts.complementarity import Floats, solve_complementarity
from kinegraph.solve.contacts.cones import respond_in_cones
from kinegraph.solve.contacts.response import ActingContact, Response


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
