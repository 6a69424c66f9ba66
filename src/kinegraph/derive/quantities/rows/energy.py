"""Energy, momentum, and what elements do to both."""

from __future__ import annotations

from kinegraph.derive.quantities.definitions import elements, energy, laws_of_time
from kinegraph.derive.quantities.record import Choice, Frame, Letter, Looped, QuantityRecord
from kinegraph.derive.quantities.rows.shared import FORCE, QV, N
from kinegraph.derive.quantities.variables import Variables

ROWS: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "energy",
        "kinetic and potential energy",
        derive=energy.energy,
        arguments=QV,
        shape=(2,),
        frame=Frame.NONE,
        unit="J",
        letter=Letter("E"),
        looped=frozenset(Looped),
        synonyms=("kinetic", "potential", "T", "V", "E"),
    ),
    QuantityRecord(
        "momentum",
        "linear momentum, then angular momentum about the origin",
        derive=energy.momentum,
        arguments=QV,
        shape=(6,),
        frame=Frame.FIXED,
        unit="N s, N m s",
        synonyms=("linear_momentum", "angular_momentum", "P", "L"),
    ),
    QuantityRecord(
        "forces",
        "generalized forces of springs, dampers, forces and all other elements",
        derive=elements.forces,
        arguments=QV,
        shape=(N,),
        frame=Frame.COORDINATES,
        unit=FORCE,
        letter=Letter("Q"),
        entries=Variables.FORCES,
        driven=True,
        synonyms=("Q", "element_forces", "generalized_forces"),
    ),
    QuantityRecord(
        "power",
        "power dissipated by elements, then power supplied by them; what tau supplies comes on top",
        derive=elements.power,
        arguments=QV,
        shape=(2,),
        frame=Frame.NONE,
        unit="W",
        letter=Letter("P"),
        driven=True,
        synonyms=("dissipation",),
    ),
    QuantityRecord(
        "law_power",
        "power supplied by what drives transforms, gravity and constraints along laws of time",
        derive=laws_of_time.law_power,
        arguments=(*QV, Variables.FORCES),
        shape=(1,),
        frame=Frame.NONE,
        unit="W",
        driven=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("drive_power", "rheonomic_power"),
        solves_rows=True,
    ),
)
