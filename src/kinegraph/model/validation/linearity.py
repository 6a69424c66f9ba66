"""The degree of an expression in some of its names: forces work on rates, and constraints hold, that are linear."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from kinegraph.model.expression import Compound, Expression, Name, Number, Operation, postorder


def degree(root: Expression, counts: Callable[[str], bool]) -> float:
    """The degree in the names that count; infinite where the expression is no polynomial of them."""
    results: list[float] = []
    for here in postorder(root):
        if isinstance(here, Compound):
            count = len(here.parts)
            parts = results[len(results) - count :]
            del results[len(results) - count :]
            results.append(_degree_of(here, parts))
        else:
            results.append(float(isinstance(here, Name) and counts(here.text)))
    return results[0]


def _degree_of(here: Compound, parts: list[float]) -> float:
    if not any(parts):
        return 0.0
    if not isinstance(here, Operation):
        return inf
    match here.operator:
        case "neg" | "+" | "-":
            return max(parts)
        case "*":
            return sum(parts)
        case "/":
            return parts[0] if not parts[1] else inf
    power = here.operands[1]
    whole = isinstance(power, Number) and power.value.denominator == 1 and power.value >= 0
    return parts[0] * float(power.value) if whole and isinstance(power, Number) else inf
