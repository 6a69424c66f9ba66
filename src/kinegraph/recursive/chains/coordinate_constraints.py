"""Constraints and couplings of coordinates beside loops: of the body that chains are reduced to, or of any others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.codegen.program.binding import Argument
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.constraints import Coupling
from kinegraph.model.expressions import TIME, Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.arrays import Floats, Integers

# Each row has a Jacobian J of the velocities, so its multiplier acts as generalized forces J^T. The accelerations are
# linear in these: qdd = qdd0 + Y mu, where column i of Y is the effect of row i, by one more sweep over the chains.
# J Y mu = -(J qdd0 + bias + 2 alpha rate + beta^2 value) then has as many unknowns as rows, and the loops stay closed.

_VALUE, _JACOBIAN, _RATE, _BIAS = "value", "jacobian", "rate", "bias"


@dataclass(frozen=True)
class HeldRows:
    """The rows at one state: what they miss, how fast, how that changes at q'' = 0, and their Jacobian."""

    value: Floats
    rate: Floats
    bias: Floats
    jacobian: Floats


class CoordinateConstraints:
    """The constraints and couplings of a mechanism, without its loops between frames."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> None:
        couplings: list[Coupling] = [one for one in mechanism.loops if isinstance(one, Coupling)]
        bound = {one.name: one.value for one in mechanism.parameters if one.value is not None}
        bound |= {name: expression(value, name) for name, value in (parameters or {}).items()}
        graph = _graph(replace(mechanism, loops=tuple(couplings)), bound)
        self.names = (*(one.name for one in couplings), *(one.name for one in mechanism.constraints))
        layout = mechanism.layout
        symbols = [
            *(Symbol(Kind.COORDINATE, name) for name in layout.positions),
            *(Symbol(Kind.VELOCITY, name) for name in layout.velocities),
            Symbol(Kind.TIME, TIME),
        ]
        self._kernel = compile_graph(graph, [Argument("x", tuple(symbols))])
        self.touched = _touched(graph, len(self.names), len(layout.velocities))

    def at(self, q: Floats, v: Floats, t: float) -> HeldRows:
        """All rows at one state."""
        found = self._kernel.by_name(self._kernel(np.concatenate([q, v, [t]])))
        return HeldRows(found[_VALUE], found[_RATE], found[_BIAS], found[_JACOBIAN])


def _graph(mechanism: Mechanism, bound: Mapping[str, Scalar]) -> Graph:
    derivation = Derivation(mechanism, bound, Plan())  # type: ignore[arg-type]
    rows = derivation.constraint_equations.rows()
    count = len(rows)
    lists = {_VALUE: [row.zero_value() for row in rows], _RATE: [row.rate for row in rows],
             _BIAS: [row.bias for row in rows]}  # fmt: skip
    outputs = [Output(name, (count,), tuple(one.index for one in some)) for name, some in lists.items()]
    entries = tuple(entry.index for row in rows for entry in row.jacobian)
    return derivation.builder.graph([*outputs, Output(_JACOBIAN, (count, derivation.size), entries)])


def _touched(graph: Graph, rows: int, velocities: int) -> Integers:
    """The velocities that some row restricts."""
    zero = [k for k, one in enumerate(graph.nodes) if str(one) == "0"]
    entries = np.array(graph.output(_JACOBIAN).nodes).reshape(rows, velocities)
    return np.flatnonzero(~np.isin(entries, zero).all(axis=0))


def held_forces(
    found: HeldRows, free: Floats, effect: Callable[[Floats], tuple[Floats, Floats]], alpha: float, beta: float
) -> tuple[Floats, Floats]:
    """The multipliers, and how independent each row is of the loops and of the rows before it (1 to 0).

    free: accelerations without the rows. effect: what generalized forces add to them, with closed and with open loops.
    """
    rows = found.jacobian
    closed, open_effects = zip(*(effect(row) for row in rows), strict=True)
    own = np.array([row @ column for row, column in zip(rows, open_effects, strict=True)])
    right = -(rows @ free + found.bias + 2 * alpha * found.rate + beta**2 * found.value)
    return _solved(rows @ np.column_stack(closed), right, own)


def _solved(matrix: Floats, right: Floats, own: Floats) -> tuple[Floats, Floats]:
    """Multipliers by elimination in the order of the rows; each pivot relative to the row's entry with open loops."""
    left, value = np.array(matrix), np.array(right)
    pivots, found = np.zeros(len(own)), np.zeros(len(own))
    with np.errstate(all="ignore"):
        for k in range(len(own)):
            pivots[k] = left[k, k] / own[k]
            for i in range(k + 1, len(own)):
                ratio = left[i, k] / left[k, k]
                left[i] -= ratio * left[k]
                value[i] -= ratio * value[k]
        for k in range(len(own) - 1, -1, -1):
            found[k] = (value[k] - left[k, k + 1 :] @ found[k + 1 :]) / left[k, k]
    return found, np.nan_to_num(pivots)
