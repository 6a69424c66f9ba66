"""How much work something is, counted and not timed: the same on every machine, busy or idle."""

from __future__ import annotations

import sys
from collections.abc import Callable


def calls(run: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count
