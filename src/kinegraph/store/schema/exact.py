"""Exact rationals in a column of doubles, with their text beside them where a double is not enough."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import inf

from kinegraph.graph.exact_text import exact_text, read_exact
from kinegraph.graph.node import Coefficient

#: Every integer of at most this size is a double.
_WHOLE = 2**53


@lru_cache(maxsize=65536)
def to_columns(value: Coefficient) -> tuple[float, str | None]:
    """The nearest double, and the rational as text unless the double is exactly it."""
    try:
        double = float(value)
    except OverflowError:
        return (inf if value > 0 else -inf), exact_text(value)
    denominator = value.denominator
    if denominator & (denominator - 1) == 0 and abs(value.numerator) <= _WHOLE and denominator <= _WHOLE:
        return double, None
    return double, exact_text(value)


@lru_cache(maxsize=65536)
def from_columns(double: float, text: str | None) -> Coefficient:
    """The exact value that `to_columns` was given, an integer where it is one."""
    if text is None:
        whole = int(double)
        return whole if whole == double else Fraction(double)
    return read_exact(text)


def negated(text: str) -> str:
    """The SQL expression for minus an `exact` column (null stays null)."""
    return f"CASE WHEN {text} LIKE '-%' THEN substr({text}, 2) ELSE '-' || {text} END"
