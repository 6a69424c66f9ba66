"""Displacements that are no linear form: graphs with their derivatives, evaluated by the interpreter.

Slow (microseconds per node) but exact in what it means; few transforms of a large mechanism are of this kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kinegraph.derive.tree.convert import scalar_of
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative, gradient
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.scalar import Scalar
from kinegraph.model.evaluate import Value
from kinegraph.model.expression import PI, TIME, Expression, names
from kinegraph.model.mechanism import Coordinate, Mechanism

Floats = NDArray[np.float64]


class NonlinearDisplacements:
    """Values, rates, accelerations and partial derivatives of some displacements, in the order they were given."""

    def __init__(
        self, mechanism: Mechanism, expressions: Sequence[Expression], parameters: Mapping[str, Value]
    ) -> None:
        self._names = (mechanism.layout.positions, mechanism.layout.velocities, mechanism.layout.accelerations)
        ordinary = [c.name for c in mechanism.coordinates if isinstance(c, Coordinate)]
        self.graph = _graph(expressions, ordinary, parameters)

    def __call__(self, q: Floats, v: Floats, a: Floats, t: float) -> tuple[Floats, Floats, Floats, Floats]:
        """p, p', p'', and dp/dq by each coordinate of `depends_on`, one displacement after the other."""
        result = interpret(self.graph, self.named(q, v, a, t))
        return result["p"], result["p'"], result["p''"], result["slope"]

    def named(self, q: Floats, v: Floats, a: Floats, t: float) -> dict[str, float]:
        """The values of all symbols of the graph by name."""
        values: dict[str, float] = {TIME: t}
        for labels, numbers in zip(self._names, (q, v, a), strict=True):
            values.update(zip(labels, numbers.tolist(), strict=True))
        return values


def depends_on(expression: Expression, order: Mapping[str, int]) -> list[str]:
    """The coordinates an expression mentions, sorted by the place `order` gives each."""
    return sorted(names(expression) & order.keys(), key=order.__getitem__)


def _graph(expressions: Sequence[Expression], ordinary: Sequence[str], parameters: Mapping[str, Value]) -> Graph:
    builder = GraphBuilder()
    order = {name: index for index, name in enumerate(ordinary)}
    q, v, a = (
        [builder.symbol(kind, name + mark) for name in ordinary]
        for kind, mark in ((Kind.COORDINATE, ""), (Kind.VELOCITY, "'"), (Kind.ACCELERATION, "''"))
    )
    time = builder.symbol(Kind.TIME, TIME)
    leaves = {TIME: time, PI: builder.pi(), **dict(zip(ordinary, q, strict=True))}
    leaves |= {name: builder.number(Fraction(value)) for name, value in parameters.items()}
    p = [_node(builder, expression, leaves) for expression in expressions]
    along_motion = ForwardDerivative(builder, dict(zip(q + v, v + a, strict=True)) | {time: builder.number(1)})
    rate = [along_motion(root) for root in p]
    acceleration = [along_motion(root) for root in rate]
    slope = [
        derivative
        for root, expression in zip(p, expressions, strict=True)
        for derivative in gradient(builder, root, [leaves[name] for name in depends_on(expression, order)])
    ]
    outputs = {"p": p, "p'": rate, "p''": acceleration, "slope": slope}
    return builder.graph(Output(name, (len(nodes),), tuple(nodes)) for name, nodes in outputs.items())


def _node(builder: GraphBuilder, root: Expression, leaves: Mapping[str, int]) -> int:
    return scalar_of(builder, root, lambda name: Scalar(builder, leaves[name])).index
