"""Legs found in the bodies and loops of a mechanism, however they were written.

A leg table becomes ordinary records, and records of the same form written by hand are the same legs. So nothing needs
to be remembered: what is a leg is seen from its bodies and its loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import Loop
from kinegraph.model.expression import Expression, Name, names
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Mechanism,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
    amounts,
)
from kinegraph.model.platforms.records import LegType

_SLIDING = {
    (False, False, JointType.SPHERICAL): LegType.UPS,
    (True, False, JointType.UNIVERSAL): LegType.SPU,
    (False, True, JointType.UNIVERSAL): LegType.UCU,
}


@dataclass(frozen=True)
class FoundLeg:
    """A leg by the names of its coordinates, bodies and loop. `lengths` are those of crank and rod."""

    type: LegType
    drive: str
    alpha: str
    beta: str
    twist: str | None
    first: Body
    second: Body
    loop: Loop
    at_base: tuple[Transform, ...]
    lengths: tuple[Expression, ...] = ()

    @property
    def name(self) -> str:
        """What messages call it: the beginning its bodies have in common."""
        ending = f"_{self.type.parts[0]}"
        return self.first.name.removesuffix(ending)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """All its coordinates, the driven one first."""
        return (self.drive, self.alpha, self.beta, *((self.twist,) if self.twist else ()))


@dataclass(frozen=True)
class Platform:
    """A mechanism that is nothing but a ring on legs, with nothing that closed forms do not cover.

    `position` are the ring's three coordinates, `turns` its rotations (none with a quaternion).
    """

    ring: Body
    position: tuple[str, str, str]
    turns: tuple[tuple[Axis, str], ...]
    quaternion: QuaternionCoordinates | None
    legs: tuple[FoundLeg, ...]


@lru_cache(maxsize=64)
def platform_of(mechanism: Mechanism) -> Platform | None:
    """The platform a mechanism is, or None: then it is an ordinary mechanism with loops."""
    legs = legs_of(mechanism)
    if not legs or len(legs) != len(mechanism.loops) or mechanism.constraints or mechanism.contacts:
        return None
    rings = {leg.loop.second.body for leg in legs}
    ring = mechanism.body_by_name.get(next(iter(rings)) or "")
    if len(rings) != 1 or ring is None or any(leg.first.base is not None for leg in legs):
        return None
    free = _free_body(mechanism, ring)
    if free is None:
        return None
    position, turns, quaternion = free
    own = {*position, *(name for _, name in turns), *(quaternion.names if quaternion else ())}
    own |= {name for leg in legs for name in leg.coordinates}
    platform = Platform(ring, position, turns, quaternion, legs)
    return platform if own == set(mechanism.layout.positions) and _covered(mechanism, platform) else None


def legs_of(mechanism: Mechanism) -> tuple[FoundLeg, ...]:
    """All legs, in the order of their loops."""
    moving = _used_once(mechanism)
    found = (_leg(mechanism, loop, moving) for loop in mechanism.loops if isinstance(loop, Loop))
    return tuple(leg for leg in found if leg is not None)


def _covered(mechanism: Mechanism, platform: Platform) -> bool:
    """Inertia in coordinates is that of drives alone, and nothing else moves."""
    driven = {leg.drive for leg in platform.legs}
    names_of = {one.name: one for one in mechanism.coordinates if isinstance(one, Coordinate)}
    if any(one.armature != ZERO for one in mechanism.coordinates if not isinstance(one, Coordinate)):
        return False
    if any(one.armature != ZERO and name not in driven for name, one in names_of.items()):
        return False
    moving = {platform.ring.name, *(body.name for leg in platform.legs for body in (leg.first, leg.second))}
    positions = set(mechanism.layout.positions)
    others = [body for body in mechanism.bodies if body.name not in moving]
    return not any(_uses(body.transforms, positions | {"t"}) for body in others)


def _used_once(mechanism: Mechanism) -> frozenset[str]:
    """The coordinates that stand, alone, in one transform of all bodies."""
    counts = dict.fromkeys((one.name for one in mechanism.coordinates if isinstance(one, Coordinate)), 0)
    for body in mechanism.bodies:
        for transform in body.transforms:
            for amount in amounts(transform):
                for name in names(amount):
                    if name in counts:
                        counts[name] += 1 if isinstance(amount, Name) else 2
    return frozenset(name for name, count in counts.items() if count == 1)


def _uses(transforms: tuple[Transform, ...], wanted: set[str]) -> bool:
    return any(wanted & names(amount) for transform in transforms for amount in amounts(transform))


def _moved(transform: Transform, kind: type[Rotation | Shift], axis: Axis, moving: frozenset[str]) -> str | None:
    """The coordinate that a transform of this kind and axis moves by, if it does."""
    if not isinstance(transform, kind) or transform.axis is not axis:
        return None
    amount = amounts(transform)[0]
    return amount.text if isinstance(amount, Name) and amount.text in moving else None


def _tail(
    transforms: tuple[Transform, ...], wanted: tuple[tuple[type[Rotation | Shift], Axis], ...], moving: frozenset[str]
) -> tuple[str, ...] | None:
    """The coordinates of the last transforms, if these are the wanted ones."""
    if len(transforms) < len(wanted):
        return None
    last = transforms[len(transforms) - len(wanted) :]
    found = [_moved(one, kind, axis, moving) for one, (kind, axis) in zip(last, wanted, strict=True)]
    known = tuple(name for name in found if name is not None)
    return known if len(known) == len(wanted) else None


def _leg(mechanism: Mechanism, loop: Loop, moving: frozenset[str]) -> FoundLeg | None:
    bodies = mechanism.body_by_name
    second = bodies.get(loop.first.body or "")
    first = bodies.get(second.base or "") if second else None
    if first is None or second is None or loop.second.body is None:
        return None
    return _sliding(first, second, loop, moving) or _cranked(first, second, loop, moving)


def _sliding(first: Body, second: Body, loop: Loop, moving: frozenset[str]) -> FoundLeg | None:
    two = (Rotation, Axis.X), (Rotation, Axis.Y)
    turns = _tail(first.transforms, (*two, (Rotation, Axis.Z)), moving) or _tail(first.transforms, two, moving)
    slide = _tail(second.transforms, ((Rotation, Axis.Z), (Shift, Axis.Z)), moving)
    slide = slide or _tail(second.transforms, ((Shift, Axis.Z),), moving)
    if turns is None or slide is None or len(slide) != len(second.transforms) or loop.first.transforms:
        return None
    kind = _SLIDING.get((len(turns) == 3, len(slide) == 2, loop.type))
    if kind is None or (kind.universal_at_ring and loop.joint.axes != (Axis.X, Axis.Y)):
        return None
    at_base = first.transforms[: len(first.transforms) - len(turns)]
    twist = turns[2] if len(turns) == 3 else slide[0] if len(slide) == 2 else None
    return (
        FoundLeg(kind, slide[-1], turns[0], turns[1], twist, first, second, loop, at_base)
        if _rigid(at_base, loop, moving)
        else None
    )


def _cranked(first: Body, second: Body, loop: Loop, moving: frozenset[str]) -> FoundLeg | None:
    theta = _tail(first.transforms, ((Rotation, Axis.Z),), moving)
    two = (Rotation, Axis.Z), (Rotation, Axis.Y)
    turns = _tail(second.transforms[1:], (*two, (Rotation, Axis.X)), moving)
    turns = turns or _tail(second.transforms[1:], two, moving)
    ends = (*second.transforms[:1], *loop.first.transforms)
    if theta is None or turns is None or len(second.transforms) != 1 + len(turns) or len(ends) != 2:
        return None
    lengths = [one.distance for one in ends if isinstance(one, Shift) and one.axis is Axis.X]
    kind = LegType.RUS if len(turns) == 2 else LegType.RSU
    joint = JointType.SPHERICAL if kind is LegType.RUS else JointType.UNIVERSAL
    if len(lengths) != 2 or loop.type is not joint:
        return None
    if kind is LegType.RSU and loop.joint.axes != (Axis.Y, Axis.Y):
        return None
    at_base = first.transforms[:-1]
    twist = turns[2] if kind is LegType.RSU else None
    found = FoundLeg(kind, theta[0], turns[0], turns[1], twist, first, second, loop, at_base, tuple(lengths))
    return found if _rigid(at_base, loop, moving) else None


def _rigid(at_base: tuple[Transform, ...], loop: Loop, moving: frozenset[str]) -> bool:
    """Whether the first joint is moved by time at most, and that without turning; the joint on the ring not at all."""
    turning = tuple(one for one in at_base if not isinstance(one, Shift))
    still = not _uses(turning, {"t"}) and not _uses(loop.second.transforms, {"t"})
    return still and not _uses(at_base, set(moving))


def _free_body(
    mechanism: Mechanism, ring: Body
) -> tuple[tuple[str, str, str], tuple[tuple[Axis, str], ...], QuaternionCoordinates | None] | None:
    """The coordinates of a body that moves freely from the fixed frame."""
    moving = _used_once(mechanism)
    shifts, turns = ring.transforms[:3], ring.transforms[3:]
    position = tuple(_moved(one, Shift, axis, moving) for one, axis in zip(shifts, Axis, strict=False))
    if ring.base is not None or len(position) != 3 or None in position:
        return None
    x, y, z = (name for name in position if name is not None)
    if len(turns) == 1 and isinstance(turns[0], Quaternion):
        texts = tuple(one.text for one in turns[0].components if isinstance(one, Name))
        groups = (one for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates))
        group = next((one for one in groups if one.names == texts), None)
        return ((x, y, z), (), group) if group else None
    angles = [(one.axis, _moved(one, Rotation, one.axis, moving)) for one in turns if isinstance(one, Rotation)]
    known = tuple((axis, name) for axis, name in angles if name is not None)
    different = len({axis for axis, _ in known}) == 3
    return ((x, y, z), known, None) if len(turns) == len(known) == 3 and different else None
