"""Volume and moments of inertia of primitive geoms, solid or with all mass in the surface, by MuJoCo's formulas.

Sizes are half lengths, radius first; moments are those about the axes of the geom, per unit of mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Triple = tuple[float, float, float]

#: MuJoCo makes the shell of an ellipsoid by growing its half axes by this.
_THICKNESS = 1e-6
#: The exponent of Thomsen's formula for the surface of an ellipsoid.
_THOMSEN = 1.6075


@dataclass(frozen=True)
class Solid:
    """How a kind of geom computes: its volume (or area) and its moments from its sizes."""

    amount: Callable[..., float]
    moments: Callable[..., Triple]


def _ellipsoid_moments(a: float, b: float, c: float) -> Triple:
    return (b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5


def _capsule_moments(radius: float, half: float) -> Triple:
    """A cylinder and two half balls."""
    ends = (4 / 3 * radius) / (2 * half + 4 / 3 * radius)
    barrel = 1 - ends
    axial = barrel * radius**2 / 2 + ends * 2 / 5 * radius**2
    across = barrel * (radius**2 / 4 + half**2 / 3) + ends * (2 / 5 * radius**2 + half**2 + 3 / 4 * half * radius)
    return across, across, axial


def _capsule_shell(radius: float, half: float) -> Triple:
    """A tube and two half spheres, whose centres of mass lie half a radius beyond the tube."""
    ends = radius / (radius + half)
    tube = 1 - ends
    axial = tube * radius**2 + ends * 2 / 3 * radius**2
    across = tube * (radius**2 / 2 + half**2 / 3) + ends * (2 / 3 * radius**2 + half**2 + half * radius)
    return across, across, axial


def _cylinder_shell(radius: float, half: float) -> Triple:
    """A tube and two discs."""
    discs = radius / (radius + 2 * half)
    tube = 1 - discs
    axial = tube * radius**2 + discs * radius**2 / 2
    across = tube * (radius**2 / 2 + half**2 / 3) + discs * (radius**2 / 4 + half**2)
    return across, across, axial


def _ellipsoid_area(a: float, b: float, c: float) -> float:
    powers = math.fsum((x * y) ** _THOMSEN for x, y in ((a, b), (b, c), (c, a)))
    return float(4 * math.pi * (powers / 3) ** (1 / _THOMSEN))


def _ellipsoid_shell(a: float, b: float, c: float) -> Triple:
    """What an ellipsoid gains when its half axes grow a little, of uniform density."""
    x, y, z = a + _THICKNESS, b + _THICKNESS, c + _THICKNESS
    inner, outer = a * b * c, x * y * z
    before, after = _ellipsoid_moments(a, b, c), _ellipsoid_moments(x, y, z)
    first, second, third = (
        (outer * large - inner * small) / (outer - inner) for small, large in zip(before, after, strict=True)
    )
    return first, second, third


def _box_shell(a: float, b: float, c: float) -> Triple:
    """Six faces: a pair across each axis has its area's share of the mass."""
    total = a * b + b * c + c * a

    def square(along: float, first: float, second: float) -> float:
        """The mean square of a coordinate: on the faces across its axis, and on the others."""
        return (first * second * along**2 + (along * first + along * second) * along**2 / 3) / total

    xx, yy, zz = square(a, b, c), square(b, c, a), square(c, a, b)
    return yy + zz, xx + zz, xx + yy


SOLIDS: dict[str, Solid] = {
    "sphere": Solid(lambda r: 4 / 3 * math.pi * r**3, lambda r: (2 / 5 * r**2,) * 3),
    "capsule": Solid(lambda r, h: math.pi * r**2 * (2 * h + 4 / 3 * r), _capsule_moments),
    "cylinder": Solid(
        lambda r, h: 2 * math.pi * r**2 * h, lambda r, h: (r**2 / 4 + h**2 / 3, r**2 / 4 + h**2 / 3, r**2 / 2)
    ),
    "ellipsoid": Solid(lambda a, b, c: 4 / 3 * math.pi * a * b * c, _ellipsoid_moments),
    "box": Solid(
        lambda a, b, c: 8 * a * b * c,
        lambda a, b, c: ((b**2 + c**2) / 3, (a**2 + c**2) / 3, (a**2 + b**2) / 3),
    ),
}
SHELLS: dict[str, Solid] = {
    "sphere": Solid(lambda r: 4 * math.pi * r**2, lambda r: (2 / 3 * r**2,) * 3),
    "capsule": Solid(lambda r, h: 4 * math.pi * r * (r + h), _capsule_shell),
    "cylinder": Solid(lambda r, h: 2 * math.pi * r * (r + 2 * h), _cylinder_shell),
    "ellipsoid": Solid(_ellipsoid_area, _ellipsoid_shell),
    "box": Solid(lambda a, b, c: 8 * (a * b + b * c + c * a), _box_shell),
}
