"""The driver of the compiled search: loads a system, answers what compiled code cannot, reads the best state back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.passes.compiled_search import layout as at
from kinegraph.passes.compiled_search.entrance import FIND_MEMO, FIRST_GREEDY, LOAD, RUN, SETTLE, entrance
from kinegraph.passes.compiled_search.layout import Room
from kinegraph.passes.factoring.alternatives import Alternatives
from kinegraph.passes.factoring.coefficients import CoefficientTable
from kinegraph.passes.factoring.repair import Annealing, Budget
from kinegraph.passes.factoring.system import System

Array: TypeAlias = NDArray[np.int64]
Terms = Mapping[int, int]
#: expression, coefficient, literals
Row = tuple[int, int, tuple[int, ...]]


_NOTHING = np.zeros(1, np.int64)


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
        while not self._do(FIRST_GREEDY):
            self._help()

    def _do(self, command: int, first: int = 0, second: int = 0) -> int:
        """Let compiled code work on the state."""
        return self._enter(self._memory, _NOTHING, self._schedule, command, first, second)

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

    def run(self, budget: Budget) -> None:
        """Iterate until the budget is used up or an interrupt is requested; leave the best state in the system."""
        started = time.monotonic()
        end = int(self._memory[at.WORK]) + budget.work if budget.work is not None else 1 << 62
        with budget.interrupt.catching():
            while (
                not budget.interrupt.requested
                and self._memory[at.WORK] < end
                and (budget.seconds is None or time.monotonic() - started < budget.seconds)
            ):
                # Few iterations between looks at the clock keep interrupts prompt.
                if not self._do(RUN, 64, end):
                    self._help()
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
