"""The equations of a request by every plan that is asked for: the cheapest one, and those that proofs begin with."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

from kinegraph.codegen.program.back_substitution import BackSubstitution
from kinegraph.collector import without_collector
from kinegraph.compiler.records.derived import Derived
from kinegraph.compiler.request import Request
from kinegraph.compiler.stages.contest import best_of_near_ties, contest_of
from kinegraph.compiler.stages.whole_proof import prove_zero, proved, with_dense_factors
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.plans import MULTIPLIERS, Candidate, PlanSearch
from kinegraph.graph import law
from kinegraph.graph.node import Graph
from kinegraph.graph.proof.whole import WholeProof
from kinegraph.interrupt import Interrupt
from kinegraph.passes.step import Effort

#: How many nodes may be derived while choosing frames, by effort: for an arm, and twice as many for two limbs or more.
PLAN_BUDGET = {Effort.QUICK: 0, Effort.NORMAL: 30_000, Effort.SEARCH: 1_000_000}
TWO_LIMBS = 12


@dataclass(frozen=True)
class Derivations:
    """The equations of one request, each plan's derived once."""

    request: Request

    def made(self) -> tuple[Derived, bool]:
        """The equations by the best plan, and whether its search came to its end."""
        candidate = self._best
        law.check(candidate.graph)
        return Derived(self.request.key, candidate.plan, candidate.graph), not self.interrupt.requested

    @cached_property
    def _best(self) -> Candidate:
        """The cheapest plan; beyond quick effort the one of which a search leaves least."""
        request = self.request
        with without_collector():
            cheapest = self.search.best(self.budget)
        if request.effort is Effort.QUICK:
            return best_of_near_ties(self.search, cheapest)
        if request.frames is Effort.QUICK:
            return cheapest
        contest = contest_of(request.effort, request.seconds)
        return contest.winner(self.search, cheapest, request.seed, self.interrupt)

    @cached_property
    def interrupt(self) -> Interrupt:
        """Seen by the contest of plans and by the reduction that follows."""
        return Interrupt()

    @property
    def budget(self) -> int:
        """How many nodes may be derived while choosing frames."""
        times = 2 if len(self.request.mechanism.bodies) >= TWO_LIMBS else 1
        return times * PLAN_BUDGET[self.request.frames or self.request.effort]

    # plans

    @cached_property
    def search(self) -> PlanSearch:
        """Plans by the closure and the cut of the request."""
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
    def limb_search(self) -> PlanSearch:
        """Plans in which limbs of one shape are written in one form."""
        request = self.request
        return PlanSearch(
            request.mechanism, request.quantities, request.parameters, side_by_side=True,
            closed_legs=request.closed_legs, closure=request.closure, cut=request.cut, lowered=self.search.lowered,
        )  # fmt: skip

    # the first equations, and proofs that begin with them

    def first(self, plan: Plan) -> tuple[Graph, float]:
        """The equations as the recursions first give them, and the seconds that took."""
        # Trees that are cut differently agree where loops are closed: all that is compared is written in closed form.
        first = self._first_plan(Plan(closed_loops=True) if self.request.cut else plan)
        if first not in self._firsts:
            started = time.perf_counter()
            search = self._stated_search if self.request.cut else self.search
            graph = search.derived(first).graph
            if first.closed_loops:
                prove_zero(*search.closed_rows(first), self.request.mechanism)
            self._firsts[first] = graph, time.perf_counter() - started
        return self._firsts[first]

    @cached_property
    def _firsts(self) -> dict[Plan, tuple[Graph, float]]:
        """What the reduced and the chosen graph are both compared with, by plan."""
        return {}

    def _first_plan(self, plan: Plan) -> Plan:
        """Every link in its own frame, nothing regrouped; by the same algorithms, but loops by multipliers (in the
        coordinates of closed forms, if the plan has these: that they fulfil the loops is proved beside it).

        Long loops, for which that takes too long, in segments of single bars.
        """
        of_origins = any(quantity.record.of_origins for quantity in self.request.quantities)
        shifts = plan.origin_shifts if of_origins else frozenset()
        single_bars = 1 if self.search.bars > MULTIPLIERS else 0
        return Plan(
            in_parent_frame=frozenset(), regroup=False, origin_shifts=shifts, inertia=plan.inertia,
            forward=plan.forward, segment=single_bars, closed_legs=plan.closed_legs, closed_loops=plan.closed_loops,
        )  # fmt: skip

    def proved(self, graph: Graph, plan: Plan, tail: BackSubstitution | None = None) -> WholeProof:
        """That a graph, up to the linear system that loops solve after it, equals the equations as first derived."""
        if tail is None:
            first, deriving = self.first(plan)
            return proved(first, self._compared(graph), self.request.mechanism, deriving)
        started = time.perf_counter()
        candidate, system = self.search.unsolved(self._first_plan(plan))
        first = with_dense_factors(candidate.graph, system.lower, tail.size)
        deriving = time.perf_counter() - started
        return proved(first, with_dense_factors(graph, tail.lower, tail.size), self.request.mechanism, deriving)

    def _compared(self, graph: Graph) -> Graph:
        """The graph as it is compared with the equations as first derived."""
        return self._stated_search.closed(graph) if self.request.cut else graph
