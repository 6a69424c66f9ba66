# ruff: noqa: F403, F405
"""The annealing loop, compiled. See `engine.py` for the driver and `entrance.py` for the way in."""

from __future__ import annotations

import numpy as np

from kinegraph.passes.compiled_search.compiled import Memory, Schedule, compiled
from kinegraph.passes.compiled_search.destroying import destroy
from kinegraph.passes.compiled_search.factor import greedy, random_below, random_unit
from kinegraph.passes.compiled_search.index import link, mark_changed, mark_literal, undo, unlink
from kinegraph.passes.compiled_search.inlining import forget_touched
from kinegraph.passes.compiled_search.layout import *
from kinegraph.passes.compiled_search.lookup import entry_row, literal_row, term_row
from kinegraph.passes.compiled_search.rewriting import rewrite
from kinegraph.passes.compiled_search.switching import switch


@compiled
def objective(m: Memory) -> int:
    """Operations in parts, with a small price on every sine and cosine in use."""
    total = m[COST] * PARTS
    for i in range(m[LITERALS]):
        row = literal_row(m, i)
        if m[row + PRICED] and m[row + USE_COUNT] > 0:
            total += m[FUNCTION_PARTS]
    return total


@compiled
def keep_best(m: Memory) -> None:
    """Copy the present state to the rows of the best one."""
    n = 0
    for literal in range(m[LITERALS]):
        if m[literal_row(m, literal) + KIND] == 0:
            continue
        term = m[literal_row(m, literal) + FIRST]
        while term >= 0:
            row, target = term_row(m, term), m[BEST_ROWS] + n * BEST_WIDTH
            m[target] = literal
            m[target + 1] = m[row + COEFFICIENT]
            m[target + 2] = m[row + COUNT]
            for i in range(m[row + COUNT]):
                m[target + 3 + i] = m[row + LITERALS_OF + i]
            n += 1
            term = m[row + NEXT]
    m[BEST_TERMS] = n
    m[BEST] = m[PRESENT]


@compiled
def forget_dirty(m: Memory) -> None:
    """Empty the list of candidates whose saving changed."""
    for i in range(m[DIRTY]):
        m[entry_row(m, m[m[DIRTY_LIST] + i]) + IS_DIRTY] = 0
    m[DIRTY] = 0


@compiled
def restore_best(m: Memory) -> None:
    """Return to the best state."""
    for literal in range(m[LITERALS]):
        row = literal_row(m, literal)
        while m[row + FIRST] >= 0:
            unlink(m, m[row + FIRST])
            m[JOURNAL] = 0
        if m[row + ROOT] == 0:
            m[row + KIND] = 0
    for i in range(m[BEST_TERMS]):
        source = m[BEST_ROWS] + i * BEST_WIDTH
        m[literal_row(m, m[source]) + KIND] = 1
        link(m, m[source], source + 3, m[source + 2], m[source + 1])
        m[JOURNAL] = 0
    m[FREE_LITERALS] = 0
    for literal in range(m[LITERALS] - 1, -1, -1):
        row = literal_row(m, literal)
        if m[row + FIRST] < 0 and m[row + ARGUMENT_WAY] >= 0:
            m[row + KIND] = 0
        if m[row + ROOT] == 0 and m[row + KIND] == 0:
            m[m[FREE_LIST] + m[FREE_LITERALS]] = literal
            m[FREE_LITERALS] += 1
    forget_touched(m)
    forget_dirty(m)
    m[PRESENT] = m[BEST]


# the loop


@compiled
def take_back(m: Memory) -> None:
    """Undo the last step, with all notes about it."""
    undo(m)
    forget_touched(m)
    forget_dirty(m)


@compiled
def change(m: Memory, switching: float, rewriting: float) -> None:
    """What a step begins with: roots in other ways, terms rewritten, or expressions written out again."""
    if m[SWITCHABLE] > 0 and random_unit(m) < switching:
        switch(m)
    elif random_unit(m) < rewriting:
        if random_below(m, 2):
            destroy(m)
        rewrite(m)
    else:
        destroy(m)


@compiled
def step(m: Memory, schedule: Schedule) -> bool:
    """One iteration; returns False if it could not be finished and was taken back."""
    start, end, noise = schedule[0], schedule[1], schedule[2]
    phase = (m[ITERATION] % m[CYCLE]) / m[CYCLE]
    temperature = start * (end / start) ** phase
    m[WORK] += 1
    seed = m[RANDOM]
    change(m, schedule[3], schedule[4])
    greedy(m, noise, False)
    if m[STATUS] != FINE:
        status = m[STATUS]
        take_back(m)
        m[STATUS] = status
        m[RANDOM] = seed
        return False
    value = objective(m)
    worse = (value - m[PRESENT]) / PARTS
    if worse <= 0 or random_unit(m) < np.exp(-worse / temperature):
        m[JOURNAL] = 0
        m[PRESENT] = value
        if value < m[BEST]:
            keep_best(m)
    else:
        take_back(m)
    m[ITERATION] += 1
    return True


@compiled
def load(m: Memory, rows: Memory, number: int) -> bool:
    """Enter the terms of a system: expression, coefficient, degree, literals; False if the driver must help."""
    for i in range(number):
        row = i * BEST_WIDTH
        for j in range(DEGREE):
            m[m[BUFFER] + j] = rows[row + 3 + j]
        m[literal_row(m, rows[row]) + KIND] = 1
        link(m, rows[row], m[BUFFER], rows[row + 2], rows[row + 1])
        m[JOURNAL] = 0
        if m[STATUS] == FULL:
            return False
    return bool(m[STATUS] == FINE)


@compiled
def first_greedy(m: Memory) -> bool:
    """The greedy factoring a search starts from; False if the driver must help, after which it goes on."""
    for entry in range(m[ENTRIES]):
        if m[entry_row(m, entry) + PLACE_COUNT] > 0:
            mark_changed(m, entry)
    for literal in range(m[LITERALS]):
        if m[literal_row(m, literal) + KIND]:
            mark_literal(m, literal)
    greedy(m, 0.0, True)
    if m[STATUS] != FINE:
        status = m[STATUS]
        undo(m)
        m[STATUS] = status
        return False
    m[JOURNAL] = 0
    m[PRESENT] = objective(m)
    keep_best(m)
    return True


@compiled
def settle_loaded(m: Memory) -> None:
    """After loading a state that is factored already: it is the present and the best one."""
    forget_touched(m)
    forget_dirty(m)
    m[PRESENT] = objective(m)
    keep_best(m)


@compiled
def run(m: Memory, schedule: Schedule, iterations: int, work: int) -> bool:
    """Iterate until a number of iterations or an amount of work is reached; False if the driver must help."""
    for _ in range(iterations):
        if m[WORK] >= work:
            return True
        if m[ITERATION] and m[ITERATION] % m[CYCLE] == 0 and m[PRESENT] > m[BEST]:
            restore_best(m)
        if not step(m, schedule):
            return False
    return True
