"""The one way into the compiled search."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from kinegraph.jit import bitcode
from kinegraph.jit.marks import loop
from kinegraph.passes.compiled_search.anneal import first_greedy, load, run, settle_loaded
from kinegraph.passes.compiled_search.compiled import Memory, Schedule
from kinegraph.passes.compiled_search.lookup import memo_row

#: What the entrance is asked to do.
LOAD, FIRST_GREEDY, SETTLE, RUN, FIND_MEMO = range(5)

Integers: TypeAlias = NDArray[np.int64]
Entrance = Callable[[Integers, Integers, NDArray[np.float64], int, int, int], int]


@loop
def enter(m: Memory, rows: Memory, schedule: Schedule, command: int, first: int, second: int) -> int:
    """Do what the command says with the state `m`."""
    if command == LOAD:
        return int(load(m, rows, first))
    if command == FIRST_GREEDY:
        return int(first_greedy(m))
    if command == SETTLE:
        settle_loaded(m)
        return 1
    if command == RUN:
        return int(run(m, schedule, first, second))
    return memo_row(m, first)


def entrance() -> Entrance:
    """The search as machine code."""
    return cast(Entrance, bitcode.compiled(enter))
