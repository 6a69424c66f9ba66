"""The principle of release: a joint is set free in all six directions, and the forces that hold it are its reactions.

Six coordinates that stay zero are inserted at the joint's point on the body's side: behind the last shift of its
motion, so that it is the pin of a revolute joint and travels with what slides. The generalized forces on them are the
force and moment the joint transmits, whatever acts on the bodies behind it: weight, springs, other constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinegraph.errors import ModelError
from kinegraph.model.expression import TIME, Name, names
from kinegraph.model.mechanism import Axis, Body, Coordinate, Mechanism, Quaternion, Rotation, Shift, Transform
from kinegraph.model.names import did_you_mean

_FORCES = tuple(f"release {axis}" for axis in "xyz")
_MOMENTS = tuple(f"release about {axis}" for axis in "xyz")
#: The coordinates that stay zero, forces before moments.
RELEASED = (*_FORCES, *_MOMENTS)
#: The frame at the joint's point.
JOINT = "release frame"


@dataclass(frozen=True)
class Released:
    """The mechanism with one joint released; `joint` is the frame in whose axes the six forces are."""

    mechanism: Mechanism
    body: str
    base: str | None
    joint: str = JOINT


def released(mechanism: Mechanism, body: str) -> Released:
    """The joint that carries a body, released. Its six coordinates are the last of q, v and tau."""
    if body not in mechanism.body_by_name:
        raise ModelError(f"there is no body {body!r}", remedy=did_you_mean(body, mechanism.body_by_name))
    body_of = mechanism.body(body)
    before, after = _split(mechanism, body_of)
    carrier = Body(JOINT, body_of.base, before)
    freed = replace(body_of, base=JOINT, transforms=(*_free_transforms(), *after))
    bodies = tuple(item for one in mechanism.bodies for item in ((carrier, freed) if one.name == body else (one,)))
    coordinates = (*mechanism.coordinates, *(Coordinate(name) for name in RELEASED))
    return Released(replace(mechanism, bodies=bodies, coordinates=coordinates), body, body_of.base)


def _split(mechanism: Mechanism, body: Body) -> tuple[tuple[Transform, ...], tuple[Transform, ...]]:
    """The transforms before the joint's point, and the rest; of a body that is fixed, all and none."""
    place = joint_point(mechanism, body)
    return body.transforms[:place], body.transforms[place:]


def joint_motion(mechanism: Mechanism, body: Body) -> tuple[int, ...]:
    """Which transforms of a body move."""
    moving = {*mechanism.layout.positions, TIME}
    return tuple(k for k, transform in enumerate(body.transforms) if _names(transform) & moving)


def joint_point(mechanism: Mechanism, body: Body) -> int:
    """How many transforms lead to the joint's point on the body's side; of a body that is fixed, all."""
    motion = joint_motion(mechanism, body)
    if not motion:
        return len(body.transforms)
    shifts = [k + 1 for k in range(motion[0], motion[-1] + 1) if isinstance(body.transforms[k], Shift)]
    return shifts[-1] if shifts else motion[0]


def _names(transform: Transform) -> frozenset[str]:
    if isinstance(transform, Quaternion):
        return frozenset().union(*(names(item) for item in transform.components))
    return frozenset(names(transform.angle if isinstance(transform, Rotation) else transform.distance))


def _free_transforms() -> list[Transform]:
    shifts = [Shift(axis, Name(name)) for axis, name in zip(Axis, _FORCES, strict=True)]
    return [*shifts, *(Rotation(axis, Name(name)) for axis, name in zip(Axis, _MOMENTS, strict=True))]
