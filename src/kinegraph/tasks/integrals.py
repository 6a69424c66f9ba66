"""`integrals`: what does not change along the motion, found among linear combinations of candidates and proved.

Candidates are the energy, Jacobi's integral, the momentum of every coordinate, the components of linear and angular
momentum, and with them coordinates and time (p + b x is an integral of a cart with ground damping b). Their rates
along the motion are exact graphs. Combinations that vanish at random states are found by linear algebra, written with
exact coefficients, and proved in the field: what is not proved is not reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg

from kinegraph.compiler.compile import derive
from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.compiler.request import bound_parameters, unit_quaternions
from kinegraph.derive.dynamics.state_rate import along_motion, state_rate
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.graph.build import Builder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.proof.prove import prove
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import TIME, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.operating_point import Floats

MOMENTA = ("px", "py", "pz", "Lx", "Ly", "Lz")
ENERGY, JACOBI = "energy", "jacobi"


@dataclass(frozen=True)
class Integral:
    """One first integral: its name, what it is as a combination of candidates, and its graph."""

    name: str
    coefficients: Mapping[str, Fraction]
    graph: Graph

    @property
    def combination(self) -> str:
        """`p:x + 1/5 x`."""
        return " + ".join(name if factor == 1 else f"{factor} {name}" for name, factor in self.coefficients.items())


@dataclass(frozen=True)
class Integrals(RichDisplay):
    """All that were found; every one is proved."""

    integrals: tuple[Integral, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.integrals)


def integrals(mechanism: MechanismSource, *, parameters: Mapping[str, Scalar] | None = None) -> Integrals:
    """The first integrals of a mechanism on which no forces act but its own."""
    mechanism = mechanism_of(mechanism)
    bound = bound_parameters(mechanism, True, parameters)
    rate = state_rate(mechanism, derive(mechanism, "qdd", parameters=bound), bound, accounts=())
    candidates = _candidates(mechanism, derive(mechanism, "energy,momentum", parameters=bound))
    rates = along_motion(mechanism, rate, candidates)
    states = _random_states(mechanism)
    values, slopes = _finite(mechanism, _rows(candidates, states), _rows(rates, states))
    found = [
        Integral(_name(combination), combination, _combined(candidates, combination))
        for combination in _combinations([output.name for output in candidates.outputs], values, slopes)
        if _proved(mechanism, _combined(rates, combination))
    ]
    return Integrals(tuple(found))


def _candidates(mechanism: Mechanism, graph: Graph) -> Graph:
    """Every candidate as an output of one entry."""
    builder = Builder()
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
    return ["p:" + name.removesuffix("'") for name in mechanism.layout.velocities]


def _random_states(mechanism: Mechanism) -> dict[str, Floats]:
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
    return values


def _rows(graph: Graph, states: Mapping[str, Floats]) -> Floats:
    """One column for every output, one row for every state."""
    count = len(next(iter(states.values())))
    found = interpret(graph, states)
    return np.column_stack([np.broadcast_to(found[output.name], count) for output in graph.outputs])


def _finite(mechanism: Mechanism, values: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """The states at which all candidates and their rates have values."""
    finite = np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=1)
    if np.count_nonzero(finite) <= values.shape[1]:
        raise TaskError(
            f"{mechanism.name}: energy, momenta or accelerations are no finite numbers at nearly every state"
        )
    return values[finite], slopes[finite]


def _combinations(names: Sequence[str], values: Floats, slopes: Floats) -> list[dict[str, Fraction]]:
    """Independent combinations with vanishing rates.

    Single candidates come first. What depends linearly on integrals found before (and on a constant) says nothing new.
    """
    unit = np.eye(len(names))
    alone = [k for k in range(len(names)) if _vanishes(slopes[:, k], values[:, k])]
    left = [k for k, name in enumerate(names) if k not in alone and name not in (ENERGY, JACOBI)]
    rows = [unit[k] for k in alone]
    rows += [row @ unit[left] for row in _null_space(slopes[:, left])]
    independent = _Independent(len(values))
    return [
        {names[k]: _exact(entry) for k, entry in enumerate(row) if abs(entry) > 1e-9}
        for row in rows
        if independent.take(values @ row)
    ]


class _Independent:
    """Functions, by their values at the same states, of which none is a combination of the others and a constant."""

    def __init__(self, count: int) -> None:
        self._basis = [np.full(count, count**-0.5)]

    def take(self, values: Floats) -> bool:
        """Add a function; False if it is a combination of those before it."""
        size = float(np.linalg.norm(values))
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
    basis = scipy.linalg.null_space(matrix / scale, rcond=1e-10).T / scale
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
    return np.asarray(basis)


def _vanishes(slope: Floats, value: Floats) -> bool:
    return bool(np.all(np.abs(slope) <= 1e-9 * (1 + np.max(np.abs(value)))))


def _exact(value: float) -> Fraction:
    """The simplest fraction that near: coefficients are made of the model's decimals."""
    return Fraction(value).limit_denominator(10**6)


def _combined(graph: Graph, combination: Mapping[str, Fraction]) -> Graph:
    builder = Builder()
    place = {output.name: output for output in moved(graph.outputs, transfer(graph, builder))}
    total = Node(builder, builder.zero)
    for name, factor in combination.items():
        total = total + Node(builder, place[name].nodes[0]) * factor
    return builder.graph([Output("integral", (), (total.index,))])


def _proved(mechanism: Mechanism, rate: Graph) -> bool:
    builder = Builder()
    zero = builder.graph([Output("integral", (), (builder.zero,))])
    return not prove(rate, zero, quaternions=unit_quaternions(mechanism)).differences


def _name(combination: Mapping[str, Fraction]) -> str:
    return next(iter(combination)) if len(combination) == 1 else " + ".join(combination)
