"""A serial arm's inverse dynamics as a graph, for benches: plain recursive Newton-Euler, nothing clever."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output, Symbol

Vector = list[Scalar]


def cross(a: Vector, b: Vector) -> Vector:
    """The vector product a x b."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def plus(*vectors: Vector) -> Vector:
    """The sum of some vectors."""
    total = list(vectors[0])
    for vector in vectors[1:]:
        total = [x + y for x, y in zip(total, vector, strict=True)]
    return total


def times(matrix: list[Vector], a: Vector) -> Vector:
    """A matrix, given by its rows, applied to a vector."""
    return [row[0] * a[0] + row[1] * a[1] + row[2] * a[2] for row in matrix]


def turned(matrix: list[Vector]) -> list[Vector]:
    """The transposed matrix."""
    return [list(column) for column in zip(*matrix, strict=True)]


def symbols(joints: int) -> dict[str, tuple[Symbol, ...]]:
    """The coordinates, velocities and accelerations of the arm."""
    kinds = {"q": Kind.COORDINATE, "v": Kind.VELOCITY, "a": Kind.ACCELERATION}
    return {name: tuple(Symbol(kind, f"{name}{k}") for k in range(joints)) for name, kind in kinds.items()}


def arm(joints: int = 6, seed: int = 1) -> Graph:
    """tau of an arm with PUMA-like twists and arbitrary numbers for all ten inertial parameters of each link."""
    builder, random = GraphBuilder(), Random(seed)
    state = {name: [Scalar(builder, builder.intern(one)) for one in some] for name, some in symbols(joints).items()}

    def number(value: int | Fraction) -> Scalar:
        return Scalar(builder, builder.number(value))

    def some() -> Scalar:
        return number(Fraction(random.randint(1, 9999), 10000))

    zero, one = number(0), number(1)
    spin, spin_rate, acceleration = [zero] * 3, [zero] * 3, [zero, zero, number(Fraction(981, 100))]
    rotations, offsets, wrenches = [], [], []
    for joint in range(joints):
        s, c = state["q"][joint].sin(), state["q"][joint].cos()
        twist = (0, -1, 0, -1, 1, -1)[joint % 6]
        ct, st = (one, zero) if twist == 0 else (zero, number(twist))
        rotation = [[c, -s, zero], [s * ct, c * ct, -st], [s * st, c * st, ct]]
        offset = [some() if joint % 3 else zero, zero, some() if joint % 2 else zero]
        inverse = turned(rotation)
        propagated = plus(acceleration, cross(spin_rate, offset), cross(spin, cross(spin, offset)))
        acceleration = times(inverse, propagated)
        before = times(inverse, spin)
        rate = [zero, zero, state["v"][joint]]
        spin_rate = plus(times(inverse, spin_rate), cross(before, rate), [zero, zero, state["a"][joint]])
        spin = plus(before, rate)
        mass, moment = some(), [some() for _ in range(3)]
        a, b, d, e, f, g = (some() for _ in range(6))
        inertia = [[a, b, d], [b, e, f], [d, f, g]]
        momentum = times(inertia, spin)
        force = plus([mass * x for x in acceleration], cross(spin_rate, moment), cross(spin, cross(spin, moment)))
        torque = plus(times(inertia, spin_rate), cross(spin, momentum), cross(moment, acceleration))
        rotations.append(rotation)
        offsets.append(offset)
        wrenches.append((force, torque))
    tau: list[int] = [0] * joints
    force, torque = wrenches[-1]
    for joint in range(joints - 1, -1, -1):
        tau[joint] = torque[2].index
        if joint:
            force = times(rotations[joint], force)
            torque = plus(times(rotations[joint], torque), cross(offsets[joint], force), wrenches[joint - 1][1])
            force = plus(force, wrenches[joint - 1][0])
    return builder.graph([Output("tau", (joints,), tuple(tau))])
