"""The motion together with its derivatives: y' = f(y, t, p), s' = (df/dy) s + df/dp, as one right-hand side.

One column s for each parameter or initial value. All derivatives are exact operations of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from kinegraph.derive.constraints.projection import projected_in
from kinegraph.derive.dynamics.state_rate import Forces, state_rate
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative, gradient, jacobian
from kinegraph.graph.node import Function, Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import VelocityForm, row_values
from kinegraph.simulate.state_names import StateNames
from kinegraph.solve.problem.problem import Floats, RightHandSide

#: Functions whose value or derivative depends on the side of a surface.
_SWITCHES = ("sign", "select")
_JUMP = 1e-6
_HALVINGS = 60
_ROWS = 1000  # of a run that say what size rates have


class VariationalForm(VelocityForm):
    """y = [q, v, integrals], then the derivatives of these by each name of `by`.

    by: parameters of `runtime`, and any other words, which stand for initial values: f does not depend on them.
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
        """The entries of y that are no derivatives."""
        return (*self.mechanism.layout.positions, *self.mechanism.layout.velocities, *self.integrands)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.motion_names, *(f"d({name})/d({by})" for by in self.by for name in self.motion_names))

    @property
    def balances(self) -> tuple[str, ...]:
        return ()

    @property
    def state_symbols(self) -> tuple[Symbol, ...]:
        layout = self.mechanism.layout
        state = [Symbol(Kind.COORDINATE, name) for name in layout.positions]
        state += [Symbol(Kind.VELOCITY, name) for name in layout.velocities]
        return (*state, *(Symbol(Kind.INPUT, name) for name in self.names[len(state) :]))

    @cached_property
    def motion(self) -> Graph:
        """[q', v', integrands] as a graph."""
        rate = state_rate(self.mechanism, self.chosen("qdd"), self.bound, self.forces, balances=())
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
        """The step onto the constraints with its derivative: columns are taken to what the constraints allow."""
        if self.projection is None:
            return None
        builder = GraphBuilder()
        state, pivots = projected_in(builder, self.projection)
        integrals = [builder.symbol(Kind.INPUT, name) for name in self.integrands]
        roots = (*state.nodes, *integrals)
        derivatives = [along(root) for along in self.directions(builder) for root in roots]
        return builder.graph([Output("y", (len(self.names),), (*roots, *derivatives)), pivots])

    def directions(self, builder: GraphBuilder) -> Iterator[ForwardDerivative]:
        """For each name of `by` what takes the total derivative of nodes by it."""
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
        """As of every system; kept, for a fit runs it again and again."""
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
        """The time of the first jump of f between rows of x = [y, t, u, p]; None if f is continuous there.

        Across a jump derivatives jump too, and the variational equations do not say how far.
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
    """Names of the state, output points, energies, and momenta about the origin, as columns of a run have them."""

    def __init__(self, builder: GraphBuilder, form: VariationalForm) -> None:
        super().__init__(builder, form)
        self.replace({name: Node(builder, builder.symbol(Kind.INPUT, name)) for name in form.integrands})


def switching_conditions(graph: Graph) -> Graph | None:
    """What decides the sides of all switching functions of a graph; None if there are none."""
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
    """Rows on both sides of a zero of the conditions, ever closer, on the straight lines between the given ones."""

    def sides(rows: Floats) -> np.ndarray:
        found = row_values(conditions, form.symbols, rows)["conditions"]
        return np.asarray(found[np.arange(len(rows)), which] >= 0)

    first = sides(before)
    for _ in range(_HALVINGS):
        middle = 0.5 * (before + after)
        same = (sides(middle) == first)[:, None]
        before, after = np.where(same, middle, before), np.where(same, after, middle)
    return before, after
