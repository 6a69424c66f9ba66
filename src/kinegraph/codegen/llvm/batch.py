"""The loop over many states: rows of arrays become vectors of lanes by transposition, and results become rows
again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kinegraph.codegen.llvm.assembly import Lanes, Writer, hexadecimal

# Rows of numbers to vectors of lanes and back, by transposing square tiles in registers.
#
# A tile is w columns of w rows, w a power of two; where a row is shorter than a vector, several tiles lie side by side
# in one. Where the row length is no multiple of w the last tile overlaps the one before: it moves some columns a second
# time, which is cheaper than moving them one by one.

_UNROLLED_TILES = 16


def gather(writer: Writer, lanes: Lanes, rows: Sequence[str], size: int, wanted: Collection[int], target: str) -> None:
    """Copy the `wanted` columns, and what lies between, of `size` columns of one row per lane to vectors at `target`:
    one tile after the other, or all columns in a loop where the tiles are many."""
    width = tile_width(lanes, size)
    starts = covering_starts(wanted, size, width)
    if len(starts) > _UNROLLED_TILES:
        whole = size // width
        writer.loop(0, whole * width, width, lambda column, _: _gather(writer, lanes, rows, column, width, target))
        starts = tile_starts(size, width)[whole:]
    for column in starts:
        _gather(writer, lanes, rows, column, width, target)


def _gather(writer: Writer, lanes: Lanes, rows: Sequence[str], column: int | str, width: int, target: str) -> tuple[()]:
    part = Lanes(width)
    loaded = [writer.define(f"load {part.type}, ptr {writer.element(row, column)}, align 8") for row in rows]
    vectors = [_joined(writer, part, loaded[number::width]) for number in range(width)]
    base = writer.element(target, column, lanes.type)
    for position, value in enumerate(_transposed(writer, lanes, vectors)):
        address = writer.element(base, position, lanes.type)
        writer.do(f"store {lanes.type} {value}, ptr {address}, align {lanes.bytes}")
    return ()


def scatter(writer: Writer, lanes: Lanes, rows: Sequence[str], column: int, sources: Sequence[str]) -> None:
    """Copy the vectors at `sources`, as many as a tile has columns, to one row per lane from `column` on."""
    width = len(sources)
    part = Lanes(width)
    for number, value in enumerate(tile_rows(writer, lanes, sources)):
        for start, row in zip(range(0, lanes.count, width), rows[number::width], strict=True):
            piece = _piece(writer, lanes, value, start, width)
            writer.do(f"store {part.type} {piece}, ptr {writer.element(row, column)}, align 8")


def tile_rows(writer: Writer, lanes: Lanes, sources: Sequence[str]) -> list[str]:
    """The rows of the tile whose columns are the vectors at `sources`; row k + w, if there is one, follows row k in
    the same vector."""
    loaded = [writer.define(f"load {lanes.type}, ptr {one}, align {lanes.bytes}") for one in sources]
    return _transposed(writer, lanes, loaded)


def tile_width(lanes: Lanes, size: int) -> int:
    """The widest tile a row and a vector have room for."""
    return 1 << (min(size, lanes.count).bit_length() - 1) if size else 1


def tile_starts(size: int, width: int) -> list[int]:
    """Where tiles begin; the last overlaps the one before where they do not come out even."""
    starts = list(range(0, size - width + 1, width))
    return starts if size % width == 0 else [*starts, size - width]


def covering_starts(wanted: Iterable[int], size: int, width: int) -> list[int]:
    """Where the fewest tiles begin that hold the wanted columns of a row."""
    starts: list[int] = []
    for column in sorted(wanted):
        if not starts or column >= starts[-1] + width:
            starts.append(min(column, size - width))
    return starts


def consecutive(writer: Writer, lanes: Lanes, first: str, second: str, start: int, width: int) -> str:
    """`width` neighboring entries of two vectors laid side by side."""
    mask = _mask(range(start, start + width))
    return writer.define(f"shufflevector {lanes.type} {first}, {lanes.type} {second}, {mask}")


def _joined(writer: Writer, part: Lanes, pieces: list[str]) -> str:
    """Vectors laid side by side in one."""
    if part.count == 1:
        total = "poison"
        for lane, piece in enumerate(pieces):
            total = writer.define(f"insertelement {Lanes(len(pieces)).type} {total}, double {piece}, i64 {lane}")
        return total
    while len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [consecutive(writer, part, a, b, 0, 2 * part.count) for a, b in pairs]
        part = Lanes(2 * part.count)
    return pieces[0]


def _piece(writer: Writer, lanes: Lanes, vector: str, start: int, width: int) -> str:
    if width == 1:
        return writer.define(f"extractelement {lanes.type} {vector}, i64 {start}")
    if width == lanes.count:
        return vector
    return consecutive(writer, lanes, vector, "poison", start, width)


def _transposed(writer: Writer, lanes: Lanes, vectors: Sequence[str]) -> list[str]:
    """Transpose every tile, exchanging ever smaller halves between pairs of vectors."""
    vectors = list(vectors)
    distance = len(vectors) // 2
    while distance:
        count = lanes.count
        low = _mask(k + count - distance if k & distance else k for k in range(count))
        high = _mask(k + count if k & distance else k + distance for k in range(count))
        for index in range(len(vectors)):
            if not index & distance:
                pair = f"{lanes.type} {vectors[index]}, {lanes.type} {vectors[index + distance]}"
                vectors[index] = writer.define(f"shufflevector {pair}, {low}")
                vectors[index + distance] = writer.define(f"shufflevector {pair}, {high}")
        distance //= 2
    return vectors


def _mask(lanes: Iterable[int]) -> str:
    """Which lanes of two vectors, numbered through, a shuffle takes."""
    entries = [f"i32 {lane}" for lane in lanes]
    return f"<{len(entries)} x i32> <{', '.join(entries)}>"


# The caches: lines, and how to have one fetched before it is written.

#: Bytes; where lines are longer the code is right and only not quite as fast.
LINE = 64

PREFETCH_DECLARATION = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"


def prefetch(writer: Writer, address: str, distance: int) -> None:
    """Have the line `distance` bytes behind an address fetched, to be written; it need not exist."""
    line = writer.define(f"getelementptr i8, ptr {address}, i64 {distance}")
    writer.do(f"call void @llvm.prefetch.p0(ptr {line}, i32 1, i32 3, i32 1)")


# Long rows of results, written so that no vector crosses from one cache line to the next.
#
# Measured with results in the second level cache: eight rows at once, vectors across lines, take twice as long as
# vectors within lines, which are about as fast as filling the memory with zeros; zeros and entries that stand twice are
# therefore not worth special treatment. Where a row begins in its line depends on the row and on the result's address.

#: How far ahead lines are asked for, bytes. One line does as well as four.
_AHEAD = 2 * LINE


class LongRows:
    """Functions `@write<number>_<phase>(y, rows...)`, one per place in a line where a block may begin.

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
        """Store of two neighboring vectors, the first at `column`, what begins `shifts` doubles later."""
        for row, one, other, shift in zip(self.rows, before, after, shifts, strict=True):
            vector = consecutive(writer, self.lanes, one, other, shift, self.lanes.count)
            address = writer.element(writer.element(row, column), shift)
            prefetch(writer, address, _AHEAD)
            writer.do(f"store {self.lanes.type} {vector}, ptr {address}, align 8")


# Writing the results of a block of states: every entry of a row is a computed value or a constant.
#
# Matrices are larger than all else, so the caches decide how long this takes. Lines of short rows are asked for before
# the computing begins and are there when they are written; long rows would drive out what is computed with, and are
# written line by line, see `long_rows`. Measured: short rows gain up to a third, and from some 64 entries on the second
# way is the faster one.

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


# Where intermediate values live that do not stay in registers: on the stack, or on the heap where they are many.
#
# Nothing is shared between calls, so kernels may be called from any number of threads at once. If the heap has no room
# the results are NaN.

#: Beyond this many bytes the heap is used: threads may have stacks of a few hundred kilobytes.
STACK_LIMIT = 1 << 16
_ALIGNMENT = 64

HEAP_DECLARATIONS = "declare ptr @kinegraph_malloc(i64) nounwind\ndeclare void @kinegraph_free(ptr) nounwind\n"


@dataclass(frozen=True)
class Scratch:
    """An array of `size` values."""

    lanes: Lanes
    size: int

    def around(self, writer: Writer, work: Callable[[str], None], failed: Callable[[], None]) -> None:
        """Write `work`, which gets the name of the array's address; if there is no memory `failed` happens instead."""
        if not self.size:
            work("poison")
            return
        size = self.lanes.bytes * self.size
        if size <= STACK_LIMIT:
            work(writer.define(f"alloca [{self.size} x {self.lanes.type}], align {_ALIGNMENT}"))
            return
        raw = writer.define(f"call ptr @kinegraph_malloc(i64 {size + _ALIGNMENT})")
        missing = writer.define(f"icmp eq ptr {raw}, null")
        writer.do(f"br i1 {missing}, label %no_memory, label %memory")
        writer.begin("no_memory")
        failed()
        writer.do("br label %end")
        writer.begin("memory")
        beyond = writer.element(raw, _ALIGNMENT - 1, "i8")
        work(writer.define(f"call ptr @llvm.ptrmask.p0.i64(ptr {beyond}, i64 {-_ALIGNMENT})"))
        writer.do(f"call void @kinegraph_free(ptr {raw})")
        writer.do("br label %end")
        writer.begin("end")


def fill_with_nan(writer: Writer, address: str, count: int | str) -> None:
    """Write NaN to `count` doubles: a double whose bits are all set is one."""
    size = writer.define(f"mul i64 {count}, 8")
    writer.do(f"call void @llvm.memset.p0.i64(ptr align 8 {address}, i8 -1, i64 {size}, i1 false)")


# The loop over many states: rows of plain arrays become vectors of lanes, are computed, and become rows again.
#
# The last block may have fewer states than lanes. Its missing rows repeat the last row, and storing the same values to
# the same row twice does no harm, so no block needs masks or padding.


@dataclass(frozen=True)
class Row:
    """A row of an argument: how many columns it has, and which of them are computed with."""

    size: int
    wanted: frozenset[int]


@dataclass(frozen=True)
class Early:
    """What `@early(x, y, s)` computes from one argument alone: its number, and how many values.

    Where all rows of this argument are the same (its stride is zero), this is computed once for all states.
    """

    argument: int
    values: int


_HEAD = "define void @kinegraph_batch(i64 %first, i64 %last, ptr %arguments, ptr %strides, ptr %results) #0"


def batch_function(
    lanes: Lanes, inputs: Sequence[Row], entries: Sequence[Sequence[int | float]], scratch: int,
    early: Early | None = None,
) -> str:  # fmt: skip
    """Define `@kinegraph_batch(first, last, arguments, strides, results)`.

    It computes the rows first <= i < last; `arguments` and `results` point to arrays of pointers, `strides` to the
    row strides of the arguments in doubles. Rows of a result follow each other without gaps. `inputs` are the rows
    of the arguments, `entries` says for every result which of the values that the body computes, or which
    constants, a row is made of; `scratch` is what the body needs. `early`: values that the body reads behind the
    arguments.
    """
    results = Results(lanes, entries)
    return "\n".join([*results.functions(), _Batch(lanes, inputs, results, scratch, early).text()])


class _Batch:
    def __init__(
        self, lanes: Lanes, inputs: Sequence[Row], outputs: Results, scratch: int, early: Early | None
    ) -> None:
        self.lanes = lanes
        self.inputs = inputs
        self.outputs = outputs
        self.early = early
        values = early.values if early else 0
        self.workspace = Scratch(lanes, sum(row.size for row in inputs) + values + outputs.vectors + scratch)
        self.writer = Writer()
        self.arguments = self._table("ptr", "%arguments", len(inputs))
        self.strides = self._table("i64", "%strides", len(inputs))
        self.results = self._table("ptr", "%results", len(outputs.sizes))

    def text(self) -> str:
        self.workspace.around(self.writer, self._loop, self._no_memory)
        self.writer.do("ret void")
        return self.writer.function(_HEAD)

    def _table(self, kind: str, base: str, count: int) -> list[str]:
        writer = self.writer
        return [writer.define(f"load {kind}, ptr {writer.element(base, k, kind)}, align 8") for k in range(count)]

    def _loop(self, workspace: str) -> None:
        writer, before = self.writer, self.writer.block
        limit = writer.define("sub i64 %last, 1")
        *x_parts, behind = self._parts(workspace)
        y = writer.element(behind, self.early.values, self.lanes.type) if self.early else behind
        self.outputs.put_constants(writer, y)
        writer.do("br label %head")
        writer.begin("head")
        writer.do(f"%i = phi i64 [ %first, %{before} ], [ %next, %latch ]")
        writer.do("%more = icmp slt i64 %i, %last")
        writer.do("br i1 %more, label %block, label %done")
        writer.begin("block")
        self._block(workspace, x_parts, behind, y, limit)
        writer.do("br label %latch")
        writer.begin("latch")
        writer.do(f"%next = add i64 %i, {self.lanes.count}")
        writer.do("br label %head")
        writer.begin("done")

    def _block(self, x: str, x_parts: Sequence[str], behind: str, y: str, limit: str) -> None:
        writer, results = self.writer, list(enumerate(zip(self.results, self.outputs.sizes, strict=True)))
        rows = self._rows(limit)
        if sum(self.outputs.sizes) > sum(row.size for row in self.inputs):  # else writing takes little of the time
            for number, (pointer, size) in results:
                self.outputs.prefetch_rows(writer, number, self._addresses(pointer, ["%i"], size)[0])
        scratch = writer.element(y, self.outputs.vectors, self.lanes.type)
        for number, part in enumerate(x_parts):
            if self.early is None or number != self.early.argument:
                self._gather(number, rows, part)
        if self.early is not None:
            self._compute_early(self.early.argument, x, x_parts, behind, scratch, rows)
        writer.do(f"call void @body(ptr {x}, ptr {y}, ptr {scratch})")
        for number, (pointer, size) in results:
            self.outputs.write(writer, number, self._addresses(pointer, rows, size), y)

    def _gather(self, number: int, rows: Sequence[str], part: str) -> None:
        """Copy the rows of an argument to vectors."""
        row, addresses = self.inputs[number], self._addresses(self.arguments[number], rows, self.strides[number])
        gather(self.writer, self.lanes, addresses, row.size, row.wanted, part)

    def _compute_early(
        self, number: int, x: str, x_parts: Sequence[str], behind: str, scratch: str, rows: Sequence[str]
    ) -> None:
        """What follows from one argument alone: in the first block, and in every block if its rows differ."""
        writer = self.writer
        begins = writer.define("icmp eq i64 %i, %first")
        differ = writer.define(f"icmp ne i64 {self.strides[number]}, 0")
        either, labels = writer.define(f"or i1 {begins}, {differ}"), (writer.new_label(), writer.new_label())
        writer.do(f"br i1 {either}, label %{labels[0]}, label %{labels[1]}")
        writer.begin(labels[0])
        self._gather(number, rows, x_parts[number])
        if self.early is not None and self.early.values:
            writer.do(f"call void @early(ptr {x}, ptr {behind}, ptr {scratch})")
        writer.do(f"br label %{labels[1]}")
        writer.begin(labels[1])

    def _parts(self, base: str) -> list[str]:
        """Where each argument's vectors begin, and where the last ones end."""
        return [self.writer.element(base, start, self.lanes.type) for start in self._starts()]

    def _starts(self) -> list[int]:
        return list(accumulate((row.size for row in self.inputs), initial=0))

    def _rows(self, limit: str) -> list[str]:
        """The row of every lane, the last row where there are no more."""
        numbers = [self.writer.define(f"add i64 %i, {lane}") for lane in range(self.lanes.count)]
        return [self.writer.define(f"call i64 @llvm.smin.i64(i64 {number}, i64 {limit})") for number in numbers]

    def _addresses(self, pointer: str, rows: Sequence[str], stride: int | str) -> list[str]:
        writer = self.writer
        return [writer.element(pointer, writer.define(f"mul i64 {row}, {stride}")) for row in rows]

    def _no_memory(self) -> None:
        writer = self.writer
        rows = writer.define("sub i64 %last, %first")
        for pointer, size in zip(self.results, self.outputs.sizes, strict=True):
            start = self._addresses(pointer, ["%first"], size)[0]
            fill_with_nan(writer, start, writer.define(f"mul i64 {rows}, {size}"))
