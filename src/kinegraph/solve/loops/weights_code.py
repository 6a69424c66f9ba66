"""Weighted sums of slopes as vector instructions, written out for each tableau.

A step of order 8 forms some 120 such sums; as loops over a tableau they would cost more than the slopes themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kinegraph.solve.loops.intrinsics import data_of, is_doubles
from kinegraph.solve.loops.weights import TABLEAUX, rows_of
from kinegraph.solve.methods.order_conditions import Floats

_LANES = 4
_WORD, _DOUBLE = ir.IntType(64), ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, _LANES)


def _weighted(
    typing_context: Any, method: Any, row: Any, h: Any, base: Any, slopes: Any, size: Any, target: Any, start: Any
) -> Any:
    """target[start + d] = base[d] + h sum_j weights[row, j] slopes[j, d] for d < size.

    h is a number, or an array with one entry for each d.
    """
    each = is_doubles(h)
    if not (is_doubles(base) and is_doubles(slopes) and is_doubles(target)):
        return None
    weights = rows_of(TABLEAUX[method.instance_class])
    name = f"kinegraph_sums_{method.instance_class.__name__}{'_each' if each else ''}"

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, row, h, base, slopes, size, target, start = arguments
        kinds = signature.args
        pointers = (
            data_of(context, builder, kinds[3], base),
            data_of(context, builder, kinds[4], slopes),
            builder.gep(data_of(context, builder, kinds[6], target), [start]),
        )
        step = data_of(context, builder, kinds[2], h) if each else h
        builder.call(_function(builder.module, name, step.type, weights), [row, step, size, *pointers])
        return context.get_dummy_value()

    step_kind = h if each else types.float64
    return types.void(method, types.int64, step_kind, base, slopes, types.int64, target, types.int64), generate


weighted: Any = intrinsic(_weighted)


def _function(module: Any, name: str, step: Any, weights: Floats) -> Any:
    """A function (row, h, size, base, slopes, target): inlined at every use it would take long to compile."""
    if name in module.globals:
        return module.globals[name]
    kind = ir.FunctionType(ir.VoidType(), [_WORD, step, _WORD, *[_DOUBLE.as_pointer()] * 3])
    function = ir.Function(module, kind, name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    row, *rest = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    _Sums(builder, *rest).choose(row, weights)
    builder.ret_void()
    return function


class _Sums:
    """Writes the code of all rows: a switch, and in each case a loop over vectors and one over what is left."""

    def __init__(self, builder: Any, h: Any, size: Any, base: Any, slopes: Any, target: Any) -> None:
        self.builder = builder
        self.h, self.size = h, size
        self.base, self.slopes, self.target = base, slopes, target

    def choose(self, row: Any, weights: Floats) -> None:
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
        whole = builder.and_(self.size, _WORD(-_LANES))
        starts = [(builder.gep(self.slopes, [builder.mul(_WORD(j), self.size)]), weight) for j, weight in entries]
        self._loop(_WORD(0), whole, _LANES, starts)
        self._loop(whole, self.size, 1, starts)

    def _loop(self, first: Any, last: Any, lanes: int, starts: list[tuple[Any, float]]) -> None:
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

    def _sum(self, place: Any, lanes: int, starts: list[tuple[Any, float]]) -> None:
        builder = self.builder
        kind = _VECTOR if lanes > 1 else _DOUBLE
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

    def _step(self, place: Any, lanes: int, kind: Any) -> Any:
        """h of the entries at hand: loaded where each has its own, else the one number in all lanes."""
        if self.h.type != _DOUBLE:
            return self._load(self.h, place, kind)
        if lanes == 1:
            return self.h
        vector = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(lanes):
            vector = self.builder.insert_element(vector, self.h, ir.IntType(32)(lane))
        return vector

    def _load(self, start: Any, place: Any, kind: Any) -> Any:
        return self.builder.load(self._pointer(start, place, kind), align=8)

    def _pointer(self, start: Any, place: Any, kind: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(start, [place]), kind.as_pointer())
