"""Contacts that take part in an impact or carry forces, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.solve.contacts.complementarity import Floats


@dataclass(frozen=True)
class ActingContact:
    """A contact that takes part. rows: of its slip directions. drag: the friction force per normal force along each,
    where it is known to slip; None where it may stick. prior: a normal impulse it has in any case."""

    normal: int
    rows: tuple[int, ...]
    friction: float
    drag: tuple[float, ...] | None = None
    prior: float = 0.0


@dataclass(frozen=True)
class Response:
    """The forces by row; for each contact whether its normal row acts, and its friction force per normal force where it
    slips (None: it sticks, or nothing works along the surface)."""

    forces: Floats
    acts: tuple[bool, ...]
    drags: tuple[tuple[float, ...] | None, ...]
