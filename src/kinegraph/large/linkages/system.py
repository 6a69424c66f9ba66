"""Planar linkages for plain arrays: accelerations, and the way back onto their loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.jit.bitcode import compiled
from kinegraph.jit.marks import loop
from kinegraph.large.by_address.tables import Addressed
from kinegraph.large.linkages.entry import linkage_accelerations, linkage_projection
from kinegraph.large.linkages.records import Linkage
from kinegraph.large.linkages.sweeps import accelerations, projected_states
from kinegraph.large.linkages.tables import linkage_tables
from kinegraph.large.records import Floats


@loop
def _accelerations(linkage: Linkage, q: Floats, v: Floats, tau: Floats, result: Floats, pivots: Floats) -> None:
    accelerations(linkage, q, v, tau, result, pivots)


@loop
def _taken_back(
    linkage: Linkage, q: Floats, v: Floats, place: Floats, speed: Floats, pivots: Floats, missed: Floats
) -> None:
    projected_states(linkage, q, v, place, speed, pivots, missed)


class LinkageSystem:
    """A planar linkage, ready for numbers; `rows` are the names of two rows for every loop."""

    def __init__(self, linkage: Linkage, rows: Sequence[str]) -> None:
        self.linkage = linkage
        self.rows = tuple(rows)

    def evaluated(self, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats]:
        """Accelerations, and the pivot of every loop, 1 to 0 (singular)."""
        result, pivots = np.empty(len(v)), np.empty(self.linkage.loops)
        compiled(_accelerations)(self.linkage, q, v, tau, result, pivots)
        return result, pivots

    def projected_states(self, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Positions and velocities after one step onto the loops; by loop its pivot, and what x, y, x', y' missed."""
        place, speed = np.empty(len(q)), np.empty(len(v))
        pivots, missed = np.empty(self.linkage.loops), np.empty(4 * self.linkage.loops)
        compiled(_taken_back)(self.linkage, q, v, place, speed, pivots, missed)
        return place, speed, pivots, missed.reshape(-1, 4)

    def accelerations_at(self, places: Sequence[int]) -> Addressed:
        """Code by its address for accelerations; `places` are those of q, v, tau (and t) in x."""
        return Addressed(compiled(linkage_accelerations).address, linkage_tables(self.linkage, places[:3], 0))

    def projection_at(self, state: int) -> Addressed:
        """Code by its address for one step of a state of so many entries, q and v first, onto the loops."""
        count = len(self.linkage.bar)
        return Addressed(compiled(linkage_projection).address, linkage_tables(self.linkage, (0, count, 0), state))
