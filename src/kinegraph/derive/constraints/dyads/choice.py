"""Which coordinates each loop determines in closed form, and in what order.

A loop with r rows may determine r of the coordinates it contains, if it is one of the known forms in them. Those that
belong to it alone are tried first, then those the model names last: drives come first. A coordinate that another loop
took as known must not be determined later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from kinegraph.derive.constraints.dyads.solutions import Solution, solved
from kinegraph.derive.constraints.dyads.spatial import solved_rod
from kinegraph.derive.constraints.dyads.unknowns import NoClosedForm, Unknowns
from kinegraph.derive.constraints.ties import TieRow, Ties
from kinegraph.graph.differentiate import below
from kinegraph.model.constraints.records import Constraint, Coupling, Loop

#: So many ways to share coordinates out are looked at.
_MOST_TRIES = 2000
#: A loop with more rows than these has no known form.
_MOST_ROWS = 3


@dataclass(frozen=True)
class Block:
    """Rows by their place among those that take part, the velocities they determine, and the closed form."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    solutions: tuple[Solution, ...]


@dataclass(frozen=True)
class _Tie:
    """One loop or constraint: its rows, which velocities they contain, and which coordinates are written in them.

    The axes of a loop may turn with more coordinates than the loop depends on.
    """

    tie: Loop | Coupling | Constraint
    rows: tuple[int, ...]
    columns: frozenset[int]
    mentioned: frozenset[int]


class Choice:
    """The search for one mechanism; `rows` are those that take part, `symbols` those of ordinary coordinates."""

    def __init__(self, ties: Ties, rows: Sequence[TieRow], names: Sequence[str], symbols: dict[int, int]) -> None:
        self.ties, self.rows = ties, rows
        self._symbol_of = {column: symbol for symbol, column in symbols.items()}
        self._ties = [self._tie(tie, names) for tie in (*ties.mechanism.loops, *ties.mechanism.constraints)]
        self._known: dict[tuple[int, tuple[int, ...]], tuple[Solution, ...] | None] = {}
        self._left = _MOST_TRIES

    def _tie(self, tie: Loop | Coupling | Constraint, names: Sequence[str]) -> _Tie:
        rows = [k for k, name in enumerate(names) if name == tie.name or name.startswith(f"{tie.name}.")]
        columns = {c for k in rows for c, entry in enumerate(self.rows[k].jacobian) if not entry.is_zero}
        values = [self.rows[k].zero_value().index for k in rows]
        nodes = {index for value in values for index in below(self.ties.builder, value)}
        mentioned = {column for column, symbol in self._symbol_of.items() if symbol in nodes}
        return _Tie(tie, tuple(rows), frozenset(columns), frozenset(columns | mentioned))

    def blocks(self) -> list[Block] | None:
        """A block for every loop, in an order in which each can be solved; None if there is no such choice."""
        if any(row.value is None for row in self.rows):
            return None
        waiting = [k for k, tie in enumerate(self._ties) if tie.rows]
        if any(len(self._ties[k].rows) > _MOST_ROWS for k in waiting):
            return None
        return self._extended([], waiting, frozenset())

    def _extended(self, found: list[Block], waiting: list[int], used: frozenset[int]) -> list[Block] | None:
        """used: coordinates that loops before these determine or take as known."""
        if not waiting:
            return found
        ranked = sorted((one for k in waiting for one in self._candidates(k, used)), key=lambda one: one[0])
        for _, k, columns in ranked:
            self._left -= 1
            if self._left < 0:
                return None
            solutions = self._solutions(k, columns)
            if solutions is not None:
                block = Block(self._ties[k].rows, columns, solutions)
                rest = [other for other in waiting if other != k]
                whole = self._extended([*found, block], rest, used | self._ties[k].mentioned)
                if whole is not None:
                    return whole
        return None

    def _candidates(self, k: int, used: frozenset[int]) -> Iterator[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        tie = self._ties[k]
        free = sorted(c for c in tie.columns - used if c in self._symbol_of)
        for columns in combinations(free, len(tie.rows)):
            shared = sum(column in other.columns for other in self._ties for column in columns)
            yield (shared, *(-column for column in reversed(columns))), k, columns

    def _solutions(self, k: int, columns: tuple[int, ...]) -> tuple[Solution, ...] | None:
        if (k, columns) not in self._known:
            self._known[k, columns] = self._new(k, columns)
        return self._known[k, columns]

    def _new(self, k: int, columns: tuple[int, ...]) -> tuple[Solution, ...] | None:
        tie = self._ties[k]
        symbols = frozenset(self._symbol_of[column] for column in columns)
        try:
            if len(tie.rows) < _MOST_ROWS:
                values = [self.rows[row].zero_value() for row in tie.rows]
                return (solved(Unknowns(self.ties.builder, symbols), values),)
            if isinstance(tie.tie, Loop):
                return tuple(solved_rod(self.ties, tie.tie, symbols))
        except NoClosedForm:
            pass
        return None
