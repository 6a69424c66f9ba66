"""Displacements as URDF states them: a factor times one coordinate, and an offset."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import NamedTuple

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, value
from kinegraph.model.expression import Call, Compound, Expression, Name, Operation, names, postorder
from kinegraph.model.expression_text import text

ZERO = Fraction(0)


class Affine(NamedTuple):
    """factor * coordinate + offset; no coordinate for what does not move."""

    coordinate: str | None
    factor: Value
    offset: Value

    def reversed(self) -> Affine:
        """The same displacement in the opposite direction."""
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
    coordinate = used[0] if used else None
    forms: list[_Form] = []
    for here in postorder(root):
        if isinstance(here, Compound):
            operands = forms[-len(here.parts) :]
            del forms[-len(here.parts) :]
            form = _applied(here, operands)
            if form is None:
                remedy = "joints of URDF follow a coordinate linearly; export to another format"
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
    """An operation on linear forms; None if the result is none."""
    if any(form.factor for form in operands):
        return _combined(here.head, operands) if isinstance(here, Operation) else None
    known = {f"operand{place}": form.offset for place, form in enumerate(operands)}
    parts = tuple(Name(name) for name in known)
    same = Operation(here.head, parts) if isinstance(here, Operation) else Call(here.head, parts)
    return _Form(ZERO, value(same, known))


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
