"""Made once in a process, also when several threads ask at the same time.

`functools.cache` lets two threads make the same thing twice and keeps one of them. For code in memory that is fatal:
whoever took an address in the other one runs code that is no longer there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from functools import cache, wraps
from threading import RLock
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])

#: One lock for all: functions that are made once call each other, and locks of their own could wait for each other.
making = RLock()

if hasattr(os, "register_at_fork"):  # a child must not begin with a lock that a thread of its parent holds
    os.register_at_fork(before=making.acquire, after_in_parent=making.release, after_in_child=making.release)


def once(make: F) -> F:
    """A function whose results are cached for good: each is made by the first thread that asks, others wait for it."""
    cached = cache(make)

    @wraps(make)
    def made_once(*given: Hashable) -> object:
        with making:
            return cached(*given)

    return cast(F, made_once)
