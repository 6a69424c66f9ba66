"""Random numbers from a user's seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.errors import KinegraphError, TaskError

if TYPE_CHECKING:
    from numpy.random import Generator

#: Seeds are less than this number.
LARGEST = 2**64


def require_seed(seed: object, error: type[KinegraphError] = TaskError) -> int:
    """The seed as an integer, or an error that says what is allowed."""
    try:
        number = seed.__index__()  # type: ignore[attr-defined]  # NumPy's integers too
    except AttributeError:
        number = -1
    if isinstance(seed, bool) or not 0 <= number < LARGEST:
        raise error(f"seed is {seed!r:.80}: give an integer between 0 and 2^64 - 1")
    return int(number)


def generator(seed: object) -> Generator:
    """NumPy's random generator for a user's seed."""
    from numpy.random import default_rng

    return default_rng(require_seed(seed))
