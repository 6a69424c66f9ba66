"""By parts: the part is independent, what is put back is what was taken out, and directions are recognized."""

from __future__ import annotations

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Output, children
from kinegraph.graph.proof import prove
from kinegraph.passes.rackovic import ByParts, direction_cosines, part_of, put_back, top_of
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities


def two_turns() -> Graph:
    """A lever on a lever: the second one's direction is the part, its length comes in later."""
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")
    v = Scalar(builder, builder.symbol(Kind.VELOCITY, "v"))
    east = x.cos() * y.cos() - x.sin() * y.sin()
    north = x.sin() * y.cos() + x.cos() * y.sin()
    outputs = (3 * east + x.cos(), 3 * north + x.sin(), v * east * north + v, east * east + north * north)
    return builder.graph([Output("y", (4,), tuple(one.index for one in outputs))])


def test_directions_are_the_part_and_its_top_is_all_the_rest_uses() -> None:
    graph = two_turns()
    inside = direction_cosines(graph)
    top = top_of(graph, inside)
    assert len(top) == 2
    assert all(set(children(graph.nodes[index])) for index in top)
    part = part_of(graph, top)
    assert (count(part).mul, count(part).add) == (4, 2)
    outside = {child for i, node in enumerate(graph.nodes) if i not in inside for child in children(node)}
    assert not outside & (inside - set(top))


def test_putting_back_what_was_taken_out_changes_nothing() -> None:
    graph = two_turns()
    top = top_of(graph, direction_cosines(graph))
    same = put_back(graph, top, part_of(graph, top))
    assert count(same) == count(graph)
    prove(graph, same).require()


def test_the_part_is_reduced_and_the_rest_is_not() -> None:
    graph = two_turns()
    result = ByParts((TrigonometricIdentities(),)).apply(graph)
    prove(graph, result).require()
    before, after = count(graph), count(result)
    assert before.total - after.total == 6 - 1  # two directions less, one sum of angles more


def test_without_directions_the_graph_stays() -> None:
    builder = GraphBuilder()
    v = Scalar(builder, builder.symbol(Kind.VELOCITY, "v"))
    graph = builder.graph([Output("y", (), ((v * v + 1).index,))])
    assert ByParts((TrigonometricIdentities(),)).apply(graph) is graph
