"""The arrays that compiled recursions pass to each other, and the algebra of vectors and matrices as tuples."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.jit.marks import inlined

# What the compiled loops pass to each other: few wide arrays, for each costs compile time wherever it is handed on.

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


# Vectors and matrices as tuples: in compiled code they live in registers, and no array is made inside a loop.

NO_VECTOR: Vector = (0.0, 0.0, 0.0)
NO_MATRIX: Matrix = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined
def copy(source: Floats, target: Floats) -> None:
    """Write an array to another. (A slice would do, but its errors need Python.)"""
    for i in range(source.size):
        target[i] = source[i]


@inlined
def copy_rows(source: Floats, target: Floats) -> None:
    """Write a matrix to another."""
    for i in range(len(source)):
        copy(source[i], target[i])


@inlined
def vector(rows: Floats, j: int, at: int) -> Vector:
    """The three entries of a row from `at` on."""
    return (rows[j, at], rows[j, at + 1], rows[j, at + 2])


@inlined
def matrix(rows: Floats, j: int, at: int) -> Matrix:
    """The nine entries of a row from `at` on."""
    a, b, c = vector(rows, j, at), vector(rows, j, at + 3), vector(rows, j, at + 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@inlined
def symmetric(rows: Floats, j: int, at: int) -> Matrix:
    """A symmetric matrix from its entries xx, yy, zz, xy, yz, xz."""
    (x, y, z), (xy, yz, xz) = vector(rows, j, at), vector(rows, j, at + 3)
    return (x, xy, xz, xy, y, yz, xz, yz, z)


@inlined
def put(rows: Floats, j: int, at: int, a: Vector) -> None:
    """Write a vector into a row from `at` on."""
    rows[j, at], rows[j, at + 1], rows[j, at + 2] = a


@inlined
def add(rows: Floats, j: int, at: int, a: Vector) -> None:
    """Add a vector to a row from `at` on."""
    put(rows, j, at, plus(vector(rows, j, at), a))


@inlined
def add_matrix(rows: Floats, j: int, at: int, m: Matrix) -> None:
    """Add a matrix to a row from `at` on."""
    add(rows, j, at, (m[0], m[1], m[2]))
    add(rows, j, at + 3, (m[3], m[4], m[5]))
    add(rows, j, at + 6, (m[6], m[7], m[8]))


@inlined
def plus(a: Vector, b: Vector) -> Vector:
    """The sum of two vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inlined
def scaled(c: float, a: Vector) -> Vector:
    """A multiple of a vector."""
    return (c * a[0], c * a[1], c * a[2])


@inlined
def dot(a: Vector, b: Vector) -> float:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """The vector product a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def times(m: Matrix, a: Vector) -> Vector:
    """A matrix times a vector."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inlined
def transposed(m: Matrix) -> Matrix:
    """Rows and columns exchanged."""
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@inlined
def back(m: Matrix, a: Vector) -> Vector:
    """The transposed matrix times a vector: back into the axes it turns from."""
    return times(transposed(m), a)


@inlined
def product(a: Matrix, b: Matrix) -> Matrix:
    """The product of two matrices."""
    x = times(a, (b[0], b[3], b[6]))
    y = times(a, (b[1], b[4], b[7]))
    z = times(a, (b[2], b[5], b[8]))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@inlined
def combined(a: Matrix, b: Matrix, c: float) -> Matrix:
    """a + c b."""
    return (
        a[0] + c * b[0], a[1] + c * b[1], a[2] + c * b[2],
        a[3] + c * b[3], a[4] + c * b[4], a[5] + c * b[5],
        a[6] + c * b[6], a[7] + c * b[7], a[8] + c * b[8],
    )  # fmt: skip


@inlined
def skew(a: Vector) -> Matrix:
    """The matrix that takes the vector product with a from the left."""
    return (0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0)


@inlined
def outer(a: Vector, b: Vector) -> Matrix:
    """The matrix a b'."""
    return (
        a[0] * b[0], a[0] * b[1], a[0] * b[2],
        a[1] * b[0], a[1] * b[1], a[1] * b[2],
        a[2] * b[0], a[2] * b[1], a[2] * b[2],
    )  # fmt: skip


@inlined
def along(axis: int, length: float) -> Vector:
    """A vector of some length along an axis."""
    if axis == 0:
        return (length, 0.0, 0.0)
    if axis == 1:
        return (0.0, length, 0.0)
    return (0.0, 0.0, length)


@inlined
def axis_turn(axis: int, c: float, s: float) -> Matrix:
    """The turn about an axis by an angle of this cosine and sine."""
    if axis == 0:
        return (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c)
    if axis == 1:
        return (c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c)
    return (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)


@inlined
def quaternion_turn(w: float, x: float, y: float, z: float) -> Matrix:
    """The rotation of a quaternion of any length but zero: the drift of an integrator must not shear bodies."""
    k = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        1.0 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y),
        k * (x * y + w * z), 1.0 - k * (x * x + z * z), k * (y * z - w * x),
        k * (x * z - w * y), k * (y * z + w * x), 1.0 - k * (x * x + y * y),
    )  # fmt: skip
