"""What Python calls of the compiled recursions over bodies: arrays in, new arrays out.

Each loop writes to arrays that its caller makes, for compiled code returns numbers alone.
"""

from __future__ import annotations

import numpy as np

from kinegraph.jit.bitcode import compiled
from kinegraph.jit.marks import loop
from kinegraph.recursive import articulated_body, newton_euler
from kinegraph.recursive.arrays import (
    Displacement,
    Elimination,
    Floats,
    Joints,
    Linear,
    MotionArrays,
    Tree,
    Vector,
    copy,
    copy_rows,
)
from kinegraph.recursive.chains import closing as chain_closing
from kinegraph.recursive.chains.sweeps import Closing, Directions

_displacements, _motion = newton_euler.displacements, newton_euler.motion
_inverse, _inertia_matrix, _energy = newton_euler.inverse, newton_euler.inertia_matrix, newton_euler.energy
_forward, _solve = articulated_body.forward, articulated_body.solve
_solve_transposed, _closed = articulated_body.solve_transposed, chain_closing.closed


@loop
def displace(
    tree: Tree, linear: Linear, q: Floats, v: Floats, a: Floats, t: float, value: Floats, rate: Floats, second: Floats
) -> None:
    """Write displacements and their first and second rates."""
    moved = _displacements(tree, linear, q, v, a, t)
    copy(moved.value, value)
    copy(moved.rate, rate)
    copy(moved.acceleration, second)


def displacements(tree: Tree, linear: Linear, q: Floats, v: Floats, a: Floats, t: float) -> Displacement:
    """Displacements that are linear in coordinates and time."""
    steps = len(tree.link)
    value, rate, second = np.empty(steps), np.empty(steps), np.empty(steps)
    compiled(displace)(tree, linear, q, v, a, t, value, rate, second)
    return Displacement(value, rate, second, linear.slope)


@loop
def move(tree: Tree, moved: Displacement, q: Floats, v: Floats, a: Floats, step: Floats) -> None:
    """Write the motion of all steps."""
    copy_rows(_motion(tree, moved, q, v, a).step, step)


def motion(tree: Tree, moved: Displacement, q: Floats, v: Floats, a: Floats) -> MotionArrays:
    """The motion of all steps."""
    step = np.empty((len(tree.link), 4))
    compiled(move)(tree, moved, q, v, a, step)
    return MotionArrays(step, moved.slope, q, v, a)


@loop
def find_forces(tree: Tree, moving: MotionArrays, gravity: Vector, tau: Floats) -> None:
    """Write the generalized forces."""
    copy(_inverse(tree, moving, gravity), tau)


def inverse(tree: Tree, moving: MotionArrays, gravity: Vector) -> Floats:
    """Generalized forces by recursive Newton-Euler."""
    tau = np.empty(moving.a.size)
    compiled(find_forces)(tree, moving, gravity, tau)
    return tau


@loop
def find_inertia(tree: Tree, moving: MotionArrays, count: int, matrix: Floats) -> None:
    """Write the inertia matrix."""
    copy_rows(_inertia_matrix(tree, moving, count), matrix)


def inertia_matrix(tree: Tree, moving: MotionArrays, count: int) -> Floats:
    """H by unit accelerations."""
    matrix = np.empty((count, count))
    compiled(find_inertia)(tree, moving, count, matrix)
    return matrix


@loop
def find_energy(tree: Tree, moving: MotionArrays, gravity: Vector, result: Floats) -> None:
    """Write kinetic and potential energy."""
    result[0], result[1] = _energy(tree, moving, gravity)


def energy(tree: Tree, moving: MotionArrays, gravity: Vector) -> tuple[float, float]:
    """Kinetic and potential energy."""
    result = np.empty(2)
    compiled(find_energy)(tree, moving, gravity, result)
    return result[0], result[1]


@loop
def find_accelerations(
    tree: Tree, joints: Joints, moving: MotionArrays, tau: Floats, gravity: Vector, result: Floats
) -> int:
    """Write the accelerations; the velocity without inertia that stopped it, or -1."""
    found, stuck = _forward(tree, joints, moving, tau, gravity)
    copy(found, result)
    return stuck


def forward(tree: Tree, joints: Joints, moving: MotionArrays, tau: Floats, gravity: Vector) -> tuple[Floats, int]:
    """Accelerations by the articulated-body method, and the velocity without inertia that stopped it (or -1)."""
    result = np.empty(tau.size)
    return result, compiled(find_accelerations)(tree, joints, moving, tau, gravity, result)


@loop
def substitute(tree: Tree, order: Elimination, slope: Floats, right: Floats, x: Floats) -> None:
    """Write x of dp/dq x = right."""
    copy(_solve(tree, order, slope, right, x.size), x)


def solve(tree: Tree, order: Elimination, slope: Floats, right: Floats, count: int) -> Floats:
    """x of dp/dq x = right, `right` given per step."""
    x = np.empty(count)
    compiled(substitute)(tree, order, slope, right, x)
    return x


@loop
def substitute_transposed(tree: Tree, order: Elimination, slope: Floats, right: Floats, y: Floats) -> None:
    """Write y of (dp/dq)' y = right."""
    copy(_solve_transposed(tree, order, slope, right), y)


def solve_transposed(tree: Tree, order: Elimination, slope: Floats, right: Floats) -> Floats:
    """y, per step, of (dp/dq)' y = right."""
    y = np.empty(len(tree.link))
    compiled(substitute_transposed)(tree, order, slope, right, y)
    return y


@loop
def close(
    closing: Closing, directions: Directions, ends: Floats, compliance: Floats, free: Floats,
    forces: Floats, found: Floats, matrix: Floats,
) -> None:  # fmt: skip
    """Write the forces that close the loops, what is known of each row, and S."""
    pulls, known, square = _closed(closing, directions, ends, compliance, free)
    copy(pulls, forces)
    copy_rows(known, found)
    copy_rows(square, matrix)


def closed(
    closing: Closing, directions: Directions, ends: Floats, compliance: Floats, free: Floats
) -> tuple[Floats, Floats, Floats]:
    """Forces along all directions; by row the multiplier, the pivot, what is missed and how fast (rows, 4); and S."""
    rows, count = len(closing.row), directions.end.size
    forces, found, matrix = np.empty(count), np.empty((rows, 4)), np.empty((rows, rows))
    compiled(close)(closing, directions, ends, compliance, free, forces, found, matrix)
    return forces, found, matrix
