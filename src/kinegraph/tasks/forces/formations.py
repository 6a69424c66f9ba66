"""The two ways to form A X = B side by side: operations, times, and the proof that they are equal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kinegraph.compiler.chain import Chain
from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.compiler.request import arguments_of, request_of
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph
from kinegraph.graph.proof.prove import prove
from kinegraph.graph.transfer import bind
from kinegraph.jit.kernel import Kernel, compile_graph
from kinegraph.model.expression import Scalar
from kinegraph.passes.pipeline import reduce
from kinegraph.passes.step import Effort
from kinegraph.tasks.forces.force_equations import Formation, force_graph, with_inputs
from kinegraph.tasks.forces.unknown_forces import unknown_names


@dataclass(frozen=True)
class Formed:
    """A and B formed in one way: seconds to form them, operations as formed and after a quick reduction."""

    way: Formation
    seconds: float
    formed: Operations
    reduced: Operations
    kernel: Kernel


@dataclass(frozen=True)
class FormationsCompared:
    """Both ways; proved: their A and B are the same functions."""

    model: str
    old: Formed
    new: Formed
    proved: bool


def compare_formations(
    mechanism: MechanismSource,
    unknown: Sequence[str] = (),
    *,
    parameters: Mapping[str, Scalar] | None = None,
    repeats: int = 20,
) -> FormationsCompared:
    """Form A X = B both ways by the same plan; of the seconds the shortest of several."""
    mechanism = mechanism_of(mechanism)
    names = unknown_names(mechanism, unknown)
    tree = replace(with_inputs(mechanism, names), loops=(), constraints=())
    plan = Chain(request_of(tree, "tau", numeric=True, parameters=parameters)).derived.plan
    shortest, graphs = dict.fromkeys(Formation, float("inf")), dict[Formation, Graph]()
    for _ in range(repeats):
        for way in Formation:
            begun = time.perf_counter()
            graphs[way] = force_graph(tree, names, way, parameters, plan)
            shortest[way] = min(shortest[way], time.perf_counter() - begun)
    formed = []
    for way in Formation:
        reduced = reduce(graphs[way], Effort.QUICK).graph
        kernel = compile_graph(reduced, arguments_of(tree, "tau"))
        formed.append(Formed(way, shortest[way], count(graphs[way]), count(reduced), kernel))
    absent = {name: 0 for name in names if name in tree.layout.inputs}
    same = prove(bind(graphs[Formation.OLD], absent), graphs[Formation.NEW])
    return FormationsCompared(mechanism.name, formed[0], formed[1], bool(same))
