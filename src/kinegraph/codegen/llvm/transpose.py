"""Rows of numbers to vectors of lanes and back, by transposing square tiles in registers.

A tile is w columns of w rows, w a power of two; where a row is shorter than a vector, several tiles lie side by side
in one. Where the row length is no multiple of w the last tile overlaps the one before: it moves some columns a second
time, which is cheaper than moving them one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from kinegraph.codegen.llvm.lanes import Lanes
from kinegraph.codegen.llvm.writer import Writer

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
    """`width` neighbouring entries of two vectors laid side by side."""
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
