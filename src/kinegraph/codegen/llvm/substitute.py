"""Back-substitution as code: straight over the entries of L, in loops over the columns.

A scalar kernel takes several columns of one state into a vector, where entries of L are spread over the lanes; in a
batch a column of all states is a vector already.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.codegen.llvm.lanes import Lanes
from kinegraph.codegen.llvm.transpose import tile_starts
from kinegraph.codegen.llvm.writer import Writer
from kinegraph.codegen.program.back_substitution import BackSubstitution


def substitute_function(tail: BackSubstitution, starts: Sequence[int], lanes: Lanes, widest: int) -> str:
    """Define `@substitute(z, y)`, from all values of the graph to the results."""
    width = 1 << (min(tail.size, widest).bit_length() - 1) if lanes.count == 1 else lanes.count
    columns = _Columns(tail, lanes, Lanes(width)).text()
    step = width if lanes.count == 1 else 1
    writer = Writer()
    factors = writer.element("%z", starts[len(tail.solved)], lanes.type)
    for number, solved in enumerate(tail.solved):
        start, size = starts[number], starts[number + 1] - starts[number]
        source, target = (writer.element(base, start, lanes.type) for base in ("%z", "%y"))
        if not solved:
            writer.do(
                f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {target}, ptr align 8 {source}, "
                f"i64 {size * lanes.bytes}, i1 false)"
            )
            continue
        for column in tile_starts(tail.size, step):
            places = [writer.element(base, column, lanes.type) for base in (source, target)]
            writer.do(f"call void @columns(ptr {places[0]}, ptr {places[1]}, ptr {factors})")
    writer.do("ret void")
    head = "define internal void @substitute(ptr noalias readonly %z, ptr noalias %y) noinline #0"
    return columns + "\n" + writer.function(head)


def body_with_substitution(values: int, lanes: Lanes) -> str:
    """Define `@body(x, y, s)` of `@values(x, z, s)` and `@substitute(z, y)`; z takes the first of the scratch array."""
    writer = Writer()
    rest = writer.element("%s", values, lanes.type)
    writer.do(f"call void @values(ptr %x, ptr %s, ptr {rest})")
    writer.do("call void @substitute(ptr %s, ptr %y)")
    writer.do("ret void")
    return writer.function(
        "define internal void @body(ptr noalias readonly %x, ptr noalias %y, ptr noalias %s) noinline #0"
    )


class _Columns:
    """`@columns(right, result, factors)`: one vector of columns."""

    def __init__(self, tail: BackSubstitution, lanes: Lanes, wide: Lanes) -> None:
        self.tail = tail
        self.lanes = lanes
        self.wide = wide
        self.writer = Writer()

    def text(self) -> str:
        tail = self.tail
        rows: dict[int, list[tuple[int, int]]] = {i: [] for i in tail.order}
        for number, (i, j) in enumerate(tail.lower):
            rows[i].append((number, j))
        x = {i: self._load("%right", i * tail.size) for i in tail.order}
        for i in reversed(tail.order):  # L^T y = right
            negative = self._negative(x[i]) if rows[i] else ""
            for number, j in rows[i]:
                x[j] = self._fused(self._factor(number), negative, x[j])
        for i in tail.order:  # D z = -y
            inverse = self._factor(len(tail.lower) + i)
            x[i] = self._negative(self.writer.define(f"fmul {self.wide.type} {inverse}, {x[i]}"))
        negatives: dict[int, str] = {}
        for i in tail.order:  # L x = z
            for number, j in rows[i]:
                x[i] = self._fused(self._factor(number), negatives[j], x[i])
            negatives[i] = self._negative(x[i])
            self._store(x[i], "%result", i * tail.size)
        self.writer.do("ret void")
        return self.writer.function(
            "define internal void @columns(ptr noalias readonly %right, ptr noalias %result, "
            "ptr noalias readonly %factors) noinline #0"
        )

    def _load(self, base: str, position: int) -> str:
        address = self.writer.element(base, position, self.lanes.type)
        return self.writer.define(f"load {self.wide.type}, ptr {address}, align {self.lanes.bytes}")

    def _store(self, value: str, base: str, position: int) -> None:
        address = self.writer.element(base, position, self.lanes.type)
        self.writer.do(f"store {self.wide.type} {value}, ptr {address}, align {self.lanes.bytes}")

    def _factor(self, position: int) -> str:
        writer, kind = self.writer, self.wide.type
        address = writer.element("%factors", position, self.lanes.type)
        value = writer.define(f"load {self.lanes.type}, ptr {address}, align {self.lanes.bytes}")
        if self.wide == self.lanes:
            return value
        first = writer.define(f"insertelement {kind} poison, double {value}, i64 0")
        return writer.define(f"shufflevector {kind} {first}, {kind} poison, <{self.wide.count} x i32> zeroinitializer")

    def _negative(self, value: str) -> str:
        return self.writer.define(f"fneg {self.wide.type} {value}")

    def _fused(self, a: str, b: str, c: str) -> str:
        kind = self.wide.type
        return self.writer.define(f"call {kind} @llvm.fmuladd.{self.wide.suffix}({kind} {a}, {kind} {b}, {kind} {c})")
