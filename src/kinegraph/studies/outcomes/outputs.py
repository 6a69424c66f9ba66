"""Outputs: formulas of the state along a run, with points, energies and any quantity of the model, as one graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kinegraph.errors import KinegraphError, StudyError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Output
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.formula import formula
from kinegraph.simulate.state_names import StateNames


class OutputNames(StateNames):
    """The same names, for the outputs of a study."""

    error: ClassVar[type[KinegraphError]] = StudyError


def output_graph(equations: Equations, texts: Sequence[str]) -> Graph:
    """All outputs as one graph in q, v, t, inputs and parameters."""
    builder = GraphBuilder()
    names = OutputNames(builder, equations)
    nodes = tuple(one.index for one in names.read([formula(text) for text in texts]))
    return builder.graph([Output("outputs", (len(nodes),), nodes)])
