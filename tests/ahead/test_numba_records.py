"""Compiled code takes records by address; what they hold is what Python's hold."""

from __future__ import annotations

from pathlib import Path
from sys import getrefcount
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from kinegraph.ahead.numba_cache import cached_in
from kinegraph.ahead.numba_records import Record, by_address, is_record_class

PLAIN: dict[str, Any] = {"_nrt": False}


class Inner(NamedTuple):
    """A record in a record."""

    scale: float
    table: np.ndarray


class Outer(NamedTuple):
    """One entry of each kind."""

    on: bool
    count: int
    values: np.ndarray
    inner: Inner


def known() -> tuple[Any, Any]:
    return by_address(Inner), by_address(Outer)


def outer(count: int = 3) -> Outer:
    return Outer(True, count, np.arange(4.0), Inner(0.5, np.arange(6, dtype=np.int64).reshape(2, 3)))


def test_entries_are_read_and_arrays_written() -> None:
    known()

    @numba.njit(**PLAIN)
    def add(one: Outer, place: int) -> float:
        if one.on:
            one.values[place] += one.count * one.inner.scale + one.inner.table[1, 2]
        return one.values[place]

    given = outer()
    assert add(given, 1) == 1 + 1.5 + 5 and given.values[1] == 7.5
    assert add(given._replace(on=False), 1) == 7.5
    (signature,) = add.signatures
    assert isinstance(signature[0], Record) and [kind.name for kind in signature[1:]] == ["int64"]


def test_records_in_a_tuple_and_the_choice_of_one() -> None:
    known()

    @numba.njit(**PLAIN)
    def count(both: tuple[Outer, Outer], which: int) -> int:
        chosen = both[which]
        return chosen.count

    assert [count((outer(3), outer(8)), which) for which in (0, 1)] == [3, 8]


def test_compiled_code_makes_records() -> None:
    make_inner, _ = known()

    @numba.njit(**PLAIN)
    def row(one: Inner, place: int) -> Inner:
        return make_inner(one.scale * place, one.table[place:])

    @numba.njit(**PLAIN)
    def total(one: Outer) -> float:
        found = 0.0
        for place in range(2):
            part = row(one.inner, place)
            other = row(one.inner, 1 - place)  # a call of its own has memory of its own
            found += 100.0 * part.table[0, 0] + 10.0 * part.scale + other.table[0, 1]
        return found

    assert total(outer()) == (0 + 0 + 4) + (300 + 5 + 1)


def test_another_type_of_an_entry_is_another_record() -> None:
    known()

    @numba.njit(**PLAIN)
    def first(one: Inner) -> float:
        return one.table.flat[0] * one.scale

    flat = Inner(2.0, np.full(1, 1.5))
    assert first(Inner(2.0, np.full((1, 1), 3))) == 6.0 and first(flat) == 3.0
    kinds = {signature[0] for signature in first.signatures}
    assert len(kinds) == 2 and len({kind.name for kind in kinds}) == 2


def test_references_are_counted_where_numba_counts_them() -> None:
    known()

    @numba.njit
    def kept(one: Outer) -> np.ndarray:
        return one.values

    values = np.arange(5.0)
    given = outer()._replace(values=values)
    before = getrefcount(values)
    for _ in range(10):
        assert kept(given)[4] == 4.0
    assert getrefcount(values) == before


def test_unknown_entries_are_named() -> None:
    known()

    @numba.njit(**PLAIN)
    def wrong(one: Outer) -> int:
        return one.missing

    with pytest.raises(numba.TypingError, match="missing"):
        wrong(outer())


def count_of(one: Outer) -> int:
    return one.count


def test_code_from_disk_takes_them(tmp_path: Path) -> None:
    known()
    first, second = (cached_in(tmp_path, lambda: numba.njit(cache=True, **PLAIN)(count_of)) for _ in range(2))
    assert first(outer()) == second(outer()) == 3
    assert sum(first.stats.cache_misses.values()) == sum(second.stats.cache_hits.values()) == 1


def test_what_is_a_record() -> None:
    assert is_record_class(Inner) and not any(map(is_record_class, (outer(), tuple, int, 3)))
