"""The loop over many states: rows of plain arrays become vectors of lanes, are computed, and become rows again.

The last block may have fewer states than lanes. Its missing rows repeat the last row, and storing the same values to
the same row twice does no harm, so no block needs masks or padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from kinegraph.backends.llvm.lanes import Lanes, hexadecimal
from kinegraph.backends.llvm.scratch import Scratch, fill_with_nan
from kinegraph.backends.llvm.transpose import gather, scatter
from kinegraph.backends.llvm.writer import Writer

_HEAD = "define void @kinegraph_batch(i64 %first, i64 %last, ptr %arguments, ptr %strides, ptr %results) #0"


#: How many entries of a row one function writes: a compiler's time grows with the square of the stores in it.
_ENTRIES_TOGETHER = 500


def expanding_batch_function(
    lanes: Lanes, inputs: Sequence[int], distinct: int, entries: Sequence[Sequence[int | float]], scratch: int
) -> str:
    """Like `batch_function`, for a body that computes distinct values; `entries` says what the results are of them."""
    functions: list[str] = []
    calls: list[list[str]] = []
    for result in entries:
        starts = range(0, len(result), _ENTRIES_TOGETHER)
        names = [f"expand{len(functions) + number}" for number in range(len(starts))]
        for name, start in zip(names, starts, strict=True):
            functions.append(_expand(name, start, result[start : start + _ENTRIES_TOGETHER]))
        calls.append(names)
    batch = _ExpandingBatch(lanes, inputs, [len(result) for result in entries], scratch, distinct, calls)
    return "\n".join([*functions, batch.text()])


def _expand(name: str, start: int, entries: Sequence[int | float]) -> str:
    """Define a function that writes entries of one row from the row of distinct values."""
    writer = Writer()
    for position, entry in enumerate(entries, start):
        if isinstance(entry, float):
            value = hexadecimal(entry)
        else:
            value = writer.define(f"load double, ptr {writer.element('%values', entry)}, align 8")
        writer.do(f"store double {value}, ptr {writer.element('%row', position)}, align 8")
    writer.do("ret void")
    return writer.function(f"define internal void @{name}(ptr noalias readonly %values, ptr noalias %row) noinline #0")


def batch_function(lanes: Lanes, inputs: Sequence[int], outputs: Sequence[int], scratch: int) -> str:
    """Define `@kinegraph_batch(first, last, arguments, strides, results)`.

    It computes the rows first <= i < last; `arguments` and `results` point to arrays of pointers, `strides` to the
    row strides of the arguments in doubles. Rows of a result follow each other without gaps. `inputs` and `outputs`
    are the row lengths of the arguments and results, `scratch` is what the body needs.
    """
    return _Batch(lanes, inputs, outputs, scratch).text()


class _Batch:
    def __init__(self, lanes: Lanes, inputs: Sequence[int], outputs: Sequence[int], scratch: int) -> None:
        self.lanes = lanes
        self.inputs = inputs
        self.outputs = outputs
        self.workspace = Scratch(lanes, sum(inputs) + self._computed() + scratch)
        self.writer = Writer()
        self.arguments = self._table("ptr", "%arguments", len(inputs))
        self.strides = self._table("i64", "%strides", len(inputs))
        self.results = self._table("ptr", "%results", len(outputs))

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
        writer.do("br label %head")
        writer.begin("head")
        writer.do(f"%i = phi i64 [ %first, %{before} ], [ %next, %latch ]")
        writer.do("%more = icmp slt i64 %i, %last")
        writer.do("br i1 %more, label %block, label %done")
        writer.begin("block")
        self._block(workspace, limit)
        writer.do("br label %latch")
        writer.begin("latch")
        writer.do(f"%next = add i64 %i, {self.lanes.count}")
        writer.do("br label %head")
        writer.begin("done")

    def _block(self, workspace: str, limit: str) -> None:
        writer = self.writer
        rows = self._rows(limit)
        *x_parts, y = self._parts(workspace, self.inputs)
        scratch = writer.element(y, self._computed(), self.lanes.type)
        for part, size, pointer, stride in zip(x_parts, self.inputs, self.arguments, self.strides, strict=True):
            gather(writer, self.lanes, self._addresses(pointer, rows, stride), size, part)
        writer.do(f"call void @body(ptr {workspace}, ptr {y}, ptr {scratch})")
        self._write_results(rows, y)

    def _computed(self) -> int:
        """How many vectors the body writes, and what else lies with them."""
        return sum(self.outputs)

    def _write_results(self, rows: Sequence[str], y: str) -> None:
        *parts, _ = self._parts(y, self.outputs)
        for part, size, pointer in zip(parts, self.outputs, self.results, strict=True):
            scatter(self.writer, self.lanes, self._addresses(pointer, rows, size), size, part)

    def _parts(self, base: str, sizes: Sequence[int]) -> list[str]:
        """Where each part of an array begins, and where the last one ends."""
        return [self.writer.element(base, start, self.lanes.type) for start in accumulate(sizes, initial=0)]

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
        for pointer, size in zip(self.results, self.outputs, strict=True):
            start = self._addresses(pointer, ["%first"], size)[0]
            fill_with_nan(writer, start, writer.define(f"mul i64 {rows}, {size}"))


class _ExpandingBatch(_Batch):
    """Behind the distinct values lie their transposed rows, one for every lane."""

    def __init__(
        self,
        lanes: Lanes,
        inputs: Sequence[int],
        outputs: Sequence[int],
        scratch: int,
        distinct: int,
        calls: Sequence[Sequence[str]],
    ) -> None:
        self.distinct = distinct
        self.calls = calls
        super().__init__(lanes, inputs, outputs, scratch)

    def _computed(self) -> int:
        return 2 * self.distinct

    def _write_results(self, rows: Sequence[str], y: str) -> None:
        writer, lanes = self.writer, self.lanes
        turned = writer.element(y, self.distinct, lanes.type)
        values = [writer.element(turned, lane * self.distinct) for lane in range(lanes.count)]
        scatter(writer, lanes, values, self.distinct, y)
        for names, size, pointer in zip(self.calls, self.outputs, self.results, strict=True):
            for source, row in zip(values, self._addresses(pointer, rows, size), strict=True):
                for name in names:
                    writer.do(f"call void @{name}(ptr {source}, ptr {row})")
