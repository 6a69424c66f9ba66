"""How the accelerations of a mechanism are found: what depends on the structure alone, decided once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinegraph.large.flat.flatten import FlatMechanism
from kinegraph.large.records import KIND, QUATERNION, VELOCITY, Elimination, Integers, Joints, Tree


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
