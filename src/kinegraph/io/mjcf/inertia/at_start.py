"""The inertia that joints move where the model starts: what springs and dampers with a time constant are made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.numeric import Floats, about, pose, quaternion_matrix
from kinegraph.model.evaluate import initial_positions, number
from kinegraph.model.expression import Expression, Name, names
from kinegraph.model.mechanism import Coordinate, Inertia, Mechanism, Quaternion, Rotation, Shift, Transform


def inverse_inertia(mechanism: Mechanism) -> dict[str, float]:
    """The diagonal of the inverse of the inertia matrix where the mechanism starts, by the name of the velocity."""
    start = _Start(mechanism)
    for body in mechanism.bodies:
        start.add(body.name, body.base, body.transforms, body.inertia)
    matrix = start.matrix + np.diag([number(item, {}) for item in mechanism.armature])
    try:
        diagonal = np.diag(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        remedy = "give the bodies that the joint moves some mass"
        raise ModelError("springdamper needs inertia, and a joint moves none", remedy=remedy) from None
    return dict(zip(mechanism.layout.velocities, diagonal.tolist(), strict=True))


@dataclass
class _Frame:
    """Where a body stands, and what moves it: rows of the index of a velocity and a twist about the fixed origin."""

    rotation: Floats
    position: Floats
    twists: list[tuple[int, Floats]] = field(default_factory=list)


class _Start:
    """Adds bodies one after the other, bases first, to the inertia matrix at the initial positions."""

    def __init__(self, mechanism: Mechanism) -> None:
        layout = mechanism.layout
        self.values = dict(zip(layout.positions, initial_positions(mechanism, {}), strict=True))
        self.index = {name: place for place, name in enumerate(layout.velocities)}
        self.quaternions: dict[tuple[str, ...], tuple[str, ...]] = {
            c.names: c.velocities for c in mechanism.coordinates if not isinstance(c, Coordinate)
        }
        self.frames: dict[str | None, _Frame] = {None: _Frame(np.eye(3), np.zeros(3))}
        self.matrix = np.zeros((len(layout.velocities),) * 2)

    def add(self, name: str, base: str | None, transforms: Sequence[Transform], inertia: Inertia) -> None:
        """One body."""
        parent = self.frames[base]
        here = _Frame(parent.rotation, parent.position, list(parent.twists))
        for transform in transforms:
            self._move(here, transform)
        self.frames[name] = here
        self._weigh(here, inertia)

    def _move(self, here: _Frame, transform: Transform) -> None:
        if isinstance(transform, Quaternion):
            self._turn_freely(here, transform)
            return
        axis = here.rotation[:, transform.axis.value]
        amount = transform.angle if isinstance(transform, Rotation) else transform.distance
        turns = isinstance(transform, Rotation)
        for name in sorted(names(amount) & self.values.keys()):
            slope = self._value(amount, {name: self.values[name] + 1}) - self._value(amount)
            twist = _rotation(slope * axis, here.position) if turns else np.concatenate([np.zeros(3), slope * axis])
            here.twists.append((self.index[name + "'"], twist))
        if isinstance(transform, Shift):
            here.position = here.position + axis * self._value(amount)
        else:
            here.rotation = here.rotation @ about(transform.axis.value, self._value(amount))

    def _turn_freely(self, here: _Frame, transform: Quaternion) -> None:
        here.rotation = here.rotation @ quaternion_matrix([self._value(item) for item in transform.components])
        own = tuple(item.text for item in transform.components if isinstance(item, Name))
        for axis, name in zip(here.rotation.T, self.quaternions.get(own, ()), strict=False):
            here.twists.append((self.index[name], _rotation(axis, here.position)))

    def _value(self, item: Expression, changed: Mapping[str, float] | None = None) -> float:
        return number(item, {**self.values, **(changed or {})})

    def _weigh(self, here: _Frame, inertia: Inertia) -> None:
        turn, centre = pose(inertia.central)
        rotation, position = here.rotation @ turn, here.position + here.rotation @ centre
        x, y, z, xy, yz, xz = (
            number(item, {}) for item in (inertia.Jx, inertia.Jy, inertia.Jz, inertia.Jxy, inertia.Jyz, inertia.Jxz)
        )
        central = rotation @ np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]) @ rotation.T
        mass = number(inertia.mass, {})
        if not here.twists or not (mass or central.any()):
            return
        columns = np.array([twist for _, twist in here.twists])
        angular, linear = columns[:, :3], columns[:, 3:] + np.cross(columns[:, :3], position)
        added = angular @ central @ angular.T + mass * linear @ linear.T
        where = [index for index, _ in here.twists]
        np.add.at(self.matrix, np.ix_(where, where), added)


def _rotation(axis: Floats, point: Floats) -> Floats:
    """The twist of rotation about an axis through a point: angular velocity, velocity of the fixed origin."""
    return np.concatenate([axis, np.cross(point, axis)])
