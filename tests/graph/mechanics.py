"""Typical graphs of mechanics, written by hand: products of rotations and a Newton-Euler recursion."""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output

Vector = list[Scalar]
Matrix = list[list[Scalar]]


def cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def add(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


def apply(matrix: Matrix, vector: Vector) -> Vector:
    return [row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] for row in matrix]


def transposed(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def multiply(left: Matrix, right: Matrix) -> Matrix:
    return transposed([apply(left, column) for column in transposed(right)])


def rotation(axis: int, angle: Scalar) -> Matrix:
    """The rotation about a coordinate axis (0, 1, 2), taking body components to base components."""
    s, c, one, zero = angle.sin(), angle.cos(), angle.number(1), angle.number(0)
    matrix = [[zero] * 3 for _ in range(3)]
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrix[axis][axis] = one
    matrix[j][j] = matrix[k][k] = c
    matrix[j][k], matrix[k][j] = -s, s
    return matrix


def rotation_product(axes: Sequence[int]) -> Graph:
    """The orientation at the end of a chain of rotations, one coordinate each."""
    builder = GraphBuilder()
    angles = [Scalar(builder, builder.symbol(Kind.COORDINATE, f"q{k}")) for k in range(len(axes))]
    product = rotation(axes[0], angles[0])
    for axis, angle in zip(axes[1:], angles[1:], strict=True):
        product = multiply(product, rotation(axis, angle))
    return builder.graph([Output("R", (3, 3), tuple(entry.index for row in product for entry in row))])


def newton_euler(axes: Sequence[int]) -> Graph:
    """Inverse dynamics of a chain of revolute joints by the recursion of Luh, Walker and Paul (1980)."""
    builder = GraphBuilder()

    def symbols(kind: Kind, name: str, number: int) -> list[Scalar]:
        return [Scalar(builder, builder.symbol(kind, f"{name}{k}")) for k in range(number)]

    n = len(axes)
    q, v, a = symbols(Kind.COORDINATE, "q", n), symbols(Kind.VELOCITY, "v", n), symbols(Kind.ACCELERATION, "a", n)
    mass = symbols(Kind.PARAMETER, "m", n)
    zero = mass[0].number(0)
    units = [[mass[0].number(int(row == axis)) for row in range(3)] for axis in range(3)]
    arms = [symbols(Kind.PARAMETER, f"l{k}", 3) for k in range(n)]
    centers = [symbols(Kind.PARAMETER, f"c{k}", 3) for k in range(n)]
    inertias = [symbols(Kind.PARAMETER, f"J{k}", 3) for k in range(n)]

    w, dw, acceleration = [zero] * 3, [zero] * 3, [zero, zero, mass[0].symbol(Kind.PARAMETER, "g")]
    frames, forces, moments = [], [], []
    for k, axis in enumerate(axes):
        frame = rotation(axis, q[k])
        frames.append(frame)
        inward = transposed(frame)
        e = units[axis]
        w = apply(inward, w)
        spin = [v[k] * x for x in e]
        dw = add(add(apply(inward, dw), [a[k] * x for x in e]), cross(w, spin))
        w = add(w, spin)
        acceleration = apply(inward, acceleration)
        center = add(acceleration, add(cross(dw, centers[k]), cross(w, cross(w, centers[k]))))
        forces.append([mass[k] * x for x in center])
        spun = [j * x for j, x in zip(inertias[k], w, strict=True)]
        moments.append(add([j * x for j, x in zip(inertias[k], dw, strict=True)], cross(w, spun)))
        acceleration = add(acceleration, add(cross(dw, arms[k]), cross(w, cross(w, arms[k]))))

    torques: list[Scalar] = []
    force, moment = [zero] * 3, [zero] * 3
    for k in reversed(range(n)):
        moment = add(add(moments[k], moment), add(cross(centers[k], forces[k]), cross(arms[k], force)))
        force = add(forces[k], force)
        torques.insert(0, moment[axes[k]])
        force, moment = apply(frames[k], force), apply(frames[k], moment)
    return builder.graph([Output("tau", (n,), tuple(torque.index for torque in torques))])
