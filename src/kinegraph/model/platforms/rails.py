"""Carriages: bodies that slide on rails of the fixed frame and carry first joints of legs."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.model.mechanism import Body, Mechanism, Shift, Transform
from kinegraph.model.platforms.free_body import carrier, moved_by, uses


@dataclass(frozen=True)
class Carriage:
    """A body that slides without turning; `coordinates` are those of its rails, one or several."""

    body: Body
    coordinates: tuple[str, ...]

    @property
    def velocities(self) -> tuple[str, ...]:
        """The names of their rates."""
        return tuple(f"{name}'" for name in self.coordinates)

    @property
    def up_to_last_rail(self) -> tuple[Transform, ...]:
        """What leads from its base to the frame behind its last rail."""
        moved = [place for place, one in enumerate(self.body.transforms) if uses([one], set(self.coordinates))]
        return self.body.transforms[: moved[-1] + 1]


def carriage(mechanism: Mechanism, body: Body, moving: frozenset[str]) -> Carriage | None:
    """A body that nothing but shifts by single coordinates moves from the fixed frame; None for any other."""
    if carrier(mechanism, body.base) is not None:
        return None
    found = []
    for transform in body.transforms:
        name = moved_by(transform, Shift, transform.axis, moving) if isinstance(transform, Shift) else None
        if name is not None:
            found.append(name)
        elif uses([transform], {*mechanism.layout.positions, "t"}):
            return None
    return Carriage(body, tuple(found)) if found else None
