"""Angles and their difference side by side in one expression, which no basis of angles gives."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.passes.expand import Expand


def _graph(sign: int, sine: bool) -> Graph:
    """3 v f(x - y) + 5 v cos x + 7 v cos y with f(x - y) written out, or f(x + y); and the cosine of that angle."""
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")
    v = Scalar(builder, builder.symbol(Kind.VELOCITY, "v"))
    sines = x.sin() * y.cos() - sign * (x.cos() * y.sin())
    turned = sines if sine else x.cos() * y.cos() + sign * (x.sin() * y.sin())
    outputs = (3 * v * turned + 5 * v * x.cos() + 7 * v * y.cos(), (x - sign * y).cos())
    return builder.graph([Output("z", (2,), tuple(one.index for one in outputs))])


@pytest.mark.parametrize("sine", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_difference_stands_beside_its_angles(sign: int, sine: bool) -> None:
    graph = _graph(sign, sine)
    written = Expand().apply(graph)
    kg.prove(graph, written).require()
    operations = kg.count(written)
    assert (operations.mul, operations.add) == (6, 3)  # three terms of v, a number and a function; the angle's own sum
