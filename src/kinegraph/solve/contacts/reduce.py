"""Rows of closed contacts that depend on others: four legs of a table, two ends of a rod that both stick.

The motion does not determine how they share the load. Those that are left out keep what they have: no normal force, or
friction in a fixed ratio to the normal force.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.contacts.mode import ContactSet

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
