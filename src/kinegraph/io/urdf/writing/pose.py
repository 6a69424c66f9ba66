"""Fixed transforms as URDF writes them: xyz and roll, pitch, yaw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, sin
from typing import TypeAlias

from kinegraph.errors import ModelError
from kinegraph.io.urdf.writing.affine import located
from kinegraph.model.evaluate import Value, number
from kinegraph.model.mechanism import Axis, Rotation, Shift, Transform

Vector: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Turn:
    """A turn about a coordinate axis by a known angle."""

    axis: Axis
    amount: float


@dataclass(frozen=True)
class Move:
    """A shift along a coordinate axis by a known distance."""

    axis: Axis
    amount: float


@dataclass(frozen=True)
class Attitude:
    """A rotation by a known quaternion of any length, scalar part first."""

    components: tuple[float, float, float, float]


Step: TypeAlias = Turn | Move | Attitude


def steps(transforms: Sequence[Transform], values: Mapping[str, Value], where: str) -> list[Step]:
    """Fixed transforms as numbers."""
    return [_step(transform, values, where) for transform in transforms]


def _step(transform: Transform, values: Mapping[str, Value], where: str) -> Step:
    try:
        if isinstance(transform, Rotation):
            return Turn(transform.axis, number(transform.angle, values))
        if isinstance(transform, Shift):
            return Move(transform.axis, number(transform.distance, values))
        e0, e1, e2, e3 = (number(component, values) for component in transform.components)
        return Attitude((e0, e1, e2, e3))
    except ModelError as error:
        raise located(error, where) from None


def joined(first: Sequence[Step], second: Sequence[Step]) -> list[Step]:
    """One way after another; turns and moves that undo each other are left out."""
    found = list(first)
    for step in second:
        last = found[-1] if found else None
        undone = not isinstance(step, Attitude) and last == type(step)(step.axis, -step.amount)
        if undone:
            found.pop()
        elif isinstance(step, Attitude) or step.amount:
            found.append(step)
    return found


def origin(way: Sequence[Step]) -> tuple[Vector, Vector]:
    """xyz and rpy of a way: as it stands where it has URDF's order, else computed."""
    written = _as_it_stands(way)
    if written is not None:
        return written
    turn, position = pose(way)
    return position, roll_pitch_yaw(turn)


def _as_it_stands(way: Sequence[Step]) -> tuple[Vector, Vector] | None:
    """Moves along x, y, z come first, in any order, then turns about z, y, x."""
    xyz, rpy = [0.0] * 3, [0.0] * 3
    lowest = 3
    for step in way:
        if isinstance(step, Move) and lowest == 3:
            xyz[step.axis.value] += step.amount
        elif isinstance(step, Turn) and step.axis.value < lowest:
            lowest = step.axis.value
            rpy[lowest] = step.amount
        else:
            return None
    return (xyz[0], xyz[1], xyz[2]), (rpy[0], rpy[1], rpy[2])


def pose(way: Sequence[Step]) -> tuple[Matrix, Vector]:
    """Rotation and position at the end of a way."""
    turned, position = IDENTITY, (0.0, 0.0, 0.0)
    for step in way:
        if isinstance(step, Move):
            there = apply(turned, unit(step.axis, step.amount))
            position = (position[0] + there[0], position[1] + there[1], position[2] + there[2])
        else:
            turned = product(turned, _matrix(step))
    return turned, position


def unit(axis: Axis, length: float = 1.0) -> Vector:
    """A vector along an axis."""
    x, y, z = (length if place == axis.value else 0.0 for place in range(3))
    return x, y, z


def apply(matrix: Matrix, vector: Vector) -> Vector:
    """matrix * vector."""
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def product(left: Matrix, right: Matrix) -> Matrix:
    """left * right."""
    first, second, third = (apply(transposed(right), row) for row in left)
    return first, second, third


def transposed(matrix: Matrix) -> Matrix:
    """The way back of a rotation."""
    first, second, third = zip(*matrix, strict=True)
    return first, second, third


def _matrix(step: Turn | Attitude) -> Matrix:
    if isinstance(step, Attitude):
        return _of_quaternion(step.components)
    s, c = sin(step.amount), cos(step.amount)
    if step.axis is Axis.X:
        return (1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)
    if step.axis is Axis.Y:
        return (c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)
    return (c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)


def _of_quaternion(components: tuple[float, float, float, float]) -> Matrix:
    length = hypot(*components)
    w, x, y, z = (component / length for component in components)
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def roll_pitch_yaw(turned: Matrix) -> Vector:
    """The angles of Rz(yaw) Ry(pitch) Rx(roll).

    Where the pitch is a right angle the yaw can be any; the others are computed after turning it back, so they fit it.
    """
    yaw = atan2(turned[1][0], turned[0][0])
    rest = product(_matrix(Turn(Axis.Z, -yaw)), turned)
    return atan2(-rest[1][2], rest[1][1]), atan2(-rest[2][0], rest[0][0]), yaw
