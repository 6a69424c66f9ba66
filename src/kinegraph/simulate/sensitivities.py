"""Derivatives of a run by parameters and initial values: variational equations forward, adjoint equations backward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from kinegraph.derive.constraints.projection import projected_in
from kinegraph.derive.dynamics.state_rate import STATE_RATES, Forces, initial_symbols, state_rate
from kinegraph.derive.tree.expressions import Names
from kinegraph.graph.build import GraphBuilder, copied, moved, transfer
from kinegraph.graph.build import Scalar as Node
from kinegraph.graph.differentiate import ForwardDerivative, gradient, jacobian
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Function, Graph, Kind, Output, Symbol
from kinegraph.model.expressions import TIME, Expression, Scalar
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.simulate.equations import VelocityForm, row_values
from kinegraph.simulate.formulas import StateNames, formula
from kinegraph.solve.problem import Floats, RightHandSide, Signals

# Variational equations: y' = f(y, t, p), s' = (df/dy) s + df/dp, as one right-hand side, with one column s for each
# parameter or initial value. All derivatives are exact operations of the graph.

#: Functions with a discontinuous value or derivative.
_SWITCHES = ("sign", "select")
_JUMP = 1e-6
_HALVINGS = 60
_ROWS = 1000  # states of a run that give the size of rates


class VariationalForm(VelocityForm):
    """y = [q, v, integrals], then the derivatives of these by each name of `by`.

    by: parameters of `runtime`, and any other names, which are initial values: f does not depend on them.
    integrands: formulas of the state, time and parameters whose integrals over time belong to y.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        values: Mapping[str, Scalar],
        forces: Forces,
        runtime: Sequence[str],
        by: Sequence[str],
        integrands: Mapping[str, Expression],
    ) -> None:
        super().__init__(mechanism, values, forces, runtime)
        self.by = tuple(by)
        self.integrands = dict(integrands)
        self._compiled: dict[tuple[bool, bool], RightHandSide] = {}

    @property
    def motion_names(self) -> tuple[str, ...]:
        """The entries of y that are not derivatives."""
        return (*self.mechanism.layout.initial, *self.integrands)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.motion_names, *(f"d({name})/d({by})" for by in self.by for name in self.motion_names))

    @property
    def balances(self) -> tuple[str, ...]:
        return ()

    @property
    def state_symbols(self) -> tuple[Symbol, ...]:
        state = initial_symbols(self.mechanism)
        return (*state, *(Symbol(Kind.INPUT, name) for name in self.names[len(state) :]))

    @cached_property
    def motion(self) -> Graph:
        """[q', v', z', integrands] as a graph."""
        words = ("qdd", *(STATE_RATES,) * bool(self.mechanism.states))
        rate = state_rate(self.mechanism, self.chosen(",".join(words)), self.bound, self.forces, balances=())
        builder = GraphBuilder()
        nodes = list(moved(rate.outputs, transfer(rate, builder))[0].nodes)
        scope = ResultNames(builder, self)
        nodes += [scope.scalar(one).index for one in self.integrands.values()]
        return builder.graph([Output("rate", (len(nodes),), tuple(nodes))])

    @cached_property
    def rate(self) -> Graph:
        builder = GraphBuilder()
        roots = moved(self.motion.outputs, transfer(self.motion, builder))[0].nodes
        derivatives = [along(root) for along in self.directions(builder) for root in roots]
        return builder.graph([Output("rate", (len(self.names),), (*roots, *derivatives))])

    @cached_property
    def returned(self) -> Graph | None:
        """The step onto the constraints with its derivative: columns are projected onto the allowed directions."""
        if self.projection is None:
            return None
        builder = GraphBuilder()
        state, pivots = projected_in(builder, self.projection)
        further = [builder.symbol(Kind.STATE, name) for name in self.mechanism.layout.states]
        further += [builder.symbol(Kind.INPUT, name) for name in self.integrands]
        roots = (*state.nodes, *further)
        derivatives = [along(root) for along in self.directions(builder) for root in roots]
        return builder.graph([Output("y", (len(self.names),), (*roots, *derivatives)), pivots])

    def directions(self, builder: GraphBuilder) -> Iterator[ForwardDerivative]:
        """For each name of `by`, the operator of the total derivative of nodes by it."""
        size = len(self.motion_names)
        symbols = [builder.symbol(one.kind, one.name) for one in self.state_symbols]
        for number, name in enumerate(self.by, 1):
            seeds = dict(zip(symbols[:size], symbols[number * size : (number + 1) * size], strict=True))
            if name in self.runtime:
                seeds[builder.symbol(Kind.PARAMETER, name)] = builder.one
            yield ForwardDerivative(builder, seeds)

    def results(self, wanted: Sequence[Expression]) -> Graph:
        """The outputs `values` (of formulas) and `derivatives` (a row for each formula, a column for each `by`)."""
        builder = GraphBuilder()
        scope = ResultNames(builder, self)
        nodes = tuple(scope.scalar(one).index for one in wanted)
        columns = [[along(node) for node in nodes] for along in self.directions(builder)]
        entries = tuple(column[row] for row in range(len(nodes)) for column in columns)
        outputs = [Output("values", (len(nodes),), nodes), Output("derivatives", (len(nodes), len(columns)), entries)]
        return builder.graph(outputs)

    def final(self, wanted: Sequence[Expression]) -> Graph:
        """`values` of formulas, and `slopes` of each by y and by the parameters, at a state of the motion."""
        builder = GraphBuilder()
        scope = ResultNames(builder, self)
        nodes = tuple(scope.scalar(one).index for one in wanted)
        symbols = [builder.symbol(*one) for one in self.state_symbols[: len(self.motion_names)]]
        symbols += [builder.symbol(Kind.PARAMETER, name) for name in self.runtime]
        entries = tuple(entry for node in nodes for entry in gradient(builder, node, symbols))
        outputs = [Output("values", (len(nodes),), nodes), Output("slopes", (len(nodes), len(symbols)), entries)]
        return builder.graph(outputs)

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        """The right-hand side, cached because a fit runs it repeatedly."""
        key = jacobian, native
        if key not in self._compiled:
            self._compiled[key] = super().right_hand_side(jacobian, native)
        return self._compiled[key]

    def rate_jacobian(self) -> Graph:
        builder = GraphBuilder()
        roots = moved(self.rate.outputs, transfer(self.rate, builder))[0].nodes
        symbols = [builder.symbol(one.kind, one.name) for one in self.state_symbols]
        entries = tuple(entry for row in jacobian(builder, roots, symbols) for entry in row)
        return builder.graph([Output("jacobian", (len(roots), len(roots)), entries)])

    def jump(self, rows: Floats) -> float | None:
        """The time of the first discontinuity of f between rows of x = [y, t, u, p]; None if f is continuous there.

        Derivatives also jump at a discontinuity, and the variational equations do not give the size of this jump.
        """
        conditions = switching_conditions(self.motion)
        if conditions is None or len(rows) < 2:
            return None
        sides = row_values(conditions, self.symbols, rows)["conditions"] >= 0
        where, which = np.nonzero(sides[1:] != sides[:-1])
        if not len(where):
            return None
        before, after = _narrowed(self, conditions, rows[where], rows[where + 1], which)
        some = rows[:: len(rows) // _ROWS + 1]
        rates = [row_values(self.motion, self.symbols, x)["rate"] for x in (some, before, after)]
        scale = np.abs(rates[0]).max(axis=0) + np.finfo(float).tiny
        jumps = np.any(np.abs(rates[2] - rates[1]) > _JUMP * scale, axis=1)
        return float(before[np.argmax(jumps), len(self.names)]) if jumps.any() else None


class ResultNames(StateNames):
    """Names of the state, output points, energies, and momenta about the origin, as in the columns of a run."""

    def __init__(self, builder: GraphBuilder, form: VariationalForm) -> None:
        super().__init__(builder, form)
        self.replace({name: Node(builder, builder.symbol(Kind.INPUT, name)) for name in form.integrands})


def switching_conditions(graph: Graph) -> Graph | None:
    """The conditions of all switching functions of a graph; None if there are none."""
    nodes = [
        one.arguments[0]
        for one, live in zip(graph.nodes, graph.live, strict=True)
        if live and isinstance(one, Function) and one.name in _SWITCHES
    ]
    if not nodes:
        return None
    builder = GraphBuilder()
    place = transfer(graph, builder)
    distinct = tuple(dict.fromkeys(nodes))
    (moved_conditions,) = moved([Output("conditions", (len(distinct),), distinct)], place)
    return builder.graph([moved_conditions])


def _narrowed(
    form: VariationalForm, conditions: Graph, before: Floats, after: Floats, which: np.ndarray
) -> tuple[Floats, Floats]:
    """Rows on both sides of a zero of the conditions, found by bisection on straight lines between the given rows."""

    def sides(rows: Floats) -> np.ndarray:
        found = row_values(conditions, form.symbols, rows)["conditions"]
        return np.asarray(found[np.arange(len(rows)), which] >= 0)

    first = sides(before)
    for _ in range(_HALVINGS):
        middle = 0.5 * (before + after)
        same = (sides(middle) == first)[:, None]
        before, after = np.where(same, middle, before), np.where(same, after, middle)
    return before, after


# The initial state, and its derivatives by parameters and initial values.


class StartDerivative:
    """q, v and z at the start as functions of parameters (`runtime`) and of given initial values.

    The model's `initial` expressions count. A given initial value does not depend on parameters.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        initial: Mapping[str, Scalar],
        bound: Mapping[str, Expression],
        runtime: Sequence[str],
    ) -> None:
        self._quaternions = mechanism.layout.quaternions
        self._runtime = tuple(runtime)
        self._graph = _graph(mechanism, initial, bound, runtime)

    def raw(self, parameters: Floats) -> Floats:
        """q, v and z as written; quaternions may have any length."""
        return self._evaluated(parameters)[0]

    def at(self, parameters: Floats, given: Mapping[int, float]) -> tuple[Floats, Floats]:
        """q, v and z, and their derivatives: a column for each parameter, then one for each given initial value.

        given: initial values by index in [q, v, z].
        """
        state, slopes = self._evaluated(parameters)
        columns = np.zeros((len(state), len(self._runtime) + len(given)))
        columns[:, : len(self._runtime)] = slopes
        for number, (place, value) in enumerate(given.items(), len(self._runtime)):
            state[place] = value
            columns[place] = 0.0
            columns[place, number] = 1.0
        for start in self._quaternions:
            part = slice(start, start + 4)
            length = np.linalg.norm(state[part])
            state[part] /= length
            columns[part] = (columns[part] - np.outer(state[part], state[part] @ columns[part])) / length
        return state, columns

    def _evaluated(self, parameters: Floats) -> tuple[Floats, Floats]:
        found = interpret(self._graph, dict(zip(self._runtime, parameters.tolist(), strict=True)))
        return np.array(found["start"], dtype=float), np.array(found["slopes"], dtype=float)


def _graph(
    mechanism: Mechanism, initial: Mapping[str, Scalar], bound: Mapping[str, Expression], runtime: Sequence[str]
) -> Graph:
    """The outputs `start` and `slopes` (by the parameters of `runtime`)."""
    builder = GraphBuilder()
    scope = Names(builder, mechanism, bound)
    written = {name: formula(value, name) for name, value in initial.items()}
    nodes = tuple(scope.scalar(written.get(name, usual)).index for name, usual in _expressions(mechanism).items())
    symbols = [builder.symbol(Kind.PARAMETER, name) for name in runtime]
    slopes = tuple(entry for row in jacobian(builder, nodes, symbols) for entry in row) if symbols else ()
    return builder.graph([Output("start", (len(nodes),), nodes), Output("slopes", (len(nodes), len(symbols)), slopes)])


def _expressions(mechanism: Mechanism) -> dict[str, Expression]:
    """The model's own initial values, by name of the position, velocity or first-order state."""
    positions: list[Expression] = []
    velocities: list[Expression] = []
    for one in mechanism.coordinates:
        positions += [one.position] if isinstance(one, Coordinate) else one.position
        velocities += [one.velocity] if isinstance(one, Coordinate) else one.velocity
    states = [one.initial for one in mechanism.states]
    return dict(zip(mechanism.layout.initial, (*positions, *velocities, *states), strict=True))


# Adjoint equations, backward in time. With s = -t: dl/ds = (df/dy)^T l, dg/ds = (df/dp)^T l. The products use reverse
# accumulation, so the right-hand side costs a few times that of f for any number of parameters. The motion itself is
# never integrated backward, because damped modes would grow: it enters as polynomials of time through states computed
# forward.

# Signals are cubic, but motions of order eight need more: y = low + u^4 high, with u from 0 to 1 in every interval.
_LOW, _HIGH, _SHARE = "low", "high", "share of a piece"
_DEGREE = 7
_NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(_DEGREE + 1) / _DEGREE)
_TO_POWERS = np.linalg.inv(_NODES[:, None] ** np.arange(_DEGREE + 1))


class AdjointForm(VariationalForm):
    """The adjoint equations of a form, and the gradient by the parameters of `runtime`; time runs as s = -t.

    Its signals are those of the form, then the motion (`motion_signals`), all reversed (`reversed_signals`).
    """

    def __init__(self, form: VariationalForm) -> None:
        self._form = form
        further = (*(f"{part}({name})" for part in (_LOW, _HIGH) for name in form.motion_names), _SHARE)
        forces = replace(form.forces, sampled=(*form.forces.sampled, *further))
        super().__init__(form.mechanism, form.values, forces, form.runtime, (), form.integrands)

    @property
    def names(self) -> tuple[str, ...]:
        adjoint = (f"adjoint({name})" for name in self.motion_names)
        return (*adjoint, *(f"gradient({name})" for name in self.runtime))

    @property
    def state_symbols(self) -> tuple[Symbol, ...]:
        return tuple(Symbol(Kind.INPUT, name) for name in self.names)

    @property
    def returned(self) -> Graph | None:
        """Adjoint states have no constraints to satisfy."""
        return None

    @property
    def rows(self) -> tuple[str, ...]:
        return ()

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        """The right-hand side; adjoint states have no unit quaternions."""
        found = super().right_hand_side(jacobian, native)
        return RightHandSide(found.code, found.names, found.inputs, found.parameters, jacobian=found.jacobian)

    @cached_property
    def motion(self) -> Graph:
        return self._form.motion

    @cached_property
    def rate(self) -> Graph:
        products, builder = self._products, GraphBuilder()
        inputs = {name: Node(builder, builder.symbol(Kind.INPUT, name)) for name in self.forces.sampled}
        known = {Symbol(Kind.TIME, TIME): Node(builder, builder.symbol(Kind.TIME, TIME)) * -1}
        for symbol, name in zip(self._form.state_symbols, self.motion_names, strict=False):
            known[symbol] = inputs[f"{_LOW}({name})"] + inputs[_SHARE] ** 4 * inputs[f"{_HIGH}({name})"]
        given = {
            index: known[node].index
            for index, node in enumerate(products.nodes)
            if isinstance(node, Symbol) and node in known
        }
        return builder.graph(moved(products.outputs, copied(products, builder, given)))

    @property
    def _products(self) -> Graph:
        """(df/dy)^T l and (df/dp)^T l as functions of y, t and p."""
        motion, builder = self.motion, GraphBuilder()
        roots = moved(motion.outputs, transfer(motion, builder))[0].nodes
        total = Node(builder, builder.zero)
        for root, adjoint in zip(roots, self.state_symbols, strict=False):
            total = total + Node(builder, root) * Node(builder, builder.symbol(*adjoint))
        by = [*self._form.state_symbols[: len(roots)], *(Symbol(Kind.PARAMETER, name) for name in self.runtime)]
        slopes = gradient(builder, total.index, [builder.symbol(*one) for one in by])
        return builder.graph([Output("rate", (len(self.names),), tuple(slopes))])


def node_times(knots: Floats) -> Floats:
    """The times at which a motion must be known to fit polynomials between knots; each knot once."""
    inside = knots[:-1, None] + np.diff(knots)[:, None] * _NODES[:-1]
    return np.append(inside.ravel(), knots[-1])


def motion_signals(knots: Floats, states: Floats) -> Signals:
    """The motion as signals of an `AdjointForm`, from its states at `node_times`."""
    lengths = np.diff(knots)[:, None, None]
    first, powers = states[:-1:_DEGREE], _powers(states)
    powers = powers / lengths ** (np.arange(_DEGREE + 1) % 4)  # low and high are in seconds, u is a number
    low, high = powers[:, :, :4], powers[:, :, 4:]
    low[:, :, 0] += first
    share = np.zeros((len(first), 1, 4))
    share[:, 0, 1] = 1.0 / lengths[:, 0, 0]
    return Signals(knots, np.concatenate([low, high, share], axis=1))


def unresolved(states: Floats, tolerances: Floats) -> np.ndarray:
    """Which intervals are too long for their polynomials: the last Chebyshev coefficient is not yet small.

    tolerances: for every component, at any time.
    """
    signs = (-1.0) ** np.arange(_DEGREE + 1) / _DEGREE
    signs[[0, -1]] /= 2
    places = np.arange(0, len(states) - 1, _DEGREE)[:, None] + np.arange(_DEGREE + 1)
    last = np.einsum("pnd,n->pd", states[places] - states[places[:, :1]], signs)
    return np.asarray(np.any(np.abs(last) > tolerances, axis=1))


def _powers(states: Floats) -> Floats:
    """By interval, component and power of u: the motion minus its first state in the interval."""
    places = np.arange(0, len(states) - 1, _DEGREE)[:, None] + np.arange(_DEGREE + 1)
    return np.asarray(np.einsum("kn,pnd->pdk", _TO_POWERS, states[places] - states[places[:, :1]]))


def at_knots(signals: Signals, knots: Floats) -> Signals:
    """The same functions on a finer set of knots, which contains all their own in its range."""
    left = knots[:-1]
    inside = np.clip(left, signals.knots[0], signals.knots[-1])
    piece = np.clip(np.searchsorted(signals.knots, left, side="right") - 1, 0, len(signals.coefficients) - 1)
    s = (inside - signals.knots[piece])[:, None]
    a, b, c, d = (signals.coefficients[piece][:, :, power] for power in range(4))
    found = np.stack([a + s * (b + s * (c + s * d)), b + s * (2 * c + s * 3 * d), c + 3 * s * d, d], axis=2)
    found[(left < signals.knots[0]) | (left >= signals.knots[-1]), :, 1:] = 0.0
    return Signals(knots, found)


def together(first: Signals, second: Signals) -> Signals:
    """The signals of both, which have the same knots."""
    return Signals(first.knots, np.concatenate([first.coefficients, second.coefficients], axis=1))


def reversed_signals(signals: Signals) -> Signals:
    """The same functions of s = -t: intervals in reverse order, each expanded about its other end."""
    knots, coefficients = signals.knots, signals.coefficients
    lengths = np.diff(knots)[:, None]
    a, b, c, d = (coefficients[:, :, power] for power in range(4))
    ends = [
        a + b * lengths + c * lengths**2 + d * lengths**3,
        -(b + 2 * c * lengths + 3 * d * lengths**2),
        c + 3 * d * lengths,
        -d,
    ]
    return Signals(-knots[::-1], np.ascontiguousarray(np.stack(ends, axis=2)[::-1]))
