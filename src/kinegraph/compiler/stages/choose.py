"""From derived and reduced equations to the graph a kernel is made of: the one that is estimated to run fastest."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kinegraph.codegen.estimate.choice import faster_as_kernel, instructions_saved
from kinegraph.codegen.estimate.kernel_choice import KernelChoice
from kinegraph.codegen.estimate.running_time import estimated_cycles
from kinegraph.codegen.program.back_substitution import BackSubstitution
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.codegen.simd.orbits import share_side_by_side
from kinegraph.compiler.chain import Chain
from kinegraph.compiler.records.chosen import Chosen, Means
from kinegraph.compiler.request import Request, arguments_of
from kinegraph.compiler.stages.derivations import Derivations
from kinegraph.compiler.stages.reduce import reduction
from kinegraph.compiler.stages.segments import fastest_segments
from kinegraph.compiler.stages.whole_proof import with_exact_numbers
from kinegraph.derive.dynamics.forward import LinearSystem
from kinegraph.derive.quantities.definitions.accelerations import solves
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.plans import MULTIPLIERS, Candidate
from kinegraph.graph import law
from kinegraph.graph.flatten import flattened
from kinegraph.graph.node import Graph
from kinegraph.jit.target import host
from kinegraph.passes.pipeline import reduce
from kinegraph.passes.step import Effort

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
