"""The right-hand side of a mechanism that `solve` integrates, in velocities or in momenta."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from kinegraph import passes as known_passes
from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.binding import Argument
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler import stored
from kinegraph.compiler.compile import derive
from kinegraph.compiler.request import bound_parameters, request_of
from kinegraph.derive.constraints.projection import MISSED, PROJECTED, projected_in, projection
from kinegraph.derive.dynamics.state_rate import (
    Forces,
    balance_names,
    initial_symbols,
    motion_words,
    rate_jacobian,
    state_names,
    state_rate,
)
from kinegraph.derive.plan import Plan
from kinegraph.errors import SolveError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.build import Scalar as GraphScalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME, Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.effort import AT_ONCE
from kinegraph.solve.problem import Floats, RightHandSide, Signals
from kinegraph.solve.recording import Run

if TYPE_CHECKING:
    from kinegraph.derive.quantities.closed_legs import ClosedLegs
    from kinegraph.derive.quantities.derivation import Derivation

#: Of a mechanism without first-order states.
NOTHING: Floats = np.zeros(0)

_LARGEST_REDUCED = 4000
_MOST_INTERPRETED = 5_000_000  # values of nodes that NumPy computes before a compiler would have started


@dataclass(frozen=True)
class ProjectedStates:
    """States after one step toward loops and constraints, and the largest residuals before it, by position and by
    velocity."""

    q: Floats
    v: Floats
    position: float
    velocity: float


class Equations(ABC):
    """A mechanism, its parameter values, and the order of x = [y, t, u, p] that all its kernels take.

    runtime: parameters given when the code runs (p). All others are constants of the code.
    """

    def __init__(
        self, mechanism: Mechanism, values: Mapping[str, Scalar], forces: Forces, runtime: Sequence[str] = ()
    ) -> None:
        self.mechanism = mechanism
        self.values = values
        self.forces = forces
        self.runtime = tuple(runtime)
        numbers = bound_parameters(mechanism, True, values)
        self.bound: dict[str, Expression] = {name: value for name, value in numbers.items() if name not in runtime}

    #: Passes to run instead of those of quick effort, as written for `passes.by_name`.
    passes: str = ""

    #: Recursive algorithms compute the accelerations: there is no graph of the rates, and no Jacobian.
    by_loops: ClassVar[bool] = False

    #: Platform legs in closed form; otherwise they are ordinary loops.
    closed_legs: bool = True

    #: The method itself keeps loops closed in every step.
    closed_by_method: ClassVar[bool] = False

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The entries of y."""

    @property
    def balances(self) -> tuple[str, ...]:
        """The last entries of y: energy balances."""
        return ()

    @property
    @abstractmethod
    def state_symbols(self) -> tuple[Symbol, ...]:
        """The symbols of y in graphs."""

    @property
    @abstractmethod
    def rate(self) -> Graph:
        """y' as a graph."""

    def with_passes(self, passes: str) -> Self:
        """The same equations, reduced by the user's passes."""
        found = copy(self)
        found.passes = passes
        return found

    def chosen(self, words: str) -> Graph:
        """Quantities of the mechanism by name, as the graph with the shortest estimated run time."""
        request = request_of(
            self.mechanism, words, parameters=self.bound, passes=self.passes, closed_legs=self.closed_legs
        )
        return stored.chosen(stored.resolve_closure(request)).graph

    def derived(self, words: Sequence[str]) -> Graph:
        """Quantities of the mechanism by name, as one graph."""
        return derive(self.mechanism, words, parameters=self.bound, closed_legs=self.closed_legs)

    def solved(self, builder: GraphBuilder) -> dict[str, GraphScalar]:
        """Inputs that follow from the state, such as the forces of driven joints, as nodes of a builder."""
        return {}

    def stored(self, kind: str, made_of: object, make: Callable[[], Graph]) -> Graph:
        """A graph that follows from these equations and `made_of`. Some forms store it on disk."""
        return make()

    @property
    def returned(self) -> Graph | None:
        """y after one Newton step onto the constraints, and its pivots, as a graph; None without constraints."""
        return None

    @property
    def projection(self) -> Graph | None:
        """One projection step onto the loops and constraints, in q and v; None if there are none."""
        return None

    @property
    def closes(self) -> bool:
        """Whether there are loops or constraints to project onto."""
        return self.projection is not None

    def projected_states(self, times: Floats, q: Floats, v: Floats, parameters: Floats) -> ProjectedStates:
        """States after one step onto loops and constraints, and their residuals before it."""
        assert self.projection is not None
        tail = np.hstack([times[:, None], by_row(parameters, len(times))])
        found = row_values(self.projection, state_symbols(self), np.hstack([q, v, tail]))
        half, size = found[MISSED].shape[1] // 2, q.shape[1]
        position, velocity = (largest(part) for part in np.split(found[MISSED], [half], axis=1))
        return ProjectedStates(found[PROJECTED][:, :size], found[PROJECTED][:, size:], position, velocity)

    @property
    def keeps_closed(self) -> bool:
        """Whether states are projected onto loops and constraints, during integration and when saved."""
        return True

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the constraint rows that have a pivot."""
        return ()

    @property
    @abstractmethod
    def in_velocities(self) -> VelocityForm:
        """The same equations in velocities."""

    def saved(self, run: Run, inputs: Signals) -> tuple[Floats, dict[str, Floats]]:
        """The saved states of a run, and columns specific to these equations."""
        return run.states, {}

    def rate_jacobian(self) -> Graph:
        """d(y')/dy as a graph, row by row."""
        return rate_jacobian(self.mechanism, self.rate)

    @abstractmethod
    def carry(self, graph: Graph) -> Graph:
        """A graph in q and v as a graph in y."""

    @abstractmethod
    def carry_states(self, graph: Graph) -> Graph:
        """Rows of q, v and balances (the single output of a graph in these) as rows of y, in y."""

    @abstractmethod
    def pack(self, q: Floats, v: Floats, parameters: Floats, t: float = 0.0, z: Floats = NOTHING) -> Floats:
        """y from q, v and the first-order states z at t."""

    @abstractmethod
    def unpack(self, states: Floats, parameters: Floats) -> tuple[Floats, Floats]:
        """q and v from rows of y. Parameters are common to all rows, or given by row."""

    def repacked(self, states: Floats, times: Floats, q: Floats, v: Floats, parameters: Floats) -> Floats:
        """Rows of y with other q and v; parameters by row."""
        layout = self.mechanism.layout
        found = states.copy()
        if set(layout.velocities) <= set(self.names):
            found[:, [self.names.index(name) for name in (*layout.positions, *layout.velocities)]] = np.hstack([q, v])
            return found
        for row, one in enumerate(zip(q, v, parameters, times.tolist(), strict=True)):
            packed = self.pack(*one)
            found[row, : len(packed)] = packed
        return found

    @property
    def flags(self) -> tuple[Symbol, ...]:
        """The mode flags, with which x ends."""
        return ()

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols of x."""
        inputs = (Symbol(Kind.INPUT, name) for name in self.forces.sampled)
        parameters = (Symbol(Kind.PARAMETER, name) for name in self.runtime)
        return (*self.state_symbols, Symbol(Kind.TIME, TIME), *inputs, *parameters, *self.flags)

    @property
    def velocity_symbols(self) -> tuple[Symbol, ...]:
        """The symbols of q, v, z, integrals of quasi-velocities and balances."""
        further = (*self.mechanism.layout.integrals, *self.balances)
        return (*initial_symbols(self.mechanism), *(Symbol(Kind.INPUT, name) for name in further))

    @property
    def moving_symbols(self) -> tuple[Symbol, ...]:
        """The symbols of the variables that change with time: y and the sampled inputs."""
        return (*self.state_symbols, *(Symbol(Kind.INPUT, name) for name in self.forces.sampled))

    @property
    def rate_symbols(self) -> tuple[Symbol, ...]:
        """Symbols for the rates of `moving_symbols`."""
        return tuple(Symbol(Kind.INPUT, f"rate:{symbol.name}") for symbol in self.moving_symbols)

    def slope_function(self, graph: Graph, native: bool) -> Kernel:
        """A graph as a function of x, followed by the rates of y and of the inputs."""
        return self.kernel(graph, [Argument("x", self.symbols), Argument("rates", self.rate_symbols)], native)

    def function(self, graph: Graph, native: bool) -> Kernel:
        """A graph as a function of x: machine code, or interpreted."""
        return self.kernel(graph, self._arguments(), native)

    def kernel(self, graph: Graph, arguments: Sequence[Argument], native: bool) -> Kernel:
        """A graph as machine code, or interpreted."""
        return kernel_of_graph(graph, arguments, native, self.passes)

    def _arguments(self) -> list[Argument]:
        """x in its parts, so that batch code can take each from its own array."""
        ends = np.cumsum([len(self.names), 1, len(self.forces.sampled), len(self.runtime) + len(self.flags)])
        parts = zip("ytup", np.split(np.arange(ends[-1]), ends[:-1]), strict=True)
        symbols = self.symbols
        return [Argument(name, tuple(symbols[int(k)] for k in part)) for name, part in parts if len(part)]

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        """The right-hand side, with its Jacobian on request."""
        whole = [Argument("x", self.symbols)]
        return RightHandSide(
            code=self.kernel(self.rate, self._arguments(), native),
            names=self.names,
            inputs=len(self.forces.sampled),
            parameters=len(self.runtime) + len(self.flags),
            quaternions=self.mechanism.layout.quaternions,
            jacobian=self.kernel(self.rate_jacobian(), whole, native) if jacobian else 0,
            projection=0 if self.returned is None else self.kernel(self.returned, whole, native),
            rows=self.rows,
        )


class VelocityForm(Equations):
    """y = [q, v, z], and energy balances where forces, elements and prescribed motions change the energy."""

    @property
    def described(self) -> Mechanism:
        """The mechanism with everything that changes its energy."""
        return self.mechanism

    @property
    def names(self) -> tuple[str, ...]:
        return state_names(self.described, self.forces)

    @property
    def balances(self) -> tuple[str, ...]:
        return balance_names(self.described, self.forces)

    @property
    def state_symbols(self) -> tuple[Symbol, ...]:
        return self.velocity_symbols

    @cached_property
    def rate(self) -> Graph:
        motion = self.chosen(",".join(motion_words(self.mechanism)))
        return state_rate(self.described, motion, self.bound, self.forces)

    @cached_property
    def projection(self) -> Graph | None:
        if not is_constrained(self.mechanism):
            return None
        made_of = (self.mechanism, self.bound, self.closed_legs)
        return stored.stored_graph("projection", made_of, lambda: reduced(projection(self._derivation)))

    @cached_property
    def _derivation(self) -> Derivation:
        """Imported only if something that follows from it is not on disk."""
        from kinegraph.derive.quantities.derivation import Derivation

        return Derivation(self.mechanism, self.bound, Plan(closed_legs=self.closed_legs))

    @property
    def closed_platform(self) -> ClosedLegs | None:
        """The closed form of a platform's legs."""
        return self._derivation.platform

    def with_legs_as_loops(self) -> VelocityForm:
        """The same equations with platform legs as loops."""
        found = VelocityForm(self.mechanism, self.values, self.forces, self.runtime).with_passes(self.passes)
        found.closed_legs = False
        return found

    @property
    def rows(self) -> tuple[str, ...]:
        if not is_constrained(self.mechanism):
            return ()
        if self.closed_platform is not None:
            legs = zip(self.closed_platform.platform.legs, self.closed_platform.dynamics.legs, strict=True)
            return tuple(leg.name for leg, state in legs for _ in state.pivots())
        constrained = self._derivation.constrained
        return tuple(constrained.rows[k].name for k in constrained.places)

    @property
    def all_rows(self) -> tuple[str, ...]:
        """The names of all rows that the projection measures. Platforms have none, because their legs have closed
        forms."""
        if not is_constrained(self.mechanism) or self._derivation.platform is not None:
            return ()
        return tuple(row.name for row in self._derivation.constrained.rows)

    @property
    def in_velocities(self) -> VelocityForm:
        return self

    @cached_property
    def returned(self) -> Graph | None:
        if self.projection is None:
            return None
        builder = GraphBuilder()
        state, pivots = projected_in(builder, self.projection)
        further = [builder.symbol(symbol.kind, symbol.name) for symbol in self.state_symbols[len(state.nodes) :]]
        return builder.graph([Output("y", (len(self.names),), (*state.nodes, *further)), pivots])

    def carry(self, graph: Graph) -> Graph:
        return graph

    def carry_states(self, graph: Graph) -> Graph:
        return graph

    def pack(self, q: Floats, v: Floats, parameters: Floats, t: float = 0.0, z: Floats = NOTHING) -> Floats:
        begun = self.begun(q, v, z)
        return np.concatenate([begun, np.zeros(len(self.names) - len(begun))])

    def begun(self, q: Floats, v: Floats, z: Floats) -> Floats:
        """[q, v, z], with which y begins; SolveError unless z has a value for each state."""
        if len(z) != len(self.mechanism.states):
            names = ", ".join(self.mechanism.layout.states)
            raise SolveError(f"{self.mechanism.name}: the initial values of its states are missing: {names}")
        return np.concatenate([q, v, z])

    def unpack(self, states: Floats, parameters: Floats) -> tuple[Floats, Floats]:
        first, last = len(self.mechanism.layout.positions), len(self.mechanism.layout.velocities)
        return states[:, :first], states[:, first : first + last]


def by_row(parameters: Floats, rows: int) -> Floats:
    """Parameters as rows; values common to all rows are repeated."""
    return parameters if parameters.ndim == 2 else np.tile(parameters, (rows, 1))


def state_symbols(equations: Equations) -> tuple[Symbol, ...]:
    """The symbols of q, v, t and p, in this order."""
    mechanism = equations.mechanism
    symbols = [Symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
    symbols += [Symbol(Kind.VELOCITY, name) for name in mechanism.layout.velocities]
    symbols += [Symbol(Kind.TIME, TIME), *(Symbol(Kind.PARAMETER, name) for name in equations.runtime)]
    return tuple(symbols)


def row_values(graph: Graph, symbols: Sequence[Symbol], rows: Floats) -> dict[str, Floats]:
    """All outputs of a graph for many rows of symbol values: by NumPy, or compiled if there are many."""
    if len(graph) * len(rows) <= _MOST_INTERPRETED:
        return interpret(graph, {symbol.name: column for symbol, column in zip(symbols, rows.T, strict=True)})
    kernel = compile_graph(reduced(graph), [Argument("x", tuple(symbols))])
    return dict(kernel.by_name(kernel.batch(rows)))


def largest(values: Floats) -> float:
    """The largest absolute value; 0 if there are none."""
    return float(np.max(np.abs(values), initial=0.0))


def kernel_of_graph(graph: Graph, arguments: Sequence[Argument], native: bool, passes: str = "") -> Kernel:
    """A graph as machine code, or interpreted. `passes` replace the default quick ones."""
    if not native:
        return InterpretedKernel(graph, arguments)
    return compile_graph(reduced(graph, passes), arguments)


def reduced(graph: Graph, passes: str = "") -> Graph:
    """The graph with fewer operations, if finding them is fast: for a large graph it would take longer than it
    saves."""
    if not passes and len(graph) > _LARGEST_REDUCED:
        return graph
    return known_passes.reduce(graph, passes=known_passes.read_passes(passes or AT_ONCE)).graph
