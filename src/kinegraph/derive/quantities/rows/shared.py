"""What many rows share: groups of arguments, extents and units."""

from __future__ import annotations

from kinegraph.derive.quantities.record import Extent
from kinegraph.derive.quantities.variables import Variables

Q = (Variables.POSITIONS,)
QV = (*Q, Variables.VELOCITIES)
QVA = (*QV, Variables.ACCELERATIONS)
N = Extent.VELOCITIES
FORCE = "N, N m"
INERTIA = "kg, kg m, kg m^2"
