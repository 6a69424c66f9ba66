"""Functions with constants of their own, for tables of many points: the interval of an argument, and a value from many.

`interval(1,3/2,2)` is how many of the bounds are not above its argument. `entry(5,7,7,9)` is the value with the whole
number of its argument as index. The constants are part of the name, so all passes treat such a function as any other
of one argument. Both are piecewise constant: their derivatives are zero. NaN gives NaN.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import TypeVar

from kinegraph.errors import GraphError
from kinegraph.graph.node import INTERVAL, is_lookup


def lookup_name(kind: str, constants: Sequence[Fraction | int]) -> str:
    """The name of the function with these constants."""
    return f"{kind}({','.join(map(str, constants))})"


def is_interval(name: str) -> bool:
    """Does a function with constants find an interval, not a value?"""
    return name.startswith(f"{INTERVAL}(")


@lru_cache(maxsize=256)
def constants_of(name: str) -> tuple[Fraction, ...]:
    """The bounds or values of a function; GraphError unless they are numbers, and bounds increase."""
    kind, _, text = name.removesuffix(")").partition("(")
    try:
        found = tuple(map(Fraction, text.split(",")))
    except (ValueError, ZeroDivisionError):
        raise GraphError(f"the function {name[:40]!r} has constants that are not exact numbers") from None
    if name != lookup_name(kind, found):
        raise GraphError(f"the function {name[:40]!r} has constants that are not written in lowest terms")
    if kind == INTERVAL and any(a >= b for a, b in pairwise(found)):
        raise GraphError(f"the bounds of {name[:40]!r} do not increase")
    return found


@lru_cache(maxsize=256)
def doubles_of(name: str) -> tuple[float, ...]:
    """The same as doubles, each rounded once."""
    return tuple(map(float, constants_of(name)))


@lru_cache(maxsize=1024)
def symbol_of(name: str) -> str:
    """A short name for code that nobody reads."""
    return sha256(name.encode()).hexdigest()[:20]


def label_of(name: str) -> str:
    """A short name for people: `interval_999`, `entry_1000`, by the number of constants."""
    return f"{name.partition('(')[0]}_{name.count(',') + 1}" if is_lookup(name) else name


Value = TypeVar("Value")


def selected(
    name: str,
    argument: Value,
    number: Callable[[Fraction | int], Value],
    select: Callable[[Value, Value, Value], Value],
) -> Value:
    """The value of such a function as a balanced tree of selections, for those who have no arrays.

    select(c, a, b) is a if c >= 0 and b otherwise. An index below zero gives the first value.
    """
    constants = constants_of(name)
    bounds: Sequence[Fraction | int] = constants if is_interval(name) else range(1, len(constants))
    values: Sequence[Fraction | int] = range(len(constants) + 1) if is_interval(name) else constants

    def between(first: int, last: int) -> Value:
        if first == last:
            return number(values[first])
        middle = (first + last + 1) // 2
        above, below = between(middle, last), between(first, middle - 1)
        return select(argument - number(bounds[middle - 1]), above, below)  # type: ignore[operator]

    return between(0, len(values) - 1)


def exact_entry(name: str, argument: Fraction | int) -> Fraction:
    """The value of such a function at an exact number; that of an entry beyond the last is the last one."""
    constants = constants_of(name)
    if is_interval(name):
        return Fraction(bisect_right(constants, argument))
    if argument < 0:
        raise GraphError(f"the function {name[:40]!r} has no entry {argument}")
    return constants[min(int(argument), len(constants) - 1)]
