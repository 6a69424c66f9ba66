"""The structure matrix of one element: how what it works on follows the velocities.

In KiDyM's words these are d rho/dq of the points forces act on, d beta/dq' of dampers and d gamma/dq of springs. The
generalized forces of an element are W^T times the components it acts with.
"""

from __future__ import annotations

from kinegraph.derive.elements.forces import Elements
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.coordinates import Square
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.links import Placement
from kinegraph.model.axes import Axes
from kinegraph.model.elements import (
    Bumper,
    Capsule,
    Cylinder,
    Damper,
    Element,
    Force,
    Friction,
    Limit,
    Moment,
    Plane,
    PointForce,
    Potential,
    Spring,
)


def structure_matrix(elements: Elements, element: Element, at_rest: Motion) -> Square:
    """W, one row for each component the element acts with, one column for each velocity.

    A spring, damper, friction, limit or force acts with one component along its target, a force on a point or a moment
    with three, along the axes they are given in. The row of a potential is its gradient, which acts with -1.
    """
    match element:
        case PointForce():
            return _jacobian(elements, elements.names.points.placed(element.at), element.axes, at_rest)[:3]
        case Moment():
            return _jacobian(elements, elements.names.points.frame(element.on), element.axes, at_rest)[3:]
        case Potential():
            return [elements.row(elements.names.scalar(element.energy), is_rate=False)]
        case Spring() | Damper() | Friction() | Force() | Limit():
            return [elements.row(*elements.target(element.on))]
        case Bumper():
            return [
                elements.row(-place_of_contact.place.gap, is_rate=False)
                for place_of_contact in elements.contact_places(element)
            ]


def component_count(element: Element) -> int:
    """How many components an element acts with: the rows of its structure matrix."""
    if isinstance(element, Bumper):
        long = any(isinstance(shape, Capsule | Cylinder) for shape in element.shapes)
        return 2 if long and any(isinstance(shape, Plane) for shape in element.shapes) else 1
    return 3 if isinstance(element, PointForce | Moment) else 1


def _jacobian(elements: Elements, place: Placement, axes: Axes, at_rest: Motion) -> Square:
    """Velocity of a point above the angular velocity of its body, in fixed axes or those of the body."""
    layout = elements.names.points.layout
    viewer = place if axes is Axes.BODY else kinematics.fixed_frame(layout.tree.like)
    screws = kinematics.point_screws(layout, kinematics.seen_from(layout, viewer), place)
    return kinematics.jacobian(screws, at_rest.columns, len(at_rest.velocities), layout.tree.like.number(0))
