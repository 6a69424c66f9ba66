"""Segments of one length side by side: written so that their formulas differ in symbols and a few nodes alone.

Numbers in which segments differ become symbols. Where a segment takes in what was computed outside it (angles, rates,
moments, forces at its ends), the nodes of its neighbours are noted as hidden outputs of the graph, one row for every
such place and one column for every lane: passes keep outputs, whatever they do to the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kinegraph.codegen.simd import Exchanged
from kinegraph.derive.constraints.segments.segment import Constants
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar

#: Lanes of a vector.
WIDTH = 4
_HIDDEN = "lanes of group "


def lane_groups(lengths: Sequence[int], width: int) -> list[tuple[int, ...]]:
    """Segments of one length, at most `width` of them together; those that find no other are left out."""
    found = []
    for length in dict.fromkeys(lengths):
        same = [place for place, one in enumerate(lengths) if one == length]
        found += [tuple(same[k : k + width]) for k in range(0, len(same), width)]
    return [group for group in found if len(group) > 1]


@dataclass
class Lanes:
    """Grows while segments are written; `numbers` says what the symbols are that stand for numbers."""

    groups: Sequence[tuple[int, ...]]
    numbers: dict[Symbol, Scalar] = field(default_factory=dict)
    exchange: dict[Exchanged, Exchanged] = field(default_factory=dict)
    _taken: dict[int, list[list[Scalar]]] = field(default_factory=dict)

    def same_shape(self, constants: Sequence[Constants]) -> list[Constants]:
        """The constants of all segments, with symbols where those of one group differ."""
        found = list(constants)
        for group in self.groups:
            columns = zip(*(constants[segment].numbers() for segment in group), strict=True)
            rows = zip(*(self._column(group, place, column) for place, column in enumerate(columns)), strict=True)
            for segment, row in zip(group, rows, strict=True):
                found[segment] = constants[segment].with_numbers(row)
        return found

    def _column(self, group: tuple[int, ...], place: int, column: Sequence[Scalar]) -> Sequence[Scalar]:
        if all(item == column[0] for item in column):
            return column
        symbols = [Symbol(Kind.PARAMETER, f"number {place} of segment {segment}") for segment in group]
        self.numbers.update(zip(symbols, column, strict=True))
        self.exchange.update(pairwise([*symbols, symbols[0]]))
        return [column[0].symbol(*symbol) for symbol in symbols]

    def own(self, scalar: Scalar) -> Scalar:
        """A node of its own for what another segment takes in as well: once the number one."""
        symbol = Symbol(Kind.PARAMETER, "number one")
        self.numbers[symbol] = scalar.number(1)
        return scalar.symbol(*symbol) * scalar

    def take(self, taken: Sequence[Sequence[Scalar]]) -> None:
        """Note what every segment takes in, in the same order for all."""
        for number, group in enumerate(self.groups):
            columns = zip(*(taken[segment] for segment in group), strict=True)
            self._taken.setdefault(number, []).extend(list(column) for column in columns)

    def outputs(self) -> list[Output]:
        """The hidden outputs."""
        return [
            Output(f"{_HIDDEN}{number}", (len(rows), len(rows[0])), tuple(one.index for row in rows for one in row))
            for number, rows in self._taken.items()
        ]


def without_lanes(graph: Graph) -> tuple[Graph, tuple[tuple[int, int], ...]]:
    """The graph without hidden outputs, and the nodes they named: each with the one in the next lane."""
    pairs: list[tuple[int, int]] = []
    for output in graph.outputs:
        if output.name.startswith(_HIDDEN):
            width = output.shape[1]
            rows = [output.nodes[k : k + width] for k in range(0, len(output.nodes), width)]
            pairs += [pair for row in rows for pair in pairwise([*row, row[0]])]
    visible = tuple(output for output in graph.outputs if not output.name.startswith(_HIDDEN))
    return Graph(graph.nodes, visible), tuple(dict.fromkeys(pairs))
