"""The equations of one docking mode, derived once and stored on disk; with held latches as constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.binding import Argument
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.stored import derived_at_once, stored_graph
from kinegraph.derive.constraints.projection import PIVOTS, projection
from kinegraph.derive.dynamics.inertia_factorization import Factorized
from kinegraph.derive.dynamics.state_rate import DISSIPATED, SUPPLIED, WORK, Forces, motion_words, state_rate
from kinegraph.derive.tree.displacements import position_rates
from kinegraph.errors import KinegraphError
from kinegraph.graph.build import GraphBuilder, copied, moved, transfer
from kinegraph.graph.build import Scalar as Node
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.jit.cache import digest
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.constraints import is_constrained
from kinegraph.model.elements import CompliantContact, Potential
from kinegraph.model.expressions import TIME, Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import VelocityForm
from kinegraph.simulate.formulas import StateNames
from kinegraph.solve.problem import Floats

# The equations of one mode, derived once with all observed quantities, and stored on disk. A docking is run a few
# times: no plans are compared and nothing is reduced, because that would take longer than it saves.

_MOST_INTERPRETED = 5_000_000  # values of nodes that NumPy computes before a compiler would have started


def docking_balances(forces: Forces) -> tuple[str, ...]:
    """The energy balances in every mode: pulling latches supply energy also where nothing else does."""
    return (WORK,) * forces.in_joints + (DISSIPATED, SUPPLIED)


class ModeForm(VelocityForm):
    """y = [q, v] and balances of one mode; `reaction` is the observed quantity of a joint, if there is one."""

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
        self._held: list[Graph] = []  # an id is valid only while its object lives

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
        """The kernel, made once for every graph: phases of one mode and the search for peaks share it."""
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
            *(f"contact:{one.name}" for one in elements if isinstance(one, CompliantContact)),
            *(f"effort:{one.name}" for one in elements if not isinstance(one, CompliantContact | Potential)),
            *((self.reaction,) if self.reaction else ()),
        )

    @cached_property
    def _together(self) -> Graph | None:
        """All of them as one graph; None if one of them cannot be derived: the error is raised where it is read."""
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
        """The first output of a graph for rows of x: by NumPy, or compiled if there are many."""
        if len(graph) * len(rows) <= _MOST_INTERPRETED:
            named = {symbol.name: column for symbol, column in zip(self.symbols, rows.T, strict=True)}
            return interpret(graph, named)[graph.outputs[0].name]
        kernel = self.kernel(graph, [Argument("x", self.symbols)], True)
        return kernel.by_name(kernel.batch(rows))[graph.outputs[0].name]


# Equations while latches hold: constraint rows on bodies whose own equations do not change. The accelerations are
# linear in the forces along the rows, a = a0 + M^-1 J^T f, and the equations of the free bodies give both parts,
# whatever their legs. So S f = - (J a0 + J' v - r''), S = J M^-1 J^T, has as many unknowns as rows: a platform keeps
# its closed form. After every step the state is projected onto the rows, in the metric of the masses.

RATE, ROW_FORCES, IMPULSES, STATE = "rate", "row_forces", "impulses", "y"


class HeldForm(ModeForm):
    """y = [q, v] and balances; `unknown` are the inputs that enforce the rows, with value zero."""

    def __init__(
        self,
        mechanism: Mechanism,
        values: Mapping[str, Scalar],
        forces: Forces,
        runtime: Sequence[str],
        unknown: Sequence[str],
        constrained: Sequence[Expression],
    ) -> None:
        super().__init__(mechanism, values, forces, runtime)
        self.unknown = tuple(unknown)
        self.constrained = tuple(constrained)
        given = Forces(forces.formulas, (*forces.sampled, *unknown))
        self.released = ModeForm(mechanism, values, given, runtime)

    @cached_property
    def _together(self) -> Graph | None:
        return self.released._together

    @cached_property
    def _solved(self) -> Graph:
        """The rates of the state and the forces along the rows."""
        return self.stored("held", self.constrained, lambda: _Rows(self).motion())

    @cached_property
    def rate(self) -> Graph:
        return _alone(self._solved, RATE)

    def solved(self, builder: GraphBuilder) -> dict[str, Node]:
        graph = _alone(self._solved, ROW_FORCES)
        (found,) = moved(graph.outputs, transfer(graph, builder))
        return {name: Node(builder, node) for name, node in zip(self.unknown, found.nodes, strict=True)}

    @cached_property
    def closing(self) -> Graph:
        """The state after one step onto the rows, and their impulses, from the projection."""
        return self.stored("closing", self.constrained, lambda: _Rows(self).closing())

    @cached_property
    def returned(self) -> Graph | None:
        return Graph(self.closing.nodes, tuple(self.closing.output(name) for name in (STATE, PIVOTS)))

    @property
    def rows(self) -> tuple[str, ...]:
        return (*self.released.rows, *self.unknown)


def _alone(graph: Graph, name: str) -> Graph:
    return Graph(graph.nodes, (graph.output(name),))


class _Rows:
    """The rows in their own builder, with the effect of a unit force along each of them."""

    def __init__(self, form: HeldForm) -> None:
        self.form = form
        self.builder = GraphBuilder()
        self.symbols = [self._symbol(symbol) for symbol in form.state_symbols]
        layout = form.mechanism.layout
        self.positions = len(layout.positions)
        self.velocities = len(layout.velocities)
        self.rates = self._transferred({})
        self.free = self._transferred(dict.fromkeys(form.unknown, self.builder.zero))
        self.columns = [self._column(name) for name in form.unknown]
        names = StateNames(self.builder, form.released)
        self.missed = [one.index for one in names.read(form.constrained)]
        along = self._along(self.free)
        self.opening = [along(node) for node in self.missed]
        self.growing = [along(node) for node in self.opening]
        self.factorized = self._factorized()

    def motion(self) -> Graph:
        """All rates, with the forces that enforce the rows; and these forces."""
        forces = self.factorized.solve([-one for one in self._scalars(self.growing)])
        rate = [Node(self.builder, node) for node in self.free]
        for force, column in zip(forces, self.columns, strict=True):
            rate = [one + force * Node(self.builder, part) for one, part in zip(rate, column, strict=True)]
        return self.builder.graph([_output(RATE, rate), _output(ROW_FORCES, forces)])

    def closing(self) -> Graph:
        """The state after one step onto the rows, pivots, and the impulses along the rows that change velocities."""
        impulses = self.factorized.solve([-one for one in self._scalars(self.opening)])
        moves = self._of_masses(self.factorized.solve([-one for one in self._scalars(self.missed)]))
        q = position_rates(self.form.mechanism, self.builder, moves)
        state = self._scalars(self.symbols)
        steps = [*q, *self._of_masses(impulses)]
        taken = [one + step for one, step in zip(state, steps, strict=False)] + state[len(steps) :]
        pivots = [self.factorized.pivots[k] / self.matrix[k][k] for k in range(len(self.matrix))]
        taken, others = self._legs(taken)
        parts = {STATE: taken, PIVOTS: [*others, *pivots], IMPULSES: impulses}
        return self.builder.graph([_output(name, part) for name, part in parts.items()])

    def _legs(self, state: list[Node]) -> tuple[list[Node], list[Node]]:
        """The leg coordinates after that step, and their pivots."""
        back = self.form.released.returned
        if back is None:
            return state, []
        places = dict(zip(self.form.state_symbols, state, strict=True))
        given = {k: places[one].index for k, one in enumerate(back.nodes) if isinstance(one, Symbol) and one in places}
        found = moved(back.outputs, copied(back, self.builder, given))  # a transfer would multiply out all sums
        taken, pivots = (self._scalars(one.nodes) for one in found)
        return taken, pivots

    def _symbol(self, one: Symbol) -> int:
        return self.builder.symbol(one.kind, one.name)

    def _transferred(self, given: Mapping[str, int]) -> tuple[int, ...]:
        """The rates, with inputs replaced."""

        def symbol(one: Symbol) -> int:
            known = given.get(one.name) if one.kind is Kind.INPUT else None
            return self._symbol(one) if known is None else known

        graph = self.form.released.rate
        return moved(graph.outputs, transfer(graph, self.builder, symbol))[0].nodes

    def _column(self, name: str) -> tuple[int, ...]:
        """The effect of a unit force along a row on the rates."""
        derivative = ForwardDerivative(self.builder, {self.builder.symbol(Kind.INPUT, name): self.builder.one})
        return tuple(derivative(node) for node in self.rates)

    def _along(self, rates: Sequence[int]) -> ForwardDerivative:
        """Rates along a motion."""
        seeds = dict(zip(self.symbols, rates, strict=True))
        return ForwardDerivative(self.builder, seeds | {self.builder.symbol(Kind.TIME, TIME): self.builder.one})

    def _factorized(self) -> Factorized:
        """S: the acceleration of every row by a force along another."""
        part = slice(self.positions, self.positions + self.velocities)
        columns = []
        for column in self.columns:
            derivative = ForwardDerivative(self.builder, dict(zip(self.symbols[part], column[part], strict=True)))
            columns.append(self._scalars([derivative(node) for node in self.opening]))
        self.matrix = [[column[row] for column in columns] for row in range(len(columns))]
        return Factorized(self.matrix, range(len(self.matrix)), self.form.unknown)

    def _of_masses(self, forces: Sequence[Node]) -> list[Node]:
        """M^-1 J^T f."""
        total = [Node(self.builder, self.builder.zero)] * self.velocities
        for force, column in zip(forces, self.columns, strict=True):
            part = column[self.positions : self.positions + self.velocities]
            total = [one + force * Node(self.builder, node) for one, node in zip(total, part, strict=True)]
        return total

    def _scalars(self, nodes: Sequence[int]) -> list[Node]:
        return [Node(self.builder, node) for node in nodes]


def _output(name: str, values: Sequence[Node]) -> Output:
    return Output(name, (len(values),), tuple(one.index for one in values))
