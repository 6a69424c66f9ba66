"""Weighted sums of slopes as vector instructions, written out for each tableau; loops call them by address.

A step of order 8 forms some 120 such sums; as loops over a tableau they would cost more than the slopes themselves.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from llvmlite import ir

from kinegraph.jit import cache as disk
from kinegraph.jit.contents import digest
from kinegraph.jit.engine import LoadedCode, object_code
from kinegraph.jit.once import once
from kinegraph.jit.target import host, versions
from kinegraph.solve.loops.weights import rows_of
from kinegraph.solve.methods.order_conditions import Floats
from kinegraph.solve.methods.tableau import Tableau

#: Names of the two functions (row, h, size, base, slopes, target): one h, or one for each entry.
ONE, EACH = "kinegraph_sums", "kinegraph_sums_each"

_LANES = 8, 4  # vectors of eight where many trajectories lie side by side, then of four, then what is left
_WORD, _DOUBLE = ir.IntType(64), ir.DoubleType()


@once
def sums_code(tableau: Tableau) -> LoadedCode:
    """The code of all sums of a tableau, from the cache where possible."""
    weights = rows_of(tableau)
    name = f"sums-{digest(weights.tobytes(), weights.shape, Path(__file__).read_bytes(), host(), versions())}"
    code = disk.load(name)
    if code is None:
        code = object_code(_module(weights), host())
        disk.save(name, code)
    return LoadedCode(code, ONE, EACH)


def _module(weights: Floats) -> str:
    module = ir.Module("sums")
    _function(module, ONE, _DOUBLE, weights)
    _function(module, EACH, _DOUBLE.as_pointer(), weights)
    return str(module)


def _function(module: ir.Module, name: str, step: ir.Type, weights: Floats) -> None:
    kind = ir.FunctionType(ir.VoidType(), [_WORD, step, _WORD, *[_DOUBLE.as_pointer()] * 3])
    function = ir.Function(module, kind, name)
    row, *rest = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    _Sums(builder, *rest).choose(row, weights)
    builder.ret_void()


class _Sums:
    """Writes the code of all rows: a switch, and in each case a loop over vectors and one over what is left."""

    def __init__(
        self, builder: ir.IRBuilder, h: ir.Value, size: ir.Value, base: ir.Value, slopes: ir.Value, target: ir.Value
    ) -> None:
        self.builder = builder
        self.h, self.size = h, size
        self.base, self.slopes, self.target = base, slopes, target

    def choose(self, row: ir.Value, weights: Floats) -> None:
        """The code of the row that `row` says when it runs."""
        builder = self.builder
        blocks = [builder.append_basic_block(f"row{index}") for index in range(len(weights))]
        after = builder.append_basic_block("summed")
        choice = builder.switch(row, after)
        for index, block in enumerate(blocks):
            choice.add_case(_WORD(index), block)
            builder.position_at_end(block)
            self._row([(int(j), float(weights[index, j])) for j in np.flatnonzero(weights[index])])
            builder.branch(after)
        builder.position_at_end(after)

    def _row(self, entries: list[tuple[int, float]]) -> None:
        builder = self.builder
        whole = [builder.and_(self.size, _WORD(-lanes)) for lanes in _LANES]
        starts = [(builder.gep(self.slopes, [builder.mul(_WORD(j), self.size)]), weight) for j, weight in entries]
        for first, last, lanes in zip((_WORD(0), *whole), (*whole, self.size), (*_LANES, 1), strict=True):
            self._loop(first, last, lanes, starts)

    def _loop(self, first: ir.Value, last: ir.Value, lanes: int, starts: list[tuple[ir.Value, float]]) -> None:
        builder = self.builder
        before = builder.block
        head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        place = builder.phi(_WORD)
        place.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<", place, last), body, done)
        builder.position_at_end(body)
        self._sum(place, lanes, starts)
        place.add_incoming(builder.add(place, _WORD(lanes)), body)
        builder.branch(head)
        builder.position_at_end(done)

    def _sum(self, place: ir.Value, lanes: int, starts: list[tuple[ir.Value, float]]) -> None:
        builder = self.builder
        kind = ir.VectorType(_DOUBLE, lanes) if lanes > 1 else _DOUBLE
        total = None
        for start, weight in starts:
            constant = ir.Constant(kind, [weight] * lanes) if lanes > 1 else ir.Constant(kind, weight)
            product = builder.fmul(constant, self._load(start, place, kind), flags=("contract",))
            total = product if total is None else builder.fadd(total, product, flags=("contract",))
        result = self._load(self.base, place, kind)
        if total is not None:
            step = self._step(place, lanes, kind)
            result = builder.fadd(result, builder.fmul(step, total, flags=("contract",)), flags=("contract",))
        builder.store(result, self._pointer(self.target, place, kind), align=8)

    def _step(self, place: ir.Value, lanes: int, kind: ir.Type) -> ir.Value:
        """h of the entries at hand: loaded where each has its own, else the one number in all lanes."""
        if self.h.type != _DOUBLE:
            return self._load(self.h, place, kind)
        if lanes == 1:
            return self.h
        vector = ir.Constant(kind, ir.Undefined)
        for lane in range(lanes):
            vector = self.builder.insert_element(vector, self.h, ir.IntType(32)(lane))
        return vector

    def _load(self, start: ir.Value, place: ir.Value, kind: ir.Type) -> ir.Value:
        return self.builder.load(self._pointer(start, place, kind), align=8)

    def _pointer(self, start: ir.Value, place: ir.Value, kind: ir.Type) -> ir.Value:
        return self.builder.bitcast(self.builder.gep(start, [place]), kind.as_pointer())
