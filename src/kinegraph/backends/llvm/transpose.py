"""Rows of numbers to vectors of lanes and back, by transposing square tiles in registers.

A tile is w columns of w rows, w a power of two; where a row is shorter than a vector, several tiles lie side by side
in one. Where the row length is no multiple of w the last tile overlaps the one before: it moves some columns a second
time, which is cheaper than moving them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kinegraph.backends.llvm.lanes import Lanes
from kinegraph.backends.llvm.writer import Writer

_UNROLLED_TILES = 16


def gather(writer: Writer, lanes: Lanes, rows: Sequence[str], size: int, target: str) -> None:
    """Copy `size` columns of one row per lane to vectors at `target`."""
    width = _width(lanes, size)
    part = Lanes(width)

    def tile(column: int | str) -> None:
        loaded = [writer.define(f"load {part.type}, ptr {writer.element(row, column)}, align 8") for row in rows]
        vectors = [_joined(writer, part, loaded[number::width]) for number in range(width)]
        base = writer.element(target, column, lanes.type)
        for position, value in enumerate(_transposed(writer, lanes, width, vectors)):
            address = writer.element(base, position, lanes.type)
            writer.do(f"store {lanes.type} {value}, ptr {address}, align {lanes.bytes}")

    _tiles(writer, width, size, tile)


def scatter(writer: Writer, lanes: Lanes, rows: Sequence[str], size: int, source: str) -> None:
    """Copy `size` vectors at `source` to columns of one row per lane."""
    width = _width(lanes, size)
    part = Lanes(width)

    def tile(column: int | str) -> None:
        base = writer.element(source, column, lanes.type)
        addresses = [writer.element(base, position, lanes.type) for position in range(width)]
        loaded = [writer.define(f"load {lanes.type}, ptr {one}, align {lanes.bytes}") for one in addresses]
        for number, value in enumerate(_transposed(writer, lanes, width, loaded)):
            for start, row in zip(range(0, lanes.count, width), rows[number::width], strict=True):
                piece = _piece(writer, lanes, value, start, width)
                writer.do(f"store {part.type} {piece}, ptr {writer.element(row, column)}, align 8")

    _tiles(writer, width, size, tile)


def _width(lanes: Lanes, size: int) -> int:
    """The widest tile a row and a vector have room for."""
    return 1 << (min(size, lanes.count).bit_length() - 1) if size else 1


def _tiles(writer: Writer, width: int, size: int, tile: Callable[[int | str], None]) -> None:
    """Write `tile` for all columns: one after the other, or as a loop where they are many."""
    whole = size // width
    if whole <= _UNROLLED_TILES:
        for number in range(whole):
            tile(number * width)
    else:
        _loop(writer, width, whole * width, tile)
    if size % width:
        tile(size - width)


def _loop(writer: Writer, step: int, stop: int, tile: Callable[[int | str], None]) -> None:
    before, inside, after = writer.block, writer.new_label(), writer.new_label()
    column, following = f"%column_{inside}", f"%following_{inside}"
    writer.do(f"br label %{inside}")
    writer.begin(inside)
    writer.do(f"{column} = phi i64 [ 0, %{before} ], [ {following}, %{inside} ]")
    tile(column)
    writer.do(f"{following} = add i64 {column}, {step}")
    again = writer.define(f"icmp slt i64 {following}, {stop}")
    writer.do(f"br i1 {again}, label %{inside}, label %{after}")
    writer.begin(after)


def _joined(writer: Writer, part: Lanes, pieces: list[str]) -> str:
    """Vectors laid side by side in one."""
    if part.count == 1:
        total = "poison"
        for lane, piece in enumerate(pieces):
            total = writer.define(f"insertelement {Lanes(len(pieces)).type} {total}, double {piece}, i64 {lane}")
        return total
    while len(pieces) > 1:
        mask = _mask(range(2 * part.count))
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [writer.define(f"shufflevector {part.type} {a}, {part.type} {b}, {mask}") for a, b in pairs]
        part = Lanes(2 * part.count)
    return pieces[0]


def _piece(writer: Writer, lanes: Lanes, vector: str, start: int, width: int) -> str:
    if width == 1:
        return writer.define(f"extractelement {lanes.type} {vector}, i64 {start}")
    if width == lanes.count:
        return vector
    mask = _mask(range(start, start + width))
    return writer.define(f"shufflevector {lanes.type} {vector}, {lanes.type} poison, {mask}")


def _transposed(writer: Writer, lanes: Lanes, width: int, vectors: list[str]) -> list[str]:
    """Transpose every tile of `width` lanes, exchanging ever smaller halves between pairs of vectors."""
    vectors = list(vectors)
    distance = width // 2
    while distance:
        count = lanes.count
        low = _mask(k + count - distance if k & distance else k for k in range(count))
        high = _mask(k + count if k & distance else k + distance for k in range(count))
        for index in range(width):
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
