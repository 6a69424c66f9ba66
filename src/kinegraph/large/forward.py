"""Forward dynamics, by the method the structure of the mechanism allows. The choice is made once per mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import KernelError
from kinegraph.large import entries
from kinegraph.large.flat.flatten import FlatMechanism
from kinegraph.large.joints import elimination, independent, joints, quaternion_velocities
from kinegraph.large.records import Displacement, Elimination, Floats, Integers, Joints, MotionArrays, Tree, Vector

DENSE_LIMIT = 5000  #: velocities; beyond, the inertia matrix alone would take 200 MB and a minute


class ForwardLoops(Enum):
    """How accelerations are found; the value says when, and what it costs."""

    ARTICULATED = "every coordinate belongs to one body: articulated bodies, O(n)"
    INDEPENDENT = "bodies share coordinates, but the moving transforms determine them: articulated bodies, O(n)"
    DENSE = "bodies share coordinates in another way, or that have armature: inertia matrix and Cholesky, O(n^3)"


class Forward(Protocol):
    """One of the methods, bound to a mechanism."""

    @property
    def method(self) -> ForwardLoops:
        """Which of the methods it is."""
        ...

    def accelerations(self, moved: Displacement, q: Floats, v: Floats, tau: Floats, gravity: Vector) -> Floats:
        """The accelerations under the forces `tau`; `moved` holds the displacements for zero accelerations."""
        ...


def choose(flat: FlatMechanism, velocity_names: Sequence[str]) -> Forward:
    """The fastest method that serves this mechanism."""
    own = joints(flat.tree, flat.body, len(velocity_names))
    if own is not None:
        return Articulated(flat.tree, own, velocity_names)
    order = None if flat.tree.armature.any() else elimination(flat)
    if order is None:
        return Dense(flat.tree, velocity_names)
    apart, driven = independent(flat.tree)
    runs = joints(apart, flat.body, len(velocity_names))
    assert runs is not None, "a step's own velocity belongs to one body"
    pairs = quaternion_velocities(flat.tree), quaternion_velocities(apart)
    return Independent(flat.tree, apart, runs, order, driven, *pairs, velocity_names)


@dataclass(frozen=True)
class Articulated:
    """The articulated-body method, coordinates belonging to single joints."""

    tree: Tree
    joints: Joints
    velocity_names: Sequence[str]
    method: ForwardLoops = ForwardLoops.ARTICULATED

    def accelerations(self, moved: Displacement, q: Floats, v: Floats, tau: Floats, gravity: Vector) -> Floats:
        """One sweep outwards, one inwards, one outwards."""
        moving = entries.motion(self.tree, moved, q, v, np.zeros_like(v))
        found, stuck = entries.forward(self.tree, self.joints, moving, tau, gravity)
        if stuck >= 0:
            raise massless(self.velocity_names[stuck])
        return found


@dataclass(frozen=True)
class Independent:
    """The articulated-body method for the displacements p of the steps themselves, as if nothing coupled them.

    With p'' = D q'' + bias and square D = dp/dq, the forces along p solve D' tau_p = tau, and q'' follows from p''.
    """

    tree: Tree
    apart: Tree  #: the same steps, each with a velocity of its own
    joints: Joints
    order: Elimination
    driven: NDArray[np.bool_]  #: the steps that coordinates move
    quasi: Integers  #: quasi-velocities of quaternions among the velocities of the mechanism ...
    quasi_apart: Integers  #: ... and among those of the steps
    velocity_names: Sequence[str]
    method: ForwardLoops = ForwardLoops.INDEPENDENT

    def accelerations(self, moved: Displacement, q: Floats, v: Floats, tau: Floats, gravity: Vector) -> Floats:
        """The same for displacements, between two solutions by substitution."""
        own, right = self.apart.column, np.zeros(self.driven.size)
        forces = np.empty(tau.size)
        forces[own] = entries.solve_transposed(self.tree, self.order, moved.slope, tau)[self.driven]
        forces[self.quasi_apart] = tau[self.quasi]
        found, stuck = entries.forward(self.apart, self.joints, self._unbiased(moved, q, v), forces, gravity)
        if stuck >= 0:
            raise massless(self._name(stuck))
        right[self.driven] = found[own] - moved.acceleration[self.driven]
        result = entries.solve(self.tree, self.order, moved.slope, right, tau.size)
        result[self.quasi] = found[self.quasi_apart]
        return result

    def _unbiased(self, moved: Displacement, q: Floats, v: Floats) -> MotionArrays:
        """MotionArrays in which only prescribed steps accelerate: the p'' of the others are the unknowns."""
        acceleration = np.where(self.driven, 0.0, moved.acceleration)
        moved = moved._replace(acceleration=acceleration, slope=np.ones(self.apart.column.size))
        own = np.zeros_like(v)
        own[self.quasi_apart] = v[self.quasi]
        return entries.motion(self.apart, moved, q, own, np.zeros_like(v))

    def _name(self, stuck: int) -> str:
        """A velocity that moves the step whose own velocity is `stuck`."""
        step = np.flatnonzero(self.driven)[np.searchsorted(self.apart.column, stuck)]
        return self.velocity_names[int(self.tree.column[self.tree.row[step]])]


@dataclass(frozen=True)
class Dense:
    """The inertia matrix by unit accelerations, and its Cholesky factors."""

    tree: Tree
    velocity_names: Sequence[str]
    method: ForwardLoops = ForwardLoops.DENSE

    def accelerations(self, moved: Displacement, q: Floats, v: Floats, tau: Floats, gravity: Vector) -> Floats:
        """The whole inertia matrix and its factors."""
        refuse_large("forward dynamics of coordinates that bodies share in this way", tau.size)
        moving = entries.motion(self.tree, moved, q, v, np.zeros_like(v))
        matrix = entries.inertia_matrix(self.tree, moving, tau.size)
        return solved_by_factors(matrix, tau - entries.inverse(self.tree, moving, gravity))


def solved_by_factors(matrix: Floats, force: Floats) -> Floats:
    """The accelerations of an inertia matrix under forces; KernelError where something has no inertia."""
    if not (np.isfinite(matrix).all() and np.isfinite(force).all()):
        return np.full(force.size, np.nan)
    try:
        lower = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise massless("some coordinate") from None
    return np.asarray(np.linalg.solve(lower.T, np.linalg.solve(lower, force)))


def refuse_large(what: str, velocities: int) -> None:
    """Raise a KernelError where a dense matrix would fill the memory."""
    if velocities > DENSE_LIMIT:
        raise KernelError(
            f"{what} needs a dense matrix; {velocities} velocities are more than {DENSE_LIMIT}\n"
            "  give each body coordinates of its own: then time and memory are linear in their number"
        )


def massless(name: str) -> KernelError:
    """The error for a velocity that nothing resists."""
    return KernelError(
        f"no acceleration: nothing with inertia moves with {name} alone\n"
        "  give mass to the bodies beyond it, or remove coordinates that do the same as others"
    )
