"""What elements do one by one, and what is linear in parameters."""

from __future__ import annotations

from kinegraph.derive.quantities.definitions import elements, parameters
from kinegraph.derive.quantities.record import Extent, Frame, Letter, QuantityRecord, Subject
from kinegraph.derive.quantities.rows.shared import FORCE, INERTIA, QV, QVA, N, Q

ROWS: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "structure",
        "structure matrix W of an element: its generalized forces are W^T times the components it acts with",
        derive=elements.structure,
        arguments=Q,
        shape=(Extent.COMPONENTS, N),
        frame=Frame.ELEMENT,
        unit="target by coordinate",
        letter=Letter("W"),
        subject=Subject.ELEMENT,
        synonyms=("W", "structure_matrix"),
    ),
    QuantityRecord(
        "effort",
        "components an element acts with: its generalized forces are W^T times these; a bumper's friction comes on top",
        derive=elements.effort,
        arguments=QV,
        shape=(Extent.COMPONENTS,),
        frame=Frame.ELEMENT,
        unit=FORCE,
        subject=Subject.ELEMENT,
        driven=True,
        synonyms=("element_force", "load"),
    ),
    QuantityRecord(
        "contact",
        "of every place of a bumper: the gap, the force on the first shape with friction, and the point it acts at",
        derive=elements.contact,
        arguments=QV,
        shape=(Extent.COMPONENTS, 7),
        frame=Frame.FIXED,
        unit="m, N, m",
        subject=Subject.BUMPER,
        synonyms=("gap", "contact_force"),
    ),
    QuantityRecord(
        "regressor",
        "matrix that gives tau when it is multiplied by the base parameters; elements are left out",
        derive=parameters.regressor,
        arguments=QVA,
        shape=(N, Extent.BASE_PARAMETERS),
        frame=Frame.COORDINATES,
        unit="tau by parameter",
        letter=Letter("Y"),
        of_origins=True,
        synonyms=("Y",),
    ),
    QuantityRecord(
        "base_parameters",
        "the fewest inertial parameters that tau depends on, in the order of the regressor's columns",
        derive=parameters.base_parameters,
        arguments=(),
        shape=(Extent.BASE_PARAMETERS,),
        frame=Frame.NONE,
        unit=INERTIA,
        letter=Letter("chi"),
        of_origins=True,
        synonyms=("inertial_parameters",),
    ),
)
