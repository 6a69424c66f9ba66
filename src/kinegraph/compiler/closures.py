"""The competition of methods to close loops, and of joints to cut them at: the fastest by estimate wins.

First every method is derived and its time estimated, cuts with short chains first, until so many nodes are derived.
Then the best are reduced and proved, and compared again. A cut that the model names is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kinegraph.codegen.estimate import MOST_NODES, cycles_of_kernel, estimated_cycles
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.compiler.choose import chosen
from kinegraph.compiler.derive import Derivations, derived
from kinegraph.compiler.request import Request, arguments_of, may_be_cut
from kinegraph.compiler.stage_records import TargetFeatures
from kinegraph.derive.constraints.cuts import other_cuts
from kinegraph.derive.plan import Closure
from kinegraph.derive.quantities.plan_search import MULTIPLIERS
from kinegraph.errors import DerivationError
from kinegraph.graph.build import flattened
from kinegraph.graph.node import Graph
from kinegraph.jit.engine import host
from kinegraph.model.topology import wanted_cut
from kinegraph.passes.effort import Effort

_log = logging.getLogger("kinegraph")

#: So many nodes are derived at other cuts in search of the fastest; so many methods are reduced and proved.
SEARCH_NODES = 60_000
FINALISTS = 3


@dataclass(frozen=True)
class ClosureCandidate:
    """A method to close loops, the joints that are cut (none: those that close them), estimated cycles of a call."""

    closure: Closure
    cut: tuple[str, ...]
    cycles: float

    def __str__(self) -> str:
        return f"{self.closure.value}{', cut ' + ' '.join(self.cut) if self.cut else ''}: {self.cycles:.0f} cycles"


def finalists(request: Request, runtime: Sequence[str], cache: bool = True) -> list[ClosureCandidate]:
    """The methods estimated best as derived, now reduced and proved; the fastest first."""
    ranked = sorted(derived_closures(request, runtime), key=lambda method: method.cycles)
    _log.info("%s: as derived, %s", request, "; ".join(map(str, ranked)))
    # Like parts side by side, which a graph as derived has not, are a matter of multipliers where the model cuts.
    as_stated = [method for method in ranked if method.closure is Closure.MULTIPLIERS and not method.cut]
    found: list[ClosureCandidate] = []
    for method in dict.fromkeys([*as_stated, *ranked]):
        if len(found) == FINALISTS:
            break
        with suppress(DerivationError):
            found.append(finished(request, method, runtime, cache))
    if not found:  # for its error
        finished(request, ClosureCandidate(*candidates(request)[0], 0.0), runtime, cache)
    return sorted(found, key=lambda method: method.cycles)


def derived_closures(request: Request, runtime: Sequence[str]) -> Iterator[ClosureCandidate]:
    """All methods as derived, nothing reduced; a method that cannot be derived is left out."""
    left = SEARCH_NODES
    for closure, cut in candidates(request):
        if cut and left < 0:
            return
        try:
            quick = replace(request, effort=Effort.QUICK, closure=closure, cut=cut)
            graph = derived(Derivations(quick, cache=False)).graph
        except DerivationError:
            continue
        left -= len(graph) if cut else 0
        yield ClosureCandidate(closure, cut, _cycles(request, graph, runtime))


def candidates(request: Request) -> list[tuple[Closure, tuple[str, ...]]]:
    """Methods and cuts to try: where the model closes its loops, then elsewhere; or only where it wants them cut."""
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


def finished(
    request: Request, method: ClosureCandidate, runtime: Sequence[str], cache: bool = True
) -> ClosureCandidate:
    """A method with the estimated time of its kernel: reduced and proved, like parts side by side."""
    derivations = Derivations(replace(request, closure=method.closure, cut=method.cut), cache)
    found = chosen(derivations, TargetFeatures(side_by_side=True), runtime)
    binding = bind(found.graph, _arguments(request, runtime), found.numbers)
    return replace(method, cycles=cycles_of_kernel(binding, dict(found.exchange), host().fused))
