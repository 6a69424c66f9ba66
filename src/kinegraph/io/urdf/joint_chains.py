"""Transforms of a body as a chain of URDF joints: affine displacements, fixed poses, hinges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import atan2, cos, hypot, sin
from typing import NamedTuple, TypeAlias

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, number, value
from kinegraph.model.expressions import TIME, Compound, Expression, Name, Operation, names, postorder, text
from kinegraph.model.mechanism import Axis, Body, Mechanism, Quaternion, Rotation, Shift, Transform

ZERO = Fraction(0)


class Affine(NamedTuple):
    """The displacement of a URDF joint: factor * coordinate + offset; no coordinate if it is fixed."""

    coordinate: str | None
    factor: Value
    offset: Value

    def reversed(self) -> Affine:
        """The same displacement in the opposite direction."""
        return Affine(self.coordinate, -self.factor, -self.offset)


def located(error: ModelError, where: str) -> ModelError:
    """The same error with a place in the mechanism."""
    return ModelError(f"{where}: {str(error).partition(chr(10))[0]}", remedy=error.remedy)


def affine(root: Expression, coordinates: Collection[str], values: Mapping[str, Value]) -> Affine:
    """The affine form of an expression of at most one coordinate."""
    used = sorted(names(root) & set(coordinates))
    if len(used) > 1:
        remedy = "a URDF joint has one coordinate; split the body, or export to another format"
        raise ModelError(f"{_short(root)} depends on {' and '.join(used)}", remedy=remedy)
    coordinate = used[0] if used else None
    forms: list[_Form] = []
    for here in postorder(root):
        if isinstance(here, Compound):
            operands = forms[-len(here.parts) :]
            del forms[-len(here.parts) :]
            form = _applied(here, operands)
            if form is None:
                remedy = "URDF joints are linear in their coordinate; export to another format"
                raise ModelError(f"{_short(root)} is not linear in {coordinate}", remedy=remedy)
            forms.append(form)
        else:
            itself = isinstance(here, Name) and here.text == coordinate
            forms.append(_Form(Fraction(1), ZERO) if itself else _Form(ZERO, value(here, values)))
    return Affine(coordinate, *forms[0])


class _Form(NamedTuple):
    """factor * coordinate + offset."""

    factor: Value
    offset: Value


def _applied(here: Compound, operands: list[_Form]) -> _Form | None:
    """An operation on affine forms; None if the result is not affine."""
    if any(form.factor for form in operands):
        return _combined(here.head, operands) if isinstance(here, Operation) else None
    known = {f"operand{place}": form.offset for place, form in enumerate(operands)}
    parts = tuple(Name(name) for name in known)
    return _Form(ZERO, value(here.with_parts(parts), known))


def _combined(operator: str, operands: list[_Form]) -> _Form | None:
    (a, b), *rest = operands
    if operator == "neg":
        return _Form(-a, -b)
    ((c, d),) = rest
    match operator:
        case "+":
            return _Form(a + c, b + d)
        case "-":
            return _Form(a - c, b - d)
        case "*" if not a:
            return _Form(b * c, b * d)
        case "*" if not c:
            return _Form(a * d, b * d)
        case "/" if not c and d:
            return _Form(a / d, b / d)
    return None


def _short(root: Expression) -> str:
    written = text(root)
    return f"`{written if len(written) <= 60 else written[:57] + '...'}`"


# Fixed transforms as xyz and rpy

Vector: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Turn:
    """A rotation about a coordinate axis by a known angle."""

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
    """Concatenate two sequences of steps; steps that cancel are removed."""
    found = list(first)
    for step in second:
        last = found[-1] if found else None
        undone = not isinstance(step, Attitude) and last == type(step)(step.axis, -step.amount)
        if undone:
            found.pop()
        elif isinstance(step, Attitude) or step.amount:
            found.append(step)
    return found


def origin(path: Sequence[Step]) -> tuple[Vector, Vector]:
    """xyz and rpy of a sequence of steps: taken from the steps if they have URDF's order, else computed."""
    written = _direct_origin(path)
    if written is not None:
        return written
    turn, position = pose(path)
    return position, roll_pitch_yaw(turn)


def _direct_origin(path: Sequence[Step]) -> tuple[Vector, Vector] | None:
    """xyz and rpy of moves along x, y, z in any order, followed by rotations about z, y, x; else None."""
    xyz, rpy = [0.0] * 3, [0.0] * 3
    lowest = 3
    for step in path:
        if isinstance(step, Move) and lowest == 3:
            xyz[step.axis.value] += step.amount
        elif isinstance(step, Turn) and step.axis.value < lowest:
            lowest = step.axis.value
            rpy[lowest] = step.amount
        else:
            return None
    return (xyz[0], xyz[1], xyz[2]), (rpy[0], rpy[1], rpy[2])


def pose(path: Sequence[Step]) -> tuple[Matrix, Vector]:
    """Rotation and position at the end of a sequence of steps."""
    turned, position = IDENTITY, (0.0, 0.0, 0.0)
    for step in path:
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
    """The transpose, which is the inverse of a rotation."""
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

    If the pitch is a right angle, the yaw is arbitrary; the other angles are computed for the chosen yaw.
    """
    yaw = atan2(turned[1][0], turned[0][0])
    rest = product(_matrix(Turn(Axis.Z, -yaw)), turned)
    return atan2(-rest[1][2], rest[1][1]), atan2(-rest[2][0], rest[0][0]), yaw


# The transforms of a body as a chain of URDF joints


@dataclass(frozen=True, eq=False)  # distinct joints may have equal fields
class Hinge:
    """A joint about or along an axis: the fixed steps to it, the axis in the frame after these, its displacement."""

    path: tuple[Step, ...]
    axis: Vector
    prismatic: bool
    moved: Affine


@dataclass(frozen=True)
class FreeJoint:
    """A joint with six degrees of freedom; its coordinates x, y, z and its quaternion by name."""

    path: tuple[Step, ...]
    names: tuple[str, ...]


Joint = Hinge | FreeJoint


@dataclass(frozen=True)
class Chain:
    """The joints from a body's base to the body, and the fixed steps after the last joint."""

    joints: tuple[Joint, ...]
    rest: tuple[Step, ...]


def chain_of(body: Body, mechanism: Mechanism, values: Mapping[str, Value]) -> Chain:
    """The chain of a body; raises a ModelError if URDF has no such joint."""
    return _Reader(body, mechanism, values).chain()


class _Reader:
    def __init__(self, body: Body, mechanism: Mechanism, values: Mapping[str, Value]) -> None:
        self.body = body
        self.where = f"body {body.name}"
        self.coordinates = mechanism.layout.positions
        self.values = values

    def chain(self) -> Chain:
        joints: list[Joint] = []
        path: list[Step] = []
        for item in self._items():
            if isinstance(item, FreeJoint):
                joints.append(replace(item, path=tuple(path)))
                path = []
            elif isinstance(item, tuple):
                transform, moved = item
                prismatic = isinstance(transform, Shift)
                joints.append(Hinge(tuple(path), unit(transform.axis), prismatic, moved))
                path = []
            else:
                path = joined(path, [item])
        return _without_rest(Chain(tuple(joints), tuple(path)))

    def _items(self) -> Iterator[Step | FreeJoint | tuple[Rotation | Shift, Affine]]:
        transforms = list(self.body.transforms)
        while transforms:
            free = _free_joint(transforms, self.coordinates)
            if free is not None:
                yield free
                del transforms[:4]
                continue
            transform = transforms.pop(0)
            if isinstance(transform, Quaternion):
                yield self._attitude(transform)
                continue
            moved = self._moved(transform)
            yield steps([transform], self.values, self.where)[0] if moved.coordinate is None else (transform, moved)

    def _attitude(self, transform: Quaternion) -> Step:
        if any(names(component) & set(self.coordinates) for component in transform.components):
            remedy = "URDF has no ball joint: use three revolute joints, or export to another format"
            raise ModelError(f"{self.where} has a ball joint (a quaternion)", remedy=remedy)
        return steps([transform], self.values, self.where)[0]

    def _moved(self, transform: Rotation | Shift) -> Affine:
        root = transform.angle if isinstance(transform, Rotation) else transform.distance
        if TIME in names(root):
            remedy = "URDF has no prescribed motion: remove t, or export to another format"
            raise ModelError(f"{self.where} has a prescribed motion", remedy=remedy)
        try:
            return affine(root, self.coordinates, self.values)
        except ModelError as error:
            raise located(error, self.where) from None


def _free_joint(transforms: Sequence[Transform], coordinates: Sequence[str]) -> FreeJoint | None:
    """The joint of Sx(x), Sy(y), Sz(z), Q(...) with only coordinates as amounts; else None."""
    if len(transforms) < 4 or not isinstance(transforms[3], Quaternion):
        return None
    found = []
    for transform, axis in zip(transforms[:3], Axis, strict=True):
        if not isinstance(transform, Shift) or transform.axis is not axis:
            return None
        found.append(transform.distance)
    found += transforms[3].components
    if not all(isinstance(item, Name) and item.text in coordinates for item in found):
        return None
    return FreeJoint((), tuple(item.text for item in found if isinstance(item, Name)))


def _without_rest(chain: Chain) -> Chain:
    """The same chain with the fixed steps after the last joint moved before it, if the motion stays the same.

    Rot(a) S = S Rot(S^-1 a) if S is a pure rotation; before a prismatic joint, S may be anything.
    """
    if not chain.joints or not chain.rest:
        return chain
    *before, last = chain.joints
    if not isinstance(last, Hinge) or not (last.prismatic or all(not isinstance(step, Move) for step in chain.rest)):
        return chain
    turned, _ = pose(chain.rest)
    axis = apply(transposed(turned), last.axis)
    return Chain((*before, replace(last, path=tuple(joined(last.path, chain.rest)), axis=axis)), ())


def with_offset(hinge: Hinge) -> Hinge:
    """The same joint with the offset of its displacement in the fixed steps."""
    x, y, z = hinge.axis
    amount = float(hinge.moved.offset)
    half = amount / 2
    turn = Attitude((cos(half), x * sin(half), y * sin(half), z * sin(half)))
    moves = [Move(axis, part * amount) for axis, part in zip(Axis, hinge.axis, strict=True)]
    offset = list(moves) if hinge.prismatic else [turn] if amount else []
    moved = Affine(hinge.moved.coordinate, hinge.moved.factor, ZERO)
    return replace(hinge, path=tuple(joined(hinge.path, offset)), moved=moved)
