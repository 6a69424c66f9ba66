"""The loop over many states: rows of plain arrays become vectors of lanes, are computed, and become rows again.

The last block may have fewer states than lanes. Its missing rows repeat the last row, and storing the same values to
the same row twice does no harm, so no block needs masks or padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from kinegraph.codegen.llvm.lanes import Lanes
from kinegraph.codegen.llvm.results import Results
from kinegraph.codegen.llvm.scratch import Scratch, fill_with_nan
from kinegraph.codegen.llvm.transpose import gather
from kinegraph.codegen.llvm.writer import Writer


@dataclass(frozen=True)
class Row:
    """A row of an argument: how many columns it has, and which of them are computed with."""

    size: int
    wanted: frozenset[int]


_HEAD = "define void @kinegraph_batch(i64 %first, i64 %last, ptr %arguments, ptr %strides, ptr %results) #0"


def batch_function(lanes: Lanes, inputs: Sequence[Row], entries: Sequence[Sequence[int | float]], scratch: int) -> str:
    """Define `@kinegraph_batch(first, last, arguments, strides, results)`.

    It computes the rows first <= i < last; `arguments` and `results` point to arrays of pointers, `strides` to the
    row strides of the arguments in doubles. Rows of a result follow each other without gaps. `inputs` are the rows
    of the arguments, `entries` says for every result which of the values that the body computes, or which
    constants, a row is made of; `scratch` is what the body needs.
    """
    results = Results(lanes, entries)
    return "\n".join([*results.functions(), _Batch(lanes, inputs, results, scratch).text()])


class _Batch:
    def __init__(self, lanes: Lanes, inputs: Sequence[Row], outputs: Results, scratch: int) -> None:
        self.lanes = lanes
        self.inputs = inputs
        self.outputs = outputs
        self.workspace = Scratch(lanes, sum(row.size for row in inputs) + outputs.vectors + scratch)
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
        *x_parts, y = self._parts(workspace)
        self.outputs.put_constants(writer, y)
        writer.do("br label %head")
        writer.begin("head")
        writer.do(f"%i = phi i64 [ %first, %{before} ], [ %next, %latch ]")
        writer.do("%more = icmp slt i64 %i, %last")
        writer.do("br i1 %more, label %block, label %done")
        writer.begin("block")
        self._block(workspace, x_parts, y, limit)
        writer.do("br label %latch")
        writer.begin("latch")
        writer.do(f"%next = add i64 %i, {self.lanes.count}")
        writer.do("br label %head")
        writer.begin("done")

    def _block(self, x: str, x_parts: Sequence[str], y: str, limit: str) -> None:
        writer, results = self.writer, list(enumerate(zip(self.results, self.outputs.sizes, strict=True)))
        rows = self._rows(limit)
        if sum(self.outputs.sizes) > sum(row.size for row in self.inputs):  # else writing takes little of the time
            for number, (pointer, size) in results:
                self.outputs.prefetch_rows(writer, number, self._addresses(pointer, ["%i"], size)[0])
        for part, row, pointer, stride in zip(x_parts, self.inputs, self.arguments, self.strides, strict=True):
            gather(writer, self.lanes, self._addresses(pointer, rows, stride), row.size, row.wanted, part)
        scratch = writer.element(y, self.outputs.vectors, self.lanes.type)
        writer.do(f"call void @body(ptr {x}, ptr {y}, ptr {scratch})")
        for number, (pointer, size) in results:
            self.outputs.write(writer, number, self._addresses(pointer, rows, size), y)

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
