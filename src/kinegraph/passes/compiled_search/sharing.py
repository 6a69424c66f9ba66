"""Inlining, tidying and greedy sharing, compiled; `factoring.extract` does the same without a search."""

from __future__ import annotations

import numpy as np

from kinegraph.jit.marks import part as compiled
from kinegraph.passes.compiled_search.index import (
    MINUS_ONE,
    ONE,
    Memory,
    add_term,
    create,
    delete,
    entry_row,
    link,
    literal_row,
    negated,
    place_row,
    quotient,
    term_cost,
    term_row,
    times,
    unlink,
)
from kinegraph.passes.compiled_search.layout import *

# Writing expressions out where they are used, and tidying, compiled. See `system.tidy` for the plain version.

# ruff: noqa: F403, F405


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


# The value of candidates, and sharing them; `factoring.extract` does the same without a search.

# ruff: noqa: F403, F405


#: How many coefficients of uses are tried as the scale of a divisor.
SCALES = 8


@compiled
def random_unit(m: Memory) -> float:
    """A number in [0, 1) by xorshift64*."""
    x = np.uint64(m[RANDOM])
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    m[RANDOM] = np.int64(x)  # type: ignore[call-overload]
    return np.float64((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) / 9007199254740992.0


@compiled
def random_below(m: Memory, n: int) -> int:
    """A random integer from 0 to n - 1."""
    return int(random_unit(m) * n)


# values


@compiled
def pair_copies(m: Memory, term: int, x: int, y: int) -> int:
    """How often a pair of literals can be taken out of a term."""
    if x == y:
        return copies_of(m, term, x) // 2
    return min(copies_of(m, term, x), copies_of(m, term, y))


@compiled
def choose(m: Memory, entry: int) -> tuple[int, int]:
    """Places of a divisor that share no term go to CHOSEN; returns how many and what they save."""
    m[STAMP] += 1
    stamp = m[STAMP]
    number = gain = 0
    row = entry_row(m, entry)
    place = m[row + PLACES]
    while place >= 0:
        here = place_row(m, place)
        left, right = term_row(m, m[here + LEFT]), term_row(m, m[here + RIGHT])
        if m[left + T_MARK] != stamp and m[right + T_MARK] != stamp:
            m[left + T_MARK] = m[right + T_MARK] = stamp
            pick = m[CHOSEN] + number * CHOSEN_WIDTH
            m[pick] = m[here + LEFT]
            m[pick + 1] = m[here + RIGHT]
            m[pick + 2] = m[here + OUTER]
            number += 1
            gain += term_cost(m[left + COUNT], m[left + COEFFICIENT])
            gain += term_cost(m[right + COUNT], m[right + COEFFICIENT])
            gain += 1 - (m[left + COUNT] - m[row + DEGREE_A])
        place = m[here + PLACE_NEXT]
    return number, gain


@compiled
def coefficients_needed(m: Memory, row: int, scale: int, number: int) -> int:
    """How many coefficients a divisor and its chosen uses need when scaled; a large number if impossible."""
    needed = 0
    if m[row + DEGREE_A] and times(m, scale, m[row + A]) > MINUS_ONE:
        needed += 1
    if m[row + DEGREE_B] and times(m, scale, m[row + B]) > MINUS_ONE:
        needed += 1
    for i in range(number):
        found = quotient(m, m[m[CHOSEN] + i * CHOSEN_WIDTH + 2], scale)
        if found < 0:
            return 1 << 20
        needed += found > MINUS_ONE
    return needed


@compiled
def best_scale(m: Memory, row: int, number: int) -> tuple[int, int]:
    """The number to scale a divisor by so that it and its uses need fewest coefficients, and how many those are."""
    best, least = ONE, coefficients_needed(m, row, ONE, number)
    previous = ONE
    for i in range(min(number, SCALES)):
        scale = m[m[CHOSEN] + i * CHOSEN_WIDTH + 2]
        if least > 0 and scale != previous and scale > MINUS_ONE:
            previous = scale
            needed = coefficients_needed(m, row, scale, number)
            if needed < least:
                best, least = scale, needed
    if least > 0 and m[row + B] > MINUS_ONE:
        scale = quotient(m, ONE, m[row + B])
        if scale > MINUS_ONE:
            needed = coefficients_needed(m, row, scale, number)
            if needed < least:
                best, least = scale, needed
    return best, least


@compiled
def saving(m: Memory, entry: int) -> int:
    """Operations saved by sharing a candidate."""
    row = entry_row(m, entry)
    count = m[row + PLACE_COUNT]
    if count == 0:
        return 0
    if m[row + SORT] == DIVISOR:
        number, gain = choose(m, entry)
        gain -= max(m[row + DEGREE_A] - 1, 0) + max(m[row + DEGREE_B] - 1, 0) + 1
        return gain - best_scale(m, row, number)[1] if gain > 0 else 0
    if m[row + SORT] == SCALED:
        return count - 1
    total = -1
    place = m[row + PLACES]
    while place >= 0:
        here = place_row(m, place)
        total += pair_copies(m, m[here + LEFT], m[row + A], m[row + B])
        place = m[here + PLACE_NEXT]
    return total


# sharing


@compiled
def with_literal(m: Memory, source: int, degree: int, literal: int, copies: int) -> int:
    """Write sorted literals with copies of one more to the third buffer; returns the degree."""
    target = m[BUFFER] + 2 * (DEGREE + 1)
    i = n = 0
    while i < degree and m[source + i] <= literal:
        m[target + n] = m[source + i]
        n += 1
        i += 1
    for _ in range(copies):
        m[target + n] = literal
        n += 1
    while i < degree:
        m[target + n] = m[source + i]
        n += 1
        i += 1
    return n


@compiled
def split_terms(m: Memory, left: int, right: int) -> tuple[int, int]:
    """The common monomial into the first buffer, left / common into the second; returns their degrees."""
    first, second = term_row(m, left), term_row(m, right)
    common, rest = m[BUFFER], m[BUFFER] + DEGREE + 1
    j = c = r = 0
    for i in range(m[first + COUNT]):
        x = m[first + LITERALS_OF + i]
        while j < m[second + COUNT] and m[second + LITERALS_OF + j] < x:
            j += 1
        if j < m[second + COUNT] and m[second + LITERALS_OF + j] == x:
            m[common + c] = x
            c += 1
            j += 1
        else:
            m[rest + r] = x
            r += 1
    return c, r


@compiled
def existing_divisor(m: Memory, row: int, coefficient: int, number: int) -> tuple[int, int]:
    """An expression that is the divisor already, and the sign; -1 if there is none."""
    for i in range(number):
        left = term_row(m, m[m[CHOSEN] + i * CHOSEN_WIDTH])
        expression = m[left + EXPRESSION]
        if m[literal_row(m, expression) + SIZE] == 2 and m[left + COUNT] == m[row + DEGREE_A]:
            if m[left + COEFFICIENT] == coefficient:
                return expression, ONE
            if m[left + COEFFICIENT] == negated(m, coefficient):
                return expression, MINUS_ONE
    return -1, ONE


@compiled
def new_divisor(m: Memory, first: int, second: int) -> int:
    """A new expression for the divisor found in the first chosen place."""
    literal = create(m, -1)
    if literal >= 0:
        left, right = m[m[CHOSEN]], m[m[CHOSEN] + 1]
        rest = m[BUFFER] + DEGREE + 1
        _, degree = split_terms(m, left, right)
        link(m, literal, rest, degree, first)
        _, degree = split_terms(m, right, left)
        link(m, literal, rest, degree, second)
    return literal


@compiled
def extract_divisor(m: Memory, entry: int) -> None:
    """Replace a sum of two terms by a new literal wherever it saves."""
    row = entry_row(m, entry)
    number, _ = choose(m, entry)
    scale, _ = best_scale(m, row, number)
    first, second = times(m, m[row + A], scale), times(m, m[row + B], scale)
    literal, sign = existing_divisor(m, row, first, number)
    if m[STATUS] == FINE and literal < 0:
        literal = new_divisor(m, first, second)
    for i in range(number):
        if m[STATUS] != FINE:
            return
        pick = m[CHOSEN] + i * CHOSEN_WIDTH
        left, right = m[pick], m[pick + 1]
        expression = m[term_row(m, left) + EXPRESSION]
        if expression != literal:
            outer = times(m, quotient(m, m[pick + 2], scale), sign)
            common, _ = split_terms(m, left, right)
            n = with_literal(m, m[BUFFER], common, literal, 1)
            unlink(m, left)
            unlink(m, right)
            add_term(m, expression, m[BUFFER] + 2 * (DEGREE + 1), n, outer)


@compiled
def gather_terms(m: Memory, entry: int) -> int:
    """Terms of a product candidate into LIST_ONE; returns how many."""
    n = 0
    place = m[entry_row(m, entry) + PLACES]
    while place >= 0:
        here = place_row(m, place)
        m[m[LIST_ONE] + n] = m[here + LEFT]
        n += 1
        place = m[here + PLACE_NEXT]
    return n


@compiled
def existing_product(m: Memory, number: int, degree: int, coefficient: int) -> tuple[int, bool]:
    """An expression that is coefficient * (the product) up to sign, and whether the sign is plus."""
    for i in range(number):
        row = term_row(m, m[m[LIST_ONE] + i])
        if m[row + COUNT] == degree and m[literal_row(m, m[row + EXPRESSION]) + SIZE] == 1:
            if m[row + COEFFICIENT] == coefficient:
                return m[row + EXPRESSION], True
            if m[row + COEFFICIENT] == negated(m, coefficient):
                return m[row + EXPRESSION], False
    return -1, True


@compiled
def extract_pair(m: Memory, entry: int) -> None:
    """Replace a product of two literals by a new literal."""
    x, y = m[entry_row(m, entry) + A], m[entry_row(m, entry) + B]
    number = gather_terms(m, entry)
    literal, positive = existing_product(m, number, 2, ONE)
    if literal < 0:
        literal = create(m, -1)
        if literal < 0:
            return
        m[m[BUFFER]] = x
        m[m[BUFFER] + 1] = y
        link(m, literal, m[BUFFER], 2, ONE)
    for i in range(number):
        term = m[m[LIST_ONE] + i]
        expression, outer = m[term_row(m, term) + EXPRESSION], m[term_row(m, term) + COEFFICIENT]
        if m[STATUS] != FINE:
            return
        if expression != literal:
            copies = pair_copies(m, term, x, y)
            if not positive and copies % 2:
                outer = negated(m, outer)
            n = without(m, term, x, copies, y, copies)
            n = with_literal(m, m[BUFFER], n, literal, copies)
            unlink(m, term)
            add_term(m, expression, m[BUFFER] + 2 * (DEGREE + 1), n, outer)


@compiled
def extract_scaled(m: Memory, entry: int) -> None:
    """Replace a multiple of a literal by a new literal."""
    size, x = m[entry_row(m, entry) + A], m[entry_row(m, entry) + B]
    number = gather_terms(m, entry)
    literal, positive = existing_product(m, number, 1, size)
    if literal < 0:
        literal = create(m, -1)
        if literal < 0:
            return
        m[m[BUFFER]] = x
        link(m, literal, m[BUFFER], 1, size)
    for i in range(number):
        term = m[m[LIST_ONE] + i]
        expression = m[term_row(m, term) + EXPRESSION]
        if m[STATUS] != FINE:
            return
        if expression != literal:
            same = (m[term_row(m, term) + COEFFICIENT] == size) == positive
            n = without(m, term, x, 1, -1, 0)
            n = with_literal(m, m[BUFFER], n, literal, 1)
            unlink(m, term)
            add_term(m, expression, m[BUFFER] + 2 * (DEGREE + 1), n, ONE if same else MINUS_ONE)


# the greedy loop, with a binary heap of (value, entry, version)


@compiled
def set_heap(m: Memory, i: int, value: int, entry: int, version: int) -> None:
    """Write one entry of the heap."""
    row = m[HEAP_ROWS] + i * HEAP_WIDTH
    m[row] = value
    m[row + 1] = entry
    m[row + 2] = version


@compiled
def push(m: Memory, value: int, entry: int) -> None:
    """Put a candidate into the heap by its saving."""
    i = m[HEAP]
    if i >= m[HEAP_ROOM]:
        m[STATUS] = FULL
        return
    m[HEAP] += 1
    while i > 0:
        above = m[HEAP_ROWS] + (i - 1) // 2 * HEAP_WIDTH
        if m[above] >= value:
            break
        set_heap(m, i, m[above], m[above + 1], m[above + 2])
        i = (i - 1) // 2
    set_heap(m, i, value, entry, m[entry_row(m, entry) + VERSION])


@compiled
def pop(m: Memory) -> int:
    """The entry of the largest value, or -1 if it has changed since."""
    base = m[HEAP_ROWS]
    entry, version = m[base + 1], m[base + 2]
    m[HEAP] -= 1
    n = m[HEAP]
    last = base + n * HEAP_WIDTH
    i = 0
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and m[base + (child + 1) * HEAP_WIDTH] > m[base + child * HEAP_WIDTH]:
            child += 1
        below = base + child * HEAP_WIDTH
        if m[below] <= m[last]:
            break
        set_heap(m, i, m[below], m[below + 1], m[below + 2])
        i = child
    set_heap(m, i, m[last], m[last + 1], m[last + 2])
    return entry if version == m[entry_row(m, entry) + VERSION] else -1


@compiled
def value_dirty(m: Memory, noise: float) -> None:
    """Put every changed candidate that saves on the heap."""
    for i in range(m[DIRTY]):
        entry = m[m[DIRTY_LIST] + i]
        m[entry_row(m, entry) + IS_DIRTY] = 0
        worth = saving(m, entry)
        if worth > 0:
            push(m, int((worth + noise * random_unit(m)) * 1048576.0), entry)
    m[DIRTY] = 0


@compiled
def share_best(m: Memory) -> None:
    """Share the best candidate on the heap."""
    entry = pop(m)
    if entry < 0:
        return
    sort = m[entry_row(m, entry) + SORT]
    if sort == DIVISOR:
        extract_divisor(m, entry)
    elif sort == PAIR:
        extract_pair(m, entry)
    else:
        extract_scaled(m, entry)
    tidy(m)


@compiled
def greedy(m: Memory, noise: float, final: bool) -> None:
    """Share the best candidate until none saves. `final` makes every sharing one that is not taken back."""
    m[HEAP] = 0
    tidy(m)
    while m[STATUS] == FINE:
        if final:
            m[JOURNAL] = 0
        value_dirty(m, noise)
        if m[HEAP] == 0 or m[STATUS] != FINE:
            return
        share_best(m)
