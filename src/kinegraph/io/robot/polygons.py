"""Polygons in space cut into triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Triangle = tuple[int, int, int]

#: A polygon of more corners is cut from its first corner, whatever its shape.
_MOST_CORNERS = 200


def triangulated(corners: Floats) -> list[Triangle]:
    """The triangles of a polygon, by the indices of its corners (n, 3); a quadrilateral by its shorter diagonal."""
    if len(corners) == 4:
        first, second = corners[2] - corners[0], corners[3] - corners[1]
        return [(0, 1, 2), (0, 2, 3)] if first @ first < second @ second else [(0, 1, 3), (1, 2, 3)]
    if len(corners) > _MOST_CORNERS:
        return [(0, corner, corner + 1) for corner in range(1, len(corners) - 1)]
    return _ears_cut(_flattened(corners))


def _flattened(corners: Floats) -> Floats:
    """The corners seen along the polygon's normal (Newell), so that they go round counter-clockwise."""
    following = np.roll(corners, -1, axis=0)
    less, more = corners - following, corners + following
    normal = [float(less[:, (i + 1) % 3] @ more[:, (i + 2) % 3]) for i in range(3)]
    along = int(np.argmax(np.abs(normal)))
    seen = corners[:, [(along + 1) % 3, (along + 2) % 3]]
    return seen if normal[along] > 0 else seen[:, ::-1]


def _ears_cut(corners: Floats) -> list[Triangle]:
    """Cut off corners that have no other corner inside, until a triangle is left."""
    left = list(range(len(corners)))
    found: list[Triangle] = []
    while len(left) > 3:
        place = next((place for place in range(len(left)) if _is_ear(corners, left, place)), 0)
        before, here, after = left[place - 1], left[place], left[(place + 1) % len(left)]
        found.append((before, here, after))
        left.pop(place)
    return [*found, (left[0], left[1], left[2])]


def _is_ear(corners: Floats, left: list[int], place: int) -> bool:
    a, b, c = (corners[left[(place + step) % len(left)]] for step in (-1, 0, 1))
    if _turn(a, b, c) <= 0:
        return False
    others = [left[(place + step) % len(left)] for step in range(2, len(left) - 1)]
    return not any(_inside(corners[other], a, b, c) for other in others)


def _inside(point: Floats, a: Floats, b: Floats, c: Floats) -> bool:
    return _turn(a, b, point) >= 0 and _turn(b, c, point) >= 0 and _turn(c, a, point) >= 0


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    """Twice the area of a triangle; positive where it goes round counter-clockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
