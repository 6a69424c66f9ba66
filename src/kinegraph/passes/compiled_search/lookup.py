# ruff: noqa: F403, F405
"""Rows of the tables, and coefficients looked up: what all compiled functions stand on."""

from __future__ import annotations

import numpy as np

from kinegraph.passes.compiled_search.compiled import Memory, compiled
from kinegraph.passes.compiled_search.layout import *

ONE, MINUS_ONE = 1, 2


# rows


@compiled
def literal_row(m: Memory, literal: int) -> int:
    """Where the row of a literal begins."""
    return m[LITERAL] + literal * LITERAL_WIDTH


@compiled
def term_row(m: Memory, term: int) -> int:
    """Where the row of a term begins."""
    return m[TERM] + term * TERM_WIDTH


@compiled
def place_row(m: Memory, place: int) -> int:
    """Where the row of a place begins."""
    return m[PLACE] + place * PLACE_WIDTH


@compiled
def entry_row(m: Memory, entry: int) -> int:
    """Where the row of a candidate begins."""
    return m[ENTRY] + entry * ENTRY_WIDTH


# coefficients, looked up


@compiled
def memo_row(m: Memory, key: int) -> int:
    """The row of a key, or the empty row where it belongs."""
    mask = m[MEMO_MASK]
    slot = int(((np.int64(key) * np.int64(-7046029254386353131)) >> np.int64(20)) & mask)
    while m[m[MEMO] + slot * MEMO_WIDTH] != key and m[m[MEMO] + slot * MEMO_WIDTH] != 0:
        slot = (slot + 1) & mask
    return m[MEMO] + slot * MEMO_WIDTH


@compiled
def looked_up(m: Memory, operation: int, left: int, right: int) -> int:
    """The row of the memo with a result, or -1 after noting what is missing."""
    key = int((np.int64(operation) << np.int64(60)) | (np.int64(left) << np.int64(30)) | np.int64(right))
    row = memo_row(m, key)
    if m[row] == 0:
        m[STATUS] = MISSING
        if m[MISS] < m[MISS_ROOM]:
            m[m[MISSES] + m[MISS]] = key
            m[MISS] += 1
        return -1
    return row


@compiled
def negated(m: Memory, coefficient: int) -> int:
    """The number of the negative coefficient."""
    if coefficient <= MINUS_ONE:
        return MINUS_ONE + ONE - coefficient if coefficient else 0
    row = looked_up(m, NEGATE, coefficient, coefficient)
    return m[row + 1] if row >= 0 else ONE


@compiled
def times(m: Memory, left: int, right: int) -> int:
    """The number of the product of two coefficients."""
    if left > right:
        left, right = right, left
    if left == ONE:
        return right
    if left == MINUS_ONE:
        return negated(m, right)
    row = looked_up(m, MULTIPLY, left, right)
    return m[row + 1] if row >= 0 else ONE


@compiled
def plus(m: Memory, left: int, right: int) -> int:
    """The number of the sum of two coefficients."""
    if left > right:
        left, right = right, left
    if left == 0:
        return right
    row = looked_up(m, ADD, left, right)
    return m[row + 1] if row >= 0 else ONE


@compiled
def quotient(m: Memory, value: int, divisor: int) -> int:
    """The quotient, or -1 where there is none."""
    if divisor == ONE:
        return value
    if divisor == MINUS_ONE:
        return negated(m, value)
    if value == divisor:
        return ONE
    row = looked_up(m, DIVIDE, value, divisor)
    return m[row + 1] if row >= 0 else ONE
