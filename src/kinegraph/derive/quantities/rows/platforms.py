"""Platforms on legs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from kinegraph.derive.quantities.record import Extent, Frame, QuantityRecord
from kinegraph.derive.quantities.rows.shared import FORCE, QV, Q
from kinegraph.derive.quantities.variables import Variables

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity
    from kinegraph.derive.quantities.values import Values


def _of_legs(name: str) -> Callable[[Derivation, Quantity], Values]:
    """A definition that is imported where it is used: few mechanisms have legs, whose equations are twenty modules."""

    def derive(derivation: Derivation, quantity: Quantity) -> Values:
        home = import_module("kinegraph.derive.quantities.definitions.platforms")
        definition: Callable[[Derivation, Quantity], Values] = getattr(home, name)
        return definition(derivation, quantity)

    return derive


ROWS: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "ring_acceleration",
        "accelerations of a platform's ring alone: of its position, then of its rotation",
        derive=_of_legs("ring_acceleration"),
        arguments=(*QV, Variables.FORCES),
        shape=(6,),
        frame=Frame.COORDINATES,
        unit="m/s^2, rad/s^2",
        driven=True,
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("platform_acceleration",),
    ),
    QuantityRecord(
        "leg_positions",
        "coordinates of a platform's legs from the poses of ring and base alone, in the order of q",
        derive=_of_legs("leg_positions"),
        arguments=Q,
        shape=(Extent.LEG_COORDINATES,),
        frame=Frame.COORDINATES,
        unit="m, rad",
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("leg_lengths", "legs"),
    ),
    QuantityRecord(
        "leg_velocities",
        "rates of the coordinates of a platform's legs from the motion of ring and base alone, in the order of v",
        derive=_of_legs("leg_velocities"),
        arguments=QV,
        shape=(Extent.LEG_COORDINATES,),
        frame=Frame.COORDINATES,
        unit="m/s, rad/s",
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("leg_rates",),
    ),
    QuantityRecord(
        "ring_forces",
        "force and moment that each leg of a platform exerts on the ring at its joint there",
        derive=_of_legs("ring_forces"),
        arguments=(*QV, Variables.FORCES),
        shape=(Extent.LEGS, 6),
        frame=Frame.FIXED,
        unit=FORCE,
        driven=True,
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("leg_forces", "ring_joint_forces"),
    ),
    QuantityRecord(
        "leg_reactions",
        "force and moment, about the base's origin, that each leg of a platform exerts on what it stands on",
        derive=_of_legs("leg_reactions"),
        arguments=(*QV, Variables.FORCES),
        shape=(Extent.LEGS, 6),
        frame=Frame.FIXED,
        unit=FORCE,
        driven=True,
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("legs_on_base",),
    ),
    QuantityRecord(
        "base_reaction",
        "force and moment, about the base's origin, that a platform's legs and carriages together exert on the base",
        derive=_of_legs("base_reaction"),
        arguments=(*QV, Variables.FORCES),
        shape=(6,),
        frame=Frame.FIXED,
        unit=FORCE,
        driven=True,
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("platform_reaction",),
    ),
)
