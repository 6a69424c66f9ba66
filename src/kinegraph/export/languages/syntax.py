"""How a language writes assignments, numbers, functions and array entries, and the one emitter for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import copysign, isinf, isnan

import numpy as np

from kinegraph.codegen.program.program import FORMS, LEAVES, Instruction, Op
from kinegraph.export.languages.temporaries import temporaries
from kinegraph.export.options import Precision
from kinegraph.export.unit import Field, Routine

#: An entry of an array as code: the array's name, the index counted from zero, the shape.
Element = Callable[[str, tuple[int, ...], tuple[int, ...]], str]


@dataclass(frozen=True)
class SinCos:
    """How sine and cosine are computed together: `define` makes a pair, the others take it apart."""

    define: str
    sine: str
    cosine: str


@dataclass(frozen=True)
class Syntax:
    """A language, as far as straight-line code needs it.

    `define` and `assign` are statements with {name} or {target} and {value}. `functions` are templates of their
    arguments, which are names, numbers or array entries and may be repeated.
    """

    define: str
    assign: str
    literal: Callable[[float], str]
    functions: Mapping[str, str]
    input: Element
    output: Element
    scratch: Element
    pair: SinCos | None = None


def numbered(text: str, first: int = 0) -> Element:
    """Entries of flat arrays, row after row: `numbered("{0}[{1}]")` is C's way; `first` is the index of the first."""

    def element(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
        return text.format(name, flat_position(index, shape) + first)

    return element


def indexed(text: str, first: int = 0, separator: str = ", ", scalar: str = "{0}") -> Element:
    """Entries of arrays with as many indices as the shape has; `scalar` is the only entry of shape ()."""

    def element(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
        if not index:
            return scalar.format(name)
        return text.format(name, separator.join(str(one + first) for one in index))

    return element


def flat_position(index: Sequence[int], shape: Sequence[int]) -> int:
    """The position of an entry in row-major order."""
    position = 0
    for one, size in zip(index, shape, strict=True):
        position = position * size + one
    return position


def index_of(position: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The indices of an entry given by its position in row-major order."""
    found: list[int] = []
    for size in reversed(shape):
        position, one = divmod(position, size)
        found.append(one)
    return tuple(reversed(found))


def number_text(
    value: float, infinity: str, nan: str, precision: Precision = Precision.DOUBLE, suffix: str = ""
) -> str:
    """The shortest decimal that is read back as the same number; in parentheses where it has a sign."""
    if precision is Precision.FLOAT:
        with np.errstate(over="ignore"):
            single = np.float32(value)
        value, digits = float(single), str(abs(single))
    else:
        digits = repr(abs(value))
    if isnan(value):
        return nan
    text = infinity if isinf(value) else f"{digits}{suffix}"
    return f"(-{text})" if copysign(1.0, value) < 0 else text


def emit(routine: Routine, number: int, syntax: Syntax) -> list[str]:
    """The statements of one chunk of a routine."""
    return _Emitter(routine, number, syntax).lines()


class _Emitter:
    def __init__(self, routine: Routine, number: int, syntax: Syntax) -> None:
        self.instructions = routine.program.instructions
        self.slots = routine.chunks.slots
        self.within = routine.chunks.ranges[number]
        self.syntax = syntax
        self.names = temporaries(routine)
        self.inputs = _places(routine.inputs)
        self.outputs = _places(routine.outputs)

    def lines(self) -> list[str]:
        found: list[str] = []
        for index in self.within:
            one = self.instructions[index]
            if one.op in LEAVES:
                continue
            statement = self._statement(index, one)
            if statement:
                found.append(statement)
            if index in self.slots:
                slot = self.syntax.scratch("s", (self.slots[index],), (0,))
                found.append(self.syntax.assign.format(target=slot, value=self._here(index)))
        return found

    def _statement(self, index: int, one: Instruction) -> str:
        syntax = self.syntax
        if one.op is Op.STORE:
            field, where = self.outputs[int(one.detail)]
            target = syntax.output(field.name, where, field.shape)
            return syntax.assign.format(target=target, value=self._operand(one.operands[0]))
        if one.op is Op.SINCOS:
            if syntax.pair is None:
                return ""
            return syntax.pair.define.format(name=self.names[index], value=self._operand(one.operands[0]))
        return syntax.define.format(name=self.names[index], value=self._expression(one))

    def _expression(self, one: Instruction) -> str:
        if one.op in FORMS:
            return FORMS[one.op].format(*map(self._operand, one.operands))
        if one.op in (Op.SIN, Op.COS):
            if self.syntax.pair:
                part = self.syntax.pair.sine if one.op is Op.SIN else self.syntax.pair.cosine
                return part.format(name=self.names[one.operands[0]])
            angle = self.instructions[one.operands[0]].operands[int(one.detail)]
            return self.syntax.functions[one.op.name.lower()].format(self._operand(angle))
        return self.syntax.functions[str(one.detail)].format(*map(self._operand, one.operands))

    def _operand(self, index: int) -> str:
        one = self.instructions[index]
        if one.op is Op.LITERAL:
            return self.syntax.literal(float(one.detail))
        if one.op is Op.INPUT:
            field, where = self.inputs[int(one.detail)]
            return self.syntax.input(field.name, where, field.shape)
        return self._here(index) if index in self.within else self.syntax.scratch("s", (self.slots[index],), (0,))

    def _here(self, index: int) -> str:
        """The name of a value computed in this chunk."""
        return self.names[index]


def _places(fields: Sequence[Field]) -> list[tuple[Field, tuple[int, ...]]]:
    """For every position in the concatenated arrays: the array and the index in it."""
    return [(field, index_of(position, field.shape)) for field in fields for position in range(field.size)]


def indented(lines: Iterable[str], levels: int = 1, step: str = "    ") -> list[str]:
    """Lines moved to the right."""
    return [f"{step * levels}{line}" if line else "" for line in lines]


def number_lines(values: Sequence[float], number: Callable[[float], str]) -> list[str]:
    """Numbers for a list, where signs need no parentheses."""
    return wrapped(
        [number(value).removeprefix("(").removesuffix(")") if value < 0 else number(value) for value in values]
    )


def wrapped(items: Sequence[str], width: int = 100, separator: str = ",") -> list[str]:
    """Items in lines of at most about `width` characters, a separator after each but the last."""
    lines = [""]
    for number, item in enumerate(items):
        text = item + (separator if number + 1 < len(items) else "")
        if lines[-1] and len(lines[-1]) + len(text) + 1 > width:
            lines.append(text)
        else:
            lines[-1] += f" {text}" if lines[-1] else text
    return lines
