"""A X = B, the equations of forces marked unknown, as one graph that is formed in two ways (KiDyM).

The old way derives the finished equations U(q, v, a, X) and differentiates them: B = U at X = 0, A = -dU/dX. The
new way sorts while the elements are walked: those that hold an unknown go to A = W^T dR/dX, everything else goes to B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import lru_cache

from kinegraph.compiler.chain import Chain
from kinegraph.compiler.request import arguments_of, request_of
from kinegraph.derive.elements.forces import Elements
from kinegraph.derive.quantities.derivation import Derivation, Plan
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import TaskError
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol, children
from kinegraph.jit.kernel import Kernel, compile_graph
from kinegraph.model.elements import Input, mentions
from kinegraph.model.expression import Expression, Scalar, expression
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.passes.pipeline import reduce
from kinegraph.passes.step import Effort

MATRIX, KNOWN = "A", "B"
_TAU = Quantity.parse("tau")


class Formation(Enum):
    """How A and B are formed."""

    OLD = "old"
    NEW = "new"


def with_inputs(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """Unknowns become inputs: values that arrive from outside for those that are named, zero for the others."""
    declared = (Input(one.name, None if one.name in names else ZERO) for one in mechanism.unknowns)
    return replace(mechanism, inputs=(*mechanism.inputs, *declared), unknowns=())


def force_graph(
    mechanism: Mechanism,
    names: Sequence[str],
    way: Formation,
    parameters: Mapping[str, Scalar] | None = None,
    plan: Plan | None = None,
) -> Graph:
    """The outputs A, a row for every velocity and a column for every unknown, and B, of a tree.

    names: inputs without a value, and forces on coordinates (`tau:q1`). B of the old way is U: it has the unknowns as
    inputs, which must be zero. plan: how to derive; by default the cheapest for `tau`.
    """
    request = request_of(mechanism, "tau", numeric=True, parameters=parameters)
    plan = plan or Chain(request).derived.plan
    inputs = [name for name in names if name in mechanism.layout.inputs]
    form = _finished if way is Formation.OLD else _sorted
    graph = form(mechanism, names, inputs, request.parameters, plan)
    _require_linear(graph, inputs)
    return graph


def force_kernel(
    mechanism: Mechanism, names: Sequence[str], way: Formation, parameters: Mapping[str, Scalar] | None = None
) -> Kernel:
    """A and B as machine code of q, v, a, t and the unknowns u, which are zero."""
    given = tuple(sorted((name, expression(value, name)) for name, value in (parameters or {}).items()))
    return _remembered(mechanism, tuple(names), way, given)


@lru_cache(maxsize=32)
def _remembered(
    mechanism: Mechanism, names: tuple[str, ...], way: Formation, parameters: tuple[tuple[str, Expression], ...]
) -> Kernel:
    graph = force_graph(mechanism, names, way, dict(parameters))
    return compile_graph(reduce(graph, Effort.QUICK).graph, arguments_of(mechanism, "tau"))


def _finished(
    mechanism: Mechanism,
    names: Sequence[str],
    inputs: Sequence[str],
    bound: Mapping[str, Expression],
    plan: Plan,
) -> Graph:
    """The old way."""
    derivation = Derivation(mechanism, bound, plan)
    equations = derivation.output(_TAU)
    slopes = _slopes(derivation, equations.nodes, inputs)
    minus = [[derivation.builder.scale(-1, entry) for entry in row] for row in slopes]
    return _graph(derivation, names, inputs, minus, equations.nodes)


def _sorted(
    mechanism: Mechanism,
    names: Sequence[str],
    inputs: Sequence[str],
    bound: Mapping[str, Expression],
    plan: Plan,
) -> Graph:
    """The new way: an element that holds unknowns is walked for A; in B these are zero."""
    driven = tuple(one for one in mechanism.elements if any(mentions(one, name) for name in inputs))
    absent = tuple(replace(one, value=ZERO) if one.name in inputs else one for one in mechanism.inputs)
    derivation = Derivation(replace(mechanism, inputs=absent), bound, plan)
    known = derivation.output(_TAU)
    motion = derivation.motion(velocities=True)
    acting = Elements(replace(mechanism, elements=driven), bound, derivation.layout, motion)
    forces = [force.index for force in acting.forces()] if driven else [derivation.builder.zero] * derivation.size
    return _graph(derivation, names, inputs, _slopes(derivation, forces, inputs), known.nodes)


def _slopes(derivation: Derivation, nodes: Sequence[int], inputs: Sequence[str]) -> list[list[int]]:
    builder = derivation.builder
    return [list(row) for row in jacobian(builder, nodes, [builder.symbol(Kind.INPUT, name) for name in inputs])]


def _graph(
    derivation: Derivation, names: Sequence[str], inputs: Sequence[str], slopes: list[list[int]], known: Sequence[int]
) -> Graph:
    """A has the columns of inputs and of forces on coordinates, in the order of the names."""
    builder = derivation.builder
    forces = derivation.mechanism.layout.forces
    entries = []
    for force, row in zip(forces, slopes, strict=True):
        for name in names:
            on_force = builder.one if name == force else builder.zero
            entries.append(row[inputs.index(name)] if name in inputs else on_force)
    matrix = Output(MATRIX, (len(forces), len(names)), tuple(entries))
    return builder.graph([matrix, Output(KNOWN, (len(known),), tuple(known))])


def _require_linear(graph: Graph, inputs: Sequence[str]) -> None:
    """TaskError if A depends on an unknown."""
    below = set(graph.output(MATRIX).nodes)
    for index in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[index]
        if index not in below:
            continue
        if isinstance(node, Symbol) and node.kind is Kind.INPUT and node.name in inputs:
            raise TaskError(
                f"the equations are not linear in {node.name}: an unknown may be multiplied by known values only\n"
                "  find it by kg.fit, or take the force itself as unknown"
            )
        below.update(children(node))
