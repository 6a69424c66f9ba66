"""Poses and Jacobians of bodies and points, in fixed axes or those of any body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.coordinates import Square

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def pose(derivation: Derivation, quantity: Quantity) -> Square:
    """The homogeneous 4 x 4 matrix of a body's frame, or of a point with the axes of its body.

    With `@FRAME` it is the pose as seen from that frame.
    """
    view = kinematics.seen_from(derivation.layout, derivation.frame(quantity))
    return kinematics.pose(derivation.layout, view, derivation.place(quantity, quantity.of))


def jacobian(derivation: Derivation, quantity: Quantity) -> Square:
    """The 6 x n matrix from v to the velocity of a point above the angular velocity of its body.

    Velocities are those against the fixed frame; `@FRAME` chooses the axes they are given in.
    """
    view = kinematics.seen_from(derivation.layout, derivation.frame(quantity))
    screws = kinematics.point_screws(derivation.layout, view, derivation.place(quantity, quantity.of))
    return kinematics.jacobian(screws, derivation.at_rest.columns, derivation.size, derivation.zero)
