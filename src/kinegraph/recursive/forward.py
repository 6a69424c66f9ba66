"""Forward dynamics by the method that the structure of the mechanism allows, decided once per mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import KernelError
from kinegraph.recursive import entries
from kinegraph.recursive.arrays import (
    KIND,
    QUATERNION,
    VELOCITY,
    Displacement,
    Elimination,
    Floats,
    Integers,
    Joints,
    MotionArrays,
    Tree,
    Vector,
)
from kinegraph.recursive.flatten import FlatMechanism


def joints(tree: Tree, body: Integers, velocities: int) -> Joints | None:
    """The runs of steps that share coordinates, or None if a coordinate moves several bodies (or none)."""
    step, velocity = _users(tree)
    first, last = np.full(velocities, len(tree.link)), np.full(velocities, -1)
    np.minimum.at(first, velocity, step)
    np.maximum.at(last, velocity, step)
    if np.any(last < 0) or np.any(body[first] != body[last]):
        return None
    reach = np.arange(len(tree.link))
    np.maximum.at(reach, first, last)
    closes = np.maximum.accumulate(reach) == np.arange(len(tree.link))
    opens = np.concatenate(([True], closes[:-1]))
    run = np.cumsum(opens)
    members = np.argsort(run[first], kind="stable")
    begin = np.searchsorted(run[first][members], run, side="left")
    end = np.searchsorted(run[first][members], run, side="right")
    return Joints(opens, closes, begin, end, members)


def _users(tree: Tree) -> tuple[Integers, Integers]:
    """Pairs of a step and a velocity that moves it."""
    every = np.arange(len(tree.link))
    steps = np.repeat(every, np.diff(tree.row))
    turned = np.repeat(every[tree.link[:, KIND] == QUATERNION], 3)
    return np.concatenate((steps, turned)), np.concatenate((tree.column, quaternion_velocities(tree)))


def quaternion_velocities(tree: Tree) -> Integers:
    """The places of all quasi-velocities, in the order of their steps."""
    first = tree.link[:, VELOCITY][tree.link[:, KIND] == QUATERNION]
    return np.stack((first, first + 1, first + 2), axis=1).ravel()


def elimination(flat: FlatMechanism) -> Elimination | None:
    """An order that solves dp/dq x = b by substitution, if there are as many moved steps as coordinates and one exists.

    So it is wherever bodies have absolute angles: a step turns by q_b - q_a. Only constant slopes serve as pivots.
    """
    tree = flat.tree
    left = np.diff(tree.row)
    if np.count_nonzero(left) != np.unique(tree.column).size:
        return None
    users = _rows_by_column(tree)
    varying = np.zeros(tree.column.size, dtype=bool)
    varying[flat.nonlinear_entries] = True
    solved: set[int] = set()
    order: list[tuple[int, int]] = []
    ready = np.flatnonzero(left == 1).tolist()
    while ready:
        step = ready.pop()
        pivot = next((e for e in range(tree.row[step], tree.row[step + 1]) if int(tree.column[e]) not in solved), None)
        if pivot is None or varying[pivot]:
            return None
        solved.add(int(tree.column[pivot]))
        order.append((step, pivot))
        for other in users[int(tree.column[pivot])]:
            left[other] -= 1
            if left[other] == 1:
                ready.append(other)
    if len(order) != np.count_nonzero(np.diff(tree.row)):
        return None
    steps, pivots = np.array(order).T
    return Elimination(np.ascontiguousarray(steps), np.ascontiguousarray(pivots))


def _rows_by_column(tree: Tree) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    steps = np.repeat(np.arange(len(tree.link)), np.diff(tree.row))
    for step, column in zip(steps.tolist(), tree.column.tolist(), strict=True):
        users.setdefault(column, []).append(step)
    return users


def independent(tree: Tree) -> tuple[Tree, NDArray[np.bool_]]:
    """The same tree with a velocity of its own for every step that coordinates move, and which steps these are."""
    driven = np.diff(tree.row) > 0
    widths = np.where(driven, 1, np.where(tree.link[:, KIND] == QUATERNION, 3, 0))
    begin = np.cumsum(widths) - widths
    row = np.concatenate(([0], np.cumsum(driven)))
    link = tree.link.copy()
    link[:, VELOCITY] = np.where(link[:, KIND] == QUATERNION, begin, -1)
    bare = np.zeros(int(widths.sum()))
    return tree._replace(link=link, row=row, column=begin[driven], armature=bare), driven


DENSE_LIMIT = 5000  #: velocities; beyond, the inertia matrix alone would take 200 MB and a minute


class ForwardRecursion(Enum):
    """How accelerations are found; the value says when, and what it costs."""

    ARTICULATED = "every coordinate belongs to one body: articulated bodies, O(n)"
    INDEPENDENT = "bodies share coordinates, but the moving transforms determine them: articulated bodies, O(n)"
    DENSE = "bodies share coordinates in another way, or that have armature: inertia matrix and Cholesky, O(n^3)"


class Forward(Protocol):
    """One of the methods, bound to a mechanism."""

    @property
    def method(self) -> ForwardRecursion:
        """Which of the methods it is."""
        ...

    def accelerations(self, moved: Displacement, q: Floats, v: Floats, tau: Floats, gravity: Vector) -> Floats:
        """The accelerations under the forces `tau`; `moved` holds the displacements for zero accelerations."""
        ...


def choose(flat: FlatMechanism, velocity_names: Sequence[str]) -> Forward:
    """The fastest method that serves this mechanism."""
    own = joints(flat.tree, flat.body, len(velocity_names))
    if own is not None:
        return ArticulatedForward(flat.tree, own, velocity_names)
    order = None if flat.tree.armature.any() else elimination(flat)
    if order is None:
        return DenseForward(flat.tree, velocity_names)
    apart, driven = independent(flat.tree)
    runs = joints(apart, flat.body, len(velocity_names))
    assert runs is not None, "a step's own velocity belongs to one body"
    pairs = quaternion_velocities(flat.tree), quaternion_velocities(apart)
    return IndependentForward(flat.tree, apart, runs, order, driven, *pairs, velocity_names)


@dataclass(frozen=True)
class ArticulatedForward:
    """The articulated-body method, coordinates belonging to single joints."""

    tree: Tree
    joints: Joints
    velocity_names: Sequence[str]
    method: ForwardRecursion = ForwardRecursion.ARTICULATED

    def accelerations(self, moved: Displacement, q: Floats, v: Floats, tau: Floats, gravity: Vector) -> Floats:
        """One sweep outwards, one inwards, one outwards."""
        moving = entries.motion(self.tree, moved, q, v, np.zeros_like(v))
        found, stuck = entries.forward(self.tree, self.joints, moving, tau, gravity)
        if stuck >= 0:
            raise massless(self.velocity_names[stuck])
        return found


@dataclass(frozen=True)
class IndependentForward:
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
    method: ForwardRecursion = ForwardRecursion.INDEPENDENT

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
class DenseForward:
    """The inertia matrix by unit accelerations, and its Cholesky factors."""

    tree: Tree
    velocity_names: Sequence[str]
    method: ForwardRecursion = ForwardRecursion.DENSE

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
