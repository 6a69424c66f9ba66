"""`integrals`: what does not change along the motion, found among linear combinations of candidates and proved.

Candidates are the energy, Jacobi's integral, the momentum of every coordinate, the components of linear and angular
momentum, and with them coordinates and time (p + b x is an integral of a cart with ground damping b). Their rates
along the motion are exact graphs. Combinations that vanish at random states are found by linear algebra, written with
exact coefficients, and proved in the field: what is not proved is not reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kinegraph.compiler.compile import derive
from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.dynamics.state_rate import along_motion, state_rate, weighted
from kinegraph.derive.tree.quasi_velocities import unit_quaternions
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof.prove import prove
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.checks.conserved import candidates, combinations, random_states, rows
from kinegraph.tasks.constrained_rates import constrained_rates, multiplier_names
from kinegraph.tasks.operating_point import Floats


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
        """What the integrals are called."""
        return tuple(one.name for one in self.integrals)


def integrals(mechanism: MechanismSource, *, parameters: Mapping[str, Scalar] | None = None) -> Integrals:
    """The first integrals of a mechanism on which no forces act but its own."""
    mechanism = mechanism_of(mechanism)
    bound = bound_parameters(mechanism, True, parameters)
    wanted = candidates(mechanism, derive(mechanism, "energy,momentum", parameters=bound))
    if is_constrained(mechanism):
        rates, terms = (constrained_rates(mechanism, bound, wanted, in_parts) for in_parts in (False, True))
        states = random_states(mechanism, multiplier_names(mechanism))
    else:
        rate = state_rate(mechanism, derive(mechanism, "qdd", parameters=bound), bound, balances=())
        rates, terms = (along_motion(mechanism, one, wanted) for one in (rate, weighted(rate)))
        states = random_states(mechanism)
    values, slopes, parts = _finite(mechanism, *(rows(graph, states) for graph in (wanted, rates, terms)))
    found = []
    for numbers in combinations([output.name for output in wanted.outputs], values, slopes, parts):
        combination = {name: _exact(factor) for name, factor in numbers.items()}
        if _proved(mechanism, _combined(rates, combination)):
            found.append(Integral(_name(combination), combination, _combined(wanted, combination)))
    return Integrals(tuple(found))


def _finite(mechanism: Mechanism, *tables: Floats) -> list[Floats]:
    """The states at which all candidates and their rates have values."""
    finite = np.isfinite(np.hstack(tables)).all(axis=1)
    if np.count_nonzero(finite) <= tables[0].shape[1]:
        raise TaskError(
            f"{mechanism.name}: energy, momenta or accelerations are no finite numbers at nearly every state"
        )
    return [table[finite] for table in tables]


def _exact(value: float) -> Fraction:
    """The simplest fraction that near: coefficients are made of the model's decimals."""
    return Fraction(value).limit_denominator(10**6)


def _combined(graph: Graph, combination: Mapping[str, Fraction]) -> Graph:
    builder = GraphBuilder()
    place = {output.name: output for output in moved(graph.outputs, transfer(graph, builder))}
    total = Node(builder, builder.zero)
    for name, factor in combination.items():
        total = total + Node(builder, place[name].nodes[0]) * factor
    return builder.graph([Output("integral", (), (total.index,))])


def _proved(mechanism: Mechanism, rate: Graph) -> bool:
    builder = GraphBuilder()
    zero = builder.graph([Output("integral", (), (builder.zero,))])
    return not prove(rate, zero, quaternions=unit_quaternions(mechanism)).differences


def _name(combination: Mapping[str, Fraction]) -> str:
    return next(iter(combination)) if len(combination) == 1 else " + ".join(combination)
