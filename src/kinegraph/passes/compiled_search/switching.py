# ruff: noqa: F403, F405
"""Other ways to write roots, compiled."""

from __future__ import annotations

import numpy as np

from kinegraph.passes.compiled_search.compiled import Memory, compiled
from kinegraph.passes.compiled_search.destroying import reaches
from kinegraph.passes.compiled_search.factor import random_below, random_unit
from kinegraph.passes.compiled_search.index import create, link, unlink
from kinegraph.passes.compiled_search.layout import *
from kinegraph.passes.compiled_search.lookup import literal_row


@compiled
def write_way(m: Memory, literal: int, way: int) -> None:
    """Give a literal the terms of one of its definitions."""
    for i in range(m[m[WAY_START] + way], m[m[WAY_START] + way + 1]):
        row = m[WAY_ROWS] + i * WAY_WIDTH
        if m[STATUS] == FINE:
            link(m, literal, row + 2, m[row + 1], m[row])


@compiled
def wake(m: Memory, row: int) -> None:
    """Write the sums of the angles that a row of a way needs, where they are not there."""
    for j in range(m[row + 1]):
        argument = m[literal_row(m, m[row + 2 + j]) + ARGUMENT]
        if argument >= 0 and m[literal_row(m, argument) + KIND] == 0 and m[STATUS] == FINE:
            create(m, argument)
            write_way(m, argument, m[literal_row(m, argument) + ARGUMENT_WAY])


@compiled
def install(m: Memory, root: int, way: int) -> None:
    """Write a root in one of its ways, and the angles it needs."""
    owner = literal_row(m, root)
    while m[owner + FIRST] >= 0 and m[STATUS] == FINE:
        unlink(m, m[owner + FIRST])
    write_way(m, root, way)
    for i in range(m[m[WAY_START] + way], m[m[WAY_START] + way + 1]):
        row = m[WAY_ROWS] + i * WAY_WIDTH
        wake(m, row)


@compiled
def allowed(m: Memory, root: int, way: int) -> bool:
    """A way that uses other roots must not close a circle."""
    for i in range(m[m[WAY_START] + way], m[m[WAY_START] + way + 1]):
        row = m[WAY_ROWS] + i * WAY_WIDTH
        for j in range(m[row + 1]):
            x = m[row + 2 + j]
            if m[literal_row(m, x) + KIND] and reaches(m, x, root):
                return False
    return True


@compiled
def switch(m: Memory) -> None:
    """Rewrite one to three roots in other ways of theirs, likelier the cheaper ones."""
    for _ in range(max(1, random_below(m, 4))):
        position = random_below(m, m[SWITCHABLE])
        first = m[m[WAY_FIRST] + position]
        number = m[m[WAY_FIRST] + position + 1] - first
        way = first + min(int(-2.0 * np.log(1.0 - random_unit(m))), number - 1)
        root = m[m[WAY_ROOT] + position]
        if m[STATUS] == FINE and allowed(m, root, way):
            install(m, root, way)
