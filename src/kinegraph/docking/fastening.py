"""Joined bodies become one: a free body fixed on another at its present pose, without its own coordinates.

The rings of two spacecraft are thus joined exactly and without multipliers, and a platform keeps its closed form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kinegraph.model.builder import Sx, Sy, Sz
from kinegraph.model.changes.coordinates import lock
from kinegraph.model.definitions import replaced
from kinegraph.model.expressions import Defined, Expression, Name, expression, renamed
from kinegraph.model.mechanism import (
    ONE,
    ZERO,
    Coordinate,
    Mechanism,
    Parameter,
    Quaternion,
    QuaternionCoordinates,
    Transform,
)
from kinegraph.model.platforms.recognition import FreeBody, free_body, platform_of, used_once

Vector = Sequence[Expression]


def pose_names(joint: str) -> tuple[str, ...]:
    """The parameters of the pose at which a joint closed: a translation, then a unit quaternion."""
    return tuple(f"{joint}${one}" for one in ("x", "y", "z", "q0", "q1", "q2", "q3"))


def pose_parameters(joint: str) -> tuple[Parameter, ...]:
    """These parameters, with initial values for coincident bodies."""
    return tuple(Parameter(name, ONE if name.endswith("$q0") else ZERO) for name in pose_names(joint))


def placed(joint: str) -> tuple[Transform, ...]:
    """The transforms from the first body to the pose at which the second one was joined to it."""
    x, y, z, *turn = (Name(name) for name in pose_names(joint))
    return Sx(x), Sy(y), Sz(z), Quaternion((turn[0], turn[1], turn[2], turn[3]))


@dataclass(frozen=True)
class Fastening:
    """A free body fixed on another free body; both rotate by quaternions."""

    body: FreeBody
    on: FreeBody
    joint: str

    def meanings(self) -> dict[str, Expression]:
        """Coordinates and velocities of the body, in those of its carrier."""
        x, y, z, *turned = (Name(name) for name in pose_names(self.joint))
        turn, spin = self._carrier_quaternion(), [Name(name) for name in _quaternion(self.on).velocities]
        place = [Name(name) for name in self.on.position]
        rates = [Name(f"{name}'") for name in self.on.position]
        values = [
            *_sums(place, _turned(turn, (x, y, z))),
            *_product(turn, turned),
            *_sums(rates, _turned(turn, _cross(spin, (x, y, z)))),
            *_turned(_conjugate(turned), spin),
        ]
        own = (*self.body.coordinates, *self.body.velocities)
        return dict(zip(own, values, strict=True))

    def _carrier_quaternion(self) -> list[Expression]:
        return [Name(name) for name in _quaternion(self.on).names]

    def applied(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism in which the body has no coordinates; its pose is given by parameters."""
        name = self.body.body.name
        moved = replace(self.body.body, base=self.on.body.name, transforms=placed(self.joint))
        return replaced(
            replace(
                mechanism,
                bodies=tuple(moved if one.name == name else one for one in mechanism.bodies),
                coordinates=tuple(one for one in mechanism.coordinates if not self._moves(one)),
                parameters=(*mechanism.parameters, *pose_parameters(self.joint)),
            ),
            self.meanings(),
        )

    def _moves(self, coordinate: Coordinate | QuaternionCoordinates) -> bool:
        if isinstance(coordinate, Coordinate):
            return coordinate.name in self.body.position
        return coordinate.names == _quaternion(self.body).names


def turned_back(body: FreeBody, point: Vector) -> tuple[Expression, ...]:
    """A point of the fixed frame in the axes of a free body, from its origin."""
    turn = _conjugate([Name(name) for name in _quaternion(body).names])
    away = [one - Name(name) for one, name in zip(point, body.position, strict=True)]
    return tuple(_turned(turn, away))


@dataclass(frozen=True)
class Joined:
    """A mechanism in which bodies are joined.

    meanings: removed coordinates and velocities, in the remaining ones. locked: coordinates that no longer move and
    are parameters.
    """

    mechanism: Mechanism
    meanings: Mapping[str, Expression]
    locked: tuple[str, ...] = ()


def free_by_quaternion(mechanism: Mechanism, name: str) -> FreeBody | None:
    """A body that moves freely and rotates by a quaternion; None for any other."""
    found = free_body(mechanism, mechanism.body(name), used_once(mechanism))
    return found if found is not None and found.quaternion is not None else None


def can_be_fastened(mechanism: Mechanism, names: Sequence[str]) -> bool:
    """Whether these are free bodies, connected at most by legs of a platform: then joining them needs no constraint."""
    if any(free_by_quaternion(mechanism, name) is None for name in names) or mechanism.quasivelocities:
        return False
    tied = mechanism.loops or mechanism.constraints or mechanism.contacts
    return not tied or platform_of(mechanism) is not None


def fasten(mechanism: Mechanism, fastenings: Sequence[Fastening]) -> Joined:
    """The mechanism with bodies fixed on others, one after the other."""
    meanings: dict[str, Expression] = {}
    for one in fastenings:
        own = one.meanings()
        meanings = in_new_names(meanings, own) | own
        mechanism = one.applied(mechanism)
    return Joined(mechanism, meanings)


def with_legs_held(joined: Joined, legs: Mechanism) -> Joined:
    """If ring and chaser are one, the legs between them do not move: their coordinates become parameters.

    legs: the mechanism of their platform.
    """
    platform = platform_of(legs)
    if platform is None:
        return joined
    held = tuple(name for leg in platform.legs for name in leg.coordinates)
    loops = {leg.loop.name for leg in platform.legs}
    retained = tuple(one for one in joined.mechanism.loops if one.name not in loops)
    mechanism = lock(replace(joined.mechanism, loops=retained), *held)
    rates = {f"{name}'": ZERO for name in held}
    return Joined(mechanism, {**joined.meanings, **rates, **{name: Name(name) for name in held}}, held)


def in_new_names(formulas: Mapping[str, Expression], meanings: Mapping[str, Expression]) -> dict[str, Expression]:
    """Formulas with names replaced by their meanings."""

    def change(name: Name | Defined) -> Expression:
        return meanings.get(name.text, name) if isinstance(name, Name) else name

    return {name: renamed(one, change) for name, one in formulas.items()}


def _quaternion(body: FreeBody) -> QuaternionCoordinates:
    assert body.quaternion is not None
    return body.quaternion


def _sums(a: Vector, b: Vector) -> list[Expression]:
    return [one + other for one, other in zip(a, b, strict=True)]


def _cross(a: Vector, b: Vector) -> list[Expression]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _conjugate(q: Vector) -> list[Expression]:
    return [q[0], *(-one for one in q[1:])]


def _product(a: Vector, b: Vector) -> list[Expression]:
    """The product of two quaternions."""
    inner = a[0] * b[0] - (a[1] * b[1] + a[2] * b[2] + a[3] * b[3])
    outer = zip(b[1:], a[1:], _cross(a[1:], b[1:]), strict=True)
    return [inner, *(a[0] * one + b[0] * other + third for one, other, third in outer)]


def _turned(q: Vector, v: Vector) -> list[Expression]:
    """A vector rotated by a unit quaternion: v + 2 q0 (q x v) + 2 q x (q x v)."""
    once = _cross(q[1:], v)
    twice = _cross(q[1:], once)
    two = expression(2)
    return [one + two * (q[0] * a + b) for one, a, b in zip(v, once, twice, strict=True)]
