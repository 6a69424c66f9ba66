"""Exact numbers as decimal text and back. Python converts integers of at most 4300 digits, and so do we."""

from __future__ import annotations

import re
from fractions import Fraction

from kinegraph.errors import GraphError
from kinegraph.graph.node import Coefficient

_NUMBER = re.compile(r"-?\d+(?:/\d+)?", re.ASCII)


def exact_text(value: Coefficient) -> str:
    """An integer or a fraction as text: `-12`, `3/2`."""
    try:
        return str(value)
    except ValueError:
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        digits = bits * 30103 // 100_000
        raise GraphError(
            f"a coefficient has about {digits} digits, more than can be written; no double holds such a number\n"
            "  choose units in which the numbers of the model are smaller, or lower powers"
        ) from None


def read_exact(text: str) -> Coefficient:
    """The number a text says, an integer where it is one."""
    if _NUMBER.fullmatch(text) is None:
        raise GraphError(f"{text[:40]!r} is no exact number such as 3/2")
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError) as problem:
        raise GraphError(f"{text[:40]!r} is no exact number: {problem}") from None
    return value.numerator if value.denominator == 1 else value
