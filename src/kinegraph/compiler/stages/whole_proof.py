"""The proof of the whole way: the equations as the recursions first give them against the graph code is made of."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from kinegraph.derive.tree.quasi_velocities import unit_quaternions
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Output, Polynomial, Symbol
from kinegraph.graph.proof.prove import prove
from kinegraph.graph.proof.whole import WholeProof
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.mechanism import Mechanism


def proved(first: Graph, last: Graph, mechanism: Mechanism, deriving: float) -> WholeProof:
    """The proof, or ProofError naming the output entries that differ; `deriving` seconds were spent on the first."""
    started = time.perf_counter()
    prove(first, last, quaternions=unit_quaternions(mechanism)).require()
    return WholeProof(len(first), len(last), deriving + time.perf_counter() - started)


def prove_zero(graph: Graph, count: int, mechanism: Mechanism) -> None:
    """ProofError unless the only output of a graph, of so many entries, is zero."""
    builder = GraphBuilder()
    nothing = builder.graph([graph.outputs[0]._replace(nodes=(builder.zero,) * count)])
    prove(graph, nothing, quaternions=unit_quaternions(mechanism)).require()


def with_dense_factors(graph: Graph, lower: Sequence[tuple[int, int]], size: int) -> Graph:
    """The graph with all entries of L as its output `lower`: which ones are left out differs from plan to plan."""
    zero = Polynomial(())
    nodes = graph.nodes if zero in graph.nodes else (*graph.nodes, zero)
    nothing = nodes.index(zero)
    factors = graph.output("lower")
    place = dict(zip(lower, factors.nodes, strict=True))
    entries = tuple(place.get((i, j), nothing) for i in range(size) for j in range(size))
    dense = Output(factors.name, (size, size), entries)
    return Graph(nodes, tuple(dense if output is factors else output for output in graph.outputs))


def with_exact_numbers(graph: Graph, numbers: Mapping[Symbol, Scalar]) -> Graph:
    """The graph with symbols replaced by what they stand for, exactly."""
    if not numbers:
        return graph
    builder = GraphBuilder()
    scalars = list(numbers.values())
    exact = scalars[0].builder.graph([Output("numbers", (len(scalars),), tuple(one.index for one in scalars))])
    (places,) = moved(exact.outputs, transfer(exact, builder))
    known = dict(zip(numbers, places.nodes, strict=True))

    def symbol(node: Symbol) -> int:
        return known[node] if node in known else builder.symbol(node.kind, node.name)

    return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))
