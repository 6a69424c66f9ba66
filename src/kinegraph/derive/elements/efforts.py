"""What one element acts with: the forces its structure matrix carries to the coordinates."""

from __future__ import annotations

from kinegraph.derive.elements.forces import Elements
from kinegraph.derive.elements.work import Work
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.model.elements import (
    RATE,
    STRETCH,
    Bumper,
    Damper,
    Element,
    EnergyLaw,
    Force,
    Friction,
    Limit,
    Moment,
    PointForce,
    Potential,
    Spring,
)


def efforts(elements: Elements, element: Element) -> list[Scalar]:
    """The components an element acts with, along the rows of its structure matrix."""
    match element:
        case Force():
            return [elements.names.scalar(element.value)]
        case PointForce() | Moment():
            return [elements.names.scalar(item) for item in element.components]
        case Potential():
            return [elements.names.number(-1)]
        case Bumper():
            return [-place_of_contact.pressing for place_of_contact in elements.contact_places(element)]
        case Limit():
            return [_limit(elements, element)]
        case Spring():
            return [-_spring(elements, element)]
        case Damper() | Friction():
            return [-_resistance(elements, element)]


def _spring(elements: Elements, spring: Spring) -> Scalar:
    target, _ = elements.target(spring.on)
    stretch = target - elements.names.scalar(spring.rest)
    if not isinstance(spring.law, EnergyLaw):
        return elements.law(spring, stretch, STRETCH.text)
    builder = elements.builder
    symbol = Symbol(Kind.INPUT, f"element:{spring.name}")
    free = Scalar(builder, builder.symbol(symbol.kind, symbol.name))
    energy = elements.names.scalar(spring.law.energy, {STRETCH.text: free})
    slope = ForwardDerivative(builder, {free.index: builder.one})(energy.index)
    return elements.replaced([slope], {symbol: stretch.index})[0]


def _resistance(elements: Elements, element: Damper | Friction) -> Scalar:
    target, is_rate = elements.target(element.on)
    rate = elements.rate(Work(target, target, is_rate))
    return elements.law(element, rate, RATE.text) if isinstance(element, Damper) else elements.rubbing(element, rate)


def _limit(elements: Elements, limit: Limit) -> Scalar:
    """Back from the bounds, along the growth of what is limited."""
    total = elements.names.number(0)
    for depth, sign in elements.depths(limit):
        pressed = depth.apply("select", elements.names.scalar(limit.stiffness) * depth, total.number(0))
        total = total - sign * (pressed + elements.stop_loss(limit, depth))
    return total
