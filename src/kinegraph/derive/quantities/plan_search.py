"""The search for the best plan: the same equations are derived by several plans, and the cheapest graph is taken."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict

from kinegraph.derive import constraints
from kinegraph.derive.dynamics.articulated_body import joints_are_independent
from kinegraph.derive.dynamics.inertia_factorization import LinearSystem
from kinegraph.derive.plan import (
    CHANGES,
    CHANGES_OF_MOTION,
    Change,
    Closure,
    CrossAxis,
    ForwardMethod,
    InertiaMethod,
    LoadMethod,
    Plan,
    Propagated,
    flip_moment,
)
from kinegraph.derive.quantities.derivation import Derivation, LoweredTrees
from kinegraph.derive.quantities.dynamics import unsolved
from kinegraph.derive.quantities.quantity import Quantity, dependencies
from kinegraph.derive.quantities.record import Choice
from kinegraph.derive.quantities.variables import ALL, DISPLACEMENTS, Variables, group_word
from kinegraph.derive.tree.expressions import Names, output
from kinegraph.derive.tree.limbs import SideBySide
from kinegraph.derive.tree.links import JointKind
from kinegraph.graph.build import GraphBuilder, Scalar, moved, transfer
from kinegraph.graph.canonical import without_dead_nodes
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognition import platform_of

#: d(qdd) by these is written out from d(tau) by those.
_WRITTEN = {"q": "q", DISPLACEMENTS: DISPLACEMENTS, "v": "v", "tau": "a"}


#: Up to so many bars a planar loop is derived by multipliers too.
MULTIPLIERS = 40
#: Of how many bars the segments of longer loops may be: what a bar takes no longer depends on how many there are.
_LONG_SEGMENTS = (3, 4)
_LONGEST_SEGMENT = 5

#: A factorization takes operations as the squares of the depths of all bodies; beyond this sum it is not tried.
_DEEP = 50_000


class _Change(TypedDict, total=False):
    """New values for fields of a plan."""

    propagated: Propagated
    in_parent_frame: frozenset[int]
    euler: None
    inertia: InertiaMethod
    forward: ForwardMethod
    segment: int


@dataclass(frozen=True)
class Candidate:
    """A graph derived by one plan; `whole` has all that was derived, needed or not."""

    plan: Plan
    whole: Graph
    operations: Operations
    limbs: SideBySide | None = None

    @cached_property
    def graph(self) -> Graph:
        """The graph without dead nodes: made for the few that are not only compared."""
        return without_dead_nodes(self.whole)

    @property
    def size(self) -> int:
        """How many nodes the graph has."""
        return sum(self.whole.live)

    @property
    def cost(self) -> tuple[int, int]:
        """What plans are compared by: operations, divisions and functions weighing more."""
        operations = self.operations
        functions = operations.div + operations.sqrt + operations.sin + operations.cos + operations.other
        return operations.total + 4 * functions, operations.mul


class PlanSearch:
    """Derives one list of quantities by different plans; `side_by_side` writes limbs of one shape side by side."""

    def __init__(
        self,
        mechanism: Mechanism,
        quantities: Sequence[Quantity],
        bound: Mapping[str, Expression],
        side_by_side: bool = False,
        closed_legs: bool = True,
        closure: Closure = Closure.MULTIPLIERS,
        cut: tuple[str, ...] = (),
        lowered: dict[frozenset[str], LoweredTrees] | None = None,
    ) -> None:
        """lowered: the trees of another search for the same mechanism with the same `bound` and `cut`."""
        self._recut = constraints.recut(mechanism, cut) if cut else None
        self.side_by_side = side_by_side
        self.closure = closure if is_constrained(mechanism) else Closure.MULTIPLIERS
        self.closed_legs = closed_legs
        self.mechanism = self._recut.mechanism if self._recut else mechanism
        self.quantities = quantities
        self.bound = bound
        self._seen: dict[Plan, Candidate] = {}
        #: By the names of the parameters that are left as symbols.
        self.lowered: dict[frozenset[str], LoweredTrees] = {} if lowered is None else lowered
        self._left = 0
        self._judged = tuple(dict.fromkeys(_judged_by(quantity, mechanism) for quantity in quantities))

    def candidate(self, plan: Plan) -> Candidate:
        """The graph by which one plan is judged (derived once): of the quantities before they are differentiated."""
        if plan not in self._seen:
            self._seen[plan] = self._derived(plan, self._judged)
            self._left -= self._seen[plan].size
        return self._seen[plan]

    def derived(self, plan: Plan) -> Candidate:
        """The graph of all that is wanted, by one plan."""
        return self._derived(plan, self.quantities)

    def _derived(self, plan: Plan, quantities: Sequence[Quantity]) -> Candidate:
        derivation = self._derivation(plan, quantities)
        derived = derivation.closed_output if plan.closed_loops else derivation.output
        outputs = [derived(quantity) for quantity in quantities]
        return self._candidate(derivation, [*outputs, *derivation.hidden_outputs()], quantities)

    def _derivation(self, plan: Plan, quantities: Sequence[Quantity], side_by_side: bool = True) -> Derivation:
        later = self._differentiated_by(quantities)
        known = {name: value for name, value in self.bound.items() if name not in later}
        lowered = self.lowered.setdefault(frozenset(later), LoweredTrees())
        return Derivation(self.mechanism, known, plan, self.side_by_side and side_by_side, lowered)

    def _candidate(
        self, derivation: Derivation, outputs: Sequence[Output], quantities: Sequence[Quantity]
    ) -> Candidate:
        graph = derivation.builder.whole_graph(outputs)
        graph = self._recut.in_stated_coordinates(without_dead_nodes(graph)) if self._recut else graph
        graph = self._with_values(without_dead_nodes(graph)) if self._differentiated_by(quantities) else graph
        settled = replace(derivation.plan, in_parent_frame=derivation.layout.in_parent_frame, euler=derivation.euler)
        return Candidate(settled, graph, count(graph), derivation.side_by_side_parts if self.side_by_side else None)

    def _differentiated_by(self, quantities: Sequence[Quantity]) -> set[str]:
        """The parameters with values that must be symbols until the derivatives by them have been taken."""
        names = {variable for quantity in quantities for variable in quantity.by}
        groups = {group_word(name, self.mechanism) for name in names}
        return set(self.bound) if Variables.PARAMETERS in groups else names & set(self.bound)

    def _with_values(self, graph: Graph) -> Graph:
        builder = GraphBuilder()
        names = Names(builder, self.mechanism, self.bound)

        def symbol(node: Symbol) -> int:
            is_parameter = node.kind is Kind.PARAMETER
            return names[node.name].index if is_parameter else builder.symbol(node.kind, node.name)

        return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))

    def first(self) -> Candidate:
        """By the plan that all others are compared with."""
        return self.derived(self._first_plan)

    def best(self, budget: int = 0) -> Candidate:
        """The cheapest plan found; after the main choices single ones are changed until `budget` nodes are derived."""
        best = self._best_judged(budget)
        return best if self._judged == tuple(self.quantities) else self.derived(best.plan)

    def best_unsolved(self, budget: int = 0) -> tuple[Candidate, LinearSystem]:
        """By the cheapest plan, the graph up to the linear system that derivatives of accelerations end in."""
        return self.unsolved(self._best_judged(budget).plan)

    def unsolved(self, plan: Plan) -> tuple[Candidate, LinearSystem]:
        """By one plan, the graph up to the linear system that derivatives of accelerations end in."""
        derivation = self._derivation(plan, self.quantities)
        outputs, system = unsolved(derivation, self.quantities)
        return self._candidate(derivation, outputs, self.quantities), system

    @property
    def limbs_are_faster(self) -> bool:
        """Are most joints those of limbs with others like them, and can they be written side by side?"""
        of_one_shape = all(quantity.record.of_links for quantity in self.quantities)
        if self.closure is not Closure.MULTIPLIERS or self._recut or not of_one_shape:
            return False
        if self._differentiated_by(self.quantities):
            return False
        if platform_of(self.mechanism) is not None and not self.has_closed_legs:
            return False
        return self._derivation(Plan(), self.quantities).side_by_side_parts.are_most

    @property
    def has_closed_legs(self) -> bool:
        """Whether all that is wanted has one derivation only: that of a platform."""
        closed = self.closed_legs and all(quantity.record.closed_legs for quantity in self._judged)
        return closed and platform_of(self.mechanism) is not None

    def _best_judged(self, budget: int) -> Candidate:
        best = self.candidate(self._first_plan)
        if best.plan.segment or self.has_closed_legs:
            return best
        for change in self._main_choices():
            plan = replace(best.plan, **change)
            if plan not in (best.plan, replace(best.plan, euler=None)):  # else there was nothing to change
                best = min(best, self.candidate(plan), key=lambda candidate: candidate.cost)
        self._left = budget
        return self._improve(best, self._changes) if budget else best

    def best_formed_anew(self, best: Candidate, budget: int) -> Candidate:
        """The same of the plans that carry nothing over, from the main choices of another one."""
        self._left = budget
        settled = replace(best.plan, propagated=frozenset(), euler=None, axial_moments=frozenset())
        return self._improve(self.candidate(settled), (*CHANGES, flip_moment))

    @cached_property
    def bars(self) -> int:
        """Of how many bars the mechanism is a planar loop, if all that is wanted follows from segments; or 0."""
        if any(quantity.by or not quantity.record.in_segments for quantity in self.quantities):
            return 0
        if self._recut or not is_constrained(self.mechanism) or self.closure is not Closure.MULTIPLIERS:
            return 0
        loop = self._derivation(Plan(), self.quantities, side_by_side=False).planar_loop
        return len(loop.bars) if loop else 0

    def segment_plans(self) -> list[Plan]:
        """Ways to cut a planar loop into segments."""
        lengths = _LONG_SEGMENTS if self.bars > MULTIPLIERS else range(2, min(_LONGEST_SEGMENT, self.bars // 2) + 1)
        return [Plan(segment=length) for length in lengths]

    @property
    def _first_plan(self) -> Plan:
        """Multipliers take a number of operations that grows as the cube of the bars."""
        return Plan(
            segment=_LONG_SEGMENTS[0] if self.bars > MULTIPLIERS else 0,
            closed_legs=self.closed_legs,
            partitioned=self.closure is not Closure.MULTIPLIERS,
            closed_loops=self.closure is Closure.CLOSED_FORM,
            forward=ForwardMethod.ARTICULATED if self._is_deep else ForwardMethod.FACTORIZE,
        )

    @property
    def _is_deep(self) -> bool:
        """Whether a factorization of the inertia matrix would be far longer than articulated bodies."""
        if is_constrained(self.mechanism):
            return False
        return sum(depth**2 for depth in _depths(self.mechanism)) > _DEEP

    def closed(self, graph: Graph) -> Graph:
        """A graph of the same quantities with everything that loops determine in closed form."""
        derivation = self._derivation(self._first_plan, self.quantities)
        place = transfer(graph, derivation.builder)
        outputs = []
        for one in graph.outputs:
            nodes = derivation.closed_loops.written([Scalar(derivation.builder, place[node]) for node in one.nodes])
            outputs.append(one._replace(nodes=tuple(node.index for node in nodes)))
        return derivation.builder.graph(outputs)

    def closed_rows(self, plan: Plan) -> tuple[Graph, int]:
        """What the loops miss by position and velocity with everything they determine in closed form; how many."""
        derivation = self._derivation(plan, self.quantities)
        closed = derivation.closed_loops
        missed = [item for row in closed.rows for item in (row.zero_value(), row.rate)]
        return derivation.builder.graph([output("missed", (len(missed),), closed.written(missed))]), len(missed)

    def _main_choices(self) -> Iterator[_Change]:
        """Choices for the whole mechanism, tried one after the other, each on top of the best so far."""
        matters = {choice for quantity in self._judged for choice in quantity.record.choices}
        if Choice.FORWARD in matters and self._articulates:
            yield {"forward": ForwardMethod.ARTICULATED}
        yield {"in_parent_frame": frozenset(), "euler": None}
        if not self._at_rest:
            yield {"propagated": self._all_propagated}
        if Choice.INERTIA in matters or any(quantity.by for quantity in self._judged):
            yield {"inertia": InertiaMethod.WRENCHES}

    @property
    def _at_rest(self) -> bool:
        """Do all quantities depend on positions alone? Then nothing moves that could be propagated."""
        needed = {group for quantity in self._judged for group in dependencies(quantity, self.mechanism)}
        return needed <= {Variables.POSITIONS}

    def _improve(self, best: Candidate, changes: Sequence[Change]) -> Candidate:
        """Change one choice of one link at a time while that saves operations."""
        improved = True
        while improved:
            improved = False
            for index in self._revolute_links:
                for change in changes:
                    if self._left < 0:
                        return best
                    changed = self.candidate(change(best.plan, index))
                    if changed.cost < best.cost:
                        best, improved = changed, True
        return best

    def formations(self, best: Candidate) -> list[Candidate]:
        """The cheapest plan, and the same with the other way to form A of unknown forces if it matters."""
        if not any(Choice.UNKNOWNS in quantity.record.choices for quantity in self._judged) or self.has_closed_legs:
            return [best]
        return [self.derived(replace(best.plan, unknowns=method)) for method in LoadMethod]

    def near(self, best: Candidate, part: float) -> list[Candidate]:
        """The plans met so far that cost at most so much more than the best, which is the first; one for each graph."""
        found = {best.graph.nodes: best}
        for one in self._seen.values():
            if one.cost[0] <= best.cost[0] * (1 + part):
                found.setdefault(one.graph.nodes, one)
        return list(found.values())

    def neighbor(self, plan: Plan, chance: random.Random) -> Plan:
        """Another plan: one to three choices of single links changed."""
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            plan = chance.choice(self._changes)(plan, chance.choice(self._revolute_links))
        return plan

    @property
    def has_neighbors(self) -> bool:
        """Are there choices of single links, and is a plan judged by all that is wanted?"""
        whole = self._judged == tuple(self.quantities) and not self.bars and not self.has_closed_legs
        return whole and bool(self._revolute_links)

    @cached_property
    def _changes(self) -> tuple[Change, ...]:
        """The changes that may matter: without forces of a motion nothing is propagated."""
        plan = self._first_plan
        moving = self.candidate(replace(plan, propagated=self._all_propagated)).graph != self.candidate(plan).graph
        return (*CHANGES, *CHANGES_OF_MOTION) if moving else CHANGES

    @property
    def _all_propagated(self) -> Propagated:
        return frozenset((index, CrossAxis.FIRST) for index in self._revolute_links)

    @cached_property
    def _articulates(self) -> bool:
        """Whether articulated bodies give accelerations at all: else that plan's graph is the one there is."""
        return not is_constrained(self.mechanism) and joints_are_independent(self._first_derivation.motion())

    @cached_property
    def _first_derivation(self) -> Derivation:
        """What tells of the mechanism which plans there are."""
        return self._derivation(Plan(), self._judged, side_by_side=False)

    @cached_property
    def _revolute_links(self) -> list[int]:
        links = self._first_derivation.tree.links
        return [i for i, link in enumerate(links) if link.joint and link.joint.kind is JointKind.REVOLUTE]


def _depths(mechanism: Mechanism) -> list[int]:
    """On how many bodies each body stands, itself included; the bodies are in no particular order."""
    bases = {body.name: body.base for body in mechanism.bodies}
    known: dict[str | None, int] = {None: 0}
    for name in bases:
        above: list[str] = []
        at: str | None = name
        while at is not None and at not in known:
            above.append(at)
            at = bases[at]
        for one in reversed(above):
            known[one] = known[bases[one]] + 1
    return list(known.values())


def _judged_by(quantity: Quantity, mechanism: Mechanism) -> Quantity:
    """What a plan for a quantity is judged by: what is cheap to compute is cheap to differentiate.

    Derivatives of forces are written out and judged by themselves; those of accelerations are built on them, and what
    is added takes the same operations by any plan.
    """
    first = group_word(quantity.by[0], mechanism) if quantity.by else ""
    if quantity.name == "tau":
        return replace(quantity, by=quantity.by[:1] if first in _WRITTEN.values() else ())
    if quantity.name == "qdd" and first in _WRITTEN:
        return Quantity("tau", by=(ALL + _WRITTEN[first],))
    return quantity.undifferentiated
