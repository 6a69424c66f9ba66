"""Tendons of MJCF around spheres and cylinders: the length of the shortest path outside, and its rate.

The path leaves each site along a tangent and follows the surface between the tangent points. Seen from the center, in
the plane of both sites (sphere) or along the axis (cylinder), l0 and l1 are the distances of the sites, theta the angle
between them, and acos(r/l) the angle from a site to its tangent point. Along the axis of a cylinder the path is a
straight line once the surface is unrolled. A side site chooses the side on which the path passes, as in MuJoCo 4: the
path winds around the center as the polyline from site to side site to site does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kinegraph.io.mjcf.geoms import Geom
from kinegraph.io.mjcf.tendon_paths import Extent, Sites, distance, scalar_product
from kinegraph.io.robot.placement import plus
from kinegraph.model.constraints import Frame
from kinegraph.model.expressions import PI, Call, Expression, Name, Number, Operation
from kinegraph.model.mechanism import ONE, ZERO, Axis, Shift
from kinegraph.model.poses import pose
from kinegraph.model.robot_data import ShapeKind

_TWO = Number(Fraction(2))
#: Keeps roots and quotients finite where they are not used.
_TINY = Number(Fraction(1, 10**200))
Vector = Sequence[Expression]


class UnsupportedPathError(Exception):
    """Why the path of a tendon is not supported; the report says it."""


@dataclass(frozen=True)
class WrapGeom:
    """A sphere or cylinder that a tendon wraps around, by its name in the file."""

    name: str
    frame: Frame
    radius: Expression
    is_sphere: bool


def wrap_geom(geom: Geom, frame: Frame) -> WrapGeom:
    """The geom for tendons. Raises UnsupportedPathError unless it is a sphere or a cylinder."""
    kind, sizes, _ = geom.shape
    name = geom.element.get("name") or ""
    if kind not in (ShapeKind.SPHERE, ShapeKind.CYLINDER):
        raise UnsupportedPathError(f"it wraps around the {kind.value} {name}; MuJoCo takes spheres and cylinders")
    return WrapGeom(name, frame, sizes[0], kind is ShapeKind.SPHERE)


@dataclass(frozen=True)
class _Planar:
    """Two vectors from the center, in the plane of the wrapping: products, and their rates."""

    first: Expression  # l0^2
    second: Expression  # l1^2
    cosine: Expression  # l0 l1 cos(theta)
    sine: Expression  # l0 l1 sin(theta), not negative
    first_rate: Expression  # l0 l0'
    second_rate: Expression  # l1 l1'
    turn_rate: Expression  # theta'
    on_side: tuple[Expression, Expression] | None  # products of the side site with the two vectors


def wrapped(first: str, second: str, geom: WrapGeom, side: str, sites: Sites) -> Extent:
    """The length from one site to another around a geom; straight where the geom is not in the way."""
    direct = distance(first, second, sites)
    center = sites.point(f"{geom.name}_center", geom.frame)
    vectors = [_difference(sites.position(one), center.position) for one in (first, second, *([side] if side else []))]
    rates = [_difference(sites.velocity(one), center.velocity) for one in (first, second)]
    inside = _depth(side, geom, vectors, sites) if side else None
    if geom.is_sphere:
        return _chosen(_in_space(vectors, rates), geom.radius, direct, inside)
    across, along = _cylinder_axes(geom, sites)
    flat = [[scalar_product(vector, axis.position) for axis in across] for vector in vectors]
    flat_rates = [[_product_rate(*pair, axis) for axis in across] for pair in zip(vectors, rates, strict=False)]
    step = _difference(vectors[1], vectors[0])
    height = scalar_product(step, along.position)
    height_rate = _product_rate(step, _difference(rates[1], rates[0]), along)
    return _chosen(_in_plane(flat, flat_rates), geom.radius, direct, inside, (height, height_rate))


def _depth(side: str, geom: WrapGeom, vectors: Sequence[Vector], sites: Sites) -> Expression:
    """Positive if the side site is inside the geom; -1 if one body carries both. Raises UnsupportedPathError for a
    path inside a geom, which MuJoCo finds by iteration."""
    square = geom.radius * geom.radius
    frame = sites.frames[side]
    if frame.body != geom.frame.body:
        return square - scalar_product(vectors[2], vectors[2])
    away = pose(frame.transforms)[1] - pose(geom.frame.transforms)[1]
    assert isinstance(geom.radius, Number)
    if float(np.linalg.norm(away)) < float(geom.radius.value):
        raise UnsupportedPathError(f"its side site {side} is inside the geom {geom.name}, so the path is inside too")
    return -ONE


@dataclass(frozen=True)
class _Direction:
    """A unit vector of a geom in the fixed frame, and its rate."""

    position: Vector
    velocity: Vector


def _cylinder_axes(geom: WrapGeom, sites: Sites) -> tuple[tuple[_Direction, _Direction], _Direction]:
    """The axes across a cylinder, and the one along it."""
    center = sites.point(f"{geom.name}_center", geom.frame)
    found = []
    for axis in Axis:
        ahead = Frame(geom.frame.body, (*geom.frame.transforms, Shift(axis, ONE)))
        tip = sites.point(f"{geom.name}_{axis.name.lower()}", ahead)
        both = (tip.position, center.position), (tip.velocity, center.velocity)
        found.append(_Direction(*(_difference(*pair) for pair in both)))
    x, y, z = found
    return (x, y), z


def _in_space(vectors: Sequence[Vector], rates: Sequence[Vector]) -> _Planar:
    """Sites around a sphere."""
    (a, b), (da, db) = vectors[:2], rates
    normal = _cross(a, b)
    normal_rate = [plus(*pair) for pair in zip(_cross(da, b), _cross(a, db), strict=True)]
    cosine = scalar_product(a, b)
    sine = Call("sqrt", (scalar_product(normal, normal) + _TINY,))
    sine_rate = Operation("/", (scalar_product(normal, normal_rate), sine))
    return _planar(vectors, rates, cosine, sine, sine_rate)


def _in_plane(vectors: Sequence[Vector], rates: Sequence[Vector]) -> _Planar:
    """Sites around a cylinder, seen along its axis."""
    (a, b), (da, db) = vectors[:2], rates
    normal = a[0] * b[1] - a[1] * b[0]
    normal_rate = (da[0] * b[1] - da[1] * b[0]) + (a[0] * db[1] - a[1] * db[0])
    sign = Call("select", (normal, ONE, -ONE))
    return _planar(vectors, rates, scalar_product(a, b), Call("abs", (normal,)), sign * normal_rate)


def _planar(
    vectors: Sequence[Vector], rates: Sequence[Vector], cosine: Expression, sine: Expression, sine_rate: Expression
) -> _Planar:
    (a, b, *side), (da, db) = vectors, rates
    squares = scalar_product(a, a), scalar_product(b, b)
    cosine_rate = plus(scalar_product(da, b), scalar_product(a, db))
    turn = (cosine * sine_rate - sine * cosine_rate) / (squares[0] * squares[1] + _TINY)
    on_side = (scalar_product(side[0], a), scalar_product(side[0], b)) if side else None
    return _Planar(*squares, cosine, sine, scalar_product(a, da), scalar_product(b, db), turn, on_side)


def _chosen(
    flat: _Planar,
    radius: Expression,
    direct: Extent,
    depth: Expression | None,
    height: tuple[Expression, Expression] = (ZERO, ZERO),
) -> Extent:
    """The path around the geom where it is needed, else the direct one; not a number where a side site is inside the
    geom, which `depth` says."""
    around = _around(flat, radius, direct, height)
    if depth is None or depth == -ONE:
        return around
    nothing = Call("sqrt", (-depth,))  # not a number where it is used
    return Extent(_select(depth, nothing, around.value), _select(depth, nothing, around.rate))


def _select(condition: Expression, positive: Expression, other: Expression) -> Expression:
    return Call("select", (condition, positive, other))


def _unrolled(length: Expression, rate: Expression, height: tuple[Expression, Expression]) -> Extent:
    """A path with its rise along the axis of a cylinder."""
    rise, rise_rate = height
    if rise == ZERO:
        return Extent(length, rate)
    whole = Call("sqrt", (length * length + rise * rise,))
    return Extent(whole, (length * rate + rise * rise_rate) / whole)


def _around(flat: _Planar, radius: Expression, direct: Extent, height: tuple[Expression, Expression]) -> Extent:
    """The path outside."""
    square = radius * radius
    free = [Call("max", (one - square, _TINY)) for one in (flat.first, flat.second)]
    tangents = [Call("sqrt", (one,)) for one in free]
    starts = [Call("atan2", (tangent, radius)) for tangent in tangents]  # acos(r/l)
    theta = Call("atan2", (flat.sine, flat.cosine))
    arc = needed = theta - starts[0] - starts[1]
    turned = flat.turn_rate
    if flat.on_side is not None:
        long_way = _long_way(flat, flat.on_side, theta)
        needed = _select(long_way, ONE, arc)
        arc = _select(long_way, _TWO * Name(PI) - theta, theta) - starts[0] - starts[1]
        turned = _select(long_way, -turned, turned)
    length = tangents[0] + tangents[1] + radius * arc
    stretch = [tangent * rate / one for tangent, rate, one in
               zip(tangents, (flat.first_rate, flat.second_rate), (flat.first, flat.second), strict=True)]  # fmt: skip
    path = _unrolled(length, stretch[0] + stretch[1] + radius * turned, height)
    outside = Call("min", (flat.first - square, flat.second - square))

    def select(bent: Expression, straight: Expression) -> Expression:
        return _select(outside, _select(needed, bent, straight), straight)

    return Extent(select(path.value, direct.value), select(path.rate, direct.rate))


def _long_way(flat: _Planar, on_side: tuple[Expression, Expression], theta: Expression) -> Expression:
    """Positive if the path goes the long way round: the polyline over the side site winds around the center by
    theta - 2 pi."""
    first, second = on_side
    x, y = flat.sine * first, flat.first * second - flat.cosine * first  # the site, along the first vector and across
    return theta - Name(PI) - Call("atan2", (y, x))


def _difference(first: Vector, second: Vector) -> list[Expression]:
    return [Operation("-", pair) for pair in zip(first, second, strict=True)]


def _cross(a: Vector, b: Vector) -> list[Expression]:
    return [a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3] for i in range(3)]


def _product_rate(vector: Vector, rate: Vector, direction: _Direction) -> Expression:
    return plus(scalar_product(rate, direction.position), scalar_product(vector, direction.velocity))
