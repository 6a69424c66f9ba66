"""What the compiled loops pass to each other: few wide arrays, for each costs compile time wherever it is handed on."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Vector: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]

GROUND, ROTATION, SHIFT, QUATERNION = 0, 1, 2, 3

# Columns of Tree.link
PARENT, KIND, AXIS = 0, 1, 2
SLOT = 3  # where a step is kept that others than the next step stand on, else -1
POSITION, VELOCITY = 4, 5  # where a quaternion begins in q, and its quasi-velocities in v
# Columns of Tree.constant
PLACEMENT = 0  # axes after the constant placement, in the parent's axes, row by row
OFFSET = 9  # origin after the constant placement, in the parent's axes
MOMENT = 12  # first moment of mass about the step's origin
INERTIA = 15  # inertia tensor about the step's origin: xx, yy, zz, xy, yz, xz
MASS = 21
# Columns of MotionArrays.step: a step turns by an angle of this cosine and sine, or shifts by this distance
COSINE, AMOUNT, RATE, ACCELERATION = 0, 1, 2, 3


class Tree(NamedTuple):
    """What does not move: one row per step, a parent before its children, step 0 the ground."""

    link: Integers  #: (n, 6)
    constant: Floats  #: (n, 22)
    row: Integers  #: row[j]:row[j+1] are the entries of dp_j/dq in `column` and `slope`
    column: Integers  #: the velocity each entry belongs to
    slots: int  #: how many steps have a slot
    armature: Floats  #: inertia in each velocity that belongs to no body


class Linear(NamedTuple):
    """p_j = constant + drift t + sum slope q, for every step; steps that are not linear hold zeros."""

    constant: Floats
    drift: Floats
    slope: Floats
    source: Integers  #: for each entry of `slope`, the position it multiplies


class Displacement(NamedTuple):
    """p_j, its first and second derivative in time, and dp_j/dq in the order of `Tree.column`."""

    value: Floats
    rate: Floats
    acceleration: Floats
    slope: Floats


class MotionArrays(NamedTuple):
    """All that moves."""

    step: Floats  #: (n, 4)
    slope: Floats
    q: Floats
    v: Floats
    a: Floats


class Joints(NamedTuple):
    """Runs of steps within one body whose coordinates occur nowhere else: the joints of the articulated-body method."""

    opens: NDArray[np.bool_]  #: the step begins a run
    closes: NDArray[np.bool_]  #: the step ends a run
    first: Integers  #: first[j]:last[j] are the velocities of the run of step j in `members`
    last: Integers
    members: Integers


class Elimination(NamedTuple):
    """An order in which every row of dp/dq has one unknown left: `entry[i]`, of the row `step[i]`."""

    step: Integers
    entry: Integers


def for_loops(values: ArrayLike) -> Floats:
    """Numbers as the loops take them."""
    return np.ascontiguousarray(values, dtype=np.float64)
