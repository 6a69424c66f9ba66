"""Programs kept from the estimate are those that lowering would give, and are given to their own graph alone."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.codegen.estimate import estimated_cycles, faster_as_kernel
from kinegraph.codegen.llvm.module import SCALAR_GROUP, take
from kinegraph.codegen.program.binding import Argument, Bound, bind
from kinegraph.codegen.program.lowering import lower
from kinegraph.compiler.request import arguments_of
from kinegraph.graph.node import Graph
from kinegraph.passes.common_subexpressions import FastExtract


@pytest.fixture
def graph() -> Graph:
    return kg.derive("puma560", "tau", numeric=True)


def kernel_binding(graph: Graph) -> Bound:
    return bind(graph, arguments_of(kg.load("puma560"), "tau"), {})


def test_the_kept_program_is_the_one_that_lowering_gives(graph: Graph) -> None:
    """Although the estimate lists its inputs in another order."""
    reduced = FastExtract().apply(graph)
    assert faster_as_kernel(graph, reduced).before
    binding = kernel_binding(reduced)
    assert take(binding, SCALAR_GROUP, True) == lower(binding, SCALAR_GROUP, True)
    assert take(binding, SCALAR_GROUP, True) is None  # it is not kept for ever
    assert take(kernel_binding(graph), SCALAR_GROUP, True) is None  # nor the one that was compared with it


def test_other_graphs_and_other_ways_get_no_program(graph: Graph) -> None:
    binding = kernel_binding(graph)
    estimated_cycles(binding)
    assert take(kernel_binding(FastExtract().apply(graph)), SCALAR_GROUP, True) is None
    assert take(binding, 1, True) is None
    assert take(binding, SCALAR_GROUP, False) is None
    assert take(binding, SCALAR_GROUP, True) is not None


def test_parameters_with_values_are_no_inputs() -> None:
    graph = kg.derive("double-pendulum", "tau")
    named = graph.symbols()
    inputs = [one for one in named if not one.kind.static]
    values = {one.name: 0.5 for one in named if one.kind.static}
    estimated_cycles(bind(graph, (Argument("x", named),), {}))
    assert take(bind(graph, (Argument("x", tuple(inputs)),), values), SCALAR_GROUP, True) is None
    assert take(bind(graph, (Argument("x", named[::-1]),), {}), SCALAR_GROUP, True) is not None
