"""Positions that are the same place: an angle is after a whole turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.derive.constraints.conditions import Floats


def is_among(place: Floats, others: Sequence[Floats], turns: Sequence[int], tolerance: float = 1e-6) -> bool:
    """Whether one of the others is the same place but for whole turns of the positions `turns`, by index.

    All are compared at once: searches find hundreds of places.
    """
    if not others:
        return False
    difference = np.abs(np.array(others) - place)
    part = np.mod(difference[:, list(turns)], 2 * np.pi)
    difference[:, list(turns)] = np.minimum(part, 2 * np.pi - part)
    return bool((difference < tolerance).all(axis=1).any())
