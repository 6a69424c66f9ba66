"""Inertia of MJCF bodies, stated or from their geoms, and the inertia that each joint moves at the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.geoms import Geom
from kinegraph.io.mjcf.moments import SHELLS, SOLIDS, along_principal_axes
from kinegraph.io.mjcf.settings import InertiaBounds
from kinegraph.io.mjcf.transforms import cleaned, placed
from kinegraph.io.robot.placement import shifts
from kinegraph.io.robot.xml import Element, single, vector
from kinegraph.model.evaluate import initial_positions, number
from kinegraph.model.expressions import Expression, Name, Number, expression, names
from kinegraph.model.mechanism import Coordinate, Inertia, Mechanism, Quaternion, Rotation, Shift, Transform
from kinegraph.model.poses import Floats, about, pose, quaternion_matrix

_NO_MASS = frozenset({"plane", "hfield"})
_DENSITY = 1000.0  # default density of geoms
_LEAST_MASS = 1e-15  # MuJoCo ignores smaller masses


@dataclass(frozen=True)
class _Part:
    """A geom as part of a body: mass, a frame at its center of mass, and its inertia tensor in this frame."""

    mass: float
    frame: tuple[Transform, ...]
    tensor: Floats


def stated_inertia(element: Element, central: tuple[Transform, ...]) -> Inertia:
    """The inertia of <inertial>; `central` are the transforms from the body's frame to the inertial frame."""
    mass = single(element, "mass")
    if mass is None:
        raise ModelError("<inertial> has no mass", element.place, 'write mass="..."')
    full, diagonal = vector(element, "fullinertia", 6), vector(element, "diaginertia", 3)
    if full is not None and diagonal is not None and any(item.value for item in diagonal):
        message = "<inertial> has both fullinertia and diaginertia"
        raise ModelError(message, element.place, "remove one of them")
    if full is not None:
        xx, yy, zz, xy, xz, yz = (item.value for item in full)
        moments = (Number(xx), Number(yy), Number(zz), Number(-xy), Number(-yz), Number(-xz))
        return Inertia(Number(mass), *moments, central)
    if diagonal is None:
        raise ModelError("<inertial> has no moments of inertia", element.place, 'write diaginertia="..."')
    x, y, z = (Number(item.value) for item in diagonal)
    return Inertia(Number(mass), x, y, z, central=central)


def geoms_inertia(geoms: Sequence[Geom], body: str) -> Inertia:
    """The inertia of a body made of geoms; if only one has mass, in the axes of that geom."""
    found = [part for geom in geoms if (part := _part(geom, body)) is not None]
    parts = [part for part in found if part.mass >= _LEAST_MASS]
    if not parts:
        return Inertia()
    if len(parts) > 1:
        return _together(parts)
    (part,) = parts
    return _inertia(part.mass, part.tensor, part.frame)


def _part(geom: Geom, body: str) -> _Part | None:
    """The contribution of a geom; None if it has no mass."""
    stated, density = single(geom.element, "mass"), single(geom.element, "density")
    if ((density if stated is None else stated) or 0) < 0:
        raise ModelError(f"a geom of the body {body} has a negative mass", geom.element.place, "write a positive mass")
    if geom.kind in _NO_MASS or stated == 0 or (stated is None and density == 0):
        return None
    per_amount = _DENSITY if density is None else float(density)
    if geom.is_mesh:
        return _mesh_part(geom, stated, per_amount)
    solids = SHELLS if geom.element.get("shellinertia") == "true" else SOLIDS
    solid, (sizes, place) = solids[geom.kind], (geom.primitive.sizes, geom.primitive.place)
    mass = float(stated) if stated is not None else per_amount * solid.amount(*sizes)
    return _Part(mass, place, mass * np.diag(solid.moments(*sizes)))


def _mesh_part(geom: Geom, stated: Fraction | None, density: float) -> _Part:
    assert geom.mesh is not None
    if geom.element.get("shellinertia") == "true":
        remedy = 'write inertia="shell" in its <mesh>'
        raise ModelError(f"a geom of the mesh {geom.mesh.name} has shellinertia", geom.element.place, remedy)
    mesh = geom.mesh.moments
    mass = float(stated) if stated is not None else density * mesh.amount
    return _Part(mass, (*geom.place, *placed(mesh.center, mesh.axes)), mass / mesh.amount * np.diag(mesh.moments))


def _together(parts: Sequence[_Part]) -> Inertia:
    """Several parts combined, in the axes of their body."""
    poses = [pose(part.frame) for part in parts]
    total = math.fsum(part.mass for part in parts)
    weighted = [part.mass * position for part, (_, position) in zip(parts, poses, strict=True)]
    center = np.sum(weighted, axis=0) / total
    tensor = np.zeros((3, 3))
    for part, (rotation, position) in zip(parts, poses, strict=True):
        tensor += rotation @ part.tensor @ rotation.T + _of_point(part.mass, position - center)
    return _inertia(total, tensor, shifts([item.value for item in cleaned(center)]))


def _of_point(mass: float, r: Floats) -> Floats:
    return np.asarray(mass * ((r @ r) * np.eye(3) - np.outer(r, r)))


def _inertia(mass: float, tensor: Floats, central: tuple[Transform, ...]) -> Inertia:
    entries = (tensor[0, 0], tensor[1, 1], tensor[2, 2], -tensor[0, 1], -tensor[1, 2], -tensor[0, 2])
    xx, yy, zz, xy, yz, xz = cleaned(entries)
    return Inertia(expression(mass), xx, yy, zz, xy, yz, xz, central)


def bounded(inertia: Inertia, bounds: InertiaBounds, own_place: tuple[Transform, ...]) -> Inertia:
    """The inertia with mass and principal moments raised to their bounds, and balanced if requested.

    For a body without inertia, MuJoCo puts them at an offset from its origin equal to its offset from the parent.
    """
    if not bounds.any:
        return inertia
    if inertia == Inertia():
        inertia = Inertia(central=own_place)
    mass = _at_least(inertia.mass, bounds.mass)
    principal = along_principal_axes(inertia)
    moments = [_at_least(item, bounds.moment) for item in (principal.Jx, principal.Jy, principal.Jz)]
    values = [number(item, {}) for item in moments]
    if bounds.balance and 2 * max(values) > sum(values):
        moments = [expression(sum(values) / 3)] * 3
    elif moments == [principal.Jx, principal.Jy, principal.Jz]:
        return replace(inertia, mass=mass)
    x, y, z = moments
    return replace(principal, mass=mass, Jx=x, Jy=y, Jz=z)


def _at_least(item: Expression, bound: Fraction) -> Expression:
    return Number(bound) if number(item, {}) < bound else item


def scaled(inertia: Inertia, factor: Fraction) -> Inertia:
    """The inertia of a body whose density is multiplied by a factor."""
    names = ("mass", "Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")
    found = {name: Number(factor * value_of(getattr(inertia, name))) for name in names}
    return Inertia(**found, central=inertia.central, accepted=inertia.accepted)


def value_of(item: Expression) -> Fraction:
    """The exact value of a mass or moment of a file."""
    assert isinstance(item, Number)
    return item.value


# The inertia that joints move at the start, for `springdamper`


def inverse_inertia(mechanism: Mechanism) -> dict[str, float]:
    """The diagonal of the inverse mass matrix at the start, by the name of the velocity."""
    diagonal = np.diag(inverse_mass_matrix(mechanism))
    return dict(zip(mechanism.layout.velocities, diagonal.tolist(), strict=True))


def inverse_mass_matrix(mechanism: Mechanism) -> Floats:
    """The inverse of the mass matrix at the start."""
    start = _Start(mechanism)
    for body in mechanism.bodies:
        start.add(body.name, body.base, body.transforms, body.inertia)
    matrix = start.matrix + np.diag([number(item, {}) for item in mechanism.armature])
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        remedy = "give the bodies that the joint moves a mass"
        raise ModelError("a joint with springdamper or dampratio moves no mass", remedy=remedy) from None


@dataclass
class _Frame:
    """The pose of a body, and the twists that move it: pairs of a velocity's index and a twist at the fixed origin."""

    rotation: Floats
    position: Floats
    twists: list[tuple[int, Floats]] = field(default_factory=list)


class _Start:
    """The mass matrix at the initial positions; bodies are added one by one, bases first."""

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
        """Add a body."""
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
        turn, center = pose(inertia.central)
        rotation, position = here.rotation @ turn, here.position + here.rotation @ center
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
    """The twist of a rotation about an axis through a point: angular velocity, velocity at the fixed origin."""
    return np.concatenate([axis, np.cross(point, axis)])
