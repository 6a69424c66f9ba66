"""From a request to derived equations, and the proofs that start from the plain recursions.

request -> `derived` -> Derived
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

from kinegraph.codegen.program.binding import BackSubstitution
from kinegraph.compiler.plan_selection import best_of_formations, best_of_near_ties, plan_selection_of
from kinegraph.compiler.request import Quantities, Request, bound_parameters, quantities_of
from kinegraph.compiler.stage_records import Derived, derived_on_disk
from kinegraph.derive.dynamics.named_closed_form import NamedClosedForm
from kinegraph.derive.plan import InertiaMethod, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.plan_search import MULTIPLIERS, Candidate, PlanSearch
from kinegraph.derive.tree.displacements import unit_quaternions
from kinegraph.errors import DerivationError
from kinegraph.garbage_collection import gc_paused
from kinegraph.graph import law
from kinegraph.graph.build import GraphBuilder, Scalar, bind, moved, transfer
from kinegraph.graph.canonical import without_dead_nodes
from kinegraph.graph.certificate import WholeProof
from kinegraph.graph.node import Coefficient, Graph, Kind, Output, Polynomial, Symbol
from kinegraph.graph.proof import prove
from kinegraph.interrupt import Interrupt
from kinegraph.jit.cache import CachedRecord
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.effort import Effort

# The proof from end to end: the equations as the recursions first give them against the graph that code is made of.


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


# The equations of a request by every plan that is asked for: the cheapest one, and those that proofs begin with.

#: How many nodes may be derived while choosing frames, by effort: for an arm, and twice as many for two limbs or more.
PLAN_BUDGET = {Effort.QUICK: 0, Effort.NORMAL: 30_000, Effort.SEARCH: 1_000_000}
TWO_LIMBS = 12


Record = TypeVar("Record")


@dataclass(frozen=True)
class Derivations:
    """The equations of one request by every plan that is asked for, each derived once. `cache`: keep records on disk.

    All stages of one request share it: what one has derived, or the user has interrupted, the next one knows.
    """

    request: Request
    cache: bool = True

    def known(self, stored: CachedRecord[Record]) -> Record | None:
        """A record of the request that was made before, or is on disk."""
        found = self._records.get(stored.name) or stored.load()
        return None if found is None else self._keep(stored.name, cast("Record", found))

    def keep(self, stored: CachedRecord[Record], record: Record, complete: bool = True) -> Record:
        """A new record of the request, saved if it is complete."""
        return self._keep(stored.name, stored.save(record, complete))

    def _keep(self, name: str, record: Record) -> Record:
        self._records[name] = record
        return record

    @cached_property
    def _records(self) -> dict[str, object]:
        return {}

    @cached_property
    def best(self) -> Candidate:
        """The cheapest plan; beyond quick effort the one of which a search leaves least."""
        request = self.request
        with gc_paused():
            cheapest = best_of_formations(self.search, self.search.best(self.budget))
        if request.effort is Effort.QUICK:
            return best_of_near_ties(self.search, cheapest)
        if request.frames is Effort.QUICK:
            return cheapest
        selection = plan_selection_of(request.effort, request.seconds)
        return selection.winner(self.search, cheapest, request.seed, self.interrupt)

    @cached_property
    def interrupt(self) -> Interrupt:
        """Seen by the selection of plans and by the reduction that follows."""
        return Interrupt()

    @property
    def budget(self) -> int:
        """How many nodes may be derived while choosing frames."""
        times = 2 if len(self.request.mechanism.bodies) >= TWO_LIMBS else 1
        return times * PLAN_BUDGET[self.request.frames or self.request.effort]

    @property
    def at_once(self) -> Graph:
        """The equations by the first plan: no other is tried."""
        return self.search.first().graph

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
        coordinates of closed forms, if the plan has these: that they fulfill the loops is proved beside it).

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


# From a request to the record of its derived equations.


@gc_paused()
def derived(derivations: Derivations) -> Derived:
    """The equations by the cheapest plan."""
    request = derivations.request
    stored = derived_on_disk(request, derivations.cache)
    found = derivations.known(stored)
    if found is None:
        candidate = derivations.best
        law.check(candidate.graph)
        record = Derived(request.key, candidate.plan, candidate.graph)
        found = derivations.keep(stored, record, complete=not derivations.interrupt.requested)
    return found


# Equations by Rackovic's formulas: sums over all links in the fixed frame, nothing regrouped.


def in_closed_form(mechanism: Mechanism, quantities: Quantities, values: Mapping[str, Expression]) -> Graph:
    """The graph the dissertation starts from; `values` are the parameters that become numbers."""
    plan = Plan(in_parent_frame=frozenset(), regroup=False, inertia=InertiaMethod.CLOSED_FORM)
    bound = bound_parameters(mechanism, False, values)
    return PlanSearch(mechanism, quantities_of(quantities), bound).derived(plan).graph


@dataclass(frozen=True)
class NamedEquations:
    """A graph, names of its nodes (True: of their negatives), and values of parameters that stand for numbers."""

    graph: Graph
    names: Mapping[int, tuple[str, bool]]
    values: Mapping[str, Coefficient]


#: What the dissertation's algorithms give.
NAMED_QUANTITIES = ("H", "C", "gravity", "A", "B")


def named_closed_form(mechanism: Mechanism, quantities: Quantities) -> NamedEquations:
    """The graph as the dissertation's algorithms store it: nothing folded, axes and arms with names."""
    wanted = quantities_of(quantities)
    for quantity in wanted:
        if quantity.name not in NAMED_QUANTITIES or quantity.by:
            raise DerivationError(
                f"{quantity}: the closed form gives {', '.join(NAMED_QUANTITIES)}\n"
                "  store other quantities without --closed-form, and derivatives with `kinegraph store differentiate`"
            )
    plan = Plan(in_parent_frame=frozenset(), regroup=False, inertia=InertiaMethod.NAMED_CLOSED_FORM)
    derivation = Derivation(mechanism, {}, plan)
    outputs = [derivation.output(quantity) for quantity in wanted]
    whole = derivation.builder.whole_graph(outputs)
    place = {old: new for new, old in enumerate(index for index, live in enumerate(whole.live) if live)}
    form = derivation.closed_form
    assert isinstance(form, NamedClosedForm)
    names = {place[index]: name for index, name in form.names.items() if index in place}
    graph = without_dead_nodes(whole)
    used = {symbol.name for symbol in graph.symbols(Kind.PARAMETER)}
    values = {name: value for name, value in form.values.items() if name in used}
    prove(bind(graph, values), in_closed_form(mechanism, quantities, {})).require()
    return NamedEquations(graph, names, values)
