"""The search pass, and the choice between the interpreted and the compiled search."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace

from kinegraph.graph.node import Graph
from kinegraph.interrupt import delayed
from kinegraph.passes.effort import cheapest
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.destroy_repair import Alternatives, Annealing, Budget, Repair, Switch, relations
from kinegraph.passes.factoring.extract import factored
from kinegraph.passes.factoring.polynomials import System

# Which search a system gets: the interpreted one where it is small, the compiled one otherwise.

_log = logging.getLogger("kinegraph")

#: Work one unit of which takes the interpreted search as long as the compiled one takes for this many.
COMPILED_GAIN = 20

#: Systems of fewer operations are searched in plain Python: compiling would take longer than the search.
SMALL = 60


def search(
    system: System, budget: Budget, seed: int, annealing: Annealing, alternatives: Alternatives | None = None,
    switch: Switch | None = None,
) -> None:  # fmt: skip
    """Search and leave the best state in the system, for reading only; an interrupt ends it early."""
    if budget.interrupt.requested:
        return  # one of several searches was interrupted: the others are not begun, nor waited for
    with budget.interrupt.catching():  # before the first iteration the system is as it came, and whole
        if budget.compiled and system.cost > SMALL:
            if _fits(system, alternatives):
                with delayed():  # the import takes a second, and cannot be repeated once it was broken off
                    from kinegraph.passes.compiled_search.anneal import Engine

                Engine(system, seed, annealing, alternatives).run(budget)
                return
            _log.warning("terms of a very high degree: searching in Python, which finds less in the same time")
        if budget.compiled and budget.work is not None:
            budget = replace(budget, work=budget.work // COMPILED_GAIN)
        repair = Repair(system, seed, annealing, switch)
        if repair.has_choices or _several(alternatives):
            repair.run(budget)


def _several(alternatives: Alternatives | None) -> bool:
    """Can any root be written in more than one way?"""
    return alternatives is not None and any(len(choices) > 1 for choices in alternatives.roots.values())


def _fits(system: System, alternatives: Alternatives | None) -> bool:
    """Does compiled code know monomials of such a degree?"""
    from kinegraph.passes.compiled_search.layout import DEGREE

    found = [m for terms in system.expressions.values() for m in terms]
    if alternatives is not None:
        found += [m for choices in alternatives.roots.values() for terms in choices for m in terms]
        found += [m for terms in alternatives.angles.values() for m in terms]
    return all(system.monomials.degree[m] <= DEGREE for m in found)


# Destroy-and-repair search on the graph as it stands.


@dataclass(frozen=True)
class Search:
    """Write shared expressions out again, factor anew, keep what is better; interrupting keeps the best so far.

    With several `starts` half of the budget goes to as many searches of different seeds, the rest to the best of them:
    a search soon settles near where it began.
    """

    budget: Budget
    seed: int = 0
    annealing: Annealing = field(default_factory=Annealing)
    starts: int = 1
    name: str = "search"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        if self.starts == 1:
            return self._searched(graph, self.budget, self.seed)
        part, found = self.budget.part(2 * self.starts), graph
        for start in range(self.starts):
            found = cheapest(self._searched(graph, part, self.seed + start), found)
        return cheapest(self._searched(found, self.budget.part(2), self.seed), found)

    def _searched(self, graph: Graph, budget: Budget, seed: int) -> Graph:
        translation = factored(lambda: to_system(graph))
        choices = Alternatives(relations=relations(translation)) if budget.compiled else None
        search(translation.system, budget, seed, self.annealing, choices)
        return to_graph(translation)
