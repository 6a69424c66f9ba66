"""Forces and power of elements, the regressor and the base parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.elements.forces import efforts, structure_matrix
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar
from kinegraph.model.elements import CompliantContact, Element
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


# What springs, dampers, forces and other elements do: generalized forces, power, structure matrices.


def forces(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The generalized forces of all elements."""
    return derivation.element_forces


def power(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Dissipated in dampers and friction, supplied by forces; v . tau comes on top."""
    return derivation.elements.power()


def state_rates(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The rates of the first-order states, which may use all names that elements use."""
    if not derivation.mechanism.states:
        raise DerivationError(
            f"{quantity}: {derivation.mechanism.name} has no first-order states\n"
            "  declare them, e.g. `state i' = (U - R*i)/L;`"
        )
    return derivation.state_rates


def structure(derivation: Derivation, quantity: Quantity) -> Square:
    """The structure matrix of one element."""
    element = named_element(quantity, derivation.mechanism)
    return structure_matrix(derivation.elements, element, derivation.at_rest)


def effort(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """What one element acts with."""
    return efforts(derivation.elements, named_element(quantity, derivation.mechanism))


def contact(derivation: Derivation, quantity: Quantity) -> list[list[Scalar]]:
    """Gap, force and point of every place of a compliant contact."""
    element = named_element(quantity, derivation.mechanism)
    if not isinstance(element, CompliantContact):
        contacts = [one.name for one in derivation.mechanism.elements if isinstance(one, CompliantContact)]
        remedy = did_you_mean(quantity.of, contacts) or f"{derivation.mechanism.name} has no compliant contacts"
        raise DerivationError(f"{quantity}: '{quantity.of}' is not a compliant contact\n  {remedy}")
    contact_places = derivation.elements.contact_places(element)
    return [
        [place_of_contact.place.gap, *place_of_contact.force, *place_of_contact.place.point]
        for place_of_contact in contact_places
    ]


def named_element(quantity: Quantity, mechanism: Mechanism) -> Element:
    """The element a quantity is asked of."""
    for element in mechanism.elements:
        if element.name == quantity.of:
            return element
    remedy = did_you_mean(quantity.of, [element.name for element in mechanism.elements])
    raise DerivationError(
        f"{quantity}: there is no element {quantity.of!r}\n  {remedy or f'{mechanism.name} has no elements'}"
    )


# The regressor and the base parameters it multiplies.


def regressor(derivation: Derivation, quantity: Quantity) -> Square:
    """The matrix that gives tau, without elements, when it is multiplied by the base parameters."""
    return derivation.base_parameters.matrix


def base_parameters(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The base parameters, formulas of the model's parameters."""
    return [parameter.value for parameter in derivation.base_parameters.parameters]
