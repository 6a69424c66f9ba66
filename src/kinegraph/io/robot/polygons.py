"""Polygons in space cut into triangles: along the surface they outline, or as MuJoCo does.

The two differ for polygons whose corners do not lie in a plane, and MuJoCo's rule fails on some that are not convex.
Its masses are those of its own triangles, so bodies that MuJoCo weighs are cut its way; what is drawn is cut properly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Triangle = tuple[int, int, int]

#: How a polygon of more than three corners (n, 3) becomes triangles, by the indices of its corners.
Cut: TypeAlias = Callable[[Floats], list[Triangle]]

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


# MuJoCo's rule

#: How many corners are tried at most before a polygon is refused: some ten seconds of work.
_MOST_TRIED = 200_000


def cut_as_mujoco(corners: Floats) -> list[Triangle]:
    """The triangles MuJoCo's reader of OBJ files (tinyobjloader) makes of a polygon, in single precision as there.

    Fewer than n - 2 triangles: it found no further corner to cut off and left the rest of the polygon out.
    """
    places = corners.astype(np.float32)
    if len(places) == 4:
        return _quadrilateral(places)
    return _CutFromStart(places[:, _two_axes(places)]).triangles()


def _quadrilateral(corners: Singles) -> list[Triangle]:
    """Cut by the shorter diagonal; sums are rounded in the order of x, y, z."""
    first, second = corners[2] - corners[0], corners[3] - corners[1]
    squares = [one[0] * one[0] + one[1] * one[1] + one[2] * one[2] for one in (first, second)]
    return [(0, 1, 2), (0, 2, 3)] if squares[0] < squares[1] else [(0, 1, 3), (1, 2, 3)]


def _two_axes(corners: Singles) -> list[int]:
    """The coordinate plane the polygon is seen in: the one its first true corner fills most."""
    edges = np.roll(corners, -1, axis=0) - corners
    across = np.abs(np.cross(edges, np.roll(edges, -1, axis=0)))
    sharp = np.flatnonzero((across > np.finfo(np.float32).eps).any(axis=1))
    if not len(sharp):
        return [1, 2]
    x, y, z = across[sharp[0]]
    if x > y and x > z:
        return [1, 2]
    return [0, 1] if z > x and z > y else [0, 2]


class _CutFromStart:
    """Corners are tried one after another from where the last one was cut off.

    Where all that are left fail it ends, and likewise where none but the last of all is cut off in the first round.
    """

    def __init__(self, corners: Singles) -> None:
        self.x, self.y = corners[:, 0], corners[:, 1]
        self.left = np.arange(len(corners))

    def triangles(self) -> list[Triangle]:
        """All triangles that are cut off, and the last that is left."""
        found: list[Triangle] = []
        at, more, tried, cut = 0, len(self.left), 0, False
        while len(self.left) > 3 and more > 0:
            tried, more = tried + 1, len(self.left) if cut else more - 1
            if tried > _MOST_TRIED:
                raise ValueError(f"a face of {len(self.x)} corners takes too long to be cut into triangles")
            at %= len(self.left)
            ahead = np.roll(self.left, -at)
            cut = self._is_cut_off(ahead)
            if cut:
                found.append((int(ahead[0]), int(ahead[1]), int(ahead[2])))
                self.left = np.delete(self.left, (at + 1) % len(self.left))
            else:
                at += 1
        a, b, c, *rest = map(int, self.left)
        return found if rest else [*found, (a, b, c)]

    def _is_cut_off(self, ahead: NDArray[np.int64]) -> bool:
        """Whether the first three corners are a triangle with no other corner inside.

        Its sense of rotation is compared with that of its first side about the origin, not of the polygon: that is
        what fails where a polygon is not convex.
        """
        x, y = self.x[ahead], self.y[ahead]
        turn = (x[1] - x[0]) * (y[2] - y[1]) - (y[1] - y[0]) * (x[2] - x[1])
        about_origin = (x[0] * y[1] - y[0] * x[1]) * np.float32(0.5)
        if turn * about_origin < 0:
            return False
        inside = np.zeros(len(ahead) - 3, dtype=bool)
        for here, before in ((0, 2), (1, 0), (2, 1)):
            inside ^= _right_of_edge(x[here], y[here], x[before], y[before], x[3:], y[3:])
        return not bool(inside.any())


def _right_of_edge(
    x: np.float32, y: np.float32, x_before: np.float32, y_before: np.float32, px: Singles, py: Singles
) -> NDArray[np.bool_]:
    """Which points have the edge on their right: an odd number of edges there means inside."""
    crosses = (y > py) != (y_before > py)
    if y == y_before:
        return np.zeros(len(px), dtype=bool)  # a level edge crosses no level
    return np.asarray(crosses & (px < (x_before - x) * (py - y) / (y_before - y) + x))
