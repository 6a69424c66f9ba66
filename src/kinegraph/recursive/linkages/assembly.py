"""Positions and velocities of planar linkages that close their loops, near given ones.

Rows of the Jacobian are sparse: a pin moves with the bars on the way to it alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags, identity
from scipy.sparse.linalg import spsolve

from kinegraph.recursive.arrays import Floats, Integers
from kinegraph.recursive.linkages.pins import Linkage, LinkageSystem

#: Loops that miss by no more (meters) count as closed.
CLOSED = 1e-10
_STEPS = 60
_LARGEST_TURN = 0.3
_ROUNDING = 1e-13
_DAMPING = 1e-13


@dataclass(frozen=True)
class ClosedState:
    """A state, and by how much each loop still misses, by position and by velocity."""

    q: Floats
    v: Floats
    missed: Floats
    missed_rates: Floats

    @property
    def closed(self) -> bool:
        """Whether loops miss nothing but rounding."""
        speed = 1.0 + float(np.max(np.abs(self.v), initial=0.0))
        return bool(np.max(self.missed) <= CLOSED and np.max(self.missed_rates) <= CLOSED * speed)


def closed_state(system: LinkageSystem, q: Floats, v: Floats, mobile: Floats, mobile_rates: Floats) -> ClosedState:
    """A state near the given one whose loops close; `mobile` says how easily each coordinate moves, 0 to 1, and
    `mobile_rates` each velocity."""
    none = np.zeros_like(v)
    for _ in range(_STEPS):
        missed = system.projected_states(q, none)[3][:, :2]
        if np.max(np.abs(missed)) <= _ROUNDING:
            break
        step = _correction(system.linkage, q, mobile, missed)
        q = q + step * min(1.0, _LARGEST_TURN / max(float(np.max(np.abs(step))), 1e-300))
    missed = system.projected_states(q, none)[3][:, :2]
    if not np.max(np.abs(missed)) <= CLOSED:
        return ClosedState(q, v, np.linalg.norm(missed, axis=1), np.full(len(missed), np.inf))
    for _ in range(2):
        rates = system.projected_states(q, v)[3][:, 2:]
        v = v + _correction(system.linkage, q, mobile_rates, rates)
    rates = system.projected_states(q, v)[3][:, 2:]
    return ClosedState(q, v, np.linalg.norm(missed, axis=1), np.linalg.norm(rates, axis=1))


def _correction(linkage: Linkage, q: Floats, mobile: Floats, missed: Floats) -> Floats:
    """The smallest step, measured by how easily coordinates move, that takes away what is missed to first order."""
    rows = closing_jacobian(linkage, q)
    weighted = rows @ diags(mobile)
    matrix = (weighted @ rows.T).tocsc()
    damping = _DAMPING * (
        1 + float(matrix.diagonal().mean())
    )  # rows that cannot move, or depend on others, stay finite
    found = spsolve(matrix + damping * identity(matrix.shape[0], format="csc"), -missed.ravel())
    step: Floats = np.asarray(weighted.T @ np.atleast_1d(found))
    return step


def closing_jacobian(linkage: Linkage, q: Floats) -> csr_matrix:
    """d(what pins that close loops miss)/dq, two rows for each: both of its sides turn about the bars on their ways."""
    angle, origin = _places(linkage, q)
    first = len(linkage.bar)
    rows, columns, values = [], [], []
    for p in range(first, len(linkage.pin)):
        for side, sign in ((0, 1.0), (1, -1.0)):
            k = int(linkage.pin[p, side])
            if k < 0:
                continue
            way = _way(linkage, k)
            c, s = np.cos(angle[k]), np.sin(angle[k])
            x, y = linkage.place[p, 2 * side : 2 * side + 2] + linkage.bar[k, 2:4]
            arm = origin[k] + (c * x - s * y, s * x + c * y) - origin[way]
            counts = linkage.row[way + 1] - linkage.row[way]
            entries = np.repeat(linkage.row[way], counts) + _within(counts)
            slope = sign * linkage.slope[entries]
            each = np.repeat(arm, counts, axis=0)
            rows += [np.full(len(entries), 2 * (p - first)), np.full(len(entries), 2 * (p - first) + 1)]
            columns += [linkage.column[entries]] * 2
            values += [-slope * each[:, 1], slope * each[:, 0]]
    shape = (2 * linkage.loops, len(q))
    return csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape)


def _within(counts: Integers) -> Integers:
    """0, 1, ... within each group of so many."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _way(linkage: Linkage, k: int) -> Integers:
    """The bars from one to the ground."""
    found = []
    while k >= 0:
        found.append(k)
        k = int(linkage.base[k])
    return np.array(found, dtype=np.int64)


def _places(linkage: Linkage, q: Floats) -> tuple[Floats, Floats]:
    """The angle and the origin of every bar."""
    turns = np.zeros(len(linkage.bar))
    np.add.at(turns, np.repeat(np.arange(len(turns)), np.diff(linkage.row)), linkage.slope * q[linkage.column])
    angle, origin = linkage.bar[:, 6] + turns, linkage.bar[:, 4:6].copy()
    for k, base in enumerate(linkage.base.tolist()):
        if base >= 0:
            angle[k] += angle[base]
            c, s = np.cos(angle[base]), np.sin(angle[base])
            x, y = origin[k]
            origin[k] = origin[base, 0] + c * x - s * y, origin[base, 1] + s * x + c * y
    return angle, origin
