"""Exact numbers of graphs: integers and fractions, and how long they may be."""

from __future__ import annotations

from fractions import Fraction

from kinegraph.errors import NumberSizeError
from kinegraph.graph.node import LARGEST_EXPONENT, Coefficient

#: Numerators and denominators have at most so many digits: more cannot be written and read as text.
MOST_DIGITS = 4000
_TOO_LARGE = 10**MOST_DIGITS
_TOO_SMALL = -_TOO_LARGE  # made once: it is long
_REMEDY = "numbers are exact here, and no longer than that"


def exact(value: Coefficient) -> Coefficient:
    """An integer where possible: integers are compared and hashed several times faster than fractions."""
    if type(value) is int:
        if _TOO_SMALL < value < _TOO_LARGE:
            return value
    else:
        numerator, denominator = value.numerator, value.denominator
        if _TOO_SMALL < numerator < _TOO_LARGE and denominator < _TOO_LARGE:
            return numerator if denominator == 1 else value
    raise NumberSizeError(f"a number of more than {MOST_DIGITS} digits: {_REMEDY}")


def power_of_number(value: Coefficient, exponent: int) -> Coefficient:
    """An exact power; one that would be far too long is refused before it is computed."""
    if exponent == 1:
        return value
    if value in (0, 1, -1):
        return value if exponent % 2 else value * value
    bits = max(value.numerator.bit_length(), value.denominator.bit_length()) - 1
    if bits * exponent > 4 * MOST_DIGITS:
        raise NumberSizeError(f"a number to the power {held(exponent)} has more than {MOST_DIGITS} digits: {_REMEDY}")
    return value**exponent


def product_of_numbers(first: Coefficient, second: Coefficient) -> Coefficient:
    """The product; most coefficients are one, and products of fractions take long."""
    if type(first) is int and first == 1:
        return second
    if type(second) is int and second == 1:
        return first
    return second * first if type(first) is int else first * second  # the other way round fractions take longer


def quotient_of_numbers(value: Coefficient, divisor: Coefficient) -> Coefficient:
    """The quotient; most divisors are signs, and fractions take ten times as long."""
    if divisor == 1:
        return value
    if divisor == -1:
        return -value
    return exact(Fraction(value, divisor) if isinstance(value, int) else value / divisor)


def held(exponent: int) -> int:
    """The exponent, if doubles hold it."""
    if exponent > LARGEST_EXPONENT:
        raise NumberSizeError(f"an exponent of more than 2^53: {_REMEDY}")
    return exponent
