"""Parts are code of those who call them, and of nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba

from kinegraph.ahead.numba_cache import cached_in
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
