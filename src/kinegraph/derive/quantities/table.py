"""The one table of quantities: whatever the package knows of a quantity by its name is read from here."""

from __future__ import annotations

from kinegraph.derive.quantities.record import QuantityRecord
from kinegraph.derive.quantities.rows import (
    constraints,
    dynamics,
    elements_and_parameters,
    energy,
    kinematics,
    platforms,
)

TABLE: tuple[QuantityRecord, ...] = (
    *dynamics.ROWS,
    *energy.ROWS,
    *constraints.ROWS,
    *platforms.ROWS,
    *kinematics.ROWS,
    *elements_and_parameters.ROWS,
)

#: The rows by their names.
RECORDS = {record.name: record for record in TABLE}
