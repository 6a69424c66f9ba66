"""The compiled annealing loop, its single entry point, and the driver that loads systems and computes coefficients."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.jit import bitcode
from kinegraph.jit.marks import loop
from kinegraph.jit.marks import part as compiled
from kinegraph.passes.compiled_search import layout as at
from kinegraph.passes.compiled_search.index import (
    Memory,
    Schedule,
    entry_row,
    link,
    literal_row,
    mark_changed,
    mark_literal,
    memo_row,
    term_row,
    undo,
    unlink,
)
from kinegraph.passes.compiled_search.layout import *
from kinegraph.passes.compiled_search.layout import Room
from kinegraph.passes.compiled_search.moves import destroy, rewrite, switch
from kinegraph.passes.compiled_search.sharing import forget_touched, greedy, random_below, random_unit
from kinegraph.passes.effort import Annealing, Budget
from kinegraph.passes.factoring.alternatives import Alternatives
from kinegraph.passes.factoring.polynomials import CoefficientTable, System

# ruff: noqa: F403, F405


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


#: Commands of `enter`.
LOAD, FIRST_GREEDY, SETTLE, RUN, FIND_MEMO = range(5)

Integers: TypeAlias = NDArray[np.int64]
Entrance: TypeAlias = bitcode.CompiledLoop


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
    return bitcode.compiled(enter)


# The driver: loads a system, computes coefficients for compiled code, reads the best state back.

Array: TypeAlias = NDArray[np.int64]
Terms = Mapping[int, int]
#: expression, coefficient, literals
Row = tuple[int, int, tuple[int, ...]]


_NOTHING = np.zeros(1, np.int64)
#: The least work that a step counts as: steps that find nothing to change count as next to none, and would never end.
_LEAST_WORK = 16
#: Seconds below which a slice of the search is lengthened.
_SLICE = 2e-3


class Engine:
    """A compiled destroy-and-repair search over one system."""

    def __init__(
        self, system: System, seed: int = 0, annealing: Annealing | None = None, ways: Alternatives | None = None
    ) -> None:
        self.system, self.annealing, self.ways = system, annealing or Annealing(), ways or Alternatives()
        self.seed = seed
        self._memo: dict[int, tuple[int, int, int]] = {}
        self._room = 1
        a = self.annealing
        self._enter = entrance()
        self._schedule = np.array([a.start, a.end, a.noise, a.switch, a.rewrite])
        self._start = self._rows(system.expressions)
        self._temporary = {literal for literal in system.expressions if literal not in system.roots}
        self._memory = self._loaded(self._start)
        self._bound: tuple[Array, Callable[..., int]] = _NOTHING, self._enter
        while not self._do(FIRST_GREEDY):
            self._help()

    def _do(self, command: int, first: int = 0, second: int = 0) -> int:
        """Let compiled code work on the state. Its arrays are packed once for each memory."""
        if self._bound[0] is not self._memory:
            self._bound = self._memory, self._enter.bound(self._memory, _NOTHING, self._schedule)
        return self._bound[1](command, first, second)

    def _place(self, memory: Array, key: int) -> int:
        """Where in the array a result of the memo stands or belongs."""
        return self._enter(memory, _NOTHING, self._schedule, FIND_MEMO, key, 0)

    # what others ask

    @property
    def best_value(self) -> float:
        """The cost of the best system so far."""
        return float(self._memory[at.BEST]) / at.PARTS

    @property
    def iteration(self) -> int:
        """How many steps were tried."""
        return int(self._memory[at.ITERATION])

    @property
    def has_choices(self) -> bool:
        """Whether a step can change anything: one expression of one form, without equations, stays as it is."""
        m = self._memory
        return bool(m[at.SWITCHABLE] or m[at.RELATIONS]) or len({row[0] for row in self._best_rows()}) > 1

    def run(self, budget: Budget) -> None:
        """Iterate until the budget is used up or an interrupt is requested; leave the best state in the system."""
        if not self.has_choices:
            self.settle()
            return
        started, slice_steps = time.monotonic(), 64
        end = int(self._memory[at.WORK]) + budget.work if budget.work is not None else 1 << 62
        last = self.iteration + budget.work // _LEAST_WORK if budget.work is not None else 1 << 62
        with budget.interrupt.catching():
            while (
                not budget.interrupt.requested
                and self._memory[at.WORK] < end
                and self.iteration < last
                and (budget.seconds is None or time.monotonic() - started < budget.seconds)
            ):
                # Short slices between looks at the clock keep interrupts prompt; steps do not depend on them.
                begun = time.monotonic()
                if not self._do(RUN, min(slice_steps, last - self.iteration), end):
                    self._help()
                slice_steps *= 2 if time.monotonic() - begun < _SLICE and slice_steps < 1 << 16 else 1
        self.settle()

    def settle(self) -> None:
        """Leave the system in the best state, for reading only."""
        result: dict[int, dict[int, int]] = {literal: {} for literal in self.system.roots}
        for expression, coefficient, literals in self._best_rows():
            result.setdefault(expression, {})[self.system.monomials.intern(literals)] = coefficient
        self.system.expressions = result

    def _best_rows(self) -> list[Row]:
        m = self._memory
        start, n = int(m[at.BEST_ROWS]), int(m[at.BEST_TERMS])
        table = m[start : start + n * at.BEST_WIDTH].reshape(n, at.BEST_WIDTH)
        return [(int(r[0]), int(r[1]), tuple(int(x) for x in r[3 : 3 + r[2]])) for r in table]

    # loading

    def _rows(self, expressions: Mapping[int, Terms]) -> list[Row]:
        literals = self.system.monomials.literals
        return [(e, c, literals[m]) for e, terms in expressions.items() for m, c in terms.items()]

    def _loaded(self, rows: list[Row]) -> Array:
        table = np.zeros((len(rows), at.BEST_WIDTH), np.int64)
        for i, (expression, coefficient, literals) in enumerate(rows):
            table[i, : 3 + len(literals)] = (expression, coefficient, len(literals), *literals)
        present = {row[0] for row in rows} | (self.system.roots.keys() - self.ways.angles.keys())
        while True:
            memory = self._allocated(len(rows), present)
            if self._enter(memory, table.ravel(), self._schedule, LOAD, len(rows), 0):
                return memory
            if memory[at.STATUS] == at.FULL:
                self._room *= 2
            self._answer(memory)

    def _allocated(self, terms: int, present: set[int]) -> Array:
        ways = _WayTable(self.ways, self.system)
        room = Room(
            literals=self.system.size() + 1024 * self._room, terms=(4 * terms + 4096) * self._room,
            places=65536 * self._room, entries=65536 * self._room, memo=_memo_size(len(self._memo)),
            way_roots=len(ways.roots), way_starts=len(ways.starts), way_rows=len(ways.rows),
            inside=sum(map(len, self.system.inside.values())),
        )  # fmt: skip
        memory = _sections(room)
        self._fill_literals(memory, room.literals, present)
        ways.write(memory)
        self._write_memo(memory)
        a = self.annealing
        memory[at.RANDOM] = (0x9E3779B97F4A7C15 * (2 * self.seed + 1)) % (1 << 62) + 1
        memory[at.FUNCTION_PARTS] = round(a.function_weight * at.PARTS)
        memory[at.LARGEST], memory[at.CYCLE] = a.largest, a.cycle
        return memory

    def _fill_literals(self, memory: Array, literals: int, present: set[int]) -> None:
        """Say of every literal what it is: `present` are expressions, those not needed later are free again."""
        system = self.system
        table = _table(memory, at.LITERAL, literals, at.LITERAL_WIDTH)
        generator = np.random.Generator(np.random.PCG64(12345))
        table[:, at.HASH] = generator.integers(-(1 << 62), 1 << 62, literals)
        table[:, [at.FIRST, at.USES, at.ARGUMENT, at.ARGUMENT_WAY]] = -1
        table[: system.size(), at.ROOT] = 1
        table[sorted(self._temporary), at.ROOT] = 0
        table[sorted(present), at.KIND] = 1
        for leaf, argument in system.arguments.items():
            table[leaf, at.ARGUMENT] = argument
        for leaf in system.priced:
            table[leaf, at.PRICED] = 1
        self._fill_inside(memory, table)
        free = np.flatnonzero((table[:, at.ROOT] == 0) & (table[:, at.KIND] == 0))[::-1]
        start = int(memory[at.FREE_LIST])
        memory[start : start + len(free)] = free
        memory[at.FREE_LITERALS], memory[at.LITERALS] = len(free), literals

    def _fill_inside(self, memory: Array, table: Array) -> None:
        """Say what functions are applied to."""
        place, start = 0, int(memory[at.INSIDE_LIST])
        for leaf, literals in self.system.inside.items():
            table[leaf, at.INSIDE], table[leaf, at.INSIDE_END] = place, place + len(literals)
            memory[start + place : start + place + len(literals)] = literals
            place += len(literals)

    def _write_memo(self, memory: Array) -> None:
        for key, row in self._memo.items():
            place = self._place(memory, key)
            memory[place : place + at.MEMO_WIDTH] = (key, *row)

    # helping

    def _help(self) -> None:
        """Answer what is missing, or give more room and go on from the best state."""
        if self._memory[at.STATUS] == at.FULL:
            self._grow()
            return
        self._answer(self._memory)
        if 2 * len(self._memo) > self._memory[at.MEMO_MASK]:
            self._grow()

    def _answer(self, memory: Array) -> None:
        """Compute the missing results."""
        start, mask = int(memory[at.MISSES]), (1 << 30) - 1
        keys = sorted({int(key) for key in memory[start : start + int(memory[at.MISS])]})
        memory[at.MISS], memory[at.STATUS] = 0, at.FINE
        for key in keys:
            result = _computed(self.system.coefficients, key >> 60, (key >> 30) & mask, key & mask)
            row = result if isinstance(result, tuple) else (-1 if result is None else result, 0, 0)
            self._memo[key] = row
            if 2 * len(self._memo) <= memory[at.MEMO_MASK] + 64:
                place = self._place(memory, key)
                memory[place : place + at.MEMO_WIDTH] = (key, *row)

    def _grow(self) -> None:
        """Go on from the best state in larger arrays."""
        old, best = self._memory, self._best_rows()
        if old[at.STATUS] == at.FULL:
            self._room *= 2
        self._memory = self._loaded(best or self._start)
        for number in (at.RANDOM, at.ITERATION, at.WORK):
            self._memory[number] = old[number]
        if best:
            self._do(SETTLE)


def _computed(table: CoefficientTable, operation: int, left: int, right: int) -> tuple[int, int, int] | int | None:
    if operation == at.NEGATE:
        return table.negative(left)
    if operation == at.MULTIPLY:
        return table.multiply(left, right)
    if operation == at.ADD:
        return table.add(left, right)
    return table.divide(left, right) if operation == at.DIVIDE else table.normal(left, right)


class _WayTable:
    """Ways of roots with more than one, and sums of angles, as rows."""

    def __init__(self, ways: Alternatives, system: System) -> None:
        self._monomials = system.monomials.literals
        self.rows: list[tuple[int, ...]] = []
        self.starts, self.firsts = [0], [0]
        self.roots = [root for root, choices in ways.roots.items() if len(choices) > 1]
        self.arguments: dict[int, int] = {}
        for root in self.roots:
            for terms in ways.roots[root]:
                self._add(terms)
            self.firsts.append(len(self.starts) - 1)
        for argument, terms in ways.angles.items():
            self.arguments[argument] = len(self.starts) - 1
            self._add(terms)
        self.first_relation, self.relations = len(self.starts) - 1, len(ways.relations)
        for terms in ways.relations:
            self._add(terms)

    def _add(self, terms: Terms) -> None:
        for monomial, coefficient in terms.items():
            literals = self._monomials[monomial]
            padding = (0,) * (at.DEGREE - len(literals))
            self.rows.append((coefficient, len(literals), *literals, *padding))
        self.starts.append(len(self.rows))

    def write(self, memory: Array) -> None:
        memory[at.SWITCHABLE] = len(self.roots)
        memory[at.FIRST_RELATION], memory[at.RELATIONS] = self.first_relation, self.relations
        parts = (
            (at.WAY_ROOT, self.roots),
            (at.WAY_FIRST, self.firsts),
            (at.WAY_START, self.starts),
            (at.WAY_ROWS, [x for row in self.rows for x in row]),
        )
        for section, numbers in parts:
            start = int(memory[section])
            memory[start : start + len(numbers)] = numbers
        for argument, way in self.arguments.items():
            memory[int(memory[at.LITERAL]) + argument * at.LITERAL_WIDTH + at.ARGUMENT_WAY] = way


def _memo_size(entries: int) -> int:
    return 1 << max(14, (4 * entries).bit_length())


def _table(memory: Array, section: int, rows: int, width: int) -> Array:
    start = int(memory[section])
    return memory[start : start + rows * width].reshape(rows, width)


def _sections(room: Room) -> Array:
    """The array with every section in its place, free lists chained, numbers of rooms noted."""
    sections = room.sections()
    memory = np.zeros(at.HEAD + sum(sections.values()), np.int64)
    start = at.HEAD
    for section, size in sections.items():
        memory[section] = start
        start += size
    _table(memory, at.TERM, room.terms, at.TERM_WIDTH)[:, at.NEXT] = _chain(room.terms)
    _table(memory, at.PLACE, room.places, at.PLACE_WIDTH)[:, at.PLACE_NEXT] = _chain(room.places)
    _table(memory, at.ENTRY, room.entries, at.ENTRY_WIDTH)[:, at.CHAIN] = _chain(room.entries)
    _table(memory, at.BUCKETS, room.buckets, 1)[:] = -1
    memory[at.BUCKET_MASK], memory[at.MEMO_MASK] = room.buckets - 1, room.memo - 1
    memory[at.ENTRIES], memory[at.HEAP_ROOM], memory[at.JOURNAL_ROOM] = room.entries, room.heap, room.journal
    memory[at.MISS_ROOM] = sections[at.MISSES]
    return memory


def _chain(n: int) -> Array:
    chain = np.arange(1, n + 1)
    chain[-1] = -1
    return chain
