"""Loops and constraints: what they miss, their Jacobian, the forces they exert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.quantities.definitions.accelerations import accelerations_of, driving_forces
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree.coordinates import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.records import Loop
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def values(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """What is missing to fit, row by row; zero for rows that restrict velocities only."""
    return derivation.constrained.values()


def jacobian(derivation: Derivation, quantity: Quantity) -> Square:
    """The derivative by displacements, row by row."""
    return derivation.constrained.jacobian()


def rates(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """How fast what is missing changes, row by row."""
    return derivation.constrained.rates()


def accelerations(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """How fast the rates change under given accelerations, row by row."""
    symbols = Variables.ACCELERATIONS.symbols(derivation.mechanism)
    builder = derivation.builder
    return derivation.constrained.row_accelerations([Scalar(builder, builder.symbol(*one)) for one in symbols])


def multipliers(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The force or moment that the first frame of every row exerts on the second."""
    constrained, segmented = derivation.constrained, derivation.segmented
    if segmented:
        return constrained.in_stated_axes(segmented.multipliers())
    return constrained.multipliers(driving_forces(derivation))


def proximal_accelerations(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Accelerations by a proximal solve; without constraints the usual ones."""
    if not derivation.is_constrained:
        return accelerations_of(derivation)
    return derivation.constrained.proximal_accelerations(driving_forces(derivation))


def pivots(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """How independent every row is of those before it."""
    constrained, segmented = derivation.constrained, derivation.segmented
    return constrained.spread(segmented.pivots(), 1) if segmented else constrained.pivots()


def increments(derivation: Derivation, quantity: Quantity) -> Square:
    """Displacements of the dependent coordinates that take away a unit of what each row misses."""
    return derivation.constrained.increments()


def dependent_columns(derivation: Derivation, quantity: Quantity) -> Square:
    """A of a loop, by all velocities; those of independent ones are zero."""
    return derivation.constrained.closing_columns(named_loop(derivation, quantity), dependent=True)


def independent_columns(derivation: Derivation, quantity: Quantity) -> Square:
    """B of a loop, by all velocities; those of dependent ones are zero."""
    return derivation.constrained.closing_columns(named_loop(derivation, quantity), dependent=False)


def named_loop(derivation: Derivation, quantity: Quantity) -> Loop:
    """The loop a quantity is asked of."""
    loops = {loop.name: loop for loop in derivation.mechanism.loops if isinstance(loop, Loop)}
    if quantity.of not in loops:
        known = did_you_mean(quantity.of, loops) if loops else f"{derivation.mechanism.name} has no loop of two frames"
        raise DerivationError(f"{quantity}: there is no loop {quantity.of!r}\n  {known}")
    return loops[quantity.of]
