"""Rates of positions, as seeds for derivatives: q' = v, and e' = e (0, w)/2 for quaternions."""

from __future__ import annotations

from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.model.mechanism import Coordinate


def along_velocities(derivation: Derivation) -> ForwardDerivative:
    """The derivative of any node along v, at fixed time."""
    builder = derivation.builder

    def symbol(kind: Kind, name: str) -> Scalar:
        return Scalar(builder, builder.symbol(kind, name))

    seeds: dict[int, int] = {symbol(Kind.TIME, "t").index: builder.zero}
    for coordinate in derivation.mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            position = symbol(Kind.COORDINATE, coordinate.name)
            seeds[position.index] = symbol(Kind.VELOCITY, coordinate.name + "'").index
            continue
        e0, e1, e2, e3 = (symbol(Kind.COORDINATE, name) for name in coordinate.names)
        x, y, z = (symbol(Kind.VELOCITY, name) for name in coordinate.velocities)
        rates = (
            -e1 * x - e2 * y - e3 * z,
            e0 * x + e2 * z - e3 * y,
            e0 * y + e3 * x - e1 * z,
            e0 * z + e1 * y - e2 * x,
        )
        for component, rate in zip((e0, e1, e2, e3), rates, strict=True):
            seeds[component.index] = (rate / 2).index
    return ForwardDerivative(builder, seeds)
