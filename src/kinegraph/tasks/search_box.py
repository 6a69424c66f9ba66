"""Where tasks look for positions: an interval for every coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from kinegraph.assembly.places import angle_names
from kinegraph.errors import TaskError
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.operating_point import Floats


def search_box(mechanism: Mechanism, within: Mapping[str, tuple[float, float]], length: float) -> Floats:
    """A row (from, to) for every coordinate: what `within` says, else one turn for angles and +-length for others."""
    names = mechanism.layout.positions
    for name, (least, most) in within.items():
        if name not in names:
            raise TaskError(f"there is no coordinate {name!r}; there are {', '.join(names)}")
        if not (isfinite(most - least) and least <= most):
            raise TaskError(f"within: {name} goes from {least:g} to {most:g}; give two finite numbers, the lower first")
    angles = angle_names(mechanism)
    usual = {name: (-np.pi, np.pi) if name in angles else (-length, length) for name in names}
    return np.array([within.get(name, usual[name]) for name in names], dtype=float).reshape(-1, 2)
