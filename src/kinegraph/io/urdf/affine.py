"""Displacements as URDF states them: a factor times one coordinate, and an offset."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import NamedTuple

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, value
from kinegraph.model.expression import Expression, Name, Operation, names, postorder, text

ZERO = Fraction(0)


class Affine(NamedTuple):
    """factor * coordinate + offset; no coordinate for what does not move."""

    coordinate: str | None
    factor: Value
    offset: Value

    def reversed(self) -> Affine:
        return Affine(self.coordinate, -self.factor, -self.offset)


def located(error: ModelError, where: str) -> ModelError:
    """The same error with the place it belongs to."""
    return ModelError(f"{where}: {str(error).partition(chr(10))[0]}", remedy=error.remedy)


def affine(root: Expression, coordinates: Collection[str], values: Mapping[str, Value]) -> Affine:
    """An expression of at most one coordinate, linear in it."""
    used = sorted(names(root) & set(coordinates))
    if len(used) > 1:
        remedy = "a joint of URDF follows one coordinate; split the body, or export to another format"
        raise ModelError(f"{_short(root)} depends on {' and '.join(used)}", remedy=remedy)
    if not used:
        return Affine(None, ZERO, value(root, values))
    (coordinate,) = used
    slopes: list[tuple[Value, Value]] = []  # factor and offset of every part, operands first
    for here in postorder(root):
        if isinstance(here, Operation) and coordinate in names(here):
            count = len(here.operands)
            operands = slopes[-count:]
            del slopes[-count:]
            combined = _combined(here.operator, operands)
            if combined is None:
                raise _not_linear(root, coordinate)
            slopes.append(combined)
        elif here == Name(coordinate):
            slopes.append((Fraction(1), ZERO))
        elif coordinate in names(here):
            raise _not_linear(root, coordinate)
        else:
            parts = len(here.parts) if hasattr(here, "parts") else 0
            del slopes[len(slopes) - parts :]
            slopes.append((ZERO, value(here, values)))
    return Affine(coordinate, *slopes[0])


def _combined(operator: str, operands: list[tuple[Value, Value]]) -> tuple[Value, Value] | None:
    (a, b), *rest = operands
    if operator == "neg":
        return -a, -b
    ((c, d),) = rest
    match operator:
        case "+":
            return a + c, b + d
        case "-":
            return a - c, b - d
        case "*" if not a:
            return b * c, b * d
        case "*" if not c:
            return a * d, b * d
        case "/" if not c and d:
            return a / d, b / d
    return None


def _not_linear(root: Expression, coordinate: str) -> ModelError:
    remedy = "joints of URDF follow a coordinate linearly; export to another format"
    return ModelError(f"{_short(root)} is not linear in {coordinate}", remedy=remedy)


def _short(root: Expression) -> str:
    written = text(root)
    return f"`{written if len(written) <= 60 else written[:57] + '...'}`"
