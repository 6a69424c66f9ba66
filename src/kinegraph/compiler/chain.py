"""One request, one chain of records: derived, reduced, chosen. All commands read it, nobody rebuilds it.

All three are stored on disk under the request's key, so that a second run need not derive anything again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar

from kinegraph.codegen.estimate.choice import KernelChoice, faster_as_kernel, instructions_saved
from kinegraph.codegen.estimate.running_time import estimated_cycles
from kinegraph.codegen.program.back_substitution import BackSubstitution
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.codegen.simd.orbits import share_side_by_side
from kinegraph.compiler.contest import best_of_near_ties, contest_of, seconds_left
from kinegraph.compiler.records import Chosen, Derived, Means, Reduced
from kinegraph.compiler.request import Request, arguments_of
from kinegraph.compiler.segments import fastest_segments
from kinegraph.compiler.whole_proof import prove_zero, proved, with_dense_factors, with_exact_numbers
from kinegraph.derive.dynamics.forward import LinearSystem
from kinegraph.derive.quantities.definitions.accelerations import solves
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.plans import MULTIPLIERS, Candidate, PlanSearch
from kinegraph.errors import KinegraphError
from kinegraph.graph import law
from kinegraph.graph.collector import without_collector
from kinegraph.graph.count import count
from kinegraph.graph.flatten import flattened
from kinegraph.graph.node import Graph
from kinegraph.graph.proof.whole import WholeProof
from kinegraph.interrupt import Interrupt
from kinegraph.jit import cache as disk
from kinegraph.jit.contents import digest
from kinegraph.jit.target import host
from kinegraph.passes.by_name import read_passes
from kinegraph.passes.pipeline import OnPass, Reduction, reduce
from kinegraph.passes.step import Effort

_log = logging.getLogger("kinegraph")

#: From this many velocities on, derivatives of accelerations are solved for in loops over their columns.
SOLVED_IN_LOOPS = 6

#: How many nodes may be derived while choosing frames, by effort: for an arm, and twice as many for two limbs or more.
PLAN_BUDGET = {Effort.QUICK: 0, Effort.NORMAL: 30_000, Effort.SEARCH: 1_000_000}
TWO_LIMBS = 12

#: Limbs are computed side by side where this part of the operations can be.
_LEAST_SHARE = 0.5

#: And where a longer search has reduced the graph, only if single calls save this part of the instructions: batches,
#: whose lanes are states, gain nothing and would lose what the search has found.
_LEAST_SAVED = 0.2


class _Dumped(Protocol):
    def dump(self) -> str: ...


Record = TypeVar("Record", bound=_Dumped)


@dataclass(frozen=True)
class Chain:
    """The records of one request. `cache`: keep them on disk; `on_pass` hears of every pass that is run."""

    request: Request
    cache: bool = True
    on_pass: OnPass | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<chain of {self.request!r}>"

    @cached_property
    def derived(self) -> Derived:
        """The equations by the cheapest plan."""
        return self._stored_or_made(f"derived-{self.request.key}", Derived.read, self._derive)

    @cached_property
    def _best(self) -> Candidate:
        """The cheapest plan; beyond quick effort the one of which a search leaves least."""
        request = self.request
        with without_collector():
            cheapest = self._search.best(self._budget)
        if request.effort is Effort.QUICK:
            return best_of_near_ties(self._search, cheapest)
        if request.frames is Effort.QUICK:
            return cheapest
        contest = contest_of(request.effort, request.seconds)
        return contest.winner(self._search, cheapest, request.seed, self._interrupt)

    @cached_property
    def _interrupt(self) -> Interrupt:
        """Seen by the contest of plans and by the reduction that follows."""
        return Interrupt()

    @property
    def at_once(self) -> Graph:
        """The equations by the first plan: no other is tried."""
        return self._search.first().graph

    @property
    def first(self) -> Graph:
        """The equations as the recursions first give them: every link in its own frame, no parameters regrouped."""
        return self._first(self.derived.plan)[0]

    @cached_property
    def reduced(self) -> Reduced:
        """The equations reduced, proved equal to the equations as first derived."""
        return self._stored_or_made(f"reduced-{self.request.key}", Reduced.read, self._reduce)

    def chosen(self, means: Means | None = None, runtime: Sequence[str] = ()) -> Chosen:
        """The graph that is estimated to run fastest with these means, when the parameters of `runtime` arrive late."""
        means = means or Means()
        key = digest(self.request.key, means, host().fused)
        return self._stored_or_made(f"chosen-{key}", Chosen.read, lambda: self._choose(means, runtime))

    @property
    def limbs_are_faster(self) -> bool:
        """Are most joints those of limbs with others like them, which kernels compute side by side where that pays?"""
        return self._limb_search.limbs_are_faster

    # deriving

    def _derive(self) -> tuple[Derived, bool]:
        candidate = self._best
        law.check(candidate.graph)
        return Derived(self.request.key, candidate.plan, candidate.graph), not self._interrupt.requested

    @cached_property
    def _search(self) -> PlanSearch:
        request = self.request
        return PlanSearch(
            request.mechanism, request.quantities, request.parameters, closed_legs=request.closed_legs,
            closure=request.closure, cut=request.cut,
        )  # fmt: skip

    @cached_property
    def _stated_search(self) -> PlanSearch:
        """Loops cut where the model closes them, by multipliers: what other cuts are proved equal to."""
        request = self.request
        return PlanSearch(request.mechanism, request.quantities, request.parameters, closed_legs=request.closed_legs)

    @cached_property
    def _limb_search(self) -> PlanSearch:
        request = self.request
        return PlanSearch(
            request.mechanism, request.quantities, request.parameters, side_by_side=True,
            closed_legs=request.closed_legs, closure=request.closure, cut=request.cut, lowered=self._search.lowered,
        )  # fmt: skip

    @property
    def _budget(self) -> int:
        times = 2 if len(self.request.mechanism.bodies) >= TWO_LIMBS else 1
        return times * PLAN_BUDGET[self.request.frames or self.request.effort]

    def _first_plan(self, plan: Plan) -> Plan:
        """Every link in its own frame, nothing regrouped; by the same algorithms, but loops by multipliers (in the
        coordinates of closed forms, if the plan has these: that they fulfil the loops is proved beside it).

        Long loops, for which that takes too long, in segments of single bars.
        """
        of_origins = any(quantity.record.of_origins for quantity in self.request.quantities)
        shifts = plan.origin_shifts if of_origins else frozenset()
        single_bars = 1 if self._search.bars > MULTIPLIERS else 0
        return Plan(
            in_parent_frame=frozenset(), regroup=False, origin_shifts=shifts, inertia=plan.inertia,
            forward=plan.forward, segment=single_bars, closed_legs=plan.closed_legs, closed_loops=plan.closed_loops,
        )  # fmt: skip

    def _first(self, plan: Plan) -> tuple[Graph, float]:
        """The equations as the recursions first give them, and the seconds that took."""
        # Trees that are cut differently agree where loops are closed: all that is compared is written in closed form.
        first = self._first_plan(Plan(closed_loops=True) if self.request.cut else plan)
        if first not in self._firsts:
            started = time.perf_counter()
            search = self._stated_search if self.request.cut else self._search
            graph = search.derived(first).graph
            if first.closed_loops:
                prove_zero(*search.closed_rows(first), self.request.mechanism)
            self._firsts[first] = graph, time.perf_counter() - started
        return self._firsts[first]

    @cached_property
    def _firsts(self) -> dict[Plan, tuple[Graph, float]]:
        """What the reduced and the chosen graph are both compared with, by plan."""
        return {}

    def _compared(self, graph: Graph) -> Graph:
        """The graph as it is compared with the equations as first derived."""
        return self._stated_search.closed(graph) if self.request.cut else graph

    def _proved(self, graph: Graph, plan: Plan, tail: BackSubstitution | None) -> WholeProof:
        """That a graph, up to the linear system that loops solve after it, equals the equations as first derived."""
        if tail is None:
            first, deriving = self._first(plan)
            return proved(first, self._compared(graph), self.request.mechanism, deriving)
        started = time.perf_counter()
        candidate, system = self._search.unsolved(self._first_plan(plan))
        first = with_dense_factors(candidate.graph, system.lower, tail.size)
        deriving = time.perf_counter() - started
        return proved(first, with_dense_factors(graph, tail.lower, tail.size), self.request.mechanism, deriving)

    # reducing

    def _reduce(self) -> tuple[Reduced, bool]:
        request, derived = self.request, self.derived
        reduction = self._reduction(derived.graph, seconds_left(request.seconds))
        law.check(reduction.graph)
        first, deriving = self._first(derived.plan)
        proof = proved(first, self._compared(reduction.graph), request.mechanism, deriving)
        record = Reduced(request.key, reduction.graph, count(first), count(derived.graph), reduction.reports, proof)
        return record, not reduction.interrupted

    def _reduction(self, graph: Graph, seconds: float | None) -> Reduction:
        """A graph by the request's passes, or by those of its effort; not proved yet."""
        request = self.request
        passes = read_passes(request.passes) if request.passes else ()
        return reduce(
            graph, request.effort, seconds, request.seed, prove=False, on_pass=self.on_pass,
            interrupt=self._interrupt, passes=passes,
        )  # fmt: skip

    # choosing

    def _choose(self, means: Means, runtime: Sequence[str]) -> tuple[Chosen, bool]:
        solved = self._solved if means.solving_loops else ()
        # Passes that are asked for by name are run over all equations, not over those of one limb.
        own_passes = bool(self.request.passes)
        found = self._limbs_side_by_side(solved) if means.side_by_side and not own_passes else None
        if means.side_by_side and self._search.bars and not own_passes:
            return self._loop(runtime), True
        # At quick effort deriving twice would take longer than what it might save.
        if found is None or self.request.effort is not Effort.QUICK:
            straight = self._straight(solved)
            if found is None or self._saved(found, straight, runtime) < _LEAST_SAVED:
                found = straight
        law.check(found.graph)
        return found, True

    def _straight(self, solved: tuple[bool, ...]) -> Chosen:
        if not any(solved):
            return self._faster(self.derived.graph, self.derived.plan, self.reduced.graph)
        candidate, system = self._search.best_unsolved(self._budget)
        reduced = self._reduction(candidate.graph, self.request.seconds).graph
        return self._faster(candidate.graph, candidate.plan, reduced, self._tail(system, solved))

    def _faster(self, derived: Graph, plan: Plan, reduced: Graph, tail: BackSubstitution | None = None) -> Chosen:
        request = self.request
        choice = faster_as_kernel(derived, reduced, fused=host().fused)
        graph = reduced if choice.reduction_taken else derived
        _log.info("%s: %s", request, choice)
        proof = self.reduced.proof if tail is None and graph is self.reduced.graph else self._proved(graph, plan, tail)
        return Chosen(request.key, graph, proof, choice, tail)

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
        search = self._limb_search
        if not search.limbs_are_faster:
            return None
        candidate, tail = self._limb_candidate(search, solved)
        limbs = candidate.limbs
        assert limbs is not None
        # What is reduced by more than a quick search would no longer be of one shape.
        graph = flattened(reduce(candidate.graph, effort=Effort.QUICK, prove=False).graph)
        numbers = limbs.values()
        share = share_side_by_side(graph, limbs.exchange)
        _log.info("%s: %.0f %% of the operations are done side by side", self.request, 100 * share)
        if numbers is None or share < _LEAST_SHARE:
            return None
        proof = self._proved(with_exact_numbers(graph, limbs.numbers), candidate.plan, tail)
        choice = KernelChoice(True)
        # Legs that are computed side by side for one state are many operations more than need be for many states.
        batches = self.reduced.graph if self._search.has_closed_legs and not any(solved) else None
        return Chosen(self.request.key, graph, proof, choice, tail, numbers, tuple(limbs.exchange.items()), batches)

    def _loop(self, runtime: Sequence[str]) -> Chosen:
        """A planar loop in the segments that are estimated to run fastest, or by multipliers."""
        arguments = arguments_of(self.request.mechanism, self.request.quantities, runtime)
        fastest = fastest_segments(self._limb_search, arguments, host().fused)
        if fastest is None:
            return self._straight(())
        if self._search.bars <= MULTIPLIERS:
            straight = self._straight(())
            if estimated_cycles(bind(straight.graph, arguments, {}), host().fused) <= fastest.cycles:
                return straight
        _log.info("%s: segments of %d bars side by side", self.request, fastest.plan.segment)
        proof = self._proved(fastest.with_exact_numbers(), fastest.plan, None)
        return Chosen(
            self.request.key, fastest.graph, proof, KernelChoice(True), None, fastest.values, fastest.exchange
        )

    def _limb_candidate(
        self, search: PlanSearch, solved: tuple[bool, ...]
    ) -> tuple[Candidate, BackSubstitution | None]:
        if not any(solved):
            return search.best(), None
        candidate, system = search.best_unsolved()
        return candidate, self._tail(system, solved)

    def _saved(self, first: Chosen, second: Chosen, runtime: Sequence[str]) -> float:
        """Which part of the second's instructions the first saves."""
        arguments: tuple[Argument, ...] = arguments_of(self.request.mechanism, self.request.quantities, runtime)
        bindings = [bind(one.graph, arguments, one.numbers) for one in (first, second)]
        return instructions_saved(bindings[0], dict(first.exchange), bindings[1], host().fused)

    # keeping

    def _stored_or_made(
        self, name: str, read: Callable[[str], Record], make: Callable[[], tuple[Record, bool]]
    ) -> Record:
        """A record from disk, if one is there that can be read and obeys the law; else a new one, stored if whole."""
        stored = _stored(name, read) if self.cache else None
        if stored is not None:
            return stored
        with without_collector():
            record, whole = make()
        if self.cache and whole:
            disk.save(name, record.dump().encode())
        return record


def _stored(name: str, read: Callable[[str], Record]) -> Record | None:
    data = disk.load(name)
    if data is None:
        return None
    try:
        return read(data.decode())
    except (KinegraphError, ValueError, TypeError, KeyError, AttributeError):
        return None
