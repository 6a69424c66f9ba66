"""Motion of joints in robot files: transforms, coordinates, displacements, and legal names for them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.io.robot.placement import Direction, linear
from kinegraph.model.expressions import Expression, Name
from kinegraph.model.mechanism import (
    ONE,
    ZERO,
    Axis,
    Coordinate,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
    inverse,
)
from kinegraph.model.names import MAX_NAME, name_fault

_ILLEGAL = re.compile(r"[^\w$]+")
_BEGINNING = re.compile(r"[^\W\d_]")


class NameTable:
    """Legal, unique names.

    Legal names in `originals` are kept. In all others, illegal characters become `_`, and a number after `$` makes
    them unique.
    """

    def __init__(self, originals: Iterable[str], forbidden: Iterable[str] = ()) -> None:
        self._forbidden = frozenset(forbidden)
        self._given: dict[str, str] = {}
        listed = list(dict.fromkeys(originals))
        self._taken = {name for name in listed if self._legal(name)}
        for name in listed:
            self._given[name] = name if name in self._taken else self.fresh(name)

    def __getitem__(self, original: str) -> str:
        """The legal name of an original."""
        return self._given[original]

    @property
    def values(self) -> tuple[str, ...]:
        """All legal names of originals."""
        return tuple(self._given.values())

    def fresh(self, wanted: str) -> str:
        """A new legal name similar to `wanted`."""
        legal = _ILLEGAL.sub("_", wanted).strip("_")[: MAX_NAME - 12] or "unnamed"
        if not _BEGINNING.match(legal):
            legal = f"n_{legal}"
        if not self._legal(legal):
            legal += "_"
        name, number = legal, 1
        while name in self._taken or not self._legal(name):
            number += 1
            name = f"{legal}${number}"
        self._taken.add(name)
        return name

    def _legal(self, name: str) -> bool:
        return name_fault(name) is None and name not in self._forbidden


AnyCoordinate = Coordinate | QuaternionCoordinates
Orientation = tuple[Expression, Expression, Expression, Expression]
UNTURNED: Orientation = (ONE, ZERO, ZERO, ZERO)


@dataclass(frozen=True)
class JointMotion:
    """The motion of one joint. Each displacement is one expression, or the four names of a quaternion."""

    transforms: tuple[Transform, ...] = ()
    coordinates: tuple[AnyCoordinate, ...] = ()
    displacements: tuple[tuple[Expression, ...], ...] = ()


def all_names(coordinate: AnyCoordinate) -> tuple[str, ...]:
    """The names of the positions of a coordinate, and of the velocities of a quaternion."""
    return (coordinate.name,) if isinstance(coordinate, Coordinate) else (*coordinate.names, *coordinate.velocities)


def ball(names: NameTable, prefix: str, start: Orientation = UNTURNED) -> JointMotion:
    """A ball joint: a quaternion, with the angular velocity in body axes."""
    e0, e1, e2, e3 = (names.fresh(f"{prefix}_e{i}") for i in range(4))
    wx, wy, wz = (names.fresh(f"{prefix}_w{axis}") for axis in "xyz")
    group = QuaternionCoordinates((e0, e1, e2, e3), (wx, wy, wz), start)
    components = (Name(e0), Name(e1), Name(e2), Name(e3))
    return JointMotion((Quaternion(components),), (group,), (components,))


def free(
    names: NameTable,
    prefix: str,
    start: tuple[Expression, Expression, Expression] = (ZERO, ZERO, ZERO),
    orientation: Orientation = UNTURNED,
) -> JointMotion:
    """Six degrees of freedom: shifts along the axes before the joint, then a quaternion."""
    moved = [Coordinate(names.fresh(f"{prefix}_{axis.name.lower()}"), at) for axis, at in zip(Axis, start, strict=True)]
    turned = ball(names, prefix, orientation)
    shifts = [Name(coordinate.name) for coordinate in moved]
    return JointMotion(
        (*(Shift(axis, shift) for axis, shift in zip(Axis, shifts, strict=True)), *turned.transforms),
        (*moved, *turned.coordinates),
        (*((shift,) for shift in shifts), *turned.displacements),
    )


def planar(names: NameTable, prefix: str, normal: Direction) -> JointMotion:
    """Three degrees of freedom: shifts along two axes perpendicular to the normal, then a rotation about it.

    The two axes follow the normal in cyclic order, so the three axes are right-handed.
    """
    u, v, turn = (Coordinate(names.fresh(f"{prefix}_{word}")) for word in ("u", "v", "turn"))
    first, second = Axis((normal.axis.value + 1) % 3), Axis((normal.axis.value + 2) % 3)
    sign = Fraction(normal.sign)
    moves = (
        Shift(first, Name(u.name)),
        Shift(second, linear(sign, Name(v.name))),
        Rotation(normal.axis, linear(sign, Name(turn.name))),
    )
    own = (u, v, turn)
    return JointMotion((*normal.turns, *moves, *inverse(normal.turns)), own, tuple((Name(c.name),) for c in own))
