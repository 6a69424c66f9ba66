"""Long rows of results, written so that no vector crosses from one cache line to the next.

Measured with results in the second level cache: eight rows at once, vectors across lines, take twice as long as
vectors within lines, which are about as fast as filling the memory with zeros; zeros and entries that stand twice are
therefore not worth special treatment. Where a row begins in its line depends on the row and on the result's address.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.codegen.llvm.cache_lines import LINE, prefetch
from kinegraph.codegen.llvm.lanes import Lanes
from kinegraph.codegen.llvm.transpose import consecutive, tile_rows
from kinegraph.codegen.llvm.writer import Writer

#: How far ahead lines are asked for, bytes. One line does as well as four.
_AHEAD = 2 * LINE


class LongRows:
    """Functions `@write<number>_<phase>(y, rows...)`, one for every place in a line where a block may begin.

    A loop transposes tile after tile; a table says which vectors at y are its columns. What a tile gives for a row is
    stored when the next tile is known, shifted to the lines; the ends of a row are stored as they are. Rows that do
    not begin where the phase says, as in a block of fewer states than lanes, are written rightly too, only slower.
    """

    def __init__(self, lanes: Lanes, number: int, places: Sequence[int]) -> None:
        self.lanes = lanes
        self.number = number
        self.places = places
        self.rows = [f"%row{lane}" for lane in range(lanes.count)]
        self.boundary = min(lanes.bytes, LINE) // 8
        # How many doubles behind a boundary a block begins. Arrays begin at multiples of 16 bytes: odd ones are rare.
        self.phases = range(0, self.boundary, 2)

    def functions(self) -> str:
        """The table and the functions that use it."""
        offsets = ", ".join(f"i32 {place * self.lanes.bytes}" for place in self.places)
        table = f"@places{self.number} = internal constant [{len(self.places)} x i32] [{offsets}]\n"
        return "\n".join([table, *(self._function(phase) for phase in self.phases)])

    def call(self, writer: Writer, rows: Sequence[str], y: str) -> None:
        """Call the function for the place where the first row begins."""
        arguments = ", ".join(f"ptr {one}" for one in (y, *rows))
        address = writer.define(f"ptrtoint ptr {rows[0]} to i64")
        pairs = writer.define(f"lshr i64 {address}, 4")
        place = writer.define(f"and i64 {pairs}, {len(self.phases) - 1}")
        labels = [writer.new_label() for _ in self.phases]
        after = writer.new_label()
        cases = " ".join(f"i64 {value}, label %{label}" for value, label in enumerate(labels))
        writer.do(f"switch i64 {place}, label %{labels[0]} [ {cases} ]")
        for phase, label in zip(self.phases, labels, strict=True):
            writer.begin(label)
            writer.do(f"call void @write{self.number}_{phase}({arguments})")
            writer.do(f"br label %{after}")
        writer.begin(after)

    def shifts(self, phase: int) -> list[int]:
        """Which entry of every row is the first at a boundary."""
        return [-(phase + lane * len(self.places)) % self.boundary for lane in range(self.lanes.count)]

    def _function(self, phase: int) -> str:
        writer, width, size = Writer(), self.lanes.count, len(self.places)
        shifts = self.shifts(phase)

        def tile(column: str, before: list[str]) -> list[str]:
            after = self._tile(writer, column)
            self._store_shifted(writer, writer.define(f"sub i64 {column}, {width}"), before, after, shifts)
            return after

        last = size // width * width - width
        first = self._tile(writer, 0)
        self._store(writer, 0, first)
        self._store(writer, last, writer.loop(width, last + width, width, tile, first, self.lanes.type))
        if size % width:
            self._store(writer, size - width, self._tile(writer, size - width))
        writer.do("ret void")
        rows = ", ".join(f"ptr {row}" for row in self.rows)
        return writer.function(
            f"define internal void @write{self.number}_{phase}(ptr noalias readonly %y, {rows}) noinline #0"
        )

    def _tile(self, writer: Writer, column: int | str) -> list[str]:
        """What the tile at a column gives for every row."""
        start = writer.element(f"@places{self.number}", column, "i32")
        sources = []
        for position in range(self.lanes.count):
            offset = writer.define(f"load i32, ptr {writer.element(start, position, 'i32')}, align 4")
            sources.append(writer.element("%y", writer.define(f"zext i32 {offset} to i64"), "i8"))
        return tile_rows(writer, self.lanes, sources)

    def _store(self, writer: Writer, column: int, vectors: Sequence[str]) -> None:
        for row, vector in zip(self.rows, vectors, strict=True):
            writer.do(f"store {self.lanes.type} {vector}, ptr {writer.element(row, column)}, align 8")

    def _store_shifted(
        self, writer: Writer, column: str, before: Sequence[str], after: Sequence[str], shifts: Sequence[int]
    ) -> None:
        """Store of two neighbouring vectors, the first at `column`, what begins `shifts` doubles later."""
        for row, one, other, shift in zip(self.rows, before, after, shifts, strict=True):
            vector = consecutive(writer, self.lanes, one, other, shift, self.lanes.count)
            address = writer.element(writer.element(row, column), shift)
            prefetch(writer, address, _AHEAD)
            writer.do(f"store {self.lanes.type} {vector}, ptr {address}, align 8")
