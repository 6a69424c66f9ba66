"""All that the loops need of a mechanism in four tables: sizes, integers, doubles and flags, array after array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kinegraph.large.records import Floats, Integers, Joints, Linear, Tree, Vector

# Places in the table of sizes: lengths of arrays, and where each argument begins in x (-1 if it does not arrive).
STEPS, ENTRIES, POSITIONS, VELOCITIES, SLOTS, MEMBERS, Q, V, TAU, T = range(10)
SIZES = 10


class Memory(Protocol):
    """Tables that code reads; they must live as long as it does."""

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where they begin."""
        ...


@dataclass(frozen=True)
class Addressed:
    """Code for any mechanism, called with the addresses of tables: where it begins, and the tables."""

    address: int
    tables: Memory


@dataclass(frozen=True)
class Tables:
    """The four tables of one mechanism. Their memory must live as long as code that reads them."""

    sizes: Integers
    integers: Integers
    doubles: Floats
    flags: NDArray[np.bool_]

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where they begin."""
        return tuple(one.ctypes.data for one in (self.sizes, self.integers, self.doubles, self.flags))


def tables(
    tree: Tree, linear: Linear, joints: Joints, gravity: Vector, places: Sequence[int], positions: int
) -> Tables:
    """The tables of a mechanism; `places` are those of q, v, tau and t among all arguments."""
    lengths = [len(tree.link), tree.column.size, positions, tree.armature.size, tree.slots, joints.members.size]
    integers = tree.link, tree.row, tree.column, linear.source, joints.first, joints.last, joints.members
    doubles = tree.constant, tree.armature, linear.constant, linear.drift, linear.slope, np.array(gravity)
    return Tables(
        np.array([*lengths, *places], dtype=np.int64),
        np.concatenate([np.asarray(one, dtype=np.int64).ravel() for one in integers]),
        np.concatenate([np.asarray(one, dtype=np.float64).ravel() for one in doubles]),
        np.concatenate([joints.opens, joints.closes]),
    )
