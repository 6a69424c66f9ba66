"""Expressions as linear forms with numeric coefficients, where they are linear."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from kinegraph.large.flat.numbers import Numbers, vanishes
from kinegraph.model.expression import Call, Compound, Expression, Name, Number, postorder


@dataclass(slots=True)
class Affine:
    """constant + sum of slopes[name] * name; no slope is zero."""

    constant: float
    slopes: dict[str, float] = field(default_factory=dict)

    def scale(self, factor: float) -> Affine:
        """This form times a number."""
        slopes = {} if vanishes(factor) else {name: slope * factor for name, slope in self.slopes.items()}
        return Affine(self.constant * factor, slopes)

    def add(self, other: Affine, sign: int) -> Affine:
        """This form plus or minus another. Changes the form itself, so that a sum of n names takes n steps."""
        self.constant += sign * other.constant
        for name, slope in other.slopes.items():
            total = self.slopes.get(name, 0) + sign * slope
            if vanishes(total):
                self.slopes.pop(name, None)
            else:
                self.slopes[name] = total
        return self


def affine(root: Expression, numbers: Numbers, moving: Collection[str]) -> Affine | None:
    """The expression as a linear form in the names of `moving`, or None if it is not linear in them."""
    if isinstance(root, Number):
        return Affine(numbers.constant(root))
    results: list[Affine] = []
    for here in postorder(root):
        if isinstance(here, Compound):
            count = len(here.parts)
            result = _compound(here, results[len(results) - count :], numbers)
            if result is None:
                return None
            results[len(results) - count :] = [result]
        elif isinstance(here, Name) and here.text in moving:
            results.append(Affine(0, {here.text: 1}))
        else:
            results.append(Affine(numbers.constant(here)))
    return results[0]


def _compound(here: Compound, parts: list[Affine], numbers: Numbers) -> Affine | None:
    if not any(part.slopes for part in parts):
        return Affine(numbers.folded(here, [part.constant for part in parts]))
    if isinstance(here, Call):
        return None
    match here.head, parts:
        case "neg", [operand]:
            return operand.scale(-1)
        case "+" | "-", [left, right]:
            return left.add(right, 1 if here.head == "+" else -1)
        case "*", [left, right] if not right.slopes:
            return left.scale(right.constant)
        case "*", [left, right] if not left.slopes:
            return right.scale(left.constant)
        case "/", [left, right] if not right.slopes:
            return _quotient(left, right.constant)
    return None


def _quotient(form: Affine, divisor: float) -> Affine | None:
    if vanishes(divisor):
        return None  # the graph says what is wrong, with the expression in its message
    return Affine(form.constant / divisor, {name: slope / divisor for name, slope in form.slopes.items()})
