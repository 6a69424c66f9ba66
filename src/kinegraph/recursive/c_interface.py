"""The articulated-body method as a C function that compiled integrators call, and the tables it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinegraph.jit.marks import callback, doubles_at, flags_at, integers_at
from kinegraph.recursive.arrays import Floats, Integers, Joints, Linear, Tree, Vector
from kinegraph.recursive.articulated_body import forward
from kinegraph.recursive.newton_euler import displacements, motion

# Places in the table of sizes: lengths of arrays, and where each argument begins in x (-1 if it does not arrive).
STEPS, ENTRIES, POSITIONS, VELOCITIES, SLOTS, MEMBERS, Q, V, TAU, T = range(10)
SIZES = 10


@dataclass(frozen=True)
class Tables:
    """Arrays that code reads by their addresses. They must live as long as that code."""

    arrays: tuple[NDArray[Any], ...]

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where they begin."""
        return tuple(one.ctypes.data for one in self.arrays)


def joined(sizes: Sequence[int], integers: Sequence[Integers], doubles: Sequence[Floats]) -> Tables:
    """Three tables: sizes, all integers and all doubles, array after array."""
    return Tables(
        (
            np.array(sizes, dtype=np.int64),
            np.concatenate([np.asarray(one, dtype=np.int64).ravel() for one in integers]),
            np.concatenate([np.asarray(one, dtype=np.float64).ravel() for one in doubles]),
        )
    )


@dataclass(frozen=True)
class Addressed:
    """A C function for any mechanism: its address, and the tables whose addresses are its first arguments."""

    address: int
    tables: Tables


def tree_tables(
    tree: Tree, linear: Linear, joints: Joints, gravity: Vector, places: Sequence[int], positions: int
) -> Tables:
    """The tables of a mechanism: sizes, integers, doubles, flags. `places`: where q, v, tau and t begin in x."""
    lengths = [len(tree.link), tree.column.size, positions, tree.armature.size, tree.slots, joints.members.size]
    integers = tree.link, tree.row, tree.column, linear.source, joints.first, joints.last, joints.members
    doubles = tree.constant, tree.armature, linear.constant, linear.drift, linear.slope, np.array(gravity)
    flags = np.concatenate([joints.opens, joints.closes])
    return Tables((*joined([*lengths, *places], integers, doubles).arrays, flags))


@callback
def tree_accelerations(sizes: int, integers: int, doubles: int, flags: int, x: int, y: int) -> None:
    """Write the accelerations to y; NaN where a velocity moves nothing with inertia."""
    s = integers_at(sizes, (SIZES,))
    n, e, k, m = s[STEPS], s[ENTRIES], s[VELOCITIES], s[MEMBERS]
    whole = integers_at(integers, (9 * n + 1 + 2 * e + m,))
    at = 7 * n + 1 + 2 * e
    real = doubles_at(doubles, (24 * n + k + e + 3,))
    flag = flags_at(flags, (2 * n,))
    tree = Tree(
        whole[: 6 * n].reshape((n, 6)), real[: 22 * n].reshape((n, 22)), whole[6 * n : 7 * n + 1],
        whole[7 * n + 1 : 7 * n + 1 + e], s[SLOTS], real[22 * n : 22 * n + k],
    )  # fmt: skip
    b = 22 * n + k
    linear = Linear(real[b : b + n], real[b + n : b + 2 * n], real[b + 2 * n : b + 2 * n + e], whole[at - e : at])
    joints = Joints(flag[:n], flag[n:], whole[at : at + n], whole[at + n : at + 2 * n], whole[at + 2 * n :])
    g = b + 2 * n + e
    q = doubles_at(x, (s[Q] + s[POSITIONS],))[s[Q] :]
    v = doubles_at(x, (s[V] + k,))[s[V] :]
    tau = doubles_at(x, (s[TAU] + k,))[s[TAU] :]
    time = doubles_at(x, (s[T] + 1,))[s[T]] if s[T] >= 0 else 0.0
    rest = np.zeros(k)
    moving = motion(tree, displacements(tree, linear, q, v, rest, time), q, v, rest)
    found, stuck = forward(tree, joints, moving, tau, (real[g], real[g + 1], real[g + 2]))
    result = doubles_at(y, (k,))
    for i in range(k):
        result[i] = found[i] if stuck < 0 else np.nan
