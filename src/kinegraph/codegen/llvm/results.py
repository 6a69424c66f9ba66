"""Writing the results of a block of states: every entry of a row is a computed value or a constant.

Matrices are larger than all else, so the caches decide how long this takes. Lines of short rows are asked for before
the computing begins and are there when they are written; long rows would drive out what is computed with, and are
written line by line, see `long_rows`. Measured: short rows gain up to a third, and from some 64 entries on the second
way is the faster one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from kinegraph.codegen.llvm.cache_lines import LINE, prefetch
from kinegraph.codegen.llvm.lanes import Lanes, hexadecimal
from kinegraph.codegen.llvm.long_rows import LongRows
from kinegraph.codegen.llvm.transpose import scatter, tile_starts, tile_width
from kinegraph.codegen.llvm.writer import Writer

#: How many entries a short row has at most.
SHORT_ROW = 64

#: How many entries of short rows one function writes: a compiler's time grows with the square of the stores in it.
_UNROLLED_ENTRIES = 500


class Results:
    """Code that writes rows of results from the vectors at y: first the computed values, behind them the constants.

    `entries` says for every result what its entries are: the number of a computed value, or a constant. Every computed
    value is an entry.
    """

    def __init__(self, lanes: Lanes, entries: Sequence[Sequence[int | float]]) -> None:
        self.lanes = lanes
        self.sizes = [len(result) for result in entries]
        self.values = len({one for result in entries for one in result if isinstance(one, int)})
        # By their bits, for zero has a sign.
        constants = {hexadecimal(one): one for result in entries for one in result if isinstance(one, float)}
        self.constants = list(constants.values())
        place = {bits: self.values + number for number, bits in enumerate(constants)}
        self._places = [
            [place[hexadecimal(one)] if isinstance(one, float) else one for one in result] for result in entries
        ]
        self._long = {
            number: LongRows(lanes, number, places)
            for number, places in enumerate(self._places)
            if len(places) > SHORT_ROW
        }

        # What does not fit in one function any more is written by functions of its own.
        ends = list(accumulate(size for number, size in enumerate(self.sizes) if number not in self._long))
        short = [number for number in range(len(self.sizes)) if number not in self._long]
        self._apart = {number for number, end in zip(short, ends, strict=True) if end > _UNROLLED_ENTRIES}

    @property
    def vectors(self) -> int:
        """How many vectors lie at y."""
        return self.values + len(self.constants)

    def functions(self) -> list[str]:
        """What `write` calls."""
        return [rows.functions() for rows in self._long.values()] + [self._function(number) for number in self._apart]

    def _function(self, number: int) -> str:
        """`@short<number>(y, rows...)` writes one row per lane of a short result."""
        writer = Writer()
        names = [f"%row{lane}" for lane in range(self.lanes.count)]
        self._unrolled(writer, number, names, "%y")
        writer.do("ret void")
        rows = ", ".join(f"ptr {name}" for name in names)
        return writer.function(f"define internal void @short{number}(ptr noalias readonly %y, {rows}) noinline #0")

    def put_constants(self, writer: Writer, y: str) -> None:
        """Store the constants, which stay where they are from block to block."""
        for place, constant in enumerate(self.constants, self.values):
            value, address = self.lanes.literal(constant), writer.element(y, place, self.lanes.type)
            writer.do(f"store {self.lanes.type} {value}, ptr {address}, align {self.lanes.bytes}")

    def prefetch_rows(self, writer: Writer, number: int, address: str) -> None:
        """Have the rows of a block, which begin at `address`, fetched to the cache, if they are short and few."""
        if number not in self._long and number not in self._apart:
            for start in range(0, self.sizes[number] * self.lanes.bytes, LINE):
                prefetch(writer, address, start)

    def write(self, writer: Writer, number: int, rows: Sequence[str], y: str) -> None:
        """Write one row per lane of a result."""
        if number in self._long:
            self._long[number].call(writer, rows, y)
            return
        if number in self._apart:
            writer.do(f"call void @short{number}({', '.join(f'ptr {one}' for one in (y, *rows))})")
            return
        self._unrolled(writer, number, rows, y)

    def _unrolled(self, writer: Writer, number: int, rows: Sequence[str], y: str) -> None:
        places = self._places[number]
        width = tile_width(self.lanes, len(places))
        for column in tile_starts(len(places), width):
            sources = [writer.element(y, place, self.lanes.type) for place in places[column : column + width]]
            scatter(writer, self.lanes, rows, column, sources)
