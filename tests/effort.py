"""How much work something is, counted and not timed: the same on every machine, busy or idle; and how much is tried."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

SOAK = bool(os.environ.get("KINEGRAPH_SOAK"))  # many more random cases; what is not random is marked `soak`


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
