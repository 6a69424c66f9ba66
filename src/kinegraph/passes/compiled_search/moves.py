"""The moves of the compiled search: destroy expressions, switch alternatives, rewrite terms by equations that hold."""

from __future__ import annotations

import numpy as np

from kinegraph.jit.marks import part as compiled
from kinegraph.passes.compiled_search.index import (
    MINUS_ONE,
    Memory,
    add_term,
    create,
    link,
    literal_row,
    negated,
    quotient,
    term_like,
    term_row,
    times,
    unlink,
)
from kinegraph.passes.compiled_search.layout import *
from kinegraph.passes.compiled_search.sharing import inline_expression, inlined_size, product, random_below, random_unit

# Writing related expressions out again, and what depends on what, compiled.

# ruff: noqa: F403, F405


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
def neighbors(m: Memory, literal: int) -> int:
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
            n = neighbors(m, target)
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


# Other ways to write roots, compiled.

# ruff: noqa: F403, F405


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


# Terms rewritten by equations that hold: sharing alone never tries that.
#
# Every expression X = x1 + x2 + ... is such an equation, and so are sin^2 + cos^2 = 1 and the addition theorems of the
# angles there are. A term k m x1 of another expression is replaced by the equation's other terms: k m X - k m x2 - ...,
# which join those that are there. So an expression is divided by another with a remainder, 2 x y becomes x y + x y
# where that makes two products known, and a sine's square gives way to the cosine's in one place and not in another.

# ruff: noqa: F403, F405


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
