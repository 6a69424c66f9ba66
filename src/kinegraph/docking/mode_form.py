"""The equations of one mode of a docking, derived once with all that is looked at along the run, and stored on disk.

A docking is run a few times: no plan is compared with another and nothing is reduced, which would take longer than it
saves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.stored import derived_at_once, stored_graph
from kinegraph.derive.constraints.projection import projection
from kinegraph.derive.dynamics.state_rate import DISSIPATED, SUPPLIED, WORK, Forces, motion_words, state_rate
from kinegraph.errors import KinegraphError
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph
from kinegraph.jit.contents import digest
from kinegraph.jit.kernel import Argument, Kernel, compile_graph
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.elements import Bumper, Potential
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import VelocityForm
from kinegraph.solve.problem.problem import Floats

_MOST_INTERPRETED = 5_000_000  # values of nodes that NumPy computes as fast as a compiler would start


def docking_balances(forces: Forces) -> tuple[str, ...]:
    """The accounts of energy in every mode: latches that draw supply it also where nothing else does."""
    return (WORK,) * forces.in_joints + (DISSIPATED, SUPPLIED)


class ModeForm(VelocityForm):
    """y = [q, v] and balances of one mode; `reaction` is the quantity of a joint that is looked at, if there is one."""

    def __init__(
        self,
        mechanism: Mechanism,
        values: Mapping[str, Scalar],
        forces: Forces,
        runtime: Sequence[str] = (),
        reaction: str | None = None,
    ) -> None:
        super().__init__(mechanism, values, forces, runtime)
        self.reaction = reaction
        self._graphs: dict[str, Graph] = {}
        self._kernels: dict[tuple[int, int, bool], Kernel] = {}
        self._held: list[Graph] = []  # an id is only good as long as its object lives

    @property
    def balances(self) -> tuple[str, ...]:
        return docking_balances(self.forces)

    @property
    def names(self) -> tuple[str, ...]:
        return replace(self.mechanism.layout, balances=self.balances).state

    @cached_property
    def _key(self) -> str:
        return digest(self.mechanism, self.bound, self.forces, self.runtime)

    def stored(self, kind: str, made_of: object, make: Callable[[], Graph]) -> Graph:
        name = digest(kind, made_of)
        if name not in self._graphs:
            self._graphs[name] = stored_graph(kind, (self._key, made_of), make)
        return self._graphs[name]

    def kernel(self, graph: Graph, arguments: Sequence[Argument], native: bool) -> Kernel:
        """Made once for every graph: phases of one mode and the search for peaks share them."""
        place = id(graph), len(arguments), native
        if place not in self._kernels:
            self._kernels[place] = compile_graph(graph, arguments) if native else InterpretedKernel(graph, arguments)
            self._held.append(graph)
        return self._kernels[place]

    @property
    def _motion(self) -> tuple[str, ...]:
        return motion_words(self.mechanism)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        """All quantities that formulas along a docking name."""
        mechanism = self.mechanism
        placed = [*(body.name for body in mechanism.bodies), *(point.name for point in mechanism.points)]
        elements = mechanism.elements
        return (
            *self._motion,
            "energy",
            "momentum",
            *(f"pose:{name}" for name in placed),
            *(f"velocity:{point.name}" for point in mechanism.points),
            *(f"contact:{one.name}" for one in elements if isinstance(one, Bumper)),
            *(f"effort:{one.name}" for one in elements if not isinstance(one, Bumper | Potential)),
            *((self.reaction,) if self.reaction else ()),
        )

    @cached_property
    def _together(self) -> Graph | None:
        """All of them as one graph; None if one of them cannot be derived: what is wrong is said where it is read."""
        try:
            return derived_at_once(self.mechanism, self._words, self.bound)
        except KinegraphError:
            return None

    def derived(self, words: Sequence[str]) -> Graph:
        if self._together is None or not {*words} <= {*self._words}:
            return derived_at_once(self.mechanism, tuple(words), self.bound)
        places = [self._words.index(word) for word in words]
        return Graph(self._together.nodes, tuple(self._together.outputs[place] for place in places))

    @cached_property
    def rate(self) -> Graph:
        return self.stored("rate", (), lambda: self._rate(self.forces))

    def _rate(self, forces: Forces) -> Graph:
        return state_rate(self.mechanism, self.derived(self._motion), self.bound, forces, self.balances)

    @cached_property
    def projection(self) -> Graph | None:
        if not is_constrained(self.mechanism):
            return None
        return self.stored("projection", (), lambda: projection(self._derivation))

    def rows_of(self, graph: Graph, rows: Floats) -> Floats:
        """The first output of a graph for rows of x: by NumPy, or compiled where they are many."""
        if len(graph) * len(rows) <= _MOST_INTERPRETED:
            named = {symbol.name: column for symbol, column in zip(self.symbols, rows.T, strict=True)}
            return interpret(graph, named)[graph.outputs[0].name]
        kernel = self.kernel(graph, [Argument("x", self.symbols)], True)
        return kernel.by_name(kernel.batch(rows))[graph.outputs[0].name]
