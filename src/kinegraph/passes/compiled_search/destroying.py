# ruff: noqa: F403, F405
"""Writing related expressions out again, and what depends on what, compiled."""

from __future__ import annotations

from kinegraph.passes.compiled_search.compiled import Memory, compiled
from kinegraph.passes.compiled_search.factor import random_below
from kinegraph.passes.compiled_search.inlining import inline_expression, inlined_size
from kinegraph.passes.compiled_search.layout import *
from kinegraph.passes.compiled_search.lookup import literal_row, term_row


@compiled
def expressions_inside(m: Memory, literal: int, n: int) -> int:
    """Add the expressions an expression uses to LIST_TWO, which holds n so far; those marked are left out."""
    term = m[literal_row(m, literal) + FIRST]
    while term >= 0:
        row = term_row(m, term)
        for i in range(m[row + COUNT]):
            x = literal_row(m, m[row + LITERALS_OF + i])
            if m[x + KIND] and m[x + MARK] != m[STAMP]:
                m[x + MARK] = m[STAMP]
                m[m[LIST_TWO] + n] = m[row + LITERALS_OF + i]
                n += 1
        term = m[row + NEXT]
    return n


@compiled
def neighbours(m: Memory, literal: int) -> int:
    """Expressions used beside, inside or around this one go to LIST_TWO; returns how many."""
    m[STAMP] += 1
    m[literal_row(m, literal) + MARK] = m[STAMP]
    n = 0
    use = m[literal_row(m, literal) + USES]
    while use >= 0:
        row = term_row(m, use // DEGREE)
        user = m[row + EXPRESSION]
        owner = literal_row(m, user)
        if m[owner + MARK] != m[STAMP] and m[owner + USE_COUNT] > 0:
            m[owner + MARK] = m[STAMP]
            m[m[LIST_TWO] + n] = user
            n += 1
        n = expressions_inside(m, user, n)
        use = m[row + USE_NEXT + use % DEGREE]
    return expressions_inside(m, literal, n)


@compiled
def destroy(m: Memory) -> None:
    """Write one to five related expressions out again."""
    n = 0
    for literal in range(m[LITERALS]):
        row = literal_row(m, literal)
        if m[row + KIND] and m[row + USE_COUNT] > 0:
            m[m[LIST_ONE] + n] = literal
            n += 1
    if n == 0:
        return
    target = m[m[LIST_ONE] + random_below(m, n)]
    draw = random_below(m, 7)
    rounds = draw // 2 + 1 if draw < 4 else draw - 1
    for _ in range(rounds):
        if m[STATUS] != FINE:
            return
        if m[literal_row(m, target) + KIND] and inlined_size(m, target) <= m[LARGEST]:
            n = neighbours(m, target)
            inline_expression(m, target)
            if n == 0:
                return
            target = m[m[LIST_TWO] + random_below(m, n)]


# what depends on what


@compiled
def add_inside(m: Memory, literal: int, n: int) -> int:
    """Add a literal to LIST_TWO, which holds n so far, if it is made of others and not marked."""
    row = literal_row(m, literal)
    if m[row + MARK] != m[STAMP] and (m[row + KIND] or m[row + INSIDE_END] > m[row + INSIDE]):
        m[row + MARK] = m[STAMP]
        m[m[LIST_TWO] + n] = literal
        n += 1
    return n


@compiled
def reaches(m: Memory, start: int, goal: int) -> bool:
    """Does a literal depend on another, through expressions and what functions are applied to?"""
    m[STAMP] += 1
    n = add_inside(m, start, 0)
    done = 0
    while done < n:
        literal = m[m[LIST_TWO] + done]
        if literal == goal:
            return True
        done += 1
        row = literal_row(m, literal)
        for i in range(m[row + INSIDE], m[row + INSIDE_END]):
            n = add_inside(m, m[m[INSIDE_LIST] + i], n)
        term = m[row + FIRST]
        while term >= 0:
            here = term_row(m, term)
            for i in range(m[here + COUNT]):
                n = add_inside(m, m[here + LITERALS_OF + i], n)
            term = m[here + NEXT]
    return False
