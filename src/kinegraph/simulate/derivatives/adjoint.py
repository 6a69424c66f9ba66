"""The motion backwards in time together with its adjoint: what a result at the end owes to every state and parameter.

With s = -t: dy/ds = -f, dl/ds = (df/dy)^T l, dg/ds = (df/dp)^T l. The products come by reverse accumulation, so the
right-hand side costs a few times that of f, however many parameters there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import gradient
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import TIME, Expression
from kinegraph.simulate.derivatives.variational import ResultNames, VariationalForm
from kinegraph.solve.problem.problem import Signals


class AdjointForm(VariationalForm):
    """y = [q, v, integrals], its adjoint, and the gradient by the parameters of `runtime`; time runs as s = -t."""

    @classmethod
    def of(cls, form: VariationalForm) -> AdjointForm:
        """The adjoint of the motion of a form."""
        return cls(form.mechanism, form.values, form.forces, form.runtime, (), form.integrands)

    @property
    def names(self) -> tuple[str, ...]:
        adjoint = (f"adjoint({name})" for name in self.motion_names)
        return (*self.motion_names, *adjoint, *(f"gradient({name})" for name in self.runtime))

    @property
    def returned(self) -> Graph | None:
        """Nothing is taken back onto constraints: every interval begins with a state that fits."""
        return None

    @property
    def rows(self) -> tuple[str, ...]:
        return ()

    @cached_property
    def rate(self) -> Graph:
        builder = GraphBuilder()
        earlier = (Node(builder, builder.symbol(Kind.TIME, TIME)) * -1).index

        def replaced(symbol: Symbol) -> int:
            return earlier if symbol.kind is Kind.TIME else builder.symbol(*symbol)

        roots = moved(self.motion.outputs, transfer(self.motion, builder, replaced))[0].nodes
        size = len(roots)
        symbols = [builder.symbol(one.kind, one.name) for one in self.state_symbols]
        total = Node(builder, builder.zero)
        for root, adjoint in zip(roots, symbols[size : 2 * size], strict=True):
            total = total + Node(builder, root) * Node(builder, adjoint)
        parameters = [builder.symbol(Kind.PARAMETER, name) for name in self.runtime]
        slopes = gradient(builder, total.index, [*symbols[:size], *parameters])
        back = [(Node(builder, root) * -1).index for root in roots]
        return builder.graph([Output("rate", (len(self.names),), (*back, *slopes))])

    def final(self, wanted: Sequence[Expression]) -> Graph:
        """`values` of formulas, and `slopes` of each by y and by the parameters, at a state of the motion."""
        builder = GraphBuilder()
        scope = ResultNames(builder, self)
        nodes = tuple(scope.scalar(one).index for one in wanted)
        symbols = [builder.symbol(one.kind, one.name) for one in self.state_symbols[: len(self.motion_names)]]
        symbols += [builder.symbol(Kind.PARAMETER, name) for name in self.runtime]
        entries = tuple(entry for node in nodes for entry in gradient(builder, node, symbols))
        outputs = [Output("values", (len(nodes),), nodes), Output("slopes", (len(nodes), len(symbols)), entries)]
        return builder.graph(outputs)


def reversed_signals(signals: Signals) -> Signals:
    """The same functions of s = -t: pieces in the other order, each written about its other end."""
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
