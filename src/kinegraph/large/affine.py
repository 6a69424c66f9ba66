"""Expressions as linear forms with numeric coefficients, where they are linear."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from kinegraph.model.evaluate import number
from kinegraph.model.expression import Call, Compound, Expression, Name, Number, Operation, postorder
from kinegraph.model.mechanism import ZERO


@dataclass(slots=True)
class Affine:
    """constant + sum of slopes[name] * name; no slope is zero."""

    constant: float
    slopes: dict[str, float] = field(default_factory=dict)

    def scale(self, factor: float) -> Affine:
        """This form times a number."""
        slopes = {name: slope * factor for name, slope in self.slopes.items()} if factor else {}
        return Affine(self.constant * factor, slopes)

    def add(self, other: Affine, sign: float) -> Affine:
        """This form plus or minus another. Changes the form itself, so that a sum of n names takes n steps."""
        self.constant += sign * other.constant
        for name, slope in other.slopes.items():
            total = self.slopes.get(name, 0.0) + sign * slope
            if total:
                self.slopes[name] = total
            else:
                self.slopes.pop(name, None)
        return self


def constant(root: Expression, parameters: Mapping[str, float]) -> float:
    """The value of an expression in parameters. Most are plain numbers, and there may be a million of them."""
    if root is ZERO:
        return 0.0
    if isinstance(root, Number):
        try:
            return root.value.numerator / root.value.denominator
        except OverflowError:
            pass  # said in words below
    return number(root, parameters)


def affine(root: Expression, parameters: Mapping[str, float], moving: Collection[str]) -> Affine | None:
    """The expression as a linear form in the names of `moving`, or None if it is not linear in them."""
    if isinstance(root, Number):
        return Affine(constant(root, parameters))
    results: list[Affine] = []
    for here in postorder(root):
        if isinstance(here, Compound):
            count = len(here.parts)
            result = _compound(here, results[len(results) - count :])
            if result is None:
                return None
            results[len(results) - count :] = [result]
        elif isinstance(here, Name) and here.text in moving:
            results.append(Affine(0.0, {here.text: 1.0}))
        else:
            results.append(Affine(constant(here, parameters)))
    return results[0]


def _compound(here: Compound, parts: list[Affine]) -> Affine | None:
    if not any(part.slopes for part in parts):
        return Affine(_folded(here, [part.constant for part in parts]))
    if isinstance(here, Call):
        return None
    match here.head, parts:
        case "neg", [operand]:
            return operand.scale(-1.0)
        case "+" | "-", [left, right]:
            return left.add(right, 1.0 if here.head == "+" else -1.0)
        case "*", [left, right] if not right.slopes:
            return left.scale(right.constant)
        case "*", [left, right] if not left.slopes:
            return right.scale(left.constant)
        case "/", [left, right] if not right.slopes:
            return _quotient(left, right.constant)
    return None


def _quotient(form: Affine, divisor: float) -> Affine | None:
    if divisor == 0:
        return None  # the graph says what is wrong, with the expression in its message
    return Affine(form.constant / divisor, {name: slope / divisor for name, slope in form.slopes.items()})


def _folded(here: Compound, parts: list[float]) -> float:
    operands = tuple(Number(Fraction(part)) for part in parts)
    return number(Operation(here.head, operands) if isinstance(here, Operation) else Call(here.head, operands), {})
