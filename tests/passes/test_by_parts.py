"""By parts: the part is independent, what is put back is what was taken out, and directions are recognized."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.compiler.derive import in_closed_form
from kinegraph.graph.build import GraphBuilder, Scalar, copied, moved
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Output, children
from kinegraph.graph.proof import prove
from kinegraph.passes.by_parts import ByParts, Series, direction_cosines, part_of, put_back, series_of, top_of
from kinegraph.passes.common_subexpressions import FastExtract
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


# Series: the chains of a tree from its summands.


def tree(bases: str) -> kg.Mechanism:
    """Revolute and prismatic joints; the base of body k is the k-th digit, 0 the ground."""
    bodies = []
    for k, base in enumerate(bases, start=1):
        joint = f"Sz(0.3), R{'xyz'[k % 3]}(q{k})" if k % 4 else f"Rx(0.4), Sz(q{k})"
        inertia = f"Sx(0.{k}), Sy(0.2), m({k}), Jx(0.3), Jy(0.4), Jz(0.5), Jxy(0.0{k})"
        bodies.append(f"B{k}{f'~B{base}' if base != '0' else ''} | {joint} | {inertia};")
    coordinates = ", ".join(f"q{k}" for k in range(1, len(bases) + 1))
    return kg.parse(f"model tree; coordinates {coordinates}; gravity 1, 2, -9;\n" + "\n".join(bodies))


def coordinates(graph: Graph) -> set[str]:
    return {symbol.name for symbol in graph.symbols(Kind.COORDINATE)}


@pytest.mark.parametrize("bases", ["012", "0122", "01233556", "000", "01012"])
def test_the_chains_of_a_tree_are_found_in_its_equations(bases: str) -> None:
    graph = in_closed_form(tree(bases), "H,C,gravity", {})
    parts = series_of(graph)
    paths = _paths(bases)
    assert len(parts) == len(paths)
    assert all(any(coordinates(part) <= path for path in paths) for part in parts)
    assert set().union(*(coordinates(part) for part in parts)) == coordinates(graph)
    result = Series((FastExtract(),)).apply(graph)
    prove(graph, result).require()
    assert count(result).total < count(graph).total


def _paths(bases: str) -> list[set[str]]:
    """The coordinates from the ground to each tip."""
    base = {k: int(digit) for k, digit in enumerate(bases, start=1)}
    found = []
    for tip in base.keys() - set(base.values()):
        path, here = set[str](), tip
        while here:
            path.add(f"q{here}")
            here = base[here]
        found.append(path)
    return found


def test_summands_of_one_chain_add_up_to_the_graph() -> None:
    graph = in_closed_form(tree("0122"), "H,C,gravity", {})
    builder = GraphBuilder()
    sums = [Scalar(builder, builder.zero)] * sum(len(one.nodes) for one in graph.outputs)
    for part in series_of(graph):
        nodes = [index for output in moved(part.outputs, copied(part, builder)) for index in output.nodes]
        sums = [one + Scalar(builder, index) for one, index in zip(sums, nodes, strict=True)]
    whole = Graph(graph.nodes, (Output("all", (len(sums),), tuple(n for o in graph.outputs for n in o.nodes)),))
    prove(whole, builder.graph([Output("all", (len(sums),), tuple(one.index for one in sums))])).require()


def test_coordinates_that_no_sum_separates_are_one_chain() -> None:
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")
    graph = builder.graph([Output("y", (2,), (((x + 1) * (y + 2)).index, (x + y).index))])
    assert series_of(graph) == [graph]


def test_a_circle_of_pairs_is_as_many_chains() -> None:
    """Not a tree: every summand is still in some chain."""
    builder = GraphBuilder()
    q = [Scalar(builder, builder.symbol(Kind.COORDINATE, f"q{k}")) for k in range(5)]
    total = sum((q[k] * q[(k + 1) % 5] for k in range(5)), Scalar(builder, builder.zero))
    graph = builder.graph([Output("y", (), (total.index,))])
    assert len(series_of(graph)) == 5
    prove(graph, Series((FastExtract(),)).apply(graph)).require()
