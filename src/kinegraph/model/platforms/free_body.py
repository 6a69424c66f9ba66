"""Bodies that move freely from the fixed frame, and bodies fastened to others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kinegraph.model.expression import Name, names
from kinegraph.model.mechanism import (
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


@dataclass(frozen=True)
class FreeBody:
    """A body by its six degrees of freedom: `position` are three coordinates, `turns` its rotations (none with a
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
    """The body that one is fastened to, itself if it moves; None for the fixed frame."""
    moves = {*mechanism.layout.positions, "t"}
    while name is not None and not uses(mechanism.body(name).transforms, moves):
        name = mechanism.body(name).base
    return name


def used_once(mechanism: Mechanism) -> frozenset[str]:
    """The coordinates that stand, alone, in one transform of all bodies."""
    counts = dict.fromkeys((one.name for one in mechanism.coordinates if isinstance(one, Coordinate)), 0)
    for body in mechanism.bodies:
        for transform in body.transforms:
            for amount in amounts(transform):
                for name in names(amount):
                    if name in counts:
                        counts[name] += 1 if isinstance(amount, Name) else 2
    return frozenset(name for name, count in counts.items() if count == 1)


def uses(transforms: Iterable[Transform], wanted: set[str]) -> bool:
    """Whether an amount of a transform has one of these names."""
    return any(wanted & names(amount) for transform in transforms for amount in amounts(transform))


def moved_by(transform: Transform, kind: type[Rotation | Shift], axis: Axis, moving: frozenset[str]) -> str | None:
    """The coordinate that a transform of this kind and axis moves by, if it does."""
    if not isinstance(transform, kind) or transform.axis is not axis:
        return None
    amount = amounts(transform)[0]
    return amount.text if isinstance(amount, Name) and amount.text in moving else None
