"""Collision queries: how far shapes of a mechanism are from each other in a position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.arrays import Floats
from kinegraph.compiler.compile import compile as compile_quantities
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import SolveError
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.simulate.contacts.shapes import scene
from kinegraph.simulate.contacts.stepped import collision_memory
from kinegraph.solve.loops.collision_points import CollisionPoints, find_collisions
from kinegraph.solve.loops.collision_shapes import place_shapes


@dataclass(frozen=True)
class Clearance:
    """How far two shapes are apart: their names, the gap in m (negative where they overlap), the unit normal from the
    first to the second, and the point midway between the surfaces, in fixed axes."""

    first: str
    second: str
    gap: float
    normal: Floats
    point: Floats


def clearances(
    model: MechanismSource,
    q: ArrayLike,
    *,
    within: float = 0.0,
    ground: float | None = None,
    self_contacts: bool | None = None,
    parameters: Mapping[str, Scalar] | None = None,
) -> tuple[Clearance, ...]:
    """The pairs of shapes that are at most `within` meters apart at the positions q, nearest first.

    Which shapes make pairs is as in `kg.simulator(contacts=True)`; ground: the height of a horizontal plane to add.
    """
    mechanism = mechanism_of(model)
    positions = np.asarray(q, dtype=float)
    if positions.shape != (len(mechanism.layout.positions),):
        raise SolveError(f"q has shape {positions.shape}: give {len(mechanism.layout.positions)} positions")
    found = scene(mechanism, parameter_values(mechanism, parameters or {}), ground=ground, self_contacts=self_contacts)
    shapes, pairs, memory = found.shapes, len(found.pairs), collision_memory(found.shapes)
    place_shapes(shapes, _poses(model, found.bodies, positions, parameters), memory.frames)
    nearest = []
    for pair in range(pairs):
        points = _points(16)
        find_collisions(shapes._replace(pairs=shapes.pairs[pair : pair + 1]), memory, within, points)
        if points.total[0]:
            k = int(np.argmin(points.gaps[: points.total[0]]))
            names = found.pair_name(pair)
            nearest.append(Clearance(*names, float(points.gaps[k]), points.normals[k].copy(), points.points[k].copy()))
    return tuple(sorted(nearest, key=lambda one: one.gap))


def _points(most: int) -> CollisionPoints:
    return CollisionPoints(
        np.zeros(1, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros((most, 3)), np.zeros((most, 3)),
        np.zeros(most),
    )  # fmt: skip


def _poses(
    model: MechanismSource, bodies: tuple[str, ...], q: Floats, parameters: Mapping[str, Scalar] | None
) -> Floats:
    """The 4 x 4 poses of bodies, flat."""
    if not bodies:
        return np.zeros(0)
    mechanism = replace(mechanism_of(model), contacts=())
    kernel = compile_quantities(mechanism, ",".join(f"pose:{body}" for body in bodies), parameters=parameters)
    given = [q if one.name == "q" else np.zeros(len(one.symbols)) for one in kernel.arguments]
    values = kernel.by_name(kernel(*given))
    return np.concatenate([np.asarray(values[f"pose:{body}"]).reshape(-1) for body in bodies])
