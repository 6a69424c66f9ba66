# ruff: noqa: F403, F405
"""Writing expressions out where they are used, and tidying, compiled. See `system.tidy` for the plain version."""

from __future__ import annotations

from kinegraph.passes.compiled_search.compiled import Memory, compiled
from kinegraph.passes.compiled_search.index import add_term, delete, term_cost, unlink
from kinegraph.passes.compiled_search.layout import *
from kinegraph.passes.compiled_search.lookup import MINUS_ONE, ONE, literal_row, term_row, times

TOO_MANY = 1 << 20


@compiled
def copies_of(m: Memory, term: int, literal: int) -> int:
    """How often a literal stands in a term."""
    row = term_row(m, term)
    n = 0
    for i in range(m[row + COUNT]):
        n += m[row + LITERALS_OF + i] == literal
    return n


@compiled
def without(m: Memory, term: int, x: int, copies_x: int, y: int, copies_y: int) -> int:
    """A term's literals less some copies of two of them, into the first buffer; returns the degree."""
    row, target = term_row(m, term), m[BUFFER]
    n = 0
    for i in range(m[row + COUNT]):
        z = m[row + LITERALS_OF + i]
        if z == x and copies_x > 0:
            copies_x -= 1
        elif z == y and copies_y > 0:
            copies_y -= 1
        else:
            m[target + n] = z
            n += 1
    return n


@compiled
def inlined_size(m: Memory, literal: int) -> int:
    """The number of terms inlining would write; a large number if a degree would be too large."""
    row = literal_row(m, literal)
    degree = total = 0
    term = m[row + FIRST]
    while term >= 0:
        degree = max(degree, m[term_row(m, term) + COUNT])
        term = m[term_row(m, term) + NEXT]
    use = m[row + USES]
    while use >= 0:
        user = term_row(m, use // DEGREE)
        copies = copies_of(m, use // DEGREE, literal)
        if m[user + COUNT] + copies * (degree - 1) > DEGREE:
            return TOO_MANY
        total += m[row + SIZE] ** copies
        use = m[user + USE_NEXT + use % DEGREE]
    return total


@compiled
def product(m: Memory, rest: int, literals: int, degree: int) -> int:
    """The first `rest` literals of the second buffer and other sorted ones, sorted, into the third; the degree."""
    base, target = m[BUFFER] + DEGREE + 1, m[BUFFER] + 2 * (DEGREE + 1)
    i = j = 0
    for n in range(rest + degree):
        if j == degree or (i < rest and m[base + i] <= m[literals + j]):
            m[target + n] = m[base + i]
            i += 1
        else:
            m[target + n] = m[literals + j]
            j += 1
    return rest + degree


@compiled
def inline_expression(m: Memory, literal: int) -> None:
    """Write an expression out wherever it is used; it is deleted unless it is a root."""
    row = literal_row(m, literal)
    while m[row + USES] >= 0 and m[STATUS] == FINE:
        term = m[row + USES] // DEGREE
        expression, outer = m[term_row(m, term) + EXPRESSION], m[term_row(m, term) + COEFFICIENT]
        rest = without(m, term, literal, 1, -1, 0)
        for i in range(rest):
            m[m[BUFFER] + DEGREE + 1 + i] = m[m[BUFFER] + i]
        unlink(m, term)
        own = m[row + FIRST]
        while own >= 0 and m[STATUS] == FINE:
            here = term_row(m, own)
            if rest + m[here + COUNT] > DEGREE:
                m[STATUS] = FULL
                return
            coefficient = times(m, outer, m[here + COEFFICIENT])
            n = product(m, rest, here + LITERALS_OF, m[here + COUNT])
            add_term(m, expression, m[BUFFER] + 2 * (DEGREE + 1), n, coefficient)
            own = m[here + NEXT]
    if m[row + ROOT] == 0 and m[STATUS] == FINE:
        delete(m, literal)


@compiled
def inlining_cost(m: Memory, literal: int) -> int:
    """Operations added by inlining an expression everywhere; like terms are not foreseen."""
    row = literal_row(m, literal)
    change = 1
    own = m[row + FIRST]
    while own >= 0:
        here = term_row(m, own)
        change -= term_cost(m[here + COUNT], m[here + COEFFICIENT]) + 1
        own = m[here + NEXT]
    use = m[row + USES]
    while use >= 0:
        user = term_row(m, use // DEGREE)
        copies = copies_of(m, use // DEGREE, literal)
        if copies > 1 and m[row + SIZE] > 1:
            return 1
        change -= term_cost(m[user + COUNT], m[user + COEFFICIENT]) + 1
        own = m[row + FIRST]
        while own >= 0:
            here = term_row(m, own)
            degree = m[user + COUNT] + copies * (m[here + COUNT] - 1)
            if degree > DEGREE:
                return 1
            coefficient = m[user + COEFFICIENT]
            for _ in range(copies):
                coefficient = times(m, coefficient, m[here + COEFFICIENT])
            change += term_cost(degree, coefficient) + 1
            own = m[here + NEXT]
        use = m[user + USE_NEXT + use % DEGREE]
    return change


@compiled
def worth_inlining(m: Memory, literal: int) -> bool:
    """Is an expression not worth having: another name, or used once where writing it out costs nothing?"""
    row = literal_row(m, literal)
    if m[row + SIZE] == 0:
        return True
    if m[row + SIZE] == 1:
        own = term_row(m, m[row + FIRST])
        c = m[own + COEFFICIENT]
        if m[own + COUNT] <= 1 and c in (ONE, MINUS_ONE):
            return True
        return (m[row + USE_COUNT] == 1 or m[own + COUNT] <= 1) and inlining_cost(m, literal) <= 0
    if m[row + USE_COUNT] > 1:
        return False
    return m[term_row(m, m[row + USES] // DEGREE) + COUNT] == 1 and inlining_cost(m, literal) <= 0


@compiled
def drop_argument(m: Memory, argument: int) -> None:
    """Remove an angle's sum once neither its sine nor its cosine is used."""
    if m[literal_row(m, argument) + KIND] == 0:
        return
    for other in range(m[LITERALS]):
        row = literal_row(m, other)
        if m[row + ARGUMENT] == argument and m[row + USE_COUNT] > 0:
            return
    inline_expression(m, argument)
    delete(m, argument)


@compiled
def tidy(m: Memory) -> None:
    """Visit what was touched: drop what is dead, take in what is used once at no cost."""
    while m[TOUCHED] > 0 and m[STATUS] == FINE:
        m[TOUCHED] -= 1
        literal = m[m[TOUCHED_LIST] + m[TOUCHED]]
        row = literal_row(m, literal)
        m[row + FLAG] = 0
        if m[row + ARGUMENT] >= 0 and m[row + USE_COUNT] == 0:
            drop_argument(m, m[row + ARGUMENT])
        if m[row + KIND] == 0 or m[row + ROOT]:
            continue
        if m[row + USE_COUNT] == 0:
            delete(m, literal)
        elif worth_inlining(m, literal) and m[STATUS] == FINE:
            inline_expression(m, literal)


@compiled
def forget_touched(m: Memory) -> None:
    """Empty the list of literals that changed."""
    for i in range(m[TOUCHED]):
        m[literal_row(m, m[m[TOUCHED_LIST] + i]) + FLAG] = 0
    m[TOUCHED] = 0
