"""Statements of bodies: transforms, inertia, shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kinegraph.errors import ModelError, Place
from kinegraph.model.evaluate import number, value
from kinegraph.model.expressions import PI, Call, Expression, Name, Number, expression, names
from kinegraph.model.mechanism import ZERO, Axis, Inertia, Quaternion, Rotation, Shift, Transform
from kinegraph.model.names import did_you_mean
from kinegraph.model.poses import rational_quaternion
from kinegraph.model.report import Places
from kinegraph.model.robot_data import FORMS, Shape, ShapeKind

_TRANSFORMS = ("Rx", "Ry", "Rz", "Sx", "Sy", "Sz", "Q", "R")
_INERTIA = {"m": "mass", "Jx": "Jx", "Jy": "Jy", "Jz": "Jz", "Jxy": "Jxy", "Jyz": "Jyz", "Jxz": "Jxz"}


#: Names of transforms and inertia in other programs.
_SYNONYMS = {
    "Tx": "Sx", "Ty": "Sy", "Tz": "Sz", "mass": "m", "Mass": "m", "M": "m", "Ixx": "Jx", "Iyy": "Jy", "Izz": "Jz",
    "Ix": "Jx", "Iy": "Jy", "Iz": "Jz", "Ixy": "Jxy", "Iyz": "Jyz", "Ixz": "Jxz", "Jxx": "Jx", "Jyy": "Jy", "Jzz": "Jz",
}  # fmt: skip


def _suggestion(word: str, known: Sequence[str]) -> str:
    return f"did you mean `{_SYNONYMS[word]}`?" if _SYNONYMS.get(word) in known else did_you_mean(word, known)


@dataclass(frozen=True, slots=True)
class Item:
    """`word(arguments)` of a record, or a bare word without arguments."""

    word: str
    arguments: tuple[Expression, ...] | None
    place: Place


def read_transforms(items: Sequence[Item], places: Places) -> tuple[Transform, ...]:
    """The second section of a record."""
    for item in items:
        if item.word in _INERTIA:
            remedy = "write inertia in the third section: `Name | transforms | m(..), Jx(..);`"
            raise ModelError(f"inertia `{item.word}` among the transforms", item.place, remedy)
        if item.word not in _TRANSFORMS:
            raise ModelError(f"unknown transform '{item.word}'", item.place, _suggestion(item.word, _TRANSFORMS))
    return tuple(_transform(item, places) for item in items)


def read_rotations(items: Sequence[Item], what: str, places: Places) -> tuple[Rotation | Quaternion, ...]:
    """The orientation of an output: rotations only."""
    found: list[Rotation | Quaternion] = []
    for item, transform in zip(items, read_transforms(items, places), strict=True):
        if isinstance(transform, Shift):
            remedy = "write the whole position in the parentheses: `output tip = Hand (x, y, z) | Rx(pi/2);`"
            raise ModelError(f"`{item.word}` after the position of {what}", item.place, remedy)
        found.append(transform)
    return tuple(found)


def read_inertia(items: Sequence[Item], places: Places) -> tuple[Inertia, dict[str, Place]]:
    """The third section of a record, and the place of each mass and moment by its field in `Inertia`."""
    central: list[Transform] = []
    stated: dict[str, Expression] = {}
    where: dict[str, Place] = {}
    for item in items:
        if item.word in _TRANSFORMS and item.arguments is not None:
            if stated:
                remedy = "write the transforms to the center of mass first, then m and J"
                raise ModelError(f"transform `{item.word}` after the inertia", item.place, remedy)
            central.append(_transform(item, places))
            continue
        field = _field(item)
        if field in stated:
            raise ModelError(f"{field} is given twice", item.place, f"remove `{item.word}` or the first entry")
        stated[field] = _amount(item, places)
        where[field] = item.place
    make: Callable[..., Inertia] = Inertia  # `stated` contains only masses and moments
    return make(**stated, central=tuple(central)), where


def _field(item: Item) -> str:
    """The field of Inertia that an item gives; a bare `m2` means m(m2), a bare `J2x` means Jx(J2x)."""
    if item.arguments is not None and item.word in _INERTIA:
        return _INERTIA[item.word]
    if item.arguments is None and item.word.startswith("m"):
        return "mass"
    if item.arguments is None and item.word.startswith("J"):
        for ending in ("xy", "yz", "xz", "x", "y", "z"):
            if item.word.endswith(ending):
                return "J" + ending
    remedy = _suggestion(item.word, (*_TRANSFORMS, *_INERTIA))
    raise ModelError(f"unknown transform or inertia '{item.word}'", item.place, remedy)


def _amount(item: Item, places: Places) -> Expression:
    if item.arguments is None:
        return places.mark(Name(item.word), item.place)
    return _arguments(item, 1)[0]


def _transform(item: Item, places: Places) -> Transform:
    transform: Transform
    if item.word == "Q":
        e0, e1, e2, e3 = _arguments(item, 4)
        transform = _about_one_axis(e0, (e1, e2, e3)) or Quaternion((e0, e1, e2, e3))
    elif item.word == "R":
        transform = _from_matrix(item)
    else:
        axis, (amount,) = Axis[item.word[1].upper()], _arguments(item, 1)
        transform = Rotation(axis, amount) if item.word[0] == "R" else Shift(axis, amount)
    return places.mark(transform, item.place)


def _about_one_axis(real: Expression, parts: tuple[Expression, Expression, Expression]) -> Rotation | None:
    """The rotation of a quaternion of formulas about one axis: `Q(cos(a), 0, 0, sin(a))` is Rz(2*a).

    Single names and constants remain a quaternion.
    """
    moving = [axis for axis, part in zip(Axis, parts, strict=True) if part != ZERO]
    whole = (real, *parts)
    single = all(isinstance(one, Name | Number) for one in whole)
    if len(moving) != 1 or single or not any(names(one) - {PI} for one in whole):
        return None
    (axis,) = moving
    return Rotation(axis, expression(2) * Call("atan2", (parts[axis.value], real)))


#: The rows of a matrix R(...) are orthogonal unit vectors within this.
ORTHOGONAL = 1e-6
_LARGE = 10**9


def _from_matrix(item: Item) -> Quaternion:
    """The rotation of a matrix of numbers, row by row; its columns are the axes of the new frame in the old one."""
    try:
        entries = [value(entry, {}) for entry in _arguments(item, 9)]
    except ModelError as error:
        if item.arguments is None or len(item.arguments) != 9:
            raise
        remedy = "write numbers; for angles with parameters use Rx, Ry, Rz, or `Q(e0, e1, e2, e3)` of constants"
        raise ModelError(f"the entries of R are numbers: {error.problem}", item.place, remedy) from None
    within_floats = [max(-_LARGE, min(_LARGE, entry)) for entry in entries]  # what is larger is as wrong
    matrix = np.array(within_floats, dtype=float).reshape(3, 3)
    deviation = float(np.abs(matrix.T @ matrix - np.eye(3)).max())
    if not deviation <= ORTHOGONAL:
        remedy = f"its rows are orthogonal unit vectors within {ORTHOGONAL:g}: write more digits, or correct it"
        raise ModelError(f"R(...) is not a rotation: R^T R differs from 1 by {deviation:.2g}", item.place, remedy)
    if np.linalg.det(matrix) < 0:
        remedy = "reverse one axis: a right-handed frame has the determinant +1"
        raise ModelError("R(...) is a reflection: its determinant is -1", item.place, remedy)
    exact = [[Fraction(entry) for entry in entries[at : at + 3]] for at in (0, 3, 6)]
    if not _orthogonal(exact):
        left, _, right = np.linalg.svd(matrix)
        exact = [[Fraction(float(entry)) for entry in row] for row in left @ right]  # the nearest rotation
    e0, e1, e2, e3 = (expression(part) for part in rational_quaternion(exact))
    return Quaternion((e0, e1, e2, e3))


def _orthogonal(rows: Sequence[Sequence[Fraction]]) -> bool:
    products = [[sum((a * b for a, b in zip(one, two, strict=True)), Fraction(0)) for one in rows] for two in rows]
    return products == [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]


def _arguments(item: Item, count: int) -> tuple[Expression, ...]:
    found = item.arguments or ()
    if len(found) != count:
        examples = {4: "Q(e0, e1, e2, e3)", 9: "R(xx, xy, xz, yx, yy, yz, zx, zy, zz)"}
        example = examples.get(count, f"{item.word}(expression)")
        message = f"{item.word} takes {count} argument{'s' * (count > 1)}, found {len(found)}"
        raise ModelError(message, item.place, f"write `{example}`")
    return found


# Shapes for drawings: `shape Body | transforms | box(1, 2, 3), color(0.2, 0.4, 0.6);`

_COLOR = "color"


def read_shape(
    body: str | None, transforms: Sequence[Item], items: Sequence[Item], place: Place, places: Places
) -> Shape:
    """The shape of one statement."""
    color: tuple[float, float, float, float] | None = None
    forms: list[Item] = []
    for item in items:
        if item.word == _COLOR:
            color = _color(item)
        elif item.word in (kind.value for kind in FORMS):
            forms.append(item)
        else:
            words = [*(kind.value for kind in FORMS), _COLOR]
            raise ModelError(f"unknown shape '{item.word}'", item.place, did_you_mean(item.word, words))
    if len(forms) != 1:
        remedy = "write one of " + ", ".join(f"{kind.value}({', '.join(sizes)})" for kind, sizes in FORMS.items())
        raise ModelError(f"expected one form of the shape, found {len(forms)}", place, remedy)
    kind, sizes = ShapeKind(forms[0].word), forms[0].arguments or ()
    if len(sizes) != len(FORMS[kind]):
        remedy = f"write `{kind.value}({', '.join(FORMS[kind])})`"
        raise ModelError(f"a {kind.value} takes {len(FORMS[kind])} sizes, found {len(sizes)}", forms[0].place, remedy)
    shape = Shape(kind, body, sizes, read_transforms(transforms, places), color=color)
    return places.mark(shape, place)


def _color(item: Item) -> tuple[float, float, float, float]:
    """Red, green, blue, and optionally opacity, from 0 to 1."""
    remedy = "write `color(red, green, blue)` or `color(red, green, blue, opacity)`, numbers from 0 to 1"
    try:
        parts = [number(part, {}) for part in item.arguments or ()]
    except ModelError:
        raise ModelError("the color is not made of numbers", item.place, remedy) from None
    if len(parts) not in (3, 4) or not all(0 <= part <= 1 for part in parts):
        raise ModelError("a color has 3 or 4 numbers from 0 to 1", item.place, remedy)
    red, green, blue, *opacity = parts
    return red, green, blue, opacity[0] if opacity else 1.0
