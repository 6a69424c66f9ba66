"""Geoms: shapes for the viewer, and the mass of bodies that state no inertia of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.numeric import Floats, cleaned, pose
from kinegraph.io.mjcf.orientation import Orienter, z_to
from kinegraph.io.robot.attributes import Written, numbers, single, vector
from kinegraph.io.robot.placement import shifts
from kinegraph.io.robot.xml import Element
from kinegraph.model.expression import Number, expression
from kinegraph.model.mechanism import Inertia, Transform
from kinegraph.model.names import did_you_mean
from kinegraph.model.robot.data import ShapeKind

_MESHES = frozenset({"mesh", "sdf"})
_NO_MASS = frozenset({"plane", "hfield"})
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3, "plane": 0, "hfield": 0}
_LARGEST = 10**30
_EXPLAIN = "write an <inertial>; MuJoCo's mj_saveLastXML writes one for every body"


@dataclass(frozen=True)
class Geom:
    """A geom placed in its body's frame; half sizes as MJCF states them."""

    kind: str
    sizes: tuple[Fraction, ...]
    place: tuple[Transform, ...]
    element: Element

    @property
    def group(self) -> int:
        return int(single(self.element, "group") or 0)

    @property
    def shape(self) -> tuple[ShapeKind, tuple[Number, ...]]:
        """The kind and sizes of the shape: full lengths instead of half ones, except for an ellipsoid and a plane."""
        double = [2 * size for size in self.sizes]
        match self.kind:
            case "box":
                return ShapeKind.BOX, _numbers(double)
            case "capsule" | "cylinder":
                return ShapeKind(self.kind), _numbers([self.sizes[0], double[1]])
            case "mesh" | "sdf" | "hfield":
                return ShapeKind.MESH, _numbers([1, 1, 1])
        return ShapeKind(self.kind), _numbers(self.sizes)


def read_geom(element: Element, around: tuple[Transform, ...], orienter: Orienter) -> Geom:
    """A geom with the attributes of its class filled in; `around` are the frames it stands in."""
    kind = element.get("type") or ("mesh" if element.get("mesh") else "sphere")
    if kind not in _SIZES and kind not in _MESHES:
        raise ModelError(f"a geom is of an unknown type `{kind}`", element.place, did_you_mean(kind, _SIZES))
    sizes = tuple(item.value for item in numbers(element, "size") or ())
    ends = vector(element, "fromto", 6)
    if ends is not None:
        sizes, place = _between(kind, sizes, ends, element)
    else:
        place = orienter.place(element, "a geom")
    needed = 0 if element.get("mesh") else _SIZES.get(kind, 0)
    if len(sizes) < needed:
        message = f"a {kind} takes {needed} sizes, found {len(sizes)}"
        raise ModelError(message, element.place, 'write size="..." (half lengths, radius first)')
    if needed and not (0 < sizes[0] < _LARGEST and all(0 <= size < _LARGEST for size in sizes)):
        raise ModelError(f"the sizes of a {kind} are not positive or too large", element.place, "write half lengths")
    return Geom(kind, sizes[:needed] if needed else sizes, (*around, *place), element)


def _between(
    kind: str, sizes: tuple[Fraction, ...], ends: Sequence[Written], element: Element
) -> tuple[tuple[Fraction, ...], tuple[Transform, ...]]:
    """Sizes and place of a geom that reaches from one point to another."""
    if kind not in ("capsule", "cylinder", "ellipsoid", "box") or not sizes:
        raise ModelError(f"a {kind} has no fromto", element.place, "use a capsule, cylinder, box or ellipsoid")
    start, end = [item.value for item in ends[:3]], [item.value for item in ends[3:]]
    along = [a - b for a, b in zip(start, end, strict=True)]
    half = _root(sum((step * step for step in along), Fraction(0))) / 2
    middle = [(a + b) / 2 for a, b in zip(start, end, strict=True)]
    found = (sizes[0], half) if kind in ("capsule", "cylinder") else (sizes[0], sizes[0], half)
    return found, (*shifts(middle), *z_to(along, element))


def _root(square: Fraction) -> Fraction:
    exact = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return exact if exact * exact == square else Fraction(repr(math.sqrt(square)))


def geoms_inertia(geoms: Sequence[Geom], body: str) -> Inertia:
    """The inertia of a body made of geoms: of one geom along its own axes, of several together along the body's."""
    heavy = [(geom, mass) for geom in geoms if (mass := _mass(geom, body))]
    if not heavy:
        return Inertia()
    if len(heavy) == 1:
        geom, mass = heavy[0]
        x, y, z = cleaned(mass * moment for moment in _MOMENTS[geom.kind](*map(float, geom.sizes)))
        return Inertia(expression(mass), x, y, z, central=geom.place)
    return _together(heavy)


def _mass(geom: Geom, body: str) -> float:
    stated = single(geom.element, "mass")
    density = single(geom.element, "density")
    density = Fraction(1000) if density is None else density
    if geom.kind in _NO_MASS or (stated == 0) or (stated is None and not density):
        return 0.0
    if geom.kind in _MESHES or geom.element.get("mesh"):
        message = f"the body {body} takes its inertia from a mesh, which is not read"
        raise ModelError(message, geom.element.place, _EXPLAIN)
    if geom.element.get("shellinertia") == "true":
        raise ModelError(f"the body {body} has a geom with shellinertia", geom.element.place, _EXPLAIN)
    if density < 0 or (stated is not None and stated < 0):
        raise ModelError(f"a geom of the body {body} has a negative mass", geom.element.place, "write a positive one")
    return float(stated) if stated is not None else float(density) * _VOLUMES[geom.kind](*map(float, geom.sizes))


def _together(heavy: Sequence[tuple[Geom, float]]) -> Inertia:
    poses = [pose(geom.place) for geom, _ in heavy]
    masses = [mass for _, mass in heavy]
    total = math.fsum(masses)
    centre = sum((mass * position for mass, (_, position) in zip(masses, poses, strict=True)), np.zeros(3)) / total
    tensor = np.zeros((3, 3))
    for (geom, mass), (rotation, position) in zip(heavy, poses, strict=True):
        own = np.diag([mass * moment for moment in _MOMENTS[geom.kind](*map(float, geom.sizes))])
        tensor += rotation @ own @ rotation.T + _of_point(mass, position - centre)
    entries = (tensor[0, 0], tensor[1, 1], tensor[2, 2], -tensor[0, 1], -tensor[1, 2], -tensor[0, 2])
    xx, yy, zz, xy, yz, xz = cleaned(entries)
    x, y, z = (item.value for item in cleaned(centre))
    return Inertia(expression(total), xx, yy, zz, xy, yz, xz, shifts([x, y, z]))


def _of_point(mass: float, r: Floats) -> Floats:
    return np.asarray(mass * ((r @ r) * np.eye(3) - np.outer(r, r)))


def _numbers(values: Sequence[Fraction | int]) -> tuple[Number, ...]:
    return tuple(Number(Fraction(value)) for value in values)


def _capsule_volume(radius: float, half: float) -> float:
    return math.pi * radius**2 * (2 * half + 4 / 3 * radius)


def _capsule_moments(radius: float, half: float) -> tuple[float, float, float]:
    """A cylinder and two half balls; per unit of mass."""
    ends = (4 / 3 * radius) / (2 * half + 4 / 3 * radius)
    barrel = 1 - ends
    axial = barrel * radius**2 / 2 + ends * 2 / 5 * radius**2
    across = barrel * (radius**2 / 4 + half**2 / 3) + ends * (2 / 5 * radius**2 + half**2 + 3 / 4 * half * radius)
    return across, across, axial


_VOLUMES: dict[str, Callable[..., float]] = {
    "sphere": lambda r: 4 / 3 * math.pi * r**3,
    "capsule": _capsule_volume,
    "cylinder": lambda r, h: 2 * math.pi * r**2 * h,
    "ellipsoid": lambda a, b, c: 4 / 3 * math.pi * a * b * c,
    "box": lambda a, b, c: 8 * a * b * c,
}
_MOMENTS: dict[str, Callable[..., tuple[float, float, float]]] = {
    "sphere": lambda r: (2 / 5 * r**2,) * 3,
    "capsule": _capsule_moments,
    "cylinder": lambda r, h: (r**2 / 4 + h**2 / 3, r**2 / 4 + h**2 / 3, r**2 / 2),
    "ellipsoid": lambda a, b, c: ((b**2 + c**2) / 5, (a**2 + c**2) / 5, (a**2 + b**2) / 5),
    "box": lambda a, b, c: ((b**2 + c**2) / 3, (a**2 + c**2) / 3, (a**2 + b**2) / 3),
}
