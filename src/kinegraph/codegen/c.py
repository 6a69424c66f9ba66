"""Plain C99 as a cross-check of kernels: one function `void NAME(const double *x, double *y)`. `export` serves users.

Sums are written as they are, so that a compiler may fuse or not; long programs are cut into static functions, for
compilers choke on one long function. No name of the model reaches the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isinf, isnan

from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.program.instructions import LEAVES, Chunks, Instruction, Op, Program, cut
from kinegraph.codegen.program.lowering import lower
from kinegraph.errors import KernelError
from kinegraph.graph.lookup import doubles_of, is_interval, symbol_of
from kinegraph.graph.node import is_lookup

_HELPERS = """\
static double kg_sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }
static double kg_select(double c, double a, double b) { return c >= 0.0 ? a : c < 0.0 ? b : NAN; }
"""

_LOOKUPS = """\
static double kg_interval(const double *bounds, int size, double x)
{
    int place = 0;
    while (size > 0) {
        const int half = (size + 1)/2;
        if (x >= bounds[place + half - 1]) place += half;
        size -= half;
    }
    return x == x ? place : x;
}
static double kg_entry(const double *values, int size, double x)
{
    return x >= 0.0 ? values[x < size - 1 ? (int)x : size - 1] : NAN;
}
"""

_FUNCTIONS = {"abs": "fabs", "sign": "kg_sign", "select": "kg_select"}

_FORMS: dict[Op, str] = {
    Op.ADD: "{} + {}",
    Op.SUBTRACT: "{} - {}",
    Op.MULTIPLY: "{}*{}",
    Op.DIVIDE: "{}/{}",
    Op.NEGATE: "-{}",
    Op.MULTIPLY_ADD: "{}*{} + {}",
    Op.MULTIPLY_SUBTRACT: "{}*{} - {}",
    Op.NEGATED_MULTIPLY_ADD: "{2} - {0}*{1}",
}


def c_source(binding: Bound, name: str = "kernel", chunk: int = 2000) -> str:
    """C99 source of a bound graph; `name` must be a C identifier, `chunk` is about how long a function may be."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", name):
        raise KernelError(f"{name!r} cannot name a C function: use letters, digits and _")
    program = lower(binding, group=1, fuse=False)
    chunks = cut(program, chunk)
    texts = ["#include <math.h>\n", _HELPERS, *_arrays(program)]
    if len(chunks.ranges) == 1:
        texts.append(_function(f"void {name}(const double *x, double *y)", _chunk(program, chunks, 0)))
    else:
        texts.append(_chunked(program, chunks, name))
    return "\n".join(texts)


def _arrays(program: Program) -> list[str]:
    """The functions that read arrays, and the arrays."""
    names = dict.fromkeys(str(one.detail) for one in program.instructions if one.op is Op.FUNCTION)
    texts = [
        f"static const double kg_{symbol_of(name)}[] = {{{', '.join(map(literal, doubles_of(name)))}}};\n"
        for name in names
        if is_lookup(name)
    ]
    return [_LOOKUPS, *texts] if texts else []


def _chunked(program: Program, chunks: Chunks, name: str) -> str:
    texts, calls = [], [f"double s[{max(chunks.scratch_size, 1)}];"]
    for number in range(len(chunks.ranges)):
        head = f"static void {name}_{number}(const double *x, double *y, double *s)"
        texts.append(_function(head, ["(void)x; (void)y; (void)s;", *_chunk(program, chunks, number)]))
        calls.append(f"{name}_{number}(x, y, s);")
    texts.append(_function(f"void {name}(const double *x, double *y)", calls))
    return "\n".join(texts)


def _function(head: str, lines: Sequence[str]) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{head}\n{{\n{body}\n}}\n"


def _chunk(program: Program, chunks: Chunks, number: int) -> list[str]:
    within = chunks.ranges[number]
    lines: list[str] = []

    def operand(index: int) -> str:
        one = program.instructions[index]
        if one.op is Op.LITERAL:
            return literal(float(one.detail))
        if one.op is Op.INPUT:
            return f"x[{one.detail}]"
        return f"v{index}" if index in within else f"s[{chunks.slots[index]}]"

    for index in within:
        one = program.instructions[index]
        if one.op is Op.STORE:
            lines.append(f"y[{one.detail}] = {operand(one.operands[0])};")
        elif one.op not in LEAVES and one.op is not Op.SINCOS:
            lines.append(f"const double v{index} = {_expression(program, one, operand)};")
            if index in chunks.slots:
                lines.append(f"s[{chunks.slots[index]}] = v{index};")
    return lines


def _expression(program: Program, one: Instruction, operand: Callable[[int], str]) -> str:
    if one.op in _FORMS:
        return _FORMS[one.op].format(*map(operand, one.operands))
    if one.op in (Op.SIN, Op.COS):
        angle = program.instructions[one.operands[0]].operands[int(one.detail)]
        return f"{one.op.name.lower()}({operand(angle)})"
    name = str(one.detail)
    if is_lookup(name):
        array = f"kg_{symbol_of(name)}, {len(doubles_of(name))}"
        return f"{'kg_interval' if is_interval(name) else 'kg_entry'}({array}, {operand(one.operands[0])})"
    function = _FUNCTIONS.get(name, name)
    return f"{function}({', '.join(map(operand, one.operands))})"


def literal(value: float) -> str:
    """A double C reads back exactly; in parentheses where it has a sign."""
    if isnan(value):
        return "NAN"
    text = "HUGE_VAL" if isinf(value) else repr(abs(value))
    return f"(-{text})" if str(value).startswith("-") else text
