"""Graphs to reduce, made without the derivation: the 6R arm of Rackovic's Example 2.1 and resultants."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output

Vector = list
REFERENCE = Path(__file__).parent


def _exact(value):
    return Fraction(str(value))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _zero_orientation(axis, own, axis0, to_next0):
    """Q_i0 = [a0 e0 e0xa0][a e exa]^T of the example's conventions, rounded to the signed permutation it is."""

    def unit(v):
        return v / np.linalg.norm(v)

    if np.linalg.norm(np.cross(own, axis)) < 1e-12:
        own = own[[1, 2, 0]]
    if np.linalg.norm(np.cross(to_next0, axis0)) < 1e-12:
        to_next0 = to_next0[[1, 2, 0]]
    a = unit(np.cross(axis, np.cross(own, axis)))
    a0 = -unit(np.cross(axis0, np.cross(to_next0, axis0)))
    body = np.column_stack([a, axis, np.cross(axis, a)])
    base = np.column_stack([a0, axis0, np.cross(axis0, a0)])
    return np.rint(base @ body.T).astype(int)


def arm_6r() -> Graph:
    """H, C and gravity of Example 2.1 with numbers for all parameters."""
    data = json.loads((REFERENCE / "rackovic_example_2_1.json").read_text())
    builder = GraphBuilder()
    n = 6
    q = [Scalar(builder, builder.symbol(Kind.COORDINATE, f"q{i + 1}")) for i in range(n)]
    zero = Scalar(builder, builder.number(0))
    orientations = zero_pose(data)
    frame = [[zero + (1 if i == j else 0) for j in range(3)] for i in range(3)]
    point = [zero, zero, zero]
    axes, points, masses, centers, tensors = [], [], [], [], []
    run = None
    for i in range(n):
        before = np.eye(3, dtype=int) if i == 0 else orientations[i - 1]
        axis0 = before @ np.array(data["axes"][i])
        place = int(np.flatnonzero(axis0)[0])
        angle = int(axis0[place]) * q[i]
        if run is not None and run[0] == place:
            angle = run[1] + angle
            start = run[2]
        else:
            start = frame
        run = (place, angle, start)
        if i:
            step = orientations[i - 1] @ np.array([_exact(v) for v in data["r_i_next"][i - 1]])
            point = [p - x for p, x in zip(centers[i - 1], apply(frame, step), strict=True)]
        frame = multiply(start, rotation(place, angle))
        own = orientations[i] @ np.array([_exact(v) for v in data["r_ii"][i]])
        centers.append([p + x for p, x in zip(point, apply(frame, own), strict=True)])
        axes.append([row[place] * int(axis0[place]) for row in frame])
        points.append(point)
        masses.append(_exact(data["mass"][i]))
        moments = [_exact(v) for v in data["J"][i]]
        pseudo = [sum(moments) / 2 - m for m in moments]
        columns = [apply(frame, orientations[i][:, c]) for c in range(3)]
        tensors.append([[_tensor(columns, pseudo, zero, r, s) for s in range(3)] for r in range(3)])
    return _assemble(builder, zero, axes, points, masses, centers, tensors)


def _assemble(builder, zero, axes, points, masses, centers, tensors) -> Graph:
    n = len(axes)
    first, second = [None] * n, [None] * n
    for k in range(n):
        first[k] = [sum((masses[j] * (centers[j][r] - points[k][r]) for j in range(k, n)), zero) for r in range(3)]
        second[k] = [[_second(zero, tensors, masses, centers, points[k], k, r, s) for s in range(3)] for r in range(3)]
    force = [cross(axes[k], first[k]) for k in range(n)]
    gravity = [zero, zero, zero - Fraction("9.81")]

    def coriolis(i, k, j):
        arm = [a - b for a, b in zip(points[k], points[i], strict=True)]
        image = [dot(second[k][r], axes[j]) for r in range(3)]
        turned = cross(axes[k], image)
        moved = cross(arm, cross(axes[j], force[k]))
        return dot(axes[i], [m - t for m, t in zip(moved, turned, strict=True)])

    def inertia(i, k):
        trace = second[k][0][0] + second[k][1][1] + second[k][2][2]
        turned = [trace * axes[k][r] - dot(second[k][r], axes[k]) for r in range(3)]
        arm = [a - b for a, b in zip(points[k], points[i], strict=True)]
        return dot(axes[i], [t + m for t, m in zip(turned, cross(arm, force[k]), strict=True)])

    def three(i, k, j):
        k, j = max(k, j), min(k, j)
        return coriolis(i, k, j) if i <= k else -coriolis(k, i, j)

    h = [inertia(min(i, k), max(i, k)).index for i in range(n) for k in range(n)]
    c = [three(i, k, j).index for i in range(n) for k in range(n) for j in range(n)]
    g = [(-dot(axes[i], cross(first[i], gravity))).index for i in range(n)]
    shown = (("H", (n, n), h), ("C", (n, n, n), c), ("gravity", (n,), g))
    return builder.graph([Output(name, shape, tuple(nodes)) for name, shape, nodes in shown])


def _tensor(columns, pseudo, zero, r, s):
    return sum((columns[c][r] * columns[c][s] * pseudo[c] for c in range(3)), zero)


def _second(zero, tensors, masses, centers, origin, k, r, s):
    total = zero
    for j in range(k, len(masses)):
        x = [c - o for c, o in zip(centers[j], origin, strict=True)]
        total = total + tensors[j][r][s] + masses[j] * x[r] * x[s]
    return total


def zero_pose(data):
    orientations = []
    for i in range(6):
        before = np.eye(3, dtype=int) if i == 0 else orientations[i - 1]
        axis = np.array(data["axes"][i])
        link = np.array([0, 0, 1.0]) if i == 0 else before @ np.array(data["r_i_next"][i - 1])
        if i == 0:
            orientations.append(np.eye(3, dtype=int))
            continue
        orientations.append(_zero_orientation(axis, np.array(data["r_ii"][i]), before @ axis, link))
    return orientations


def rotation(place, angle):
    c, s = angle.cos(), angle.sin()
    zero, one = angle.number(0), angle.number(1)
    if place == 0:
        return [[one, zero, zero], [zero, c, -s], [zero, s, c]]
    if place == 1:
        return [[c, zero, s], [zero, one, zero], [-s, zero, c]]
    return [[c, -s, zero], [s, c, zero], [zero, zero, one]]


def multiply(a, b):
    return [[dot(a[r], [b[k][c] for k in range(3)]) for c in range(3)] for r in range(3)]


def apply(matrix, vector):
    numbers = [x if isinstance(x, Fraction) else int(x) for x in vector]
    zero = matrix[0][0].number(0)
    return [sum((row[c] * numbers[c] for c in range(3)), zero) for row in matrix]
