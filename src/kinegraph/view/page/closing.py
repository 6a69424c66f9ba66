"""What the page's script needs to keep loops closed while a coordinate is moved by hand: a graph as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi

from kinegraph.derive.quantities.derivation import constraint_graph
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Function, Graph, Kind, Node, Output, Polynomial, Symbol
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import TIME, Expression
from kinegraph.model.mechanism import Mechanism

#: A page evaluates no more nodes than this for one step; beyond, sliders move single coordinates.
MOST_NODES = 30_000
_MOST_ENTRIES = 40_000  # rows times coordinates: their derivatives are nodes


def closing_program(
    mechanism: Mechanism, bound: Mapping[str, Expression], start: Mapping[str, float], sliders: Sequence[str]
) -> dict[str, object] | None:
    """Rows that loops and constraints miss by, and their derivatives by the coordinates of sliders; None if there are
    no rows or too many.

    `nodes` come in an order to be computed in: a number is itself, ["q", k] the value of slider k, ["+", terms] a sum
    of terms [coefficient, node, power, ...], and [name, node, ...] a function. `rows` and `jacobian` are nodes.
    """
    if not is_constrained(mechanism) or not sliders:
        return None
    stated = constraint_graph(mechanism, tuple(sorted(bound.items())))
    rows = [node for node in stated.output("value").nodes if stated.nodes[node] != Polynomial(())]
    if not rows or len(stated) > MOST_NODES or len(rows) * len(sliders) > _MOST_ENTRIES:
        return None
    graph = _with_derivatives(stated, rows, sliders)
    if len(graph) > MOST_NODES:
        return None
    place = {name: k for k, name in enumerate(sliders)}
    fixed = {name: value for name, value in start.items() if name not in place} | {TIME: 0.0}
    width = len(sliders)
    jacobian = graph.output("jacobian").nodes
    return {
        "nodes": [_entry(node, place, fixed) for node in graph.nodes],
        "rows": list(graph.output("rows").nodes),
        "jacobian": [list(jacobian[i : i + width]) for i in range(0, len(jacobian), width)],
    }


def _with_derivatives(graph: Graph, rows: Sequence[int], sliders: Sequence[str]) -> Graph:
    """The rows of a graph and their derivatives by coordinates."""
    builder = GraphBuilder()
    found = moved([Output("rows", (len(rows),), tuple(rows))], transfer(graph, builder))[0]
    columns = []
    for name in sliders:
        along = ForwardDerivative(builder, {builder.symbol(Kind.COORDINATE, name): builder.one})
        columns.append([along(node) for node in found.nodes])
    entries = tuple(node for row in zip(*columns, strict=True) for node in row)
    return builder.graph([found, Output("jacobian", (len(rows), len(sliders)), entries)])


def _entry(node: Node, place: Mapping[str, int], fixed: Mapping[str, float]) -> object:
    if isinstance(node, Polynomial):
        terms = [[float(c), *(number for factor in factors for number in factor)] for c, factors in node.terms]
        return ["+", *terms]
    if isinstance(node, Function):
        return [node.name, *node.arguments]
    assert isinstance(node, Symbol)
    if node.kind is Kind.COORDINATE and node.name in place:
        return ["q", place[node.name]]
    return pi if node.kind is Kind.CONSTANT else fixed.get(node.name, 0.0)
