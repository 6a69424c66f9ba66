"""What a page needs to move a mechanism by itself: its chain of links, and programs that place links and close loops.

A program is a graph as plain numbers. `nodes` are in order of computation: a number is itself, ["q", k] the value k of
the page, ["+", terms] a sum of terms [coefficient, node, power, ...], and [name, node, ...] a function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import pi

from kinegraph.derive.quantities.derivation import constraint_graph
from kinegraph.graph.build import GraphBuilder, Scalar, moved, transfer, without_lookups
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Function, Graph, Kind, Node, Output, Polynomial, Symbol
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME, Expression
from kinegraph.model.mechanism import Mechanism, QuaternionCoordinates
from kinegraph.view.page.frames import Frames

#: The maximum number of nodes that a page evaluates in one step; beyond, sliders move single coordinates.
MOST_NODES = 30_000
_MOST_ENTRIES = 40_000  # rows times coordinates: their derivatives are nodes


def chain_data(mechanism: Mechanism, frames: Frames, start: Mapping[str, float]) -> dict[str, object]:
    """The links and how the coordinates move them.

    `chain` has for every link the frame of its joint, its parent link, and the nodes of `placing` that are its
    displacement, one or the four components of a quaternion. `names` are the values of `placing`, `start` the first.
    The value after the last is the time.
    """
    names = mechanism.layout.positions
    graph = without_lookups(frames.displacement_graph("displacements"))
    amounts = iter(graph.output("displacements").nodes)
    place = {name: k for k, name in enumerate((*names, TIME))}
    links = []
    for index, link in enumerate(frames.tree.links):
        if link.joint is None:
            continue
        frame = frames.joint_place(index)
        entry = {"parent": frame.link, "place": frame.numbers, "axis": link.joint.axis, "kind": link.joint.kind.value}
        links.append(entry | {"amounts": list(islice(amounts, 1 if link.joint.quaternion is None else 4))})
    return {
        "chain": links,
        "placing": [_entry(node, place, {}) for node in graph.nodes],
        "names": list(names),
        "start": [start[name] for name in names],
    }


def closing_program(
    mechanism: Mechanism, bound: Mapping[str, Expression], start: Mapping[str, float], names: Sequence[str]
) -> dict[str, object] | None:
    """Residual rows of loops, constraints and unit quaternions, and their derivatives by the named coordinates; None if
    there are no rows or too many.

    `rows` and `jacobian` are nodes of the program, whose values are those of the names. A quaternion has a row if all
    its components are named. Other coordinates keep their value of `start`.
    """
    quaternions = [
        one.names
        for one in mechanism.coordinates
        if isinstance(one, QuaternionCoordinates) and set(one.names) <= set(names)
    ]
    if not names or not (is_constrained(mechanism) or quaternions):
        return None
    stated = None
    if is_constrained(mechanism):
        stated = without_lookups(constraint_graph(mechanism, tuple(sorted(bound.items()))))
    rows = [] if stated is None else [n for n in stated.output("value").nodes if stated.nodes[n] != Polynomial(())]
    count = len(rows) + len(quaternions)
    if not count or len(stated or ()) > MOST_NODES or count * len(names) > _MOST_ENTRIES:
        return None
    graph = _with_derivatives(stated, rows, quaternions, names)
    if len(graph) > MOST_NODES:
        return None
    place = {name: k for k, name in enumerate(names)}
    fixed = {name: value for name, value in start.items() if name not in place} | {TIME: 0.0}
    width = len(names)
    jacobian = graph.output("jacobian").nodes
    return {
        "nodes": [_entry(node, place, fixed) for node in graph.nodes],
        "rows": list(graph.output("rows").nodes),
        "jacobian": [list(jacobian[i : i + width]) for i in range(0, len(jacobian), width)],
    }


def _with_derivatives(
    graph: Graph | None, rows: Sequence[int], quaternions: Iterable[Sequence[str]], names: Sequence[str]
) -> Graph:
    """The rows of a graph and those of unit quaternions, with their derivatives by coordinates."""
    builder = GraphBuilder()
    found: list[int] = []
    if graph is not None:
        found += moved([Output("rows", (len(rows),), tuple(rows))], transfer(graph, builder))[0].nodes
    for components in quaternions:
        squares = [Scalar(builder, builder.symbol(Kind.COORDINATE, name)) ** 2 for name in components]
        found.append((squares[0] + squares[1] + squares[2] + squares[3] - 1).index)
    columns = []
    for name in names:
        along = ForwardDerivative(builder, {builder.symbol(Kind.COORDINATE, name): builder.one})
        columns.append([along(node) for node in found])
    entries = tuple(node for row in zip(*columns, strict=True) for node in row)
    shape = (len(found), len(names))
    return builder.graph([Output("rows", shape[:1], tuple(found)), Output("jacobian", shape, entries)])


def _entry(node: Node, place: Mapping[str, int], fixed: Mapping[str, float]) -> object:
    if isinstance(node, Polynomial):
        terms = [[float(c), *(number for factor in factors for number in factor)] for c, factors in node.terms]
        return ["+", *terms]
    if isinstance(node, Function):
        return [node.name, *node.arguments]
    assert isinstance(node, Symbol)
    if node.name in place and node.kind in (Kind.COORDINATE, Kind.TIME):
        return ["q", place[node.name]]
    return pi if node.kind is Kind.CONSTANT else fixed.get(node.name, 0.0)
