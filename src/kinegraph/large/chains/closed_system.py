"""Closed loops behind the calls of looped systems: accelerations and pivots for plain arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.derive.constraints.analysis import row_names_of
from kinegraph.errors import KernelError
from kinegraph.large.chains.planar import Ring, ring_accelerations
from kinegraph.large.chains.planar_structure import planar_loop
from kinegraph.large.chains.system import ChainSystem
from kinegraph.large.records import Floats
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism

#: Below this pivot a position is singular, and accelerations would be rounding.
SINGULAR = 1e-13


class _Way(Protocol):
    """One way to compute; `rows` are those that take part."""

    @property
    def code(self) -> str: ...

    @property
    def rows(self) -> Sequence[str]: ...

    def evaluated(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        """Accelerations, and pivots of the rows."""
        ...


class _ByBars:
    """Planar loops, bar by bar."""

    code = "bars"

    def __init__(self, ring: Ring, rows: Sequence[str]) -> None:
        self._ring = ring
        self.rows = sorted(rows)

    def evaluated(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        result = np.empty(len(v))
        found, _ = ring_accelerations(self._ring, q, v, tau, result)
        return result, found[2:]


class _ByChains:
    """Any loops, each chain reduced to the ground."""

    code = "chains"

    def __init__(self, system: ChainSystem) -> None:
        self._system = system
        self.rows = system.rows

    def evaluated(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        found = self._system.evaluated(q, v, tau, t)
        return found.qdd.copy(), found.pivots


class ClosedSystem:
    """A mechanism with loops, ready for numbers: `qdd` and `pivots` in O(n)."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> None:
        self.layout = mechanism.layout
        planar = planar_loop(mechanism, parameters)
        self._way: _Way = _ByBars(*planar) if planar else _ByChains(ChainSystem(mechanism, parameters))
        self._all_rows = row_names_of(mechanism)

    @property
    def code(self) -> str:
        """Which of the compiled loops are taken."""
        return self._way.code

    def qdd(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, t: float = 0.0) -> Floats:
        """Accelerations under generalized forces; KernelError in a singular position, naming the row."""
        found, pivots = self._evaluated(q, v, tau, t)
        least = int(np.argmin(pivots)) if pivots.size else -1
        if least >= 0 and not pivots[least] > SINGULAR:
            raise KernelError(
                f"the position is singular: the row {self._way.rows[least]} depends on others "
                f"(pivot {pivots[least]:.1e}), so accelerations mean nothing\n  take a position beside it"
            )
        return found

    def pivots(self, q: ArrayLike, t: float = 0.0) -> Floats:
        """For every stated row how independent it is of those before it, 1 to 0; 1 where it takes no part."""
        none = np.zeros(len(self.layout.velocities))
        pivots = self._evaluated(q, none, none, t)[1]
        found = dict(zip(self._way.rows, pivots, strict=True))
        return np.array([found.get(row, 1.0) for row in self._all_rows])

    def _evaluated(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, t: float) -> tuple[Floats, Floats]:
        q, v, tau = (np.ascontiguousarray(np.asarray(one, dtype=float)) for one in (q, v, tau))
        return self._way.evaluated(q, v, tau, float(t))
