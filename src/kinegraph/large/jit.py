"""How the loops are compiled, and where their machine code is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])

# Products and sums may be fused, nothing else is reordered; division by zero gives an infinity, as in C.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}


def part(function: F) -> F:
    """A function that kernels call; its code becomes part of theirs."""
    return cast(F, numba.njit(forceinline=True, **_OPTIONS)(function))


def kernel(function: F) -> F:
    """A function that Python calls: compiled at the first call, kept on disk for the next process."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_cache(before))
    try:
        return cast(F, numba.njit(cache=True, **_OPTIONS)(function))
    finally:
        config.CACHE_DIR = before


def _cache(chosen_by_user: str) -> Path:
    """A directory named after the content of all kernels.

    Numba looks at the age of the file a kernel stands in, not at those of its parts: it would run old code. The
    directory lies beside Python's own compiled files; where that is read-only, Numba turns to the user's cache.
    """
    here = Path(__file__).parent
    content = b"".join(file.read_bytes() for file in sorted(here.glob("*.py")))
    name = f"loops-{hashlib.sha256(content).hexdigest()[:16]}"
    return Path(chosen_by_user or here / "__pycache__") / name
