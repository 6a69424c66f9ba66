"""Digests depend on the complete contents of values, and on nothing else."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest

from kinegraph.errors import KernelError
from kinegraph.jit.cache import digest
from kinegraph.model.expressions import Expression, Name, expression
from tests.cli.run import ENVIRONMENT


class Color(Enum):
    RED = 1
    GREEN = 2


class Taste(Enum):
    RED = 1


class Pair(NamedTuple):
    first: object
    second: object


class Couple(NamedTuple):
    first: object
    second: object


@dataclass(frozen=True)
class Record:
    first: object = 0
    second: object = 0
    computed: int = field(init=False, default=3)


@dataclass(frozen=True)
class Other:
    first: object = 0
    second: object = 0


DIFFERENT = [
    0, 1, -1, 255, -255, 10**5000, 10**5000 + 1,
    0.0, -0.0, 1.0, 1.5, float("inf"), float("-inf"), float("nan"), 5e-324,
    True, False, None, "", "1", "None", "a", "ab", "\ud800", b"", b"a",
    Fraction(1), Fraction(1, 3), Fraction(-1, 3), Decimal("1"), Decimal("1.0"), Decimal("-0"),
    Color.RED, Color.GREEN, Taste.RED,
    (), (0,), (0, 0), ((0,),), ((0,), 0), (0, (0,)), [], [0], ["a", "b"], ["ab"], ["a", "b", ""], ["", "ab"],
    frozenset(), frozenset({0}), frozenset({0, 1}), frozenset({(0, 1)}),
    {}, {0: 1}, {1: 0}, {"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": {"b": 2}}, {"a": ("b", 2)},
    Pair(0, 1), Pair(1, 0), Couple(0, 1), Record(), Record(1), Record(0, 1), Record(Record()), Other(), Other(0, 1),
    np.zeros(2), np.zeros(3), np.zeros((2, 1)), -np.zeros(2), np.zeros(2, dtype=np.float32), np.zeros(2, dtype=int),
    expression(0), expression("x"), Name("x") + 1, 1 + Name("x"), Name("x") - 1, -Name("x"),
]  # fmt: skip


def test_different_contents_have_different_digests() -> None:
    assert len({digest(one) for one in DIFFERENT}) == len(DIFFERENT)
    assert len({digest((one, one)) for one in DIFFERENT}) == len(DIFFERENT)
    assert digest("a", "b") != digest(("a", "b")) != digest("ab")


def test_equal_contents_have_equal_digests() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) == digest(MappingProxyType({"a": 1, "b": 2}))
    assert digest(frozenset("abc")) == digest(frozenset("cba"))
    assert digest(Record((1, 2), "x")) == digest(Record((1, 2), "x"))
    shared = (1, 2)
    assert digest((shared, shared)) == digest(((1, 2), (1, 2)))  # what is one object and what are two does not matter


def sum_of(last: int, terms: int = 600) -> Expression:
    total = expression("x")
    for number in range(terms):
        total = total + (last if number == terms - 1 else number)
    return total


def test_long_expressions_are_told_apart() -> None:
    """Their display text is `<expression of 1201 parts>`."""
    one, other = sum_of(1), sum_of(2)
    assert str(one) == str(other)
    assert digest(one) != digest(other) and digest(one) == digest(sum_of(1))
    deep = sum_of(1, 5000)
    assert digest(deep) == digest(sum_of(1, 5000)) != digest(sum_of(2, 5000))


def test_shared_parts_are_read_once() -> None:
    doubled = expression("x")
    for _ in range(200):  # written out it would have 2^200 terms
        doubled = doubled + doubled
    assert digest(doubled) == digest(pickle.loads(pickle.dumps(doubled)))


def test_other_processes_find_the_same_digest() -> None:
    code = (
        "from kinegraph.jit.cache import digest; from kinegraph.model.expressions import Name\n"
        "print(digest({'a': Name('x') + 1}, frozenset('abc')))"
    )
    environment = {**ENVIRONMENT, "PYTHONHASHSEED": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == digest({"a": Name("x") + 1}, frozenset("abc"))


@pytest.mark.parametrize("value", [object(), lambda: 0, int, (1, object()), {"a": {object()}}, np.array([None])])
def test_what_has_no_contents_is_refused(value: object) -> None:
    with pytest.raises(KernelError, match="cannot compute a cache key from an"):
        digest(value)
