"""At which rates a formula repeats in time: those of the sines, cosines and rotations that hold the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expression import PI, TIME, Call, Compound, Expression, Name, Number, Operation, names, postorder

_PERIODIC = frozenset({"sin", "cos", "tan"})


@dataclass(frozen=True)
class _Part:
    """slope * t and something that repeats at some rates; slope is None where the time goes otherwise."""

    slope: float | None = 0.0
    rates: frozenset[float] = frozenset()
    constant: float | None = None

    @property
    def timeless(self) -> bool:
        return self.slope == 0.0 and not self.rates


def time_rates(
    formula: Expression, parameters: Mapping[str, Value], rotating: Mapping[str, float], *, angle: bool = False
) -> set[float]:
    """The rates (rad/s, positive). rotating: steady rates of coordinates; angle: of a rotation.

    Parts that grow with time, or depend on it in other ways, have no rates: whether they matter is seen in numbers.
    """
    if not names(formula) & {TIME, *rotating}:
        return set()
    results: list[_Part] = []
    for here in postorder(formula):
        count = len(here.parts) if isinstance(here, Compound) else 0
        parts = results[len(results) - count :] if count else []
        del results[len(results) - count :]
        results.append(_part(here, parts, parameters, rotating))
    (whole,) = results
    found = set(whole.rates)
    if angle and whole.slope:
        found.add(abs(whole.slope))
    return found


def _part(
    here: Expression, parts: list[_Part], parameters: Mapping[str, Value], rotating: Mapping[str, float]
) -> _Part:
    if isinstance(here, Number):
        return _Part(constant=float(here.value))
    if isinstance(here, Name):
        return _named(here, parameters, rotating)
    rates = frozenset().union(*(part.rates for part in parts)) if parts else frozenset()
    if parts and all(part.constant is not None for part in parts):
        return _Part(constant=_number(here, parameters))
    if isinstance(here, Call):
        return _called(here, parts, rates)
    assert isinstance(here, Operation)
    slopes = [part.slope for part in parts]
    if None in slopes:
        return _Part(None, rates)
    match here.operator:
        case "+" | "-":
            sign = 1.0 if here.operator == "+" else -1.0
            return _Part((slopes[0] or 0.0) + sign * (slopes[1] or 0.0), rates)
        case "neg":
            return _Part(-(slopes[0] or 0.0), rates)
        case "*":
            return _product(parts[0], parts[1], rates)
        case "/":
            return _quotient(parts[0], parts[1], rates)
    return _Part(0.0 if not any(slopes) else None, rates)


def _named(here: Name, parameters: Mapping[str, Value], rotating: Mapping[str, float]) -> _Part:
    if here.text == TIME:
        return _Part(1.0)
    if here.text in rotating:
        return _Part(rotating[here.text])
    return _Part(constant=_number(here, parameters)) if here.text == PI or here.text in parameters else _Part()


def _called(here: Call, parts: list[_Part], rates: frozenset[float]) -> _Part:
    slopes = [part.slope for part in parts]
    if here.function in _PERIODIC and slopes[0] is not None:
        return _Part(0.0, rates | ({abs(slopes[0])} if slopes[0] else set()))
    return _Part(0.0 if not any(slope is None or slope for slope in slopes) else None, rates)


def _product(one: _Part, other: _Part, rates: frozenset[float]) -> _Part:
    if not one.slope and not other.slope:
        return _Part(0.0, rates)
    factor, growing = (one, other) if other.slope else (other, one)
    if factor.constant is None or factor.slope:
        return _Part(None, rates)
    return _Part(factor.constant * (growing.slope or 0.0), rates)


def _quotient(one: _Part, other: _Part, rates: frozenset[float]) -> _Part:
    if other.slope or (one.slope and not other.constant):
        return _Part(None, rates)
    return _Part((one.slope or 0.0) / (other.constant or 1.0), rates)


def _number(here: Expression, parameters: Mapping[str, Value]) -> float | None:
    try:
        return number(here, parameters)
    except ModelError:
        return None
