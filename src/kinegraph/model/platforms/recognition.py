"""Recognize free platforms, carriages and legs in the bodies and loops of any mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sin

from kinegraph.model.constraints import JointType, Loop
from kinegraph.model.expressions import Expression, Name, names
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
from kinegraph.model.platforms.leg_table import LegType


@dataclass(frozen=True)
class FreeBody:
    """A body with six degrees of freedom: `position` are three coordinates, `turns` its rotations (none with a
    quaternion)."""

    body: Body
    position: tuple[str, str, str]
    turns: tuple[tuple[Axis, str], ...]
    quaternion: QuaternionCoordinates | None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of its positions."""
        return (*self.position, *(self.quaternion.names if self.quaternion else (name for _, name in self.turns)))

    @property
    def velocities(self) -> tuple[str, ...]:
        """The names of its six velocities."""
        angular = self.quaternion.velocities if self.quaternion else tuple(f"{name}'" for _, name in self.turns)
        return (*(f"{name}'" for name in self.position), *angular)


def free_body(mechanism: Mechanism, body: Body, moving: frozenset[str]) -> FreeBody | None:
    """A body that moves freely from the fixed frame; None for any other."""
    shifts, turns = body.transforms[:3], body.transforms[3:]
    position = tuple(moved_by(one, Shift, axis, moving) for one, axis in zip(shifts, Axis, strict=False))
    if body.base is not None or len(position) != 3 or None in position:
        return None
    x, y, z = (name for name in position if name is not None)
    if len(turns) == 1 and isinstance(turns[0], Quaternion):
        texts = tuple(one.text for one in turns[0].components if isinstance(one, Name))
        groups = (one for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates))
        group = next((one for one in groups if one.names == texts), None)
        return FreeBody(body, (x, y, z), (), group) if group else None
    angles = [(one.axis, moved_by(one, Rotation, one.axis, moving)) for one in turns if isinstance(one, Rotation)]
    known = tuple((axis, name) for axis, name in angles if name is not None)
    different = len({axis for axis, _ in known}) == 3
    return FreeBody(body, (x, y, z), known, None) if len(turns) == len(known) == 3 and different else None


def carrier(mechanism: Mechanism, name: str | None) -> str | None:
    """The moving body that a body is fixed to (itself if it moves); None for the fixed frame."""
    moves = {*mechanism.layout.positions, "t"}
    while name is not None and not uses(mechanism.body(name).transforms, moves):
        name = mechanism.body(name).base
    return name


def used_once(mechanism: Mechanism) -> frozenset[str]:
    """The coordinates that are the amount of exactly one transform and occur in no other."""
    counts = dict.fromkeys((one.name for one in mechanism.coordinates if isinstance(one, Coordinate)), 0)
    for body in mechanism.bodies:
        for transform in body.transforms:
            for amount in amounts(transform):
                for name in names(amount):
                    if name in counts:
                        counts[name] += 1 if isinstance(amount, Name) else 2
    return frozenset(name for name, count in counts.items() if count == 1)


def uses(transforms: Iterable[Transform], wanted: set[str]) -> bool:
    """Whether a transform uses one of these names."""
    return any(wanted & names(amount) for transform in transforms for amount in amounts(transform))


def moved_by(transform: Transform, kind: type[Rotation | Shift], axis: Axis, moving: frozenset[str]) -> str | None:
    """The coordinate of a transform of this kind and axis; None if it is not a single coordinate."""
    if not isinstance(transform, kind) or transform.axis is not axis:
        return None
    amount = amounts(transform)[0]
    return amount.text if isinstance(amount, Name) and amount.text in moving else None


@dataclass(frozen=True)
class Carriage:
    """A body that slides on rails and carries legs; one or more `coordinates`, one per rail.

    carrier: the moving body with the rails; None for the fixed frame.
    """

    body: Body
    coordinates: tuple[str, ...]
    carrier: str | None = None

    @property
    def velocities(self) -> tuple[str, ...]:
        """The names of their rates."""
        return tuple(f"{name}'" for name in self.coordinates)

    @property
    def up_to_last_rail(self) -> tuple[Transform, ...]:
        """The transforms from its base to the frame after its last rail."""
        moved = [place for place, one in enumerate(self.body.transforms) if uses([one], set(self.coordinates))]
        return self.body.transforms[: moved[-1] + 1]


def carriage(mechanism: Mechanism, body: Body, moving: frozenset[str]) -> Carriage | None:
    """A body that moves relative to its base only by shifts of single coordinates; None for any other.

    The base is the fixed frame or a free body.
    """
    base = carrier(mechanism, body.base)
    if base is not None and free_body(mechanism, mechanism.body(base), moving) is None:
        return None
    found = []
    for transform in body.transforms:
        name = moved_by(transform, Shift, transform.axis, moving) if isinstance(transform, Shift) else None
        if name is not None:
            found.append(name)
        elif uses([transform], {*mechanism.layout.positions, "t"}):
            return None
    return Carriage(body, tuple(found), base) if found else None


# Legs are recognized from their bodies and loops, whether they come from a leg table or were written by hand.

#: The sine of the angle between crank and rod below which the closed form of a leg loses all digits.
_IN_LINE = 1e-6

_PRISMATIC = {
    (False, False, JointType.SPHERICAL): LegType.UPS,
    (True, False, JointType.UNIVERSAL): LegType.SPU,
    (False, True, JointType.UNIVERSAL): LegType.UCU,
}


@dataclass(frozen=True)
class RecognizedLeg:
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
    #: The moving body that the leg is on; None for the fixed frame.
    carrier: str | None = None

    @property
    def name(self) -> str:
        """The name of the leg: the common prefix of its bodies."""
        ending = f"_{self.type.parts[0]}"
        return self.first.name.removesuffix(ending)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """All its coordinates, the driven one first."""
        return (self.drive, self.alpha, self.beta, *((self.twist,) if self.twist else ()))


@dataclass(frozen=True)
class Platform:
    """A platform (`moving`) on legs, covered by closed forms.

    base: the free body that carries all legs; None for the fixed frame. others: the velocities of other trees, which
    only elements connect to the platform, base and legs. carriages: slide on rails of the base and carry legs.
    """

    moving: FreeBody
    legs: tuple[RecognizedLeg, ...]
    base: FreeBody | None = None
    others: tuple[str, ...] = ()
    carriages: tuple[Carriage, ...] = ()


@lru_cache(maxsize=64)
def platform_of(mechanism: Mechanism) -> Platform | None:
    """The platform, if the mechanism is one; None for any other mechanism with loops."""
    legs = legs_of(mechanism)
    if not legs or len(legs) != len(mechanism.loops) or mechanism.constraints or mechanism.contacts:
        return None
    platforms = {carrier(mechanism, leg.loop.second.body) for leg in legs}
    carriages = _carriages(mechanism, legs)
    on_rails = {one.body.name: one.carrier for one in carriages}
    bases = {on_rails.get(leg.carrier, leg.carrier) if leg.carrier else None for leg in legs}
    if len(platforms) != 1 or len(bases) != 1 or platforms == bases:
        return None
    moving, base = (_free(mechanism, *names) for names in (platforms, bases))
    if moving is None or (base is None and bases != {None}):
        return None
    own = {*moving.velocities, *(base.velocities if base else ())}
    own |= {f"{name}'" for leg in legs for name in leg.coordinates}
    own |= {name for one in carriages for name in one.velocities}
    others = tuple(name for name in mechanism.layout.velocities if name not in own)
    platform = Platform(moving, legs, base, others, carriages)
    return platform if _covered(mechanism, platform) else None


def _carriages(mechanism: Mechanism, legs: tuple[RecognizedLeg, ...]) -> tuple[Carriage, ...]:
    """The bodies that carry legs along rails."""
    moving = used_once(mechanism)
    names = dict.fromkeys(leg.carrier for leg in legs if leg.carrier is not None)
    found = (carriage(mechanism, mechanism.body(name), moving) for name in names)
    return tuple(one for one in found if one is not None)


def _free(mechanism: Mechanism, name: str | None) -> FreeBody | None:
    return None if name is None else free_body(mechanism, mechanism.body(name), used_once(mechanism))


def legs_of(mechanism: Mechanism) -> tuple[RecognizedLeg, ...]:
    """All legs, in the order of their loops."""
    moving = used_once(mechanism)
    found = (_leg(mechanism, loop, moving) for loop in mechanism.loops if isinstance(loop, Loop))
    return tuple(replace(leg, carrier=carrier(mechanism, leg.first.base)) for leg in found if leg is not None)


def legs_beyond_closed_form(mechanism: Mechanism, at: Mapping[str, float]) -> tuple[str, ...]:
    """Legs of a platform whose crank and rod are in line, or bent to the side that the closed form does not cover."""
    platform = platform_of(mechanism)
    if platform is None:
        return ()
    return tuple(leg.name for leg in platform.legs if leg.type.has_crank and sin(at[leg.alpha]) < _IN_LINE)


def _covered(mechanism: Mechanism, platform: Platform) -> bool:
    """Whether closed forms apply: armature only in drives, and no other body moves on platform, base or legs."""
    stated = zip(mechanism.layout.velocities, mechanism.armature, strict=True)
    allowed = {*platform.others, *(f"{leg.drive}'" for leg in platform.legs)}
    allowed |= {name for one in platform.carriages for name in one.velocities}
    if any(amount != ZERO and name not in allowed for name, amount in stated):
        return False
    frees = {platform.moving.body.name, *((platform.base.body.name,) if platform.base else ())}
    legs = {body.name for leg in platform.legs for body in (leg.first, leg.second)}
    own = frees | legs | {one.body.name for one in platform.carriages}
    others = [body for body in mechanism.bodies if body.name not in own]
    moving = _positions(platform)
    return all(not uses(body.transforms, moving) and _is_separate(mechanism, body, own) for body in others)


def _positions(platform: Platform) -> set[str]:
    """The coordinates of platform, base, carriages and legs."""
    parts = (platform.moving, platform.base, *platform.legs, *platform.carriages)
    return {name for part in parts if part is not None for name in part.coordinates}


def _is_separate(mechanism: Mechanism, body: Body, own: set[str]) -> bool:
    """Whether a body is fixed to platform, base or a leg, or is on none of them."""
    found = carrier(mechanism, body.name)
    if found in own:
        return True
    while found is not None and found not in own:
        found = mechanism.body(found).base
    return found is None


def _tail(
    transforms: tuple[Transform, ...], wanted: tuple[tuple[type[Rotation | Shift], Axis], ...], moving: frozenset[str]
) -> tuple[str, ...] | None:
    """The coordinates of the last transforms, if these have the wanted kinds and axes."""
    if len(transforms) < len(wanted):
        return None
    last = transforms[len(transforms) - len(wanted) :]
    found = [moved_by(one, kind, axis, moving) for one, (kind, axis) in zip(last, wanted, strict=True)]
    known = tuple(name for name in found if name is not None)
    return known if len(known) == len(wanted) else None


def _leg(mechanism: Mechanism, loop: Loop, moving: frozenset[str]) -> RecognizedLeg | None:
    bodies = mechanism.body_by_name
    second = bodies.get(loop.first.body or "")
    first = bodies.get(second.base or "") if second else None
    if first is None or second is None or loop.second.body is None:
        return None
    return _prismatic(first, second, loop, moving) or _cranked(first, second, loop, moving)


def _prismatic(first: Body, second: Body, loop: Loop, moving: frozenset[str]) -> RecognizedLeg | None:
    two = (Rotation, Axis.X), (Rotation, Axis.Y)
    turns = _tail(first.transforms, (*two, (Rotation, Axis.Z)), moving) or _tail(first.transforms, two, moving)
    shift = _tail(second.transforms, ((Rotation, Axis.Z), (Shift, Axis.Z)), moving)
    shift = shift or _tail(second.transforms, ((Shift, Axis.Z),), moving)
    if turns is None or shift is None or len(shift) != len(second.transforms) or loop.first.transforms:
        return None
    kind = _PRISMATIC.get((len(turns) == 3, len(shift) == 2, loop.type))
    if kind is None or (kind.universal_at_platform and loop.joint.axes != (Axis.X, Axis.Y)):
        return None
    at_base = first.transforms[: len(first.transforms) - len(turns)]
    twist = turns[2] if len(turns) == 3 else shift[0] if len(shift) == 2 else None
    return (
        RecognizedLeg(kind, shift[-1], turns[0], turns[1], twist, first, second, loop, at_base)
        if _rigid(at_base, loop, moving)
        else None
    )


def _cranked(first: Body, second: Body, loop: Loop, moving: frozenset[str]) -> RecognizedLeg | None:
    theta = _tail(first.transforms, ((Rotation, Axis.Z),), moving)
    two = (Rotation, Axis.Z), (Rotation, Axis.Y)
    turns = _tail(second.transforms[1:], (*two, (Rotation, Axis.X)), moving)
    turns = turns or _tail(second.transforms[1:], two, moving)
    ends = (*second.transforms[:1], *loop.first.transforms)
    if theta is None or turns is None or len(second.transforms) != 1 + len(turns) or len(ends) != 2:
        return None
    lengths = [one.distance for one in ends if isinstance(one, Shift) and one.axis is Axis.X and not uses([one], {"t"})]
    kind = LegType.RUS if len(turns) == 2 else LegType.RSU
    joint = JointType.SPHERICAL if kind is LegType.RUS else JointType.UNIVERSAL
    if len(lengths) != 2 or loop.type is not joint:
        return None
    if kind is LegType.RSU and loop.joint.axes != (Axis.Y, Axis.Y):
        return None
    at_base = first.transforms[:-1]
    twist = turns[2] if kind is LegType.RSU else None
    found = RecognizedLeg(kind, theta[0], turns[0], turns[1], twist, first, second, loop, at_base, tuple(lengths))
    return found if _rigid(at_base, loop, moving) else None


def _rigid(at_base: tuple[Transform, ...], loop: Loop, moving: frozenset[str]) -> bool:
    """Whether the joint on the base is fixed or only translated by time, and the joint on the platform is fixed."""
    rotations = tuple(one for one in at_base if not isinstance(one, Shift))
    ends = (*loop.first.transforms, *loop.second.transforms)
    return not uses((*rotations, *ends), {"t"}) and not uses((*at_base, *ends), set(moving))
