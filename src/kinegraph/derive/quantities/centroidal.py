"""Center of mass and centroidal momentum of the bodies that move, with their Jacobians and rates.

Bodies that are fixed to the ground have no part in them, as in other programs for robots. They are derived from the
tree as described: regrouped parameters keep momentum, but leave part of the mass on the ground.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.dynamics.composite_body import Square, composite_moments, momentum_of, unit_screws
from kinegraph.derive.dynamics.energy import total_momentum
from kinegraph.derive.quantities.kinematics import by_time
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import Vector, apply, cross, minus, plus, times
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def com(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The center of mass, in fixed axes."""
    return list(_center(derivation, quantity))


def com_jacobian(derivation: Derivation, quantity: Quantity) -> Square:
    """The 3 x n matrix from v to the velocity of the center of mass."""
    mass = _mass(derivation, quantity)
    return [[item / mass for item in row] for row in _momentum_columns(derivation, quantity)[:3]]


def com_velocity(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The velocity of the center of mass, in fixed axes; motions prescribed in time have part in it."""
    linear, _ = total_momentum(derivation.layout, derivation.motion(velocities=True))
    return list(times(1 / _mass(derivation, quantity), linear))


def com_acceleration(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The acceleration of the center of mass, in fixed axes."""
    return by_time(derivation, com_velocity(derivation, quantity), accelerations=True)


def com_bias(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The acceleration of the center of mass while all accelerations a are zero."""
    return by_time(derivation, com_velocity(derivation, quantity))


def centroidal_momentum(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Linear momentum, and angular momentum about the center of mass, in fixed axes."""
    linear, angular = total_momentum(derivation.layout, derivation.motion(velocities=True))
    return [*linear, *minus(angular, cross(_center(derivation, quantity), linear))]


def centroidal_matrix(derivation: Derivation, quantity: Quantity) -> Square:
    """The 6 x n matrix from v to the centroidal momentum."""
    return _momentum_columns(derivation, quantity)


def centroidal_bias(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The rate of the centroidal momentum while all accelerations a are zero."""
    return by_time(derivation, centroidal_momentum(derivation, quantity))


def _mass(derivation: Derivation, quantity: Quantity) -> Scalar:
    layout = derivation.described_layout
    mass = composite_moments(layout)[0].mass - layout.moments[0].mass
    if mass.is_zero:
        what = f"{quantity}: no body of {derivation.mechanism.name} that moves has mass, so there is no center of mass"
        raise DerivationError(f"{what}\n  give mass to a body that moves")
    return mass


def _center(derivation: Derivation, quantity: Quantity) -> Vector:
    layout = derivation.described_layout
    first = minus(composite_moments(layout)[0].first, layout.moments[0].first)
    return times(1 / _mass(derivation, quantity), first)


def _momentum_columns(derivation: Derivation, quantity: Quantity) -> Square:
    """What each velocity adds to the centroidal momentum: a joint moves all that is beyond it as one body."""
    layout, center = derivation.described_layout, _center(derivation, quantity)
    view = kinematics.seen_from(layout, kinematics.fixed_frame(derivation.zero))
    composites, rows = composite_moments(layout), [[derivation.zero] * derivation.size for _ in range(6)]
    for link in range(1, len(layout.tree.links)):
        for screw, column in zip(unit_screws(layout, link), derivation.at_rest.columns[link], strict=True):
            linear, angular = (apply(view.rotations[link], part) for part in momentum_of(composites[link], screw))
            about_center = plus(angular, cross(minus(view.origins[link], center), linear))
            for index, factor in column.items():
                for row, item in enumerate((*linear, *about_center)):
                    rows[row][index] = rows[row][index] + factor * item
    return rows
