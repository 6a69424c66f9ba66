"""Collision queries: how far shapes of a mechanism are from each other in a position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.arrays import Floats
from kinegraph.compiler.compile import compile as compile_quantities
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import SolveError
from kinegraph.jit.bitcode import compiled
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.simulate.contacts.shapes import scene
from kinegraph.simulate.contacts.stepped import collision_memory
from kinegraph.solve.loops.collision_points import MOST_PER_PAIR, CollisionPoints, nearest_points


@dataclass(frozen=True)
class Clearance:
    """How far two shapes are apart.

    first, second: their names. gap: in m, negative where they overlap. normal: the unit vector from the first to the
    second, point: midway between the nearest points, both in fixed axes. gradient: how fast the gap changes by each
    velocity coordinate, if asked for.
    """

    first: str
    second: str
    gap: float
    normal: Floats
    point: Floats
    gradient: Floats | None = None

    @property
    def on_first(self) -> Floats:
        """The nearest point of the first shape; where shapes overlap, its deepest point in the second."""
        return self.point - 0.5 * self.gap * self.normal

    @property
    def on_second(self) -> Floats:
        """The nearest point of the second shape."""
        return self.point + 0.5 * self.gap * self.normal


class Clearances:
    """How far the shapes of a mechanism are from each other, position by position: `query(q, within=0.1)`.

    Which shapes make pairs is as in `kg.simulator(contacts=True)`. ground: the height of a horizontal plane to add.
    gradients: also how gaps change by the velocity coordinates (for joints with one coordinate, by q). Gaps have kinks
    where the nearest points jump, as between parallel faces; the gradient is that of one side there.
    native: False runs the search in Python, slowly.
    """

    def __init__(
        self,
        model: MechanismSource,
        *,
        ground: float | None = None,
        self_contacts: bool | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        gradients: bool = False,
        native: bool = True,
    ) -> None:
        mechanism, self.gradients = mechanism_of(model), gradients
        self._size, self._velocities = len(mechanism.layout.positions), len(mechanism.layout.velocities)
        values = parameter_values(mechanism, parameters or {})
        self._scene = scene(mechanism, values, ground=ground, self_contacts=self_contacts)
        shapes, bodies = self._scene.shapes, self._scene.bodies
        self._words = [f"{kind}:{body}" for kind in ("pose", "jacobian")[: 1 + gradients] for body in bodies]
        self._kernel = None
        if bodies:
            still = replace(mechanism, contacts=())
            self._kernel = compile_quantities(still, ",".join(self._words), parameters=parameters)
        self._poses, self._found = np.zeros((len(bodies), 4, 4)), _points(MOST_PER_PAIR * len(shapes.pairs) + 1)
        first = shapes, collision_memory(shapes), self._poses.reshape(-1), self._found
        self._search = compiled(nearest_points).bound(*first) if native else partial(nearest_points, *first)

    def __call__(self, q: ArrayLike, within: float = 0.0) -> tuple[Clearance, ...]:
        """The pairs of shapes that are at most `within` meters apart at the positions q, nearest first."""
        positions = np.asarray(q, dtype=float)
        if positions.shape != (self._size,):
            raise SolveError(f"q has shape {positions.shape}: give {self._size} positions")
        jacobians = self._place(positions)
        self._search(within)
        found = self._found
        nearest: dict[int, int] = {}
        for k in range(found.total[0]):
            pair = int(found.pairs[k])
            if pair not in nearest or found.gaps[k] < found.gaps[nearest[pair]]:
                nearest[pair] = k
        return tuple(
            sorted((self._clearance(pair, k, jacobians) for pair, k in nearest.items()), key=lambda one: one.gap)
        )

    def _place(self, q: Floats) -> list[Floats]:
        """Set the poses of all bodies; returns their Jacobians."""
        if self._kernel is None:
            return []
        given = [q if one.name == "q" else np.zeros(len(one.symbols)) for one in self._kernel.arguments]
        values = self._kernel.by_name(self._kernel(*given))
        bodies = len(self._poses)
        for k, word in enumerate(self._words[:bodies]):
            self._poses[k] = values[word]
        return [np.asarray(values[word]) for word in self._words[bodies:]]

    def _clearance(self, pair: int, k: int, jacobians: Sequence[Floats]) -> Clearance:
        shapes, found = self._scene.shapes, self._found
        normal, point, gradient = found.normals[k].copy(), found.points[k].copy(), None
        if self.gradients:
            gradient = np.zeros(self._velocities)
            for shape, sign in zip(shapes.pairs[pair], (-1.0, 1.0), strict=True):
                if body := int(shapes.bodies[shape]):
                    arm, jacobian = point - self._poses[body - 1, :3, 3], jacobians[body - 1]
                    gradient += sign * (normal @ jacobian[:3] + np.cross(arm, normal) @ jacobian[3:])
        return Clearance(*self._scene.pair_name(pair), float(found.gaps[k]), normal, point, gradient)


def clearances(
    model: MechanismSource,
    q: ArrayLike,
    *,
    within: float = 0.0,
    ground: float | None = None,
    self_contacts: bool | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    gradients: bool = False,
) -> tuple[Clearance, ...]:
    """The pairs of shapes that are at most `within` meters apart at the positions q, nearest first.

    For many positions make one `Clearances`, which prepares the model once; its arguments are explained there.
    """
    query = Clearances(
        model, ground=ground, self_contacts=self_contacts, parameters=parameters, gradients=gradients, native=False
    )
    return query(q, within)


def _points(most: int) -> CollisionPoints:
    return CollisionPoints(
        np.zeros(1, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros((most, 3)), np.zeros((most, 3)),
        np.zeros(most),
    )  # fmt: skip
