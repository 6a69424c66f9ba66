"""Coordinates that are angles: a turn more is the same place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.assembly.places import angle_names
from kinegraph.model.elements import mentions
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.operating_point import Floats


def repeats(mechanism: Mechanism, name: str) -> bool:
    """Whether a turn more changes nothing at all: no element uses the angle itself."""
    return name in angle_names(mechanism) and not any(mentions(element, name) for element in mechanism.elements)


def wrapped(q: Floats, turns: Sequence[int], box: Floats | None = None) -> Floats:
    """Angles brought into the turn that ends at the upper limit, by default (-pi, pi]; rounding does not move one."""
    q = np.array(q, dtype=float)
    for index in turns:
        high = (np.pi if box is None else box[index, 1]) + 1e-9
        q[:, index] = high - np.mod(high - q[:, index], 2 * np.pi)
    return q
