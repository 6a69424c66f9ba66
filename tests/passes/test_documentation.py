"""The worked example of docs/passes.md."""

from __future__ import annotations

from kinegraph.graph.build import Builder
from kinegraph.graph.count import count
from kinegraph.graph.node import Kind, Output
from kinegraph.graph.scalar import Scalar
from kinegraph.passes.pipeline import Effort, reduce


def test_small_example() -> None:
    builder = Builder()
    q = Scalar(builder, builder.symbol(Kind.COORDINATE, "q1"))
    v, w = (Scalar(builder, builder.symbol(Kind.VELOCITY, name)) for name in "vw")
    c, s = q.cos(), q.sin()
    first = 3 * c * v * v + 6 * c * w * w + s * s * v
    second = v * v * w + 2 * w * w * w - c * c * v + v
    graph = builder.graph([Output("y", (2,), (first.index, second.index))])
    before, after = count(graph), count(reduce(graph, Effort.QUICK).graph)
    assert (before.mul, before.add) == (15, 5)
    assert (after.mul, after.add) == (8, 3)
