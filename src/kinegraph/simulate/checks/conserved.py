"""What does not change along a motion, looked for in numbers: linear combinations of candidates.

Candidates are the energy, Jacobi's integral, the momentum of every coordinate, the components of linear and angular
momentum, and with them coordinates and time. Combinations whose rates vanish at random states are found by linear
algebra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import TIME
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.state_layout import momentum_of
from kinegraph.simulate.checks.vanishing import vanishes
from kinegraph.solve.problem.problem import Floats

MOMENTA = ("px", "py", "pz", "Lx", "Ly", "Lz")
ENERGY, JACOBI = "energy", "jacobi"
_NOTHING = 1e-9  # of the largest term of a combination: rounding


def candidates(mechanism: Mechanism, graph: Graph) -> Graph:
    """Every candidate as an output of one entry."""
    builder = GraphBuilder()
    energy, momentum = moved([graph.output("energy"), graph.output("momentum")], transfer(graph, builder))
    kinetic, potential = (Node(builder, index) for index in energy.nodes)
    outputs = [Output(ENERGY, (), ((kinetic + potential).index,))]
    jacobi = potential - kinetic
    for name, momentum_name in zip(mechanism.layout.velocities, _momentum_names(mechanism), strict=True):
        symbol = builder.symbol(Kind.VELOCITY, name)
        slope = Node(builder, ForwardDerivative(builder, {symbol: builder.one})(kinetic.index))
        outputs.append(Output(momentum_name, (), (slope.index,)))
        jacobi = jacobi + slope * Node(builder, symbol)
    outputs += [Output(name, (), (node,)) for name, node in zip(MOMENTA, momentum.nodes, strict=True)]
    outputs.append(Output(JACOBI, (), (jacobi.index,)))
    quaternion = {mechanism.layout.positions[s + i] for s in mechanism.layout.quaternions for i in range(4)}
    for name in mechanism.layout.positions:
        if name not in quaternion:
            outputs.append(Output(name, (), (builder.symbol(Kind.COORDINATE, name),)))
    outputs.append(Output(TIME, (), (builder.symbol(Kind.TIME, TIME),)))
    return builder.graph(outputs)


def _momentum_names(mechanism: Mechanism) -> list[str]:
    """`p:x` for the momentum of the coordinate x, `p:wx` for that of a quasi-velocity."""
    return [momentum_of(name) for name in mechanism.layout.velocities]


def random_states(mechanism: Mechanism, others: Sequence[str] = ()) -> dict[str, Floats]:
    """States by the names of what moves, forces and inputs zero; `others` are further symbols with random values."""
    layout = mechanism.layout
    random = np.random.default_rng(20)
    count = 6 * (len(layout.velocities) + 5)
    names = (*layout.positions, *layout.velocities, TIME)
    values = {name: random.uniform(-1.3, 1.7, count) for name in names}
    values |= {name: np.zeros(count) for name in (*layout.forces, *layout.inputs)}
    for start in layout.quaternions:
        group = layout.positions[start : start + 4]
        length = np.sqrt(sum(values[name] ** 2 for name in group))
        values |= {name: values[name] / length for name in group}
    return values | {name: random.uniform(-1.3, 1.7, count) for name in others}


def rows(graph: Graph, states: Mapping[str, Floats]) -> Floats:
    """One column for every output, one row for every state."""
    count = len(next(iter(states.values())))
    found = interpret(graph, states)
    return np.column_stack([np.broadcast_to(found[output.name], count) for output in graph.outputs])


def combinations(names: Sequence[str], values: Floats, slopes: Floats, parts: Floats) -> list[dict[str, float]]:
    """Independent combinations with vanishing rates. parts: the size of the terms that cancel in each rate.

    Single candidates come first. A candidate that is a linear function of those before it says nothing new: beside it,
    rounding would pass for a combination.
    """
    alone = [k for k in range(len(names)) if vanishes(slopes[:, k], parts[:, k])]
    order = [*alone, *(k for k in range(len(names)) if k not in alone)]
    independent = IndependentFunctions(len(values))
    new = [k for k in order if independent.take(values[:, k], float(np.linalg.norm(values[:, k])))]
    left = [k for k in new if k not in alone and names[k] not in (ENERGY, JACOBI)]
    found = [{names[k]: 1.0} for k in new if k in alone]
    for row in _null_space(slopes[:, left]):
        if vanishes(slopes[:, left] @ row, np.abs(parts[:, left]) @ np.abs(row)):
            found.append({names[k]: float(entry) for k, entry in zip(left, row, strict=True) if entry})
    return found


class IndependentFunctions:
    """Functions, by their values at the same states, of which none is a combination of the others and a constant."""

    def __init__(self, count: int) -> None:
        self._basis = [np.full(count, count**-0.5)]

    def take(self, values: Floats, size: float) -> bool:
        """Add a function; False if it is a combination of those before it. size: of the terms it is the sum of.

        Values beyond floating point cannot be compared: such a function counts as independent.
        """
        if not np.isfinite(size):
            return True
        for _ in range(2):
            for unit in self._basis:
                values = values - unit * float(unit @ values)
        left = float(np.linalg.norm(values))
        if left <= 1e-9 * size or size == 0:
            return False
        self._basis.append(values / left)
        return True


def _null_space(matrix: Floats) -> Floats:
    """Vectors x with matrix x = 0, reduced so that each begins with a one no other has."""
    if matrix.shape[1] == 0:
        return np.zeros((0, 0))
    scale = np.maximum(np.max(np.abs(matrix), axis=0), 1e-300)
    sizes, directions = np.linalg.svd(matrix / scale)[1:]
    basis = directions[int(np.sum(sizes > 1e-10 * sizes[0])) :] / scale
    row = 0
    for column in range(basis.shape[1]):
        if row == len(basis):
            break
        pivot = row + int(np.argmax(np.abs(basis[row:, column])))
        if abs(basis[pivot, column]) < 1e-9 * np.max(np.abs(basis[row:])):
            continue
        basis[[row, pivot]] = basis[[pivot, row]]
        basis[row] /= basis[row, column]
        others = [k for k in range(len(basis)) if k != row]
        basis[others] -= np.outer(basis[others, column], basis[row])
        row += 1
    parts = np.abs(basis) * scale
    return np.asarray(np.where(parts < _NOTHING * np.max(parts, axis=1, initial=0.0, keepdims=True), 0.0, basis))
