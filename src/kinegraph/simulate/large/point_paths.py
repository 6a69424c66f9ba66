"""Output points of a run, followed along their transforms state by state: no formula of a long chain is written out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinegraph.derive.tree.convert import Names
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Output
from kinegraph.model.expression import TIME
from kinegraph.model.mechanism import Mechanism, Point, Quaternion, Rotation, Transform, amounts
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.observe import Rows
from kinegraph.solve.problem.problem import Floats


def point_columns(equations: Equations, rows: Rows) -> dict[str, Floats]:
    """The coordinates of all output points in the fixed frame, by name."""
    columns: dict[str, Floats] = {}
    for point in equations.mechanism.points:
        place = _followed(equations, point, rows)
        columns |= {f"{point.name}.{axis}": column for axis, column in zip("xyz", place, strict=True)}
    return columns


def _followed(equations: Equations, point: Point, rows: Rows) -> list[Floats]:
    """A point of a body in the fixed frame: its transforms applied one after the other, the last first."""
    path = list(_inwards(equations.mechanism, point.body))
    builder = GraphBuilder()
    names = Names(builder, equations.mechanism, equations.bound)
    wanted = [*point.position, *(one for transform in path for one in amounts(transform))]
    nodes = tuple(names.scalar(one).index for one in wanted)
    known = dict(zip(equations.mechanism.layout.positions, rows.q.T, strict=True)) | {TIME: rows.times}
    found = interpret(builder.graph([Output("amounts", (len(nodes),), nodes)]), known)["amounts"]
    values = iter(np.broadcast_to(found, (len(rows.times), len(nodes))).T)
    place = [np.array(next(values)) for _ in range(3)]
    for transform in path:
        place = _moved(transform, place, [next(values) for _ in amounts(transform)])
    return place


def _inwards(mechanism: Mechanism, name: str | None) -> Iterator[Transform]:
    """The transforms from a body to the fixed frame, the body's last one first."""
    while name is not None:
        body = mechanism.body(name)
        yield from reversed(body.transforms)
        name = body.base


def _moved(transform: Transform, place: list[Floats], values: list[Floats]) -> list[Floats]:
    """A place in the frame behind a transform, in the frame before it."""
    if isinstance(transform, Quaternion):
        return _turned(place, values)
    x, y, z = (place[(transform.axis.value + k) % 3] for k in range(3))
    (value,) = values
    if isinstance(transform, Rotation):
        cosine, sine = np.cos(value), np.sin(value)
        y, z = cosine * y - sine * z, sine * y + cosine * z
    else:
        x = x + value
    moved = [x, y, z]
    return [moved[(axis - transform.axis.value) % 3] for axis in range(3)]


def _turned(place: list[Floats], quaternion: list[Floats]) -> list[Floats]:
    """A place turned by a quaternion of any length but zero: r + 2 e x (e x r + e0 r) / |e|^2."""
    e0, e = quaternion[0], np.array(quaternion[1:])
    r = np.array(place)
    once = np.cross(e, r, axis=0) + e0 * r
    return list(r + 2 * np.cross(e, once, axis=0) / (e0 * e0 + (e * e).sum(axis=0)))
