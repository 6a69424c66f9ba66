"""The regressor and the base parameters it multiplies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def regressor(derivation: Derivation, quantity: Quantity) -> Square:
    """The matrix that gives tau, without elements, when it is multiplied by the base parameters."""
    return derivation.base_parameters.matrix


def base_parameters(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The base parameters, formulas of the model's parameters."""
    return [parameter.value for parameter in derivation.base_parameters.parameters]
