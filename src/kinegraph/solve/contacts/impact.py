"""Impacts: the velocities after contacts have closed with a speed.

Along the surface Coulomb's law holds for the impulses and the slip after the impact. No impact may create energy: where
the law of restitution would, with friction, the run ends and says so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.model.constraints.impacts import ImpactLaw, ImpactOrder
from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.contacts.coulomb import respond
from kinegraph.solve.contacts.mode import ContactSet, Snapshot
from kinegraph.solve.contacts.response import ActingContact
from kinegraph.solve.contacts.trouble import ContactTrouble, Trouble
from kinegraph.solve.loops.contacts.thresholds import CALM, GAINED, MOST_IMPACTS


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
