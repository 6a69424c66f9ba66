"""The modes of contacts from their forces: which act, which slip, which are held by others, and how each may end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.contacts.mode import ContactMode, ContactSet, Mode, Snapshot, Watched
from kinegraph.solve.contacts.reduce import independent_rows, without_dependent_normals
from kinegraph.solve.contacts.response import Response
from kinegraph.solve.loops.contacts.thresholds import CONE_MARGIN, FORCE_MARGIN, SLIP_ACCELERATION


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
