"""Of all ways to close the loops of a mechanism, and to cut them for that, those that are estimated to run fastest.

First every way is derived and its time estimated, cuts with short chains first, until so many nodes are derived; then
the best of them are reduced and proved, and compared again. A cut that the model names is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kinegraph.codegen.estimate.choice import MOST_NODES, cycles_of_kernel
from kinegraph.codegen.estimate.running_time import estimated_cycles
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.compiler.chain import Chain
from kinegraph.compiler.closures import may_be_cut
from kinegraph.compiler.records.chosen import Means
from kinegraph.compiler.request import Request, arguments_of
from kinegraph.derive.choices import Closure
from kinegraph.derive.constraints.cuts.recut import other_cuts
from kinegraph.derive.quantities.plans import MULTIPLIERS
from kinegraph.errors import DerivationError
from kinegraph.graph.flatten import flattened
from kinegraph.graph.node import Graph
from kinegraph.jit.target import host
from kinegraph.model.constraints.topology import wanted_cut
from kinegraph.passes.step import Effort

_log = logging.getLogger("kinegraph")

#: So many nodes are derived at other cuts in search of the fastest; so many ways are reduced and proved.
SEARCH_NODES = 60_000
FINALISTS = 3


@dataclass(frozen=True)
class ClosureCandidate:
    """One way to close loops, the joints that are cut (none: those that close them), and estimated cycles of a call."""

    closure: Closure
    cut: tuple[str, ...]
    cycles: float

    def __str__(self) -> str:
        return f"{self.closure.value}{', cut ' + ' '.join(self.cut) if self.cut else ''}: {self.cycles:.0f} cycles"


def finalists(request: Request, runtime: Sequence[str], cache: bool = True) -> list[ClosureCandidate]:
    """The ways that were estimated best as they are derived, reduced and proved; the fastest first."""
    ranked = sorted(derived_closures(request, runtime), key=lambda way: way.cycles)
    _log.info("%s: as derived, %s", request, "; ".join(map(str, ranked)))
    # Like parts side by side, which a graph as derived has not, are a matter of multipliers where the model cuts.
    as_stated = [way for way in ranked if way.closure is Closure.MULTIPLIERS and not way.cut]
    found: list[ClosureCandidate] = []
    for way in dict.fromkeys([*as_stated, *ranked]):
        if len(found) == FINALISTS:
            break
        with suppress(DerivationError):
            found.append(finished(request, way, runtime, cache))
    if not found:  # for its error
        finished(request, ClosureCandidate(*candidates(request)[0], 0.0), runtime, cache)
    return sorted(found, key=lambda way: way.cycles)


def derived_closures(request: Request, runtime: Sequence[str]) -> Iterator[ClosureCandidate]:
    """All ways as they are derived, nothing reduced; what cannot be derived is left out."""
    left = SEARCH_NODES
    for closure, cut in candidates(request):
        if cut and left < 0:
            return
        try:
            quick = replace(request, effort=Effort.QUICK, closure=closure, cut=cut)
            graph = Chain(quick, cache=False).derived.graph
        except DerivationError:
            continue
        left -= len(graph) if cut else 0
        yield ClosureCandidate(closure, cut, _cycles(request, graph, runtime))


def candidates(request: Request) -> list[tuple[Closure, tuple[str, ...]]]:
    """Ways and cuts to be looked at: where the model closes its loops, then elsewhere; or where it wants them cut."""
    closures = (Closure.MULTIPLIERS, Closure.PARTITION)
    if len(request.mechanism.layout.velocities) > MULTIPLIERS:
        return [(Closure.MULTIPLIERS, ())]
    if not may_be_cut(request):
        return [(closure, ()) for closure in (*closures, Closure.CLOSED_FORM)]
    fixed = wanted_cut(request.mechanism)
    if fixed:
        return [(closure, fixed) for closure in closures]
    stated = [(closure, ()) for closure in (*closures, Closure.CLOSED_FORM)]
    return [*stated, *((closure, cut) for cut in other_cuts(request.mechanism) for closure in closures)]


def _cycles(request: Request, graph: Graph, runtime: Sequence[str]) -> float:
    graph = flattened(graph)
    if len(graph) > MOST_NODES:
        return float(len(graph))
    return estimated_cycles(bind(graph, _arguments(request, runtime), {}), host().fused)


def _arguments(request: Request, runtime: Sequence[str]) -> tuple[Argument, ...]:
    """What a kernel would take; parameters that stay symbols are arguments, too."""
    left = (one.name for one in request.mechanism.parameters if one.name not in request.parameters)
    return arguments_of(request.mechanism, request.quantities, tuple(dict.fromkeys((*runtime, *left))))


def finished(request: Request, way: ClosureCandidate, runtime: Sequence[str], cache: bool = True) -> ClosureCandidate:
    """A way with the estimated time of its kernel: reduced and proved, like parts side by side."""
    chain = Chain(replace(request, closure=way.closure, cut=way.cut), cache)
    chosen = chain.chosen(Means(side_by_side=True), runtime)
    binding = bind(chosen.graph, _arguments(request, runtime), chosen.numbers)
    return replace(way, cycles=cycles_of_kernel(binding, dict(chosen.exchange), host().fused))
