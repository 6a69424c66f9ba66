"""The adjoint of a motion, backwards in time: what a result at the end owes to every state and parameter.

With s = -t: dl/ds = (df/dy)^T l, dg/ds = (df/dp)^T l. The products come by reverse accumulation, so the right-hand side
costs a few times that of f, however many parameters there are. The motion itself is never integrated backwards, where
what damping made small would grow: it enters as polynomials of time, made of states that were computed forwards.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import gradient
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import copied, moved, transfer
from kinegraph.model.expression import TIME
from kinegraph.simulate.derivatives.variational import VariationalForm
from kinegraph.solve.problem.problem import Floats, RightHandSide, Signals

# Signals are cubics, motions of order eight need more: y = low + u^4 high, with u from 0 to 1 in every piece.
_LOW, _HIGH, _SHARE = "low", "high", "share of a piece"
_DEGREE = 7
_NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(_DEGREE + 1) / _DEGREE)
_TO_POWERS = np.linalg.inv(_NODES[:, None] ** np.arange(_DEGREE + 1))


class AdjointForm(VariationalForm):
    """The adjoint of the motion of a form, and the gradient by the parameters of `runtime`; time runs as s = -t.

    Its signals are those of the form, then the motion (`motion_signals`), all reversed (`reversed_signals`).
    """

    def __init__(self, form: VariationalForm) -> None:
        self._form = form
        further = (*(f"{part}({name})" for part in (_LOW, _HIGH) for name in form.motion_names), _SHARE)
        forces = Forces(form.forces.formulas, (*form.forces.sampled, *further))
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
        """An adjoint fits no constraints."""
        return None

    @property
    def rows(self) -> tuple[str, ...]:
        return ()

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        """An adjoint has no quaternions of unit length."""
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
    """Where a motion is to be known to be written as polynomials between knots; each knot once."""
    inside = knots[:-1, None] + np.diff(knots)[:, None] * _NODES[:-1]
    return np.append(inside.ravel(), knots[-1])


def motion_signals(knots: Floats, states: Floats) -> Signals:
    """The motion as signals of an `AdjointForm`, from its states at `node_times`."""
    lengths = np.diff(knots)[:, None, None]
    first, powers = states[:-1:_DEGREE], _powers(states)
    powers = powers / lengths ** (np.arange(_DEGREE + 1) % 4)  # low and high in seconds, u is a number
    low, high = powers[:, :, :4], powers[:, :, 4:]
    low[:, :, 0] += first
    share = np.zeros((len(first), 1, 4))
    share[:, 0, 1] = 1.0 / lengths[:, 0, 0]
    return Signals(knots, np.concatenate([low, high, share], axis=1))


def unresolved(states: Floats, tolerances: Floats) -> np.ndarray:
    """Which pieces are too long for their polynomials: the last of the Chebyshev coefficients is not yet small.

    tolerances: of every component, at any time.
    """
    signs = (-1.0) ** np.arange(_DEGREE + 1) / _DEGREE
    signs[[0, -1]] /= 2
    places = np.arange(0, len(states) - 1, _DEGREE)[:, None] + np.arange(_DEGREE + 1)
    last = np.einsum("pnd,n->pd", states[places] - states[places[:, :1]], signs)
    return np.asarray(np.any(np.abs(last) > tolerances, axis=1))


def _powers(states: Floats) -> Floats:
    """By piece, component and power of u: the motion without its first state in the piece."""
    places = np.arange(0, len(states) - 1, _DEGREE)[:, None] + np.arange(_DEGREE + 1)
    return np.asarray(np.einsum("kn,pnd->pdk", _TO_POWERS, states[places] - states[places[:, :1]]))


def at_knots(signals: Signals, knots: Floats) -> Signals:
    """The same functions between other knots, which contain all their own of that time."""
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
