"""From reduced equations to the graph that is estimated to run fastest.

Reduced -> `chosen` -> Chosen
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from kinegraph.codegen.estimate import (
    cycles_of_kernel,
    estimated_cycles,
    faster_as_kernel,
    instructions_saved,
)
from kinegraph.codegen.kernel import KernelChoice
from kinegraph.codegen.program.binding import Argument, BackSubstitution, bind
from kinegraph.codegen.simd import Exchanged
from kinegraph.codegen.simd.orbits import share_side_by_side
from kinegraph.compiler.derive import Derivations, derived, with_exact_numbers
from kinegraph.compiler.reduce import reduced, reduction
from kinegraph.compiler.request import Request, arguments_of
from kinegraph.compiler.stage_records import NO_FEATURES, Chosen, TargetFeatures, chosen_on_disk
from kinegraph.derive import constraints
from kinegraph.derive.dynamics.inertia_factorization import LinearSystem
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.dynamics import solves
from kinegraph.derive.quantities.plan_search import MULTIPLIERS, Candidate, PlanSearch
from kinegraph.garbage_collection import gc_paused
from kinegraph.graph import law
from kinegraph.graph.build import Scalar, flattened
from kinegraph.graph.node import Graph, Symbol
from kinegraph.jit.engine import host
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce

# A planar loop as a kernel: the segments that are estimated to run fastest, side by side in the lanes of vectors.


@dataclass(frozen=True)
class InSegments:
    """The graph of a loop cut in one way, not yet proved; `numbers` and `values` are what symbols stand for."""

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
    """The cut of the loop into segments that is estimated to run fastest; None if there is none."""
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


@gc_paused()
def chosen(derivations: Derivations, features: TargetFeatures = NO_FEATURES, runtime: Sequence[str] = ()) -> Chosen:
    """The graph that is estimated to run fastest with these features; parameters of `runtime` are arguments."""
    stored = chosen_on_disk(derivations.request, features, derivations.cache)
    found = derivations.known(stored)
    if found is None:
        record = _Choice(derivations, tuple(runtime)).made(features)
        found = derivations.keep(stored, record, complete=not derivations.interrupt.requested)
    return found


@dataclass(frozen=True)
class _Choice:
    derivations: Derivations
    runtime: tuple[str, ...]

    @property
    def request(self) -> Request:
        return self.derivations.request

    def made(self, features: TargetFeatures) -> Chosen:
        solved = self._solved if features.solving_loops else ()
        # Passes that are asked for by name are run over all equations, not over those of one limb.
        own_passes = bool(self.request.passes)
        found = self._limbs_side_by_side(solved) if features.side_by_side and not own_passes else None
        if features.side_by_side and self.derivations.search.bars and not own_passes:
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
            start = derived(self.derivations)
            return self._faster(start.graph, start.plan, reduced(self.derivations).graph)
        candidate, system = self.derivations.search.best_unsolved(self.derivations.budget)
        unsolved = reduction(self.derivations, candidate.graph, self.request.seconds).graph
        return self._faster(candidate.graph, candidate.plan, unsolved, self._tail(system, solved))

    def _faster(self, before: Graph, plan: Plan, after: Graph, tail: BackSubstitution | None = None) -> Chosen:
        choice = faster_as_kernel(before, after, fused=host().fused)
        graph = after if choice.reduction_taken else before
        _log.info("%s: %s", self.request, choice)
        known = tail is None and graph is reduced(self.derivations).graph
        proof = reduced(self.derivations).proof if known else self.derivations.proved(graph, plan, tail)
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
        batches = (
            reduced(self.derivations).graph if self.derivations.search.has_closed_legs and not any(solved) else None
        )
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
