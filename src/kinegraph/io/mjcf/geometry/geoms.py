"""Geoms: what stands where on a body, for the viewer and for the mass of bodies that state no inertia."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.geometry.assets import MeshAsset, MeshAssets
from kinegraph.io.mjcf.geometry.fitting import Fitted, fitted
from kinegraph.io.mjcf.numeric import cleaned
from kinegraph.io.mjcf.orientation import Orienter, z_to
from kinegraph.io.robot.attributes import Written, numbers, single, vector
from kinegraph.io.robot.placement import shifts
from kinegraph.io.robot.xml import Element
from kinegraph.model.expression import Number
from kinegraph.model.mechanism import Transform
from kinegraph.model.names import did_you_mean
from kinegraph.model.robot.data import ShapeKind

_MESHES = frozenset({"mesh", "sdf"})
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3, "plane": 0, "hfield": 0}
_LARGEST = 10**30


@dataclass(frozen=True, eq=False)
class Geom:
    """A geom placed in its body's frame; half sizes as MJCF states them, or none where a mesh gives them."""

    kind: str
    sizes: tuple[Fraction, ...]
    place: tuple[Transform, ...]
    element: Element
    mesh: MeshAsset | None = None
    fit_box: bool = False

    @property
    def group(self) -> int:
        """The group by which geoms are chosen to give a body its mass."""
        return int(single(self.element, "group") or 0)

    @property
    def is_mesh(self) -> bool:
        """Whether it is the mesh itself, not a primitive that was fitted to one."""
        return self.kind in _MESHES

    @cached_property
    def primitive(self) -> Fitted:
        """Sizes and place of a primitive. ModelError if they come from a mesh that cannot be read."""
        if self.mesh is None or self.is_mesh:
            return Fitted(tuple(float(size) for size in self.sizes), self.place)
        scale = single(self.element, "fitscale")
        found = fitted(self.kind, self.mesh, self.fit_box, 1.0 if scale is None else float(scale))
        return Fitted(found.sizes, (*self.place, *found.place))

    @property
    def _has_sizes(self) -> bool:
        """Whether the sizes are known: a mesh that cannot be read gives none."""
        try:
            return bool(self.primitive)
        except ModelError:
            return False

    @property
    def shape(self) -> tuple[ShapeKind, tuple[Number, ...], tuple[Transform, ...]]:
        """Kind, sizes and place of the shape: full lengths, not half ones, except for an ellipsoid and a plane."""
        if self.is_mesh or self.kind == "hfield" or not self._has_sizes:
            scale = self.mesh.scale if self.mesh else (Fraction(1),) * 3
            return ShapeKind.MESH, _numbers(scale), self.place
        exact = _numbers(self.sizes) if self.mesh is None else cleaned(self.primitive.sizes)
        place = self.primitive.place
        double = tuple(Number(2 * size.value) for size in exact)
        if self.kind == "box":
            return ShapeKind.BOX, double, place
        if self.kind in ("capsule", "cylinder"):
            return ShapeKind(self.kind), (exact[0], double[1]), place
        return ShapeKind(self.kind), exact, place


class GeomReader:
    """Reads geoms by the settings and the meshes of one model."""

    def __init__(self, orienter: Orienter, meshes: MeshAssets, fit_box: bool) -> None:
        self.orienter = orienter
        self.meshes = meshes
        self.fit_box = fit_box

    def read(self, element: Element, around: tuple[Transform, ...]) -> Geom:
        """A geom with the attributes of its class filled in; `around` are the frames it stands in."""
        kind = element.get("type") or "sphere"
        if kind not in _SIZES and kind not in _MESHES:
            raise ModelError(f"a geom is of an unknown type `{kind}`", element.place, did_you_mean(kind, _SIZES))
        if element.get("mesh") or kind in _MESHES:
            if element.get("fromto"):
                raise ModelError("a geom has both a mesh and fromto", element.place, "leave one of them out")
            place = (*around, *self.orienter.place(element, "a geom"))
            return Geom(kind, (), place, element, self.meshes[element], self.fit_box)
        sizes = tuple(item.value for item in numbers(element, "size") or ())
        ends = vector(element, "fromto", 6)
        if ends is not None:
            sizes, place = _between(kind, sizes, ends, element)
        else:
            place = self.orienter.place(element, "a geom")
        return Geom(kind, _checked(kind, sizes, element), (*around, *place), element)


def _checked(kind: str, sizes: tuple[Fraction, ...], element: Element) -> tuple[Fraction, ...]:
    """As many sizes as the kind needs, all of them reasonable."""
    needed = _SIZES[kind]
    if len(sizes) < needed:
        message = f"a {kind} takes {needed} sizes, found {len(sizes)}"
        raise ModelError(message, element.place, 'write size="..." (half lengths, radius first)')
    if needed and not (0 < sizes[0] < _LARGEST and all(0 <= size < _LARGEST for size in sizes)):
        raise ModelError(f"the sizes of a {kind} are not positive or too large", element.place, "write half lengths")
    return sizes[:needed] if needed else sizes


def _between(
    kind: str, sizes: tuple[Fraction, ...], ends: Sequence[Written], element: Element
) -> tuple[tuple[Fraction, ...], tuple[Transform, ...]]:
    """Sizes and place of a geom that reaches from one point to another."""
    if kind not in ("capsule", "cylinder", "ellipsoid", "box") or not sizes:
        raise ModelError(f"a {kind} has no fromto", element.place, "use a capsule, cylinder, box or ellipsoid")
    start, end = [item.value for item in ends[:3]], [item.value for item in ends[3:]]
    along = [a - b for a, b in zip(start, end, strict=True)]
    if not all(abs(step) < _LARGEST for step in along):
        raise ModelError(f"the ends of a {kind} are too far apart", element.place, "write fromto in metres")
    half = _length(along) / 2
    found = (sizes[0], half) if kind in ("capsule", "cylinder") else (sizes[0], sizes[0], half)
    return found, place_between(ends, element)


def place_between(ends: Sequence[Written], element: Element) -> tuple[Transform, ...]:
    """The frame in the middle between two points of `fromto`, its z axis along them."""
    start, end = [item.value for item in ends[:3]], [item.value for item in ends[3:]]
    along = [a - b for a, b in zip(start, end, strict=True)]
    middle = [(a + b) / 2 for a, b in zip(start, end, strict=True)]
    return (*shifts(middle), *z_to(along, element))


def _length(along: Sequence[Fraction]) -> Fraction:
    square = sum((step * step for step in along), Fraction(0))
    exact = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return exact if exact * exact == square else Fraction(repr(math.hypot(*map(float, along))))


def _numbers(values: Sequence[Fraction]) -> tuple[Number, ...]:
    return tuple(Number(value) for value in values)
