"""Dynamics of mechanisms of any size by recursion: trees, and closed loops by pins or chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.derive.constraints.redundancy import row_names_of
from kinegraph.errors import KernelError
from kinegraph.jit.bitcode import compiled
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive import entries
from kinegraph.recursive.arrays import Floats, MotionArrays, for_loops
from kinegraph.recursive.c_interface import Addressed, tree_accelerations, tree_tables
from kinegraph.recursive.chains.dynamics import ChainSystem
from kinegraph.recursive.chains.structure import refuse_constraints_of_coordinates
from kinegraph.recursive.flatten import FlatMechanism, flatten, flattened_tree
from kinegraph.recursive.forward import ArticulatedForward, ForwardRecursion, choose, refuse_large
from kinegraph.recursive.linkages.pins import SINGULAR, LinkageSystem
from kinegraph.recursive.linkages.recognition import planar_linkage


class RecursiveSystem:
    """A mechanism ready for numbers. Vectors are ordered as `layout` says.

    Quasi-velocities of a quaternion are the angular velocity in the turned axes; the generalized forces that belong to
    them are the moment in these axes. Quaternions in q need not have unit length. Nothing changes after construction,
    so one object may serve many threads.
    """

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> None:
        self.layout = mechanism.layout
        self.flat = flatten(mechanism, parameters)
        self.forward = choose(self.flat, self.layout.velocities)
        self._rest = np.zeros(len(self.layout.velocities))

    @property
    def method(self) -> ForwardRecursion:
        """How `qdd` works for this mechanism."""
        return self.forward.method

    def addressed(self, places: Sequence[int]) -> Addressed | None:
        """Code that is called by its address for `qdd`, and what it reads; None where Python has to take part.

        places: where q, v, tau and t begin among all arguments, -1 for what does not arrive.
        """
        flat, forward = self.flat, self.forward
        if flat.nonlinear is not None or flat.constant_gravity is None or not isinstance(forward, ArticulatedForward):
            return None
        size = len(self.layout.positions)
        read = tree_tables(flat.tree, flat.linear, forward.joints, flat.constant_gravity, places, size)
        return Addressed(compiled(tree_accelerations).address, read)

    def tau(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: float = 0.0) -> Floats:
        """Inverse dynamics: the generalized forces that give the accelerations `a`. O(n)."""
        moving = self._moving(self._positions(q), self._velocities("v", v), self._velocities("a", a), t)
        return entries.inverse(self.flat.tree, moving, self.flat.gravity(t))

    def qdd(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, t: float = 0.0) -> Floats:
        """Forward dynamics: the accelerations under the generalized forces `tau`; `method` says what it costs."""
        positions, velocities = self._positions(q), self._velocities("v", v)
        forces = self._velocities("tau", tau)
        moved = self.flat.displaced(positions, velocities, self._rest, float(t))
        return self.forward.accelerations(moved, positions, velocities, forces, self.flat.gravity(t))

    def energy(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[float, float]:
        """Kinetic and potential energy; the potential is minus the sum of m g.r over the centers of mass. O(n)."""
        moving = self._moving(self._positions(q), self._velocities("v", v), self._rest, t)
        return entries.energy(self.flat.tree, moving, self.flat.gravity(t))

    def inertia(self, q: ArrayLike, t: float = 0.0) -> Floats:
        """The inertia matrix H, dense: O(n^2)."""
        refuse_large("the inertia matrix", len(self.layout.velocities))
        moving = self._moving(self._positions(q), self._rest, self._rest, t)
        return entries.inertia_matrix(self.flat.tree, moving, len(self.layout.velocities))

    def _moving(self, q: Floats, v: Floats, a: Floats, t: float) -> MotionArrays:
        return entries.motion(self.flat.tree, self.flat.displaced(q, v, a, float(t)), q, v, a)

    def _positions(self, q: ArrayLike) -> Floats:
        return checked("q", q, self.layout.positions, "positions")

    def _velocities(self, label: str, values: ArrayLike) -> Floats:
        return checked(label, values, self.layout.velocities, "velocities")


def checked(label: str, values: ArrayLike, expected: Sequence[str], kind: str) -> Floats:
    """The values as a contiguous array of doubles, one for each name of `expected`."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise KernelError(f"{label} holds {array.dtype}, not real numbers\n  give an array of floats")
    if array.shape != (len(expected),):
        listed = ", ".join(expected[:6]) + (", ..." if len(expected) > 6 else "")
        raise KernelError(
            f"{label} has shape {array.shape}, but the mechanism has {len(expected)} {kind}: {listed}\n"
            f"  give an array of shape ({len(expected)},)"
        )
    return for_loops(array)


class ByChains:
    """Any loops: each chain is reduced to the ground."""

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
        refuse_constraints_of_coordinates(mechanism)
        found = planar_linkage(mechanism, parameters)
        self.closed_method: ByPins | ByChains = (
            ByPins(LinkageSystem(*found)) if found else ByChains(ChainSystem(mechanism, parameters))
        )
        self._all_rows = row_names_of(mechanism)

    @cached_property
    def flat(self) -> FlatMechanism:
        """The arrays of the tree."""
        return flattened_tree(*self._model)

    def addressed(self, places: Sequence[int]) -> Addressed | None:
        """Code that is called by its address for `qdd`, and what it reads; there is some for planar linkages."""
        return self.closed_method.system.accelerations_at(places) if isinstance(self.closed_method, ByPins) else None

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
            f"(pivot {pivots[least]:.1e}), so accelerations are undefined\n  choose a position nearby"
        )
