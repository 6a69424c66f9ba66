"""The graph a kernel is made of: derived by the cheapest plan, reduced and proved, kept on disk."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from kinegraph.codegen.estimate.choice import faster_as_kernel, instructions_saved
from kinegraph.codegen.program.back_substitution import BackSubstitution
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.codegen.simd.orbits import share_side_by_side
from kinegraph.derive.quantities.definitions.accelerations import solves
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.plans import PlanSearch
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import KinegraphError
from kinegraph.graph import law, text
from kinegraph.graph.flatten import flattened
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.jit import cache as disk
from kinegraph.jit.contents import digest
from kinegraph.jit.target import host
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.pipeline import Effort, reduce

Record = TypeVar("Record")

_log = logging.getLogger("kinegraph")

#: From this many velocities on, derivatives of accelerations are solved for in loops over their columns.
SOLVED_IN_LOOPS = 6

#: How many nodes may be derived while choosing frames, by effort.
PLAN_BUDGET = {Effort.QUICK: 0, Effort.NORMAL: 60_000, Effort.SEARCH: 1_000_000}

#: Limbs are computed side by side where this part of the operations can be.
_LEAST_SHARE = 0.5

#: And where a longer search has reduced the plain graph, only if single calls save this part of the instructions:
#: batches, whose lanes are states, gain nothing and would lose what the search has found.
_LEAST_SAVED = 0.2


@dataclass(frozen=True)
class KernelGraph:
    """A graph to be compiled, with what comes after it.

    Where limbs are computed side by side, `numbers` are the values of the symbols in which they differ and `exchange`
    leads from the symbols of each limb to those of the next (see `derive.limbs`).
    """

    graph: Graph
    tail: BackSubstitution | None = None
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    exchange: tuple[tuple[Symbol, Symbol], ...] = ()

    def dump(self) -> str:
        tail = self.tail
        return json.dumps(
            {
                "graph": text.dump(self.graph),
                "tail": tail and [tail.size, tail.order, tail.lower, tail.solved],
                "numbers": {name: str(value) for name, value in self.numbers.items()},
                "exchange": [[(one.kind.value, one.name) for one in pair] for pair in self.exchange],
            }
        )

    @classmethod
    def read(cls, dumped: str) -> KernelGraph:
        """What dump wrote."""
        kept = json.loads(dumped)
        pairs = [tuple(Symbol(Kind(kind), name) for kind, name in pair) for pair in kept["exchange"]]
        tail = None
        if kept["tail"]:
            size, order, lower, solved = kept["tail"]
            tail = BackSubstitution(size, tuple(order), tuple((i, j) for i, j in lower), tuple(solved))
        numbers = {name: Fraction(value) for name, value in kept["numbers"].items()}
        return cls(text.read(kept["graph"]), tail, numbers, tuple((a, b) for a, b in pairs))


def _stored(name: str, read: Callable[[str], Record]) -> Record | None:
    """What is on disk under this name; None if there is nothing that can be read and obeys the law."""
    data = disk.load(name)
    if data is None:
        return None
    try:
        return read(data.decode())
    except (KinegraphError, ValueError, TypeError, KeyError):
        return None


@dataclass(frozen=True)
class KernelRequest:
    """What is to be computed, with which parameters known, and how hard to try.

    `loops`: derivatives of accelerations may be solved for in loops, after the graph.
    """

    mechanism: Mechanism
    wanted: tuple[Quantity, ...]
    bound: Mapping[str, Expression]
    effort: Effort
    loops: bool = True

    def graph(self, arguments: Sequence[Argument], cache: bool, side_by_side: bool = True) -> KernelGraph:
        """The graph that is estimated to run fastest; `arguments` are what arrives when it runs.

        It is kept on disk, so that a second run need not derive it again.
        """
        name = f"kernel-{self.digest}" + ("-alike" if side_by_side else "")
        stored = _stored(name, KernelGraph.read) if cache else None
        if stored is not None:
            return stored
        found = self._alike() if side_by_side else None
        # At quick effort deriving twice would take longer than what it might save.
        if found is None or self.effort is not Effort.QUICK:
            plain = self._plain(cache)
            found = plain if found is None or self._saved(found, plain, arguments) < _LEAST_SAVED else found
        law.check(found.graph)
        if cache:
            disk.save(name, found.dump().encode())
        return found

    def reduced(self, cache: bool) -> Graph:
        """The cheapest plan's graph, reduced if that makes its kernel faster."""
        name = f"graph-{self.digest}"
        stored = _stored(name, text.read) if cache else None
        if stored is not None:
            return stored
        derived = PlanSearch(self.mechanism, self.wanted, self.bound).best(PLAN_BUDGET[self.effort]).graph
        graph = self._faster(derived)
        law.check(graph)
        if cache:
            disk.save(name, text.dump(graph).encode())
        return graph

    @cached_property
    def digest(self) -> str:
        sources = disk.sources_digest(Path(__file__).parents[1])
        return digest(self, sources)

    @cached_property
    def solved(self) -> tuple[bool, ...]:
        """Which quantities are derivatives of accelerations, solved for in loops; none where that gains nothing."""
        none = (False,) * len(self.wanted)
        if not self.loops or len(self.mechanism.layout.velocities) < SOLVED_IN_LOOPS:
            return none
        if not any(quantity.name == "qdd" and quantity.by for quantity in self.wanted):
            return none
        derivation = Derivation(self.mechanism, self.bound, Plan())
        return tuple(solves(derivation, quantity) for quantity in self.wanted)

    def _plain(self, cache: bool) -> KernelGraph:
        if not any(self.solved):
            return KernelGraph(self.reduced(cache))
        search = PlanSearch(self.mechanism, self.wanted, self.bound)
        candidate, system = search.best_unsolved(PLAN_BUDGET[self.effort])
        return KernelGraph(self._faster(candidate.graph), self._tail(system.order, system.lower))

    def _tail(self, order: Sequence[int], lower: Sequence[tuple[int, int]]) -> BackSubstitution:
        return BackSubstitution(len(self.mechanism.layout.velocities), tuple(order), tuple(lower), self.solved)

    def _faster(self, derived: Graph) -> Graph:
        choice = faster_as_kernel(derived, reduce(derived, effort=self.effort).graph, fused=host().fused)
        _log.info("%s, %s: %s", self.mechanism.name, ", ".join(map(str, self.wanted)), choice)
        return choice.graph

    def _alike(self) -> KernelGraph | None:
        """The graph with limbs side by side, if there are such limbs and enough is saved."""
        search = PlanSearch(self.mechanism, self.wanted, self.bound, alike=True)
        if not search.limbs_prevail:
            return None
        tail = None
        if any(self.solved):
            candidate, system = search.best_unsolved()
            tail = self._tail(system.order, system.lower)
        else:
            candidate = search.best()
        assert candidate.limbs is not None
        # What is reduced by more than a quick search would no longer be alike.
        graph = flattened(reduce(candidate.graph, effort=Effort.QUICK).graph)
        numbers = candidate.limbs.values()
        if numbers is None:
            return None
        found = KernelGraph(graph, tail, numbers, tuple(candidate.limbs.exchange.items()))
        share = share_side_by_side(graph, candidate.limbs.exchange)
        _log.info("%s: %.0f %% of the operations are done side by side", self.mechanism.name, 100 * share)
        return found if share >= _LEAST_SHARE else None

    @staticmethod
    def _saved(first: KernelGraph, second: KernelGraph, arguments: Sequence[Argument]) -> float:
        """Which part of the second's instructions the first saves."""
        bindings = [bind(one.graph, arguments, one.numbers) for one in (first, second)]
        return instructions_saved(bindings[0], dict(first.exchange), bindings[1], host().fused)
