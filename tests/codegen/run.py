"""A slow, obvious evaluator of programs, to test lowering apart from any language."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinegraph.codegen.program.instructions import LEAVES, Chunks, Op, Program
from kinegraph.graph.interpret import _FLOAT_FUNCTIONS

_SIMPLE = {
    Op.ADD: lambda a, b: a + b,
    Op.SUBTRACT: lambda a, b: a - b,
    Op.MULTIPLY: lambda a, b: a * b,
    Op.DIVIDE: lambda a, b: np.float64(a) / b,
    Op.NEGATE: lambda a: -a,
    Op.MULTIPLY_ADD: lambda a, b, c: a * b + c,
    Op.MULTIPLY_SUBTRACT: lambda a, b, c: a * b - c,
    Op.NEGATED_MULTIPLY_ADD: lambda a, b, c: c - a * b,
}


def run(program: Program, x: Sequence[float], chunks: Chunks | None = None) -> list[float]:
    """The outputs; with chunks, a value from another chunk is read from its scratch slot as generated code does."""
    y = [math.nan] * program.output_size
    values: list[object] = []
    slots: dict[int, object] = {}
    home = {index: number for number, one in enumerate(chunks.ranges) for index in one} if chunks else {}
    with np.errstate(all="ignore"):
        for index, one in enumerate(program.instructions):

            def read(operand: int, index: int = index) -> object:
                leaf = program.instructions[operand].op in LEAVES
                return values[operand] if leaf or home.get(operand) == home.get(index) else slots[chunks.slots[operand]]

            values.append(_value(one, [read(operand) for operand in one.operands], x, y))
            if chunks and index in chunks.slots:
                slots[chunks.slots[index]] = values[-1]
    return y


def _value(one, operands, x, y):  # type: ignore[no-untyped-def]
    if one.op is Op.INPUT:
        return np.float64(x[one.detail])
    if one.op is Op.LITERAL:
        return np.float64(one.detail)
    if one.op is Op.STORE:
        y[one.detail] = float(operands[0])
        return None
    if one.op is Op.SINCOS:
        return [(np.sin(angle), np.cos(angle)) for angle in operands]
    if one.op in (Op.SIN, Op.COS):
        return operands[0][one.detail][one.op is Op.COS]
    if one.op is Op.FUNCTION:
        return _FLOAT_FUNCTIONS[one.detail](*operands)
    return _SIMPLE[one.op](*operands)
