"""What is known of a graph before its code runs, in extended precision."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import flint

from kinegraph.graph.interpret import BallArithmetic, Evaluation, extended_precision
from kinegraph.graph.node import Graph, Symbol, depends_on_static_alone


def static_values(graph: Graph, parameters: Mapping[str, Fraction], inputs: Mapping[int, int]) -> dict[int, flint.arb]:
    """The values of all live nodes that no input reaches."""
    only = _static_nodes(graph, inputs)
    with extended_precision():
        evaluation = Evaluation(graph, BallArithmetic(parameters), only)
    return {index: evaluation[index] for index, wanted in enumerate(only) if wanted}


def _static_nodes(graph: Graph, inputs: Mapping[int, int]) -> list[bool]:
    """For every node: is it live and does no input reach it?"""
    static: list[bool] = []
    for index, node in enumerate(graph.nodes):
        static.append(index not in inputs and (isinstance(node, Symbol) or depends_on_static_alone(node, static)))
    return [known and live for known, live in zip(static, graph.live, strict=True)]
