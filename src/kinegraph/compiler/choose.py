"""From reduced equations to the graph, the loop closure and the segments that are estimated to run fastest."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from kinegraph.codegen.estimate import (
    MOST_NODES,
    cycles_of_kernel,
    estimated_cycles,
    faster_as_kernel,
    instructions_saved,
)
from kinegraph.codegen.kernel import KernelChoice
from kinegraph.codegen.program.binding import Argument, BackSubstitution, bind
from kinegraph.codegen.simd import Exchanged
from kinegraph.codegen.simd.orbits import share_side_by_side
from kinegraph.compiler.bind import Chosen, Means
from kinegraph.compiler.chain import Chain, may_be_cut
from kinegraph.compiler.derive import Derivations, with_exact_numbers
from kinegraph.compiler.reduce import reduction
from kinegraph.compiler.request import Request, arguments_of
from kinegraph.derive import constraints
from kinegraph.derive.dynamics.inertia_factorization import LinearSystem
from kinegraph.derive.plan import Closure, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.dynamics import solves
from kinegraph.derive.quantities.plan_search import MULTIPLIERS, Candidate, PlanSearch
from kinegraph.errors import DerivationError
from kinegraph.graph import law
from kinegraph.graph.build import Scalar, flattened
from kinegraph.graph.node import Graph, Symbol
from kinegraph.jit.engine import host
from kinegraph.model.topology import wanted_cut
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce

# A planar loop as a kernel: the segments that are estimated to run fastest, side by side in the lanes of vectors.


@dataclass(frozen=True)
class InSegments:
    """The graph of one way to cut a loop, not yet proved; `numbers` and `values` are what symbols stand for."""

    plan: Plan
    graph: Graph
    numbers: Mapping[Symbol, Scalar]
    values: Mapping[str, Fraction]
    exchange: tuple[tuple[Exchanged, Exchanged], ...]
    cycles: float

    def with_exact_numbers(self) -> Graph:
        """The graph with numbers in place of the symbols that stand for them."""
        return with_exact_numbers(self.graph, self.numbers)


def fastest_segments(search: PlanSearch, arguments: Sequence[Argument], fused: bool) -> InSegments | None:
    """Of all ways to cut the loop the one estimated to run fastest; None if there is none."""
    found = [_in_segments(search, plan, arguments, fused) for plan in search.segment_plans()]
    return min((one for one in found if one is not None), key=lambda one: one.cycles, default=None)


def _in_segments(search: PlanSearch, plan: Plan, arguments: Sequence[Argument], fused: bool) -> InSegments | None:
    candidate = search.derived(plan)
    side_by_side = candidate.limbs
    assert side_by_side is not None
    values = side_by_side.values()
    if values is None:
        return None
    # Segments are written with few operations; what is reduced further would no longer be of one shape.
    graph, nodes = constraints.without_lanes(flattened(candidate.graph))
    exchange = (*side_by_side.exchange.items(), *nodes)
    cycles = cycles_of_kernel(bind(graph, arguments, values), dict(exchange), fused)
    return InSegments(plan, graph, side_by_side.numbers, values, exchange, cycles)


# From derived and reduced equations to the graph a kernel is made of: the one that is estimated to run fastest.

_log = logging.getLogger("kinegraph")

#: From this many velocities on, derivatives of accelerations are solved for in loops over their columns.
SOLVED_IN_LOOPS = 6

#: Limbs are computed side by side where this part of the operations can be.
_LEAST_SHARE = 0.5

#: And where a longer search has reduced the graph, only if single calls save this part of the instructions: batches,
#: whose lanes are states, gain nothing and would lose what the search has found.
_LEAST_SAVED = 0.2


def chosen(chain: Chain, means: Means, runtime: Sequence[str]) -> tuple[Chosen, bool]:
    """The graph that is estimated to run fastest with these means, when the parameters of `runtime` arrive late.

    It may always be kept.
    """
    return _Choice(chain, tuple(runtime)).made(means), True


@dataclass(frozen=True)
class _Choice:
    chain: Chain
    runtime: tuple[str, ...]

    @property
    def request(self) -> Request:
        return self.chain.request

    @property
    def derivations(self) -> Derivations:
        return self.chain.derivations

    def made(self, means: Means) -> Chosen:
        solved = self._solved if means.solving_loops else ()
        # Passes that are asked for by name are run over all equations, not over those of one limb.
        own_passes = bool(self.request.passes)
        found = self._limbs_side_by_side(solved) if means.side_by_side and not own_passes else None
        if means.side_by_side and self.derivations.search.bars and not own_passes:
            return self._loop()
        # At quick effort deriving twice would take longer than what it might save.
        if found is None or self.request.effort is not Effort.QUICK:
            straight = self._straight(solved)
            if found is None or self._saved(found, straight) < _LEAST_SAVED:
                found = straight
        law.check(found.graph)
        return found

    def _straight(self, solved: tuple[bool, ...]) -> Chosen:
        if not any(solved):
            derived = self.chain.derived
            return self._faster(derived.graph, derived.plan, self.chain.reduced.graph)
        candidate, system = self.derivations.search.best_unsolved(self.derivations.budget)
        unsolved = reduction(self.chain, candidate.graph, self.request.seconds).graph
        return self._faster(candidate.graph, candidate.plan, unsolved, self._tail(system, solved))

    def _faster(self, derived: Graph, plan: Plan, reduced: Graph, tail: BackSubstitution | None = None) -> Chosen:
        choice = faster_as_kernel(derived, reduced, fused=host().fused)
        graph = reduced if choice.reduction_taken else derived
        _log.info("%s: %s", self.request, choice)
        known = tail is None and graph is self.chain.reduced.graph
        proof = self.chain.reduced.proof if known else self.derivations.proved(graph, plan, tail)
        return Chosen(self.request.key, graph, proof, choice, tail)

    @cached_property
    def _solved(self) -> tuple[bool, ...]:
        """Which quantities are derivatives of accelerations, solved for in loops; none where that gains nothing."""
        request = self.request
        few = len(request.mechanism.layout.velocities) < SOLVED_IN_LOOPS
        if few or not any(quantity.name == "qdd" and quantity.by for quantity in request.quantities):
            return (False,) * len(request.quantities)
        derivation = Derivation(request.mechanism, request.parameters, Plan())
        return tuple(solves(derivation, quantity) for quantity in request.quantities)

    def _tail(self, system: LinearSystem, solved: tuple[bool, ...]) -> BackSubstitution:
        size = len(self.request.mechanism.layout.velocities)
        return BackSubstitution(size, tuple(system.order), tuple(system.lower), solved)

    def _limbs_side_by_side(self, solved: tuple[bool, ...]) -> Chosen | None:
        """The graph with limbs side by side, if there are such limbs and enough is saved."""
        if not self.derivations.limb_search.limbs_are_faster:
            return None
        candidate, tail = self._limb_candidate(solved)
        limbs = candidate.limbs
        assert limbs is not None
        numbers = limbs.values()
        if numbers is None:
            return None
        # What is reduced by more than a quick search would no longer be of one shape.
        graph = flattened(reduce(candidate.graph, effort=Effort.QUICK, prove=False).graph)
        share = share_side_by_side(graph, limbs.exchange)
        _log.info("%s: %.0f %% of the operations are done side by side", self.request, 100 * share)
        if share < _LEAST_SHARE:
            return None
        proof = self.derivations.proved(with_exact_numbers(graph, limbs.numbers), candidate.plan, tail)
        choice = KernelChoice(True)
        # Legs that are computed side by side for one state are many operations more than need be for many states.
        batches = self.chain.reduced.graph if self.derivations.search.has_closed_legs and not any(solved) else None
        return Chosen(self.request.key, graph, proof, choice, tail, numbers, tuple(limbs.exchange.items()), batches)

    def _limb_candidate(self, solved: tuple[bool, ...]) -> tuple[Candidate, BackSubstitution | None]:
        search = self.derivations.limb_search
        if not any(solved):
            return search.best(), None
        candidate, system = search.best_unsolved()
        return candidate, self._tail(system, solved)

    def _loop(self) -> Chosen:
        """A planar loop in the segments that are estimated to run fastest, or by multipliers."""
        derivations, arguments = self.derivations, self._arguments
        fastest = fastest_segments(derivations.limb_search, arguments, host().fused)
        if fastest is None:
            return self._straight(())
        if derivations.search.bars <= MULTIPLIERS:
            straight = self._straight(())
            if estimated_cycles(bind(straight.graph, arguments, {}), host().fused) <= fastest.cycles:
                return straight
        _log.info("%s: segments of %d bars side by side", self.request, fastest.plan.segment)
        proof = derivations.proved(fastest.with_exact_numbers(), fastest.plan)
        return Chosen(
            self.request.key, fastest.graph, proof, KernelChoice(True), None, fastest.values, fastest.exchange
        )

    @property
    def _arguments(self) -> tuple[Argument, ...]:
        return arguments_of(self.request.mechanism, self.request.quantities, self.runtime)

    def _saved(self, first: Chosen, second: Chosen) -> float:
        """Which part of the second's instructions the first saves."""
        bindings = [bind(one.graph, self._arguments, one.numbers) for one in (first, second)]
        return instructions_saved(bindings[0], dict(first.exchange), bindings[1], host().fused)


# Of all ways to close the loops of a mechanism, and to cut them for that, those that are estimated to run fastest.
#
# First every way is derived and its time estimated, cuts with short chains first, until so many nodes are derived; then
# the best of them are reduced and proved, and compared again. A cut that the model names is kept.

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
    from kinegraph.derive.constraints.cuts import other_cuts  # trees have no loops to cut

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
