# ruff: noqa: F403, F405
"""Terms rewritten by equations that hold, compiled: what sharing alone never tries.

Every expression X = x1 + x2 + ... is such an equation, and so are sin^2 + cos^2 = 1 and the addition theorems of the
angles there are. A term k m x1 of another expression is replaced by the equation's other terms: k m X - k m x2 - ...,
which join those that are there. So an expression is divided by another with a remainder, 2 x y becomes x y + x y where
that makes two products known, and a sine's square gives way to the cosine's in one place and not in another.
"""

from __future__ import annotations

from kinegraph.passes.compiled_search.compiled import Memory, compiled
from kinegraph.passes.compiled_search.destroying import reaches
from kinegraph.passes.compiled_search.factor import random_below, random_unit
from kinegraph.passes.compiled_search.index import add_term, term_like, unlink
from kinegraph.passes.compiled_search.inlining import product
from kinegraph.passes.compiled_search.layout import *
from kinegraph.passes.compiled_search.lookup import MINUS_ONE, literal_row, negated, quotient, term_row, times
from kinegraph.passes.compiled_search.switching import wake

#: How often a step looks for a term to rewrite.
TRIES = 8

#: How often an equation is used none of whose other terms is met.
BLIND = 0.1


@compiled
def divides(m: Memory, literals: int, degree: int, term: int) -> bool:
    """Is a term a multiple of a product of sorted literals?"""
    row = term_row(m, term)
    i = 0
    for j in range(m[row + COUNT]):
        i += i < degree and m[row + LITERALS_OF + j] == m[literals + i]
    return i == degree


# equations, in EQUATION as rows of coefficient, degree and literals


@compiled
def copy_row(m: Memory, position: int, literals: int, degree: int, coefficient: int) -> None:
    """Write one term of the equation."""
    target = m[EQUATION] + position * WAY_WIDTH
    m[target] = coefficient
    m[target + 1] = degree
    for i in range(degree):
        m[target + 2 + i] = m[literals + i]


@compiled
def take_definition(m: Memory, pivot: int) -> tuple[int, int]:
    """The equation that defines the expression of a term; returns its length and the term's place in it."""
    expression = m[term_row(m, pivot) + EXPRESSION]
    n = place = 0
    term = m[literal_row(m, expression) + FIRST]
    while term >= 0:
        row = term_row(m, term)
        copy_row(m, n, row + LITERALS_OF, m[row + COUNT], m[row + COEFFICIENT])
        if term == pivot:
            place = n
        n += 1
        term = m[row + NEXT]
    m[m[BUFFER]] = expression
    copy_row(m, n, m[BUFFER], 1, MINUS_ONE)
    return n + 1, place


@compiled
def take_relation(m: Memory, relation: int) -> int:
    """The equation of this number; returns its length."""
    first = m[m[WAY_START] + relation]
    n = m[m[WAY_START] + relation + 1] - first
    for i in range(n):
        row = m[WAY_ROWS] + (first + i) * WAY_WIDTH
        copy_row(m, i, row + 2, m[row + 1], m[row])
    return n


# choosing


@compiled
def random_expression(m: Memory) -> int:
    """An expression that was just written out, or any; -1 if none was met."""
    for _ in range(TRIES):
        if m[TOUCHED] > 0 and random_below(m, 2):
            literal = m[m[TOUCHED_LIST] + random_below(m, m[TOUCHED])]
        else:
            literal = random_below(m, m[LITERALS])
        if m[literal_row(m, literal) + SIZE] > 0:
            return literal
    return -1


@compiled
def random_term(m: Memory, expression: int) -> int:
    """A term of an expression."""
    row = literal_row(m, expression)
    term = m[row + FIRST]
    for _ in range(random_below(m, m[row + SIZE])):
        term = m[term_row(m, term) + NEXT]
    return term


@compiled
def gather_definitions(m: Memory, term: int) -> int:
    """Terms of other expressions that this one is a multiple of go to LIST_ONE; returns how many."""
    row = term_row(m, term)
    n = 0
    for i in range(m[row + COUNT]):
        x = m[row + LITERALS_OF + i]
        if i > 0 and m[row + LITERALS_OF + i - 1] == x:
            continue
        use = m[literal_row(m, x) + USES]
        while use >= 0:
            here = term_row(m, use // DEGREE)
            owner = literal_row(m, m[here + EXPRESSION])
            if m[here + LITERALS_OF] == x and 1 < m[owner + SIZE] <= LONGEST and m[here + COUNT] <= m[row + COUNT]:
                other = m[here + EXPRESSION] != m[row + EXPRESSION]
                if other and divides(m, here + LITERALS_OF, m[here + COUNT], term):
                    m[m[LIST_ONE] + n] = use // DEGREE
                    n += 1
            use = m[here + USE_NEXT + use % DEGREE]
    m[WORK] += n // 4
    return n


@compiled
def gather_relations(m: Memory, term: int) -> int:
    """Relations with a term that this one is a multiple of go to LIST_ONE, with the place; returns how many."""
    n = 0
    for relation in range(m[FIRST_RELATION], m[FIRST_RELATION] + m[RELATIONS]):
        first = m[m[WAY_START] + relation]
        for i in range(m[m[WAY_START] + relation + 1] - first):
            row = m[WAY_ROWS] + (first + i) * WAY_WIDTH
            if divides(m, row + 2, m[row + 1], term):
                m[m[LIST_ONE] + n] = relation * LONGEST + i
                n += 1
    return n


@compiled
def cofactor(m: Memory, term: int, place: int) -> int:
    """A term over the equation's term at a place goes to the second buffer; returns the degree."""
    row, base, pivot = term_row(m, term), m[BUFFER] + DEGREE + 1, m[EQUATION] + place * WAY_WIDTH
    i = n = 0
    for j in range(m[row + COUNT]):
        x = m[row + LITERALS_OF + j]
        if i < m[pivot + 1] and m[pivot + 2 + i] == x:
            i += 1
        else:
            m[base + n] = x
            n += 1
    return n


@compiled
def matching_terms(m: Memory, expression: int, rest: int, length: int, place: int) -> int:
    """How many of the equation's other terms meet one of the expression; -1 if a degree would be too large."""
    base = m[BUFFER] + DEGREE + 1
    common = found = 0
    for i in range(rest):
        common += m[literal_row(m, m[base + i]) + HASH]
    for position in range(length):
        row = m[EQUATION] + position * WAY_WIDTH
        if rest + m[row + 1] > DEGREE:
            return -1
        total = common
        for i in range(m[row + 1]):
            total += m[literal_row(m, m[row + 2 + i]) + HASH]
        found += position != place and term_like(m, expression, total, rest + m[row + 1]) >= 0
    return found


# rewriting


@compiled
def rewrite_term(m: Memory, term: int, length: int, place: int) -> bool:
    """Replace a term by the equation's others; False if it was left alone."""
    row = term_row(m, term)
    expression = m[row + EXPRESSION]
    rest = cofactor(m, term, place)
    found = matching_terms(m, expression, rest, length, place)
    if found < 0 or (found == 0 and random_unit(m) > BLIND):
        return False
    factor = quotient(m, m[row + COEFFICIENT], m[m[EQUATION] + place * WAY_WIDTH])
    if factor < 0 or m[STATUS] != FINE:
        return False
    factor = negated(m, factor)
    unlink(m, term)
    for position in range(length):
        if position != place and m[STATUS] == FINE:
            source = m[EQUATION] + position * WAY_WIDTH
            wake(m, source)
            coefficient = times(m, factor, m[source])
            n = product(m, rest, source + 2, m[source + 1])
            add_term(m, expression, m[BUFFER] + 2 * (DEGREE + 1), n, coefficient)
    return True


@compiled
def by_definition(m: Memory, term: int) -> bool:
    """Divide the expression of a term by another that has a part of this term."""
    n = gather_definitions(m, term)
    if n == 0:
        return False
    pivot = m[m[LIST_ONE] + random_below(m, n)]
    if reaches(m, m[term_row(m, pivot) + EXPRESSION], m[term_row(m, term) + EXPRESSION]):
        return False
    length, place = take_definition(m, pivot)
    return rewrite_term(m, term, length, place)


@compiled
def circular(m: Memory, length: int, expression: int) -> bool:
    """Does a literal of the equation depend on an expression? Then that may not use it."""
    for position in range(length):
        row = m[EQUATION] + position * WAY_WIDTH
        for i in range(m[row + 1]):
            if reaches(m, m[row + 2 + i], expression):
                return True
    return False


@compiled
def by_relation(m: Memory, term: int) -> bool:
    """Rewrite a term by an identity of sines and cosines."""
    n = gather_relations(m, term)
    if n == 0:
        return False
    chosen = m[m[LIST_ONE] + random_below(m, n)]
    length = take_relation(m, chosen // LONGEST)
    if circular(m, length, m[term_row(m, term) + EXPRESSION]):
        return False
    return rewrite_term(m, term, length, chosen % LONGEST)


@compiled
def rewrite(m: Memory) -> None:
    """Rewrite one to three terms, if some are met."""
    rounds = 1 + random_below(m, 3)
    for _ in range(TRIES):
        if m[STATUS] != FINE or rounds == 0:
            return
        expression = random_expression(m)
        if expression < 0:
            return
        term = random_term(m, expression)
        if m[RELATIONS] > 0 and random_below(m, 2):
            rounds -= by_relation(m, term)
        else:
            rounds -= by_definition(m, term)
