"""Positions and velocities: q' = N(q) v, and forces the other way, N^T.

For an ordinary coordinate N is one. For a quaternion with the angular velocity w in the turned axes,
e' = e (0, w) / 2 (product of quaternions).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Kind, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.model.mechanism import Coordinate, Mechanism, QuaternionCoordinates

_HALF = Fraction(1, 2)


def unit_quaternions(mechanism: Mechanism) -> list[tuple[Symbol, ...]]:
    """The symbols of quaternions, whose squares add up to one: derivations make use of it, proofs must know it."""
    return [
        tuple(Symbol(Kind.COORDINATE, name) for name in coordinate.names)
        for coordinate in mechanism.coordinates
        if isinstance(coordinate, QuaternionCoordinates)
    ]


def position_rates(mechanism: Mechanism, builder: GraphBuilder, v: Sequence[Scalar]) -> list[Scalar]:
    """N(q) v."""
    rest = iter(v)
    rates: list[Scalar] = []
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            rates.append(next(rest))
            continue
        e0, e1, e2, e3 = _quaternion(coordinate, builder)
        x, y, z = next(rest), next(rest), next(rest)
        rates.append(-_HALF * (e1 * x + e2 * y + e3 * z))
        rates.append(_HALF * (e0 * x + e2 * z - e3 * y))
        rates.append(_HALF * (e0 * y + e3 * x - e1 * z))
        rates.append(_HALF * (e0 * z + e1 * y - e2 * x))
    return rates


def velocity_forces(mechanism: Mechanism, builder: GraphBuilder, p: Sequence[Scalar]) -> list[Scalar]:
    """N(q)^T p: what belongs to the velocities, from what belongs to the positions."""
    rest = iter(p)
    forces: list[Scalar] = []
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            forces.append(next(rest))
            continue
        e0, e1, e2, e3 = _quaternion(coordinate, builder)
        p0, p1, p2, p3 = next(rest), next(rest), next(rest), next(rest)
        forces.append(_HALF * (e0 * p1 - e1 * p0 + e3 * p2 - e2 * p3))
        forces.append(_HALF * (e0 * p2 - e2 * p0 + e1 * p3 - e3 * p1))
        forces.append(_HALF * (e0 * p3 - e3 * p0 + e2 * p1 - e1 * p2))
    return forces


def _quaternion(coordinate: QuaternionCoordinates, builder: GraphBuilder) -> list[Scalar]:
    return [Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in coordinate.names]
