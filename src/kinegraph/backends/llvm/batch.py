"""The loop over many states: rows of plain arrays become vectors of lanes, are computed, and become rows again.

The last block may have fewer states than lanes. Its missing rows repeat the last row, and storing the same values to
the same row twice does no harm, so no block needs masks or padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from kinegraph.backends.llvm.lanes import Lanes
from kinegraph.backends.llvm.scratch import Scratch, fill_with_nan
from kinegraph.backends.llvm.transpose import gather, scatter
from kinegraph.backends.llvm.writer import Writer

_HEAD = "define void @kinegraph_batch(i64 %first, i64 %last, ptr %arguments, ptr %strides, ptr %results) #0"


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
        self.workspace = Scratch(lanes, sum(inputs) + sum(outputs) + scratch)
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
        writer, lanes = self.writer, self.lanes
        rows = self._rows(limit)
        *x_parts, y = self._parts(workspace, self.inputs)
        *y_parts, scratch = self._parts(y, self.outputs)
        for part, size, pointer, stride in zip(x_parts, self.inputs, self.arguments, self.strides, strict=True):
            gather(writer, lanes, self._addresses(pointer, rows, stride), size, part)
        writer.do(f"call void @body(ptr {workspace}, ptr {y}, ptr {scratch})")
        for part, size, pointer in zip(y_parts, self.outputs, self.results, strict=True):
            scatter(writer, lanes, self._addresses(pointer, rows, size), size, part)

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
