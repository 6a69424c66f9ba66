"""Closed loops behind the calls of looped systems: accelerations and pivots for plain arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.derive.constraints.analysis import row_names_of
from kinegraph.errors import KernelError
from kinegraph.large.chains.system import ChainSystem, Closed
from kinegraph.large.records import Floats
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism

#: Below this pivot a position is singular, and accelerations would be rounding.
SINGULAR = 1e-13


class ClosedSystem:
    """A mechanism with loops, ready for numbers: `qdd` and `pivots` in O(n)."""

    code = "chains"

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> None:
        self.layout = mechanism.layout
        self._system = ChainSystem(mechanism, parameters)
        self._all_rows = row_names_of(mechanism)

    def qdd(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, t: float = 0.0) -> Floats:
        """Accelerations under generalized forces; KernelError in a singular position, naming the row."""
        found = self._evaluated(q, v, tau, t)
        least = int(np.argmin(found.pivots)) if found.pivots.size else -1
        if least >= 0 and not found.pivots[least] > SINGULAR:
            raise KernelError(
                f"the position is singular: the row {self._system.rows[least]} depends on others "
                f"(pivot {found.pivots[least]:.1e}), so accelerations mean nothing\n  take a position beside it"
            )
        return found.qdd.copy()

    def pivots(self, q: ArrayLike, t: float = 0.0) -> Floats:
        """For every stated row how independent it is of those before it, 1 to 0; 1 where it takes no part."""
        none = np.zeros(len(self.layout.velocities))
        found = dict(zip(self._system.rows, self._evaluated(q, none, none, t).pivots, strict=True))
        return np.array([found.get(row, 1.0) for row in self._all_rows])

    def _evaluated(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, t: float) -> Closed:
        q, v, tau = (np.ascontiguousarray(np.asarray(one, dtype=float)) for one in (q, v, tau))
        return self._system.evaluated(q, v, tau, float(t))
