"""Platforms whose drives never hold the ring: the lines of the last parts of their legs depend on each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, initial_positions, known_parameter_values, number
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognise import FoundLeg, Platform
from kinegraph.model.platforms.start import frames_of_joints, leg_start

Floats = npt.NDArray[np.float64]

#: How many poses about the start are tried, and how far the ring moves and turns, in parts of its place and in radians.
_POSES = 4
_AWAY = 0.05
#: Smallest over largest singular value of lines that depend on each other, to rounding.
_DEPENDENT = 1e-11


def never_holds(mechanism: Mechanism, platform: Platform) -> bool:
    """Whether the lines of all legs depend on each other in every pose near the start; not said without values."""
    values = known_parameter_values(mechanism)
    if any(parameter.name not in values for parameter in mechanism.parameters):
        return False
    start = dict(zip(mechanism.layout.positions, initial_positions(mechanism, values), strict=True))
    random, ratios = np.random.default_rng(0), []
    for _ in range(_POSES):
        moved = {name: start[name] + _AWAY * random.uniform(-1, 1) for name in platform.ring.coordinates}
        lines = _lines(mechanism, platform.legs, {**values, "t": 0.0, **start, **moved})
        if lines is not None:
            found = np.linalg.svd(lines, compute_uv=False)
            ratios.append(found[-1] / found[0])
    return bool(ratios) and max(ratios) < _DEPENDENT


def _lines(mechanism: Mechanism, legs: Sequence[FoundLeg], at: Mapping[str, Value]) -> Floats | None:
    """Directions and moments of the legs' last parts; nothing where a leg does not reach."""
    rows = []
    for leg in legs:
        base, ring = frames_of_joints(mechanism, leg, at)
        foot = base[:3, 3]
        if leg.type.has_crank:
            try:
                angle = leg_start(mechanism, leg, at)[leg.drive]
            except ModelError:
                return None
            crank = number(leg.lengths[0], at)
            foot = foot + crank * (base[:3, :3] @ np.array([np.cos(angle), np.sin(angle), 0.0]))
        along = (ring[:3, 3] - foot) / np.linalg.norm(ring[:3, 3] - foot)
        rows.append([*along, *np.cross(ring[:3, 3], along)])
    return np.array(rows)
