"""Parts are code of those who call them, and of nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from kinegraph.ahead.numba_cache import cached_in
from kinegraph.ahead.numba_words import machine_code
from kinegraph.ahead.parts import PART


def twice(x: int) -> int:
    return 2 * x


def by_call_of(part: Any) -> Any:
    return numba.njit(lambda x: part(x) + part(x + 1))


def library_of(part: Any) -> Any:
    (compiled,) = part.overloads.values()
    return compiled.library


def test_callers_hold_its_code_and_it_has_none_of_its_own() -> None:
    part = numba.njit(**PART)(twice)
    assert by_call_of(part)(3) == 14
    assert not list(library_of(part).get_defined_functions())


def test_parts_of_parts() -> None:
    inner = numba.njit(**PART)(twice)
    outer = numba.njit(**PART)(lambda x: inner(x) * inner(x))
    assert by_call_of(outer)(3) == 36 + 64


def test_from_disk_it_serves_new_callers(tmp_path: Path) -> None:
    first, second = (cached_in(tmp_path, lambda: numba.njit(cache=True, **PART)(twice)) for _ in range(2))
    assert by_call_of(first)(3) == by_call_of(second)(3) == 14
    assert sum(first.stats.cache_misses.values()) == sum(second.stats.cache_hits.values()) == 1


def test_constants_make_no_code_of_their_own() -> None:
    part = machine_code(lambda table, i, factor: table[i] * factor, **PART)
    total = machine_code(lambda table, i: part(table, 0, 2.0) + part(table, 1, 3) + part(table, i, True))
    assert total(np.array([1.0, 2.0, 3.0]), 2) == 2 + 6 + 3
    assert len(part.overloads) == 3  # by a float, an integer and a truth value; not one for each place


TABLE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(("dtype", "order"), [(float, "C"), (int, "C"), (bool, "C"), (float, "F")])
def test_numbers_of_arrays_by_place(dtype: type, order: Any) -> None:
    part = machine_code(lambda table, i, j, k: table[i, j, k], **PART)
    found = machine_code(lambda table, i, j, k: part(table, i, j, k))
    table = np.array(TABLE, dtype=dtype, order=order)
    for index in [(0, 0, 0), (1, 2, 3), (-1, -3, -4), (-2, 0, -1)]:
        assert found(table, *index) == table[index]


def test_numbers_of_arrays_by_known_places() -> None:
    def part(table: Any, row: Any, whole: Any) -> Any:
        table[0, -1, 1], row[-1], whole[1] = row[-2], 7, table[1, 2, 3]
        row[0] = whole[-1]
        return table[0, -1, 1] + row[-1] + len(table[-1]) + table[1][2, 3]

    code = machine_code(part, **PART)
    given = [(TABLE.copy(), np.arange(3.0), np.arange(3)) for _ in range(2)]
    assert machine_code(lambda table, row, whole: code(table, row, whole))(*given[0]) == part(*given[1])
    for one, other in zip(*given, strict=True):
        np.testing.assert_array_equal(one, other)


def test_parts_that_make_arrays_count_references() -> None:
    inner = machine_code(lambda n: np.zeros(n) + 2.0, **PART)
    outer = machine_code(lambda n: inner(n)[0] + len(inner(n)), **PART)
    total = machine_code(lambda n: outer(n))
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        assert [total(n) for n in (1, 2, 5)] == [3.0, 4.0, 7.0]
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0
