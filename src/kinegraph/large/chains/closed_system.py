"""Closed loops behind the calls of looped systems: accelerations and pivots for plain arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.derive.constraints.analysis import row_names_of
from kinegraph.errors import KernelError
from kinegraph.large import entries
from kinegraph.large.by_address.tables import Addressed
from kinegraph.large.chains.planar import Ring
from kinegraph.large.chains.planar_structure import planar_loop
from kinegraph.large.chains.system import ChainSystem
from kinegraph.large.flat.flatten import FlatMechanism, flattened_tree
from kinegraph.large.linkages.structure import planar_linkage
from kinegraph.large.linkages.sweeps import SINGULAR
from kinegraph.large.linkages.system import LinkageSystem
from kinegraph.large.records import Floats, for_loops
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism


class ClosedMethod(Protocol):
    """One way to compute; `rows` are those that take part."""

    @property
    def code(self) -> str:
        """Which of the compiled loops it takes."""
        ...

    @property
    def rows(self) -> Sequence[str]:
        """The names of the rows."""
        ...

    def evaluated(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        """Accelerations, and pivots of the rows."""
        ...


class ByBars:
    """Planar loops, bar by bar."""

    code = "bars"

    def __init__(self, ring: Ring, rows: Sequence[str]) -> None:
        self.ring = ring
        self.rows = sorted(rows)

    def evaluated(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        """Accelerations, and pivots of the rows."""
        result = np.empty(len(v))
        found, _ = entries.ring_accelerations(self.ring, q, v, tau, result)
        return result, found[2:]


class ByChains:
    """Any loops, each chain reduced to the ground."""

    code = "chains"

    def __init__(self, system: ChainSystem) -> None:
        self.system = system
        self.rows = system.rows

    def evaluated(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        """Accelerations, and pivots of the rows."""
        found = self.system.evaluated(q, v, tau, t)
        return found.qdd.copy(), found.pivots


class ByPins:
    """Planar linkages with any number of loops, pin by pin."""

    code = "pins"

    def __init__(self, system: LinkageSystem) -> None:
        self.system = system
        self.rows = system.rows

    def evaluated(self, q: Floats, v: Floats, tau: Floats, t: float) -> tuple[Floats, Floats]:
        """Accelerations, and pivots of the rows."""
        found, pivots = self.system.evaluated(q, v, tau)
        return found, np.repeat(pivots, 2)


class ClosedSystem:
    """A mechanism with loops, ready for numbers: `qdd`, `pivots` and `energy` in O(n)."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> None:
        self.layout = mechanism.layout
        self._model = mechanism, parameters
        self.closed_method = self._fastest()
        self._all_rows = row_names_of(mechanism)

    def _fastest(self) -> ClosedMethod:
        planar = planar_loop(*self._model)
        if planar is not None:
            return ByBars(*planar)
        return ByChains(ChainSystem(*self._model)) if self._linkage is None else ByPins(self._linkage)

    @cached_property
    def _linkage(self) -> LinkageSystem | None:
        found = planar_linkage(*self._model)
        return None if found is None else LinkageSystem(*found)

    @cached_property
    def flat(self) -> FlatMechanism:
        """The arrays of the tree."""
        return flattened_tree(*self._model)

    @property
    def closed_methods(self) -> tuple[ClosedMethod, ...]:
        """How calls compute, and how code does that is called by its address, where that is another way."""
        other = self._linkage
        return (
            (self.closed_method,)
            if other is None or isinstance(self.closed_method, ByPins)
            else (self.closed_method, ByPins(other))
        )

    def addressed(self, places: Sequence[int]) -> Addressed | None:
        """Code that is called by its address for `qdd`, and what it reads; there is some for planar linkages."""
        return None if self._linkage is None else self._linkage.accelerations_at(places)

    def energy(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[float, float]:
        """Kinetic and potential energy; loops that are open count as they are."""
        flat = self.flat
        q, v = (for_loops(one) for one in (q, v))
        none = np.zeros(len(v))
        moving = entries.motion(flat.tree, flat.displaced(q, v, none, float(t)), q, v, none)
        return entries.energy(flat.tree, moving, flat.gravity(t))

    def qdd(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, t: float = 0.0) -> Floats:
        """Accelerations under generalized forces; KernelError in a singular position, naming the row."""
        found, pivots = self._evaluated(q, v, tau, t)
        refuse_singular(pivots, self.closed_method.rows)
        return found

    def pivots(self, q: ArrayLike, t: float = 0.0) -> Floats:
        """For every stated row how independent it is of those before it, 1 to 0; 1 where it takes no part."""
        none = np.zeros(len(self.layout.velocities))
        pivots = self._evaluated(q, none, none, t)[1]
        found = dict(zip(self.closed_method.rows, pivots, strict=True))
        return np.array([found.get(row, 1.0) for row in self._all_rows])

    def _evaluated(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, t: float) -> tuple[Floats, Floats]:
        q, v, tau = (for_loops(one) for one in (q, v, tau))
        return self.closed_method.evaluated(q, v, tau, float(t))


def refuse_singular(pivots: Floats, rows: Sequence[str]) -> None:
    """KernelError in a singular position, naming the row."""
    least = int(np.argmin(pivots)) if pivots.size else -1
    if least >= 0 and not pivots[least] > SINGULAR:
        raise KernelError(
            f"the position is singular: the row {rows[least]} depends on others "
            f"(pivot {pivots[least]:.1e}), so accelerations mean nothing\n  take a position beside it"
        )
