"""Dynamics of mechanisms of any size by compiled loops over their elementary transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.errors import KernelError
from kinegraph.jit.bitcode import compiled
from kinegraph.large import entries
from kinegraph.large.by_address.entry import tree_accelerations
from kinegraph.large.by_address.tables import Addressed, tables
from kinegraph.large.flat.flatten import flatten
from kinegraph.large.forward import Articulated, ForwardLoops, choose, refuse_large
from kinegraph.large.records import Floats, MotionArrays, for_loops
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism


class LoopedSystem:
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
    def method(self) -> ForwardLoops:
        """How `qdd` works for this mechanism."""
        return self.forward.method

    def addressed(self, places: Sequence[int]) -> Addressed | None:
        """Code that is called by its address for `qdd`, and what it reads; None where Python has to take part.

        places: where q, v, tau and t begin among all arguments, -1 for what does not arrive.
        """
        flat, forward = self.flat, self.forward
        if flat.nonlinear is not None or flat.constant_gravity is None or not isinstance(forward, Articulated):
            return None
        size = len(self.layout.positions)
        read = tables(flat.tree, flat.linear, forward.joints, flat.constant_gravity, places, size)
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
        """Kinetic and potential energy; the potential is minus the sum of m g.r over the centres of mass. O(n)."""
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
