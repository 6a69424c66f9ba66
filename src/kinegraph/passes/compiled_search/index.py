"""The state of the compiled search: table rows, coefficient lookup, and terms with the candidates they form."""

from __future__ import annotations

import numpy as np

from kinegraph.jit.marks import part as compiled
from kinegraph.passes.compiled_search.layout import *

# What functions of this folder take: one array of integers holds the whole state of the search.

#: The state; typed as a list because its elements are plain integers to compiled code.
Memory = list[int]
#: Temperatures and chances.
Schedule = list[float]


# Rows of the tables, and coefficients looked up: what all compiled functions stand on.

# ruff: noqa: F403, F405


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


# Terms, their uses and the candidates they make, linked and unlinked. See `system.system` for the plain version.

# ruff: noqa: F403, F405


# small helpers


@compiled
def term_cost(degree: int, coefficient: int) -> int:
    """How many products a term takes."""
    if degree == 0:
        return 0
    return degree - 1 if coefficient in (ONE, MINUS_ONE) else degree


@compiled
def mark_literal(m: Memory, literal: int) -> None:
    """Note that a literal changed, once."""
    row = literal_row(m, literal)
    if m[row + FLAG] == 0:
        m[row + FLAG] = 1
        m[m[TOUCHED_LIST] + m[TOUCHED]] = literal
        m[TOUCHED] += 1


@compiled
def mark_changed(m: Memory, entry: int) -> None:
    """Note that a candidate's saving changed, once."""
    row = entry_row(m, entry)
    m[row + VERSION] += 1
    if m[row + IS_DIRTY] == 0:
        m[row + IS_DIRTY] = 1
        m[m[DIRTY_LIST] + m[DIRTY]] = entry
        m[DIRTY] += 1


@compiled
def mixed(a: int, b: int, c: int, d: int) -> int:
    """A hash of four integers."""
    h = a * -7046029254386353131
    h = (h ^ (h >> 29)) + b * -4658895280553007687
    h = (h ^ (h >> 32)) * -7723592293110705685 + c * -2962180450290303597
    h = (h ^ (h >> 31)) * -7046029254386353131 + d * -3865264013463719593
    return h ^ (h >> 30)


# candidates


@compiled
def entry_of(m: Memory, key: int, sort: int, a: int, b: int, first: int, second: int) -> int:
    """The candidate of this key, made if need be; -1 if there is no room."""
    bucket = m[BUCKETS] + (key & m[BUCKET_MASK])
    entry = m[bucket]
    while entry >= 0:
        row = entry_row(m, entry)
        if m[row + KEY] == key:
            return entry
        entry = m[row + CHAIN]
    entry = m[FREE_ENTRY]
    if entry < 0:
        m[STATUS] = FULL
        return -1
    row = entry_row(m, entry)
    m[FREE_ENTRY] = m[row + CHAIN]
    m[row + KEY] = key
    m[row + SORT] = sort
    m[row + A] = a
    m[row + B] = b
    m[row + DEGREE_A] = first
    m[row + DEGREE_B] = second
    m[row + PLACES] = -1
    m[row + PLACE_COUNT] = 0
    m[row + CHAIN] = m[bucket]
    m[bucket] = entry
    return entry


@compiled
def drop_entry(m: Memory, entry: int) -> None:
    """Take a candidate out of the table."""
    row = entry_row(m, entry)
    bucket = m[BUCKETS] + (m[row + KEY] & m[BUCKET_MASK])
    other = m[bucket]
    if other == entry:
        m[bucket] = m[row + CHAIN]
    else:
        while m[entry_row(m, other) + CHAIN] != entry:
            other = m[entry_row(m, other) + CHAIN]
        m[entry_row(m, other) + CHAIN] = m[row + CHAIN]
    m[row + CHAIN] = m[FREE_ENTRY]
    m[FREE_ENTRY] = entry


@compiled
def attach(m: Memory, here: int, half: int, term: int) -> None:
    """Put a half edge at the head of its term's list; `here` is the place's row plus the side."""
    row = term_row(m, term)
    old = m[row + HALF]
    m[here + HALF_NEXT] = old
    m[here + HALF_PREVIOUS] = -1
    if old >= 0:
        m[place_row(m, old // 2) + old % 2 + HALF_PREVIOUS] = half
    m[row + HALF] = half


@compiled
def enter(m: Memory, entry: int, left: int, right: int, outer: int) -> None:
    """Note a place of a candidate; `right` is -1 for products."""
    place = m[FREE_PLACE]
    if entry < 0:
        return
    row = entry_row(m, entry)
    if place < 0:
        m[STATUS] = FULL
        if m[row + PLACE_COUNT] == 0:
            drop_entry(m, entry)
        return
    here = place_row(m, place)
    m[FREE_PLACE] = m[here + PLACE_NEXT]
    m[here + OF_ENTRY] = entry
    m[here + OUTER] = outer
    m[here + LEFT] = left
    m[here + RIGHT] = right
    old = m[row + PLACES]
    m[here + PLACE_NEXT] = old
    m[here + PLACE_PREVIOUS] = -1
    if old >= 0:
        m[place_row(m, old) + PLACE_PREVIOUS] = place
    m[row + PLACES] = place
    m[row + PLACE_COUNT] += 1
    attach(m, here, 2 * place, left)
    if right >= 0:
        attach(m, here + 1, 2 * place + 1, right)
    mark_changed(m, entry)


@compiled
def detach(m: Memory, here: int, term: int) -> None:
    """Take a place out of the list of its candidate."""
    after, before = m[here + HALF_NEXT], m[here + HALF_PREVIOUS]
    if after >= 0:
        m[place_row(m, after // 2) + after % 2 + HALF_PREVIOUS] = before
    if before >= 0:
        m[place_row(m, before // 2) + before % 2 + HALF_NEXT] = after
    else:
        m[term_row(m, term) + HALF] = after


@compiled
def leave(m: Memory, place: int) -> None:
    """Forget a place of a candidate."""
    here = place_row(m, place)
    detach(m, here, m[here + LEFT])
    if m[here + RIGHT] >= 0:
        detach(m, here + 1, m[here + RIGHT])
    entry = m[here + OF_ENTRY]
    row = entry_row(m, entry)
    after, before = m[here + PLACE_NEXT], m[here + PLACE_PREVIOUS]
    if after >= 0:
        m[place_row(m, after) + PLACE_PREVIOUS] = before
    if before >= 0:
        m[place_row(m, before) + PLACE_NEXT] = after
    else:
        m[row + PLACES] = after
    m[row + PLACE_COUNT] -= 1
    mark_changed(m, entry)
    if m[row + PLACE_COUNT] == 0:
        drop_entry(m, entry)
    m[here + PLACE_NEXT] = m[FREE_PLACE]
    m[FREE_PLACE] = place


@compiled
def index_divisor(m: Memory, left: int, right: int) -> None:
    """The two-term divisor of two terms of one expression."""
    first, second = term_row(m, left), term_row(m, right)
    i = j = degree = 0
    total = 0
    n, k = m[first + COUNT], m[second + COUNT]
    while i < n and j < k:
        x, y = m[first + LITERALS_OF + i], m[second + LITERALS_OF + j]
        if x == y:
            total += m[literal_row(m, x) + HASH]
            degree += 1
        i += x <= y
        j += y <= x
    if m[first + T_HASH] - total > m[second + T_HASH] - total:
        left, right = right, left
        first, second = second, first
    row = looked_up(m, NORMAL, m[first + COEFFICIENT], m[second + COEFFICIENT])
    if row < 0:
        return
    a, b, outer = m[row + 1], m[row + 2], m[row + 3]
    key = mixed(m[first + T_HASH] - total, m[second + T_HASH] - total, a, b + (1 << 40))
    entry = entry_of(m, key, DIVISOR, a, b, m[first + COUNT] - degree, m[second + COUNT] - degree)
    enter(m, entry, left, right, outer)


@compiled
def index_products(m: Memory, term: int) -> None:
    """The pairs of literals of a term, and its coefficient with each of them."""
    row = term_row(m, term)
    n = m[row + COUNT]
    base = row + LITERALS_OF
    for i in range(n):
        x = m[base + i]
        if i > 0 and m[base + i - 1] == x:
            continue
        for j in range(i + 1, n):
            y = m[base + j]
            if j == i + 1 or m[base + j - 1] != y:
                enter(m, entry_of(m, mixed(x, y, 77, 5), PAIR, x, y, 1, 1), term, -1, ONE)
    coefficient = m[row + COEFFICIENT]
    if coefficient != ONE and coefficient != MINUS_ONE:
        size = min(coefficient, negated(m, coefficient))
        for i in range(n):
            x = m[base + i]
            if i == 0 or m[base + i - 1] != x:
                enter(m, entry_of(m, mixed(size, x, 991, 6), SCALED, size, x, 1, 1), term, -1, ONE)


# terms


@compiled
def no_room(m: Memory) -> bool:
    """Is the journal full? Undoing needs no room of its own."""
    return m[UNDOING] == 0 and m[JOURNAL] + 64 > m[JOURNAL_ROOM]


@compiled
def note(m: Memory, kind: int, literal: int) -> int:
    """A new line of the journal."""
    line = m[JOURNAL_ROWS] + m[JOURNAL] * JOURNAL_WIDTH
    m[line + J_KIND] = kind
    m[line + J_EXPRESSION] = literal
    m[JOURNAL] += 1
    return line


@compiled
def link_uses(m: Memory, term: int, row: int) -> None:
    """Uses are numbered term * DEGREE + position of the literal's first copy."""
    for i in range(m[row + COUNT]):
        x = m[row + LITERALS_OF + i]
        if i == 0 or m[row + LITERALS_OF + i - 1] != x:
            place = literal_row(m, x)
            old = m[place + USES]
            m[row + USE_NEXT + i] = old
            m[row + USE_PREVIOUS + i] = -1
            if old >= 0:
                m[term_row(m, old // DEGREE) + USE_PREVIOUS + old % DEGREE] = term * DEGREE + i
            m[place + USES] = term * DEGREE + i
            m[place + USE_COUNT] += 1


@compiled
def link(m: Memory, expression: int, literals: int, degree: int, coefficient: int) -> None:
    """Put a new term into an expression; its literals are sorted and stand at `literals`."""
    term = m[FREE_TERM]
    if term < 0 or no_room(m):
        m[STATUS] = FULL
        return
    row, owner = term_row(m, term), literal_row(m, expression)
    m[FREE_TERM] = m[row + NEXT]
    total = 0
    for i in range(degree):
        x = m[literals + i]
        m[row + LITERALS_OF + i] = x
        total += m[literal_row(m, x) + HASH]
    m[row + EXPRESSION] = expression
    m[row + COUNT] = degree
    m[row + COEFFICIENT] = coefficient
    m[row + T_HASH] = total
    m[row + HALF] = -1
    m[note(m, 0, expression) + J_HASH] = total
    m[COST] += term_cost(degree, coefficient) + (m[owner + SIZE] > 0)
    m[WORK] += 1 + m[owner + SIZE]
    mark_literal(m, expression)
    link_uses(m, term, row)
    other = m[owner + FIRST]
    while other >= 0:
        index_divisor(m, term, other)
        other = m[term_row(m, other) + NEXT]
    index_products(m, term)
    old = m[owner + FIRST]
    m[row + NEXT] = old
    m[row + PREVIOUS] = -1
    if old >= 0:
        m[term_row(m, old) + PREVIOUS] = term
    m[owner + FIRST] = term
    m[owner + SIZE] += 1


@compiled
def unlink_uses(m: Memory, row: int) -> None:
    """Take a term out of the lists of the literals it uses."""
    for i in range(m[row + COUNT]):
        x = m[row + LITERALS_OF + i]
        if i == 0 or m[row + LITERALS_OF + i - 1] != x:
            after, before = m[row + USE_NEXT + i], m[row + USE_PREVIOUS + i]
            if after >= 0:
                m[term_row(m, after // DEGREE) + USE_PREVIOUS + after % DEGREE] = before
            if before >= 0:
                m[term_row(m, before // DEGREE) + USE_NEXT + before % DEGREE] = after
            else:
                m[literal_row(m, x) + USES] = after
            m[literal_row(m, x) + USE_COUNT] -= 1
            mark_literal(m, x)


@compiled
def unlink(m: Memory, term: int) -> None:
    """Take a term out of its expression."""
    if no_room(m):
        m[STATUS] = FULL
        return
    row = term_row(m, term)
    expression, degree, coefficient = m[row + EXPRESSION], m[row + COUNT], m[row + COEFFICIENT]
    owner = literal_row(m, expression)
    line = note(m, 1, expression)
    m[line + J_COEFFICIENT] = coefficient
    m[line + J_COUNT] = degree
    for i in range(degree):
        m[line + J_LITERALS + i] = m[row + LITERALS_OF + i]
    while m[row + HALF] >= 0:
        leave(m, m[row + HALF] // 2)
    unlink_uses(m, row)
    mark_literal(m, expression)
    after, before = m[row + NEXT], m[row + PREVIOUS]
    if after >= 0:
        m[term_row(m, after) + PREVIOUS] = before
    if before >= 0:
        m[term_row(m, before) + NEXT] = after
    else:
        m[owner + FIRST] = after
    m[owner + SIZE] -= 1
    m[COST] -= term_cost(degree, coefficient) + (m[owner + SIZE] > 0)
    m[WORK] += 1 + m[owner + SIZE]
    m[row + EXPRESSION] = -1
    m[row + NEXT] = m[FREE_TERM]
    m[FREE_TERM] = term


@compiled
def term_like(m: Memory, expression: int, total: int, degree: int) -> int:
    """The term of an expression whose monomial has this hash and degree, or -1."""
    term = m[literal_row(m, expression) + FIRST]
    while term >= 0 and (m[term_row(m, term) + T_HASH] != total or m[term_row(m, term) + COUNT] != degree):
        term = m[term_row(m, term) + NEXT]
    return term


@compiled
def add_term(m: Memory, expression: int, literals: int, degree: int, coefficient: int) -> None:
    """Add to a term of an expression; its literals are sorted and stand at `literals`."""
    total = 0
    for i in range(degree):
        total += m[literal_row(m, m[literals + i]) + HASH]
    term = term_like(m, expression, total, degree)
    if term >= 0:
        coefficient = plus(m, m[term_row(m, term) + COEFFICIENT], coefficient)
        if m[STATUS] != FINE:
            return
        unlink(m, term)
    if coefficient != 0:
        link(m, expression, literals, degree, coefficient)


# expressions


@compiled
def create(m: Memory, literal: int) -> int:
    """A new expression; a free literal is taken if -1 is given. Returns -1 if there is none."""
    if literal < 0:
        if m[FREE_LITERALS] == 0 or no_room(m):
            m[STATUS] = FULL
            return -1
        m[FREE_LITERALS] -= 1
        literal = m[m[FREE_LIST] + m[FREE_LITERALS]]
    m[literal_row(m, literal) + KIND] = 1
    note(m, 2, literal)
    return literal


@compiled
def release(m: Memory, literal: int) -> None:
    """A literal is no expression any more; it may be used again unless it is a root."""
    row = literal_row(m, literal)
    m[row + KIND] = 0
    if m[row + ROOT] == 0:
        m[m[FREE_LIST] + m[FREE_LITERALS]] = literal
        m[FREE_LITERALS] += 1


@compiled
def delete(m: Memory, literal: int) -> None:
    """Remove an expression and its terms."""
    row = literal_row(m, literal)
    while m[row + FIRST] >= 0 and m[STATUS] == FINE:
        unlink(m, m[row + FIRST])
    if m[STATUS] == FINE:
        release(m, literal)
        note(m, 3, literal)


@compiled
def take_literal(m: Memory, literal: int) -> None:
    """Remove a literal from the free ones: undoing a deletion."""
    base = m[FREE_LIST]
    for i in range(m[FREE_LITERALS] - 1, -1, -1):
        if m[base + i] == literal:
            m[FREE_LITERALS] -= 1
            m[base + i] = m[base + m[FREE_LITERALS]]
            return


@compiled
def undo(m: Memory) -> None:
    """Take back everything since the journal was last cleared."""
    m[STATUS] = FINE
    m[UNDOING] = 1
    while m[JOURNAL] > 0:
        position = m[JOURNAL] - 1
        line = m[JOURNAL_ROWS] + position * JOURNAL_WIDTH
        kind, literal = m[line + J_KIND], m[line + J_EXPRESSION]
        row = literal_row(m, literal)
        if kind == 0:
            term = m[row + FIRST]
            while m[term_row(m, term) + T_HASH] != m[line + J_HASH]:
                term = m[term_row(m, term) + NEXT]
            unlink(m, term)
        elif kind == 1:
            link(m, literal, line + J_LITERALS, m[line + J_COUNT], m[line + J_COEFFICIENT])
        elif kind == 2:
            release(m, literal)
        else:
            m[row + KIND] = 1
            if m[row + ROOT] == 0:
                take_literal(m, literal)
        m[JOURNAL] = position
    m[UNDOING] = 0
