"""How large a field a proof needs: the degree of a graph, and the fractions of angles in it."""

from __future__ import annotations

from math import lcm

from kinegraph.graph.angle import linear_form
from kinegraph.graph.node import Function, Graph, Polynomial


def angle_denominator(*graphs: Graph) -> int:
    """The least number that turns all fractions of angles in the graphs into whole multiples."""
    return lcm(
        *(
            coefficient.denominator
            for graph in graphs
            for node in graph.nodes
            if isinstance(node, Function) and node.name in ("sin", "cos")
            for coefficient in linear_form(graph.nodes, node.arguments[0]).values()
        )
    )


def degree(graph: Graph, angle_denominator: int = 1) -> int:
    """A bound of the degree of every node as a polynomial in symbols, functions, and points of the circle.

    Denominators count like numerators; what is added up of several fractions may exceed the bound by their number.
    """
    degrees: list[int] = []
    for node in graph.nodes:
        found = 1
        if isinstance(node, Polynomial):
            for _, factors in node.terms:
                total = 0
                for child, exponent in factors:
                    total += exponent * degrees[child]
                if total > found:
                    found = total
        elif isinstance(node, Function):
            if node.name in ("sin", "cos"):
                found = 2 * _turns(graph, node.arguments[0], angle_denominator)
            elif node.name in ("reciprocal", "sqrt"):
                found = degrees[node.arguments[0]]
        degrees.append(found)
    return max(degrees, default=1)


def _turns(graph: Graph, angle: int, denominator: int) -> int:
    """How often the points of an angle's parts are added up for it."""
    return sum(abs(int(c * denominator)) for c in linear_form(graph.nodes, angle).values())
