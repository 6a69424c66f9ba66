"""How a language writes assignments, numbers, functions and array entries, and the one emitter for all languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import copysign, isinf, isnan

import numpy as np

from kinegraph.codegen.program.instructions import FORMS, LEAVES, Instruction, Op
from kinegraph.export.identifiers import LONGEST, Scope, identifier
from kinegraph.export.options import Precision
from kinegraph.export.unit import Field, Routine
from kinegraph.graph.lookup import doubles_of, is_interval

# Names of computed values: a function is named after itself and its argument, `cos_q2`, a shared term as `kinegraph
# derive` prints it, `x3`; all others are t and a number.

#: Names of sums and products of angles, made of the names of their parts.
_WORDS = {Op.ADD: "{0}_plus_{1}", Op.SUBTRACT: "{0}_minus_{1}", Op.MULTIPLY: "{0}_times_{1}", Op.NEGATE: "minus_{0}"}


def temporaries(routine: Routine) -> dict[int, str]:
    """The name of the value of each instruction, by position; t and its number if there is no better short name."""
    scope = Scope([*(field.name for field in routine.fields), "s"])
    found: dict[int, str] = {}
    for index, one in enumerate(routine.program.instructions):
        label = _label(routine, one) if one.op in (Op.SINCOS, Op.SIN, Op.COS) else ""
        label = label or routine.shared.get(index, "")
        found[index] = scope.take(label) if label else f"t{index}"
    return found


def _label(routine: Routine, one: Instruction) -> str:
    if one.op is Op.SINCOS:
        angle, word = one.operands[0], "sincos"
    else:
        pair = routine.program.instructions[one.operands[0]]
        angle, word = pair.operands[int(one.detail)], one.op.name.lower()
    said = _operand_text(routine, angle)
    label = f"{word}_{said}"
    return label if said and len(label) <= LONGEST else ""


def _operand_text(routine: Routine, index: int) -> str:
    """An angle as text; empty if it has none."""
    one = routine.program.instructions[index]
    if one.op is Op.INPUT:
        return _entry(routine, int(one.detail))
    if one.op is Op.LITERAL and float(one.detail).is_integer() and one.detail > 0:  # type: ignore[operator]
        return str(int(one.detail))
    if one.op in _WORDS:
        parts = [_operand_text(routine, operand) for operand in one.operands]
        return _WORDS[one.op].format(*parts) if all(parts) else ""
    return ""


def _entry(routine: Routine, position: int) -> str:
    """The name of an entry of the arguments, as an identifier."""
    for field in routine.inputs:
        if position < field.size:
            name = field.entries[position].split(" ")[0].rstrip(",:") if field.entries else ""
            return identifier(name).strip("_") if name else ""
        position -= field.size
    return ""


# How a language writes assignments, numbers, functions and array entries, and the one emitter for all languages.

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
    """The syntax of straight-line code in a language.

    `define` and `assign` are statements with {name} or {target} and {value}. `functions` are templates of their
    arguments, which are names, numbers or array entries and may be repeated. `interval` and `entry` are templates of
    functions that read an array: its {table}, its {size} and the argument {value}.
    """

    define: str
    assign: str
    literal: Callable[[float], str]
    functions: Mapping[str, str]
    input: Element
    output: Element
    scratch: Element
    pair: SinCos | None = None
    interval: str = "interval_({table}, {size}, {value})"
    entry: str = "entry_({table}, {size}, {value})"


def numbered(text: str, first: int = 0) -> Element:
    """Entries of flat arrays, in row-major order: `numbered("{0}[{1}]")` is C's form; `first` is the index of the
    first."""

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
    """The shortest decimal that is read back as the same number; in parentheses if it has a sign."""
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
        self.tables = routine.tables
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
        name = str(one.detail)
        if name in self.tables:
            template = self.syntax.interval if is_interval(name) else self.syntax.entry
            size, value = len(doubles_of(name)), self._operand(one.operands[0])
            return template.format(table=self.tables[name], size=size, value=value)
        return self.syntax.functions[name].format(*map(self._operand, one.operands))

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


# Sine and cosine together for languages without a math library: C and Rust share the text, which differs in few words.
# The algorithm is that of the compiled kernels (`backends.llvm.sincos`, without fused multiply-add): the angle is
# reduced to |r| <= pi/4 by subtracting a multiple of pi/2 kept in parts (Cody and Waite) so short that their products
# with the multiple are exact. Beyond the near bound the multiple is split in two, so that products stay exact up to the
# far bound, where adjacent numbers are 0.1 mrad (double) or 0.06 rad (float) apart; angles beyond it have no meaningful
# sine, and give NaN.

_TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")


@dataclass(frozen=True)
class AngleReduction:
    """Constants of one precision. `split` is how large a multiple may be whose products with `parts` are exact."""

    parts: tuple[float, ...]
    split: float
    near: float
    far: float
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


#: Parts of 33 bits, polynomials of fdlibm (k_sin.c, k_cos.c).
DOUBLE = AngleReduction(
    parts=tuple(
        map(float.fromhex, ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2ep-69", "0x1.b839a252049c1p-104"))
    ),
    split=2.0**20,
    near=2.0**20,
    far=2.0**40,
    sine=(
        -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
    ),
    cosine=(
        4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
    ),
)  # fmt: skip

#: Parts of 12 bits, polynomials of Cephes (sinf.c).
FLOAT = AngleReduction(
    parts=tuple(map(float.fromhex, ("0x1.92p+0", "0x1.fb4p-12", "0x1.444p-24", "0x1.68c234p-39"))),
    split=2.0**12,
    near=2.0**12,
    far=2.0**20,
    sine=(-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
    cosine=(4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
)

REDUCTIONS = {Precision.DOUBLE: DOUBLE, Precision.FLOAT: FLOAT}


@dataclass(frozen=True)
class SinCosWords:
    """The few words in which C and Rust differ inside the function."""

    constant: str
    variable: str
    number: Callable[[float], str]
    rounded: str
    quadrant: str
    finish: tuple[str, ...]
    not_a_number: tuple[str, ...]


def sincos_body(words: SinCosWords, precision: Precision) -> list[str]:
    """Statements that compute `sine` and `cosine` of `x`."""
    table, number = REDUCTIONS[precision], words.number
    near, far = number(table.near), number(table.far)
    return [
        f"if (!(x > -{far} && x < {far})) {{", *(f"    {line}" for line in words.not_a_number), "}",
        f"{words.constant} turns = x*{number(_TWO_OVER_PI)};",
        f"{words.variable} high = {number(0.0)};",
        f"if (x <= -{near} || x >= {near}) {{",
        f"    high = {number(table.split)}*{words.rounded.format(f'turns*{number(1 / table.split)}')};",
        "}",
        f"{words.constant} low = {words.rounded.format('turns - high')};",
        f"{words.variable} r = x;",
        f"if (high != {number(0.0)}) {{",
        *(f"    r = (r - high*{number(part)}) - low*{number(part)};" for part in table.parts),
        "} else {",
        *(f"    r = r - low*{number(part)};" for part in table.parts),
        "}",
        f"{words.constant} z = r*r;",
        f"{words.constant} near_sine = r + r*z*{_horner(table.sine, number)};",
        f"{words.constant} near_cosine = {number(1.0)} + z*(z*{_horner(table.cosine, number)} - {number(0.5)});",
        words.quadrant,
        f"{words.variable} sine = near_sine;",
        f"{words.variable} cosine = near_cosine;",
        "if ((quadrant & 1) != 0) {", "    sine = near_cosine;", "    cosine = near_sine;", "}",
        "if ((quadrant & 2) != 0) {", "    sine = -sine;", "}",
        "if (((quadrant + 1) & 2) != 0) {", "    cosine = -cosine;", "}",
        *words.finish,
    ]  # fmt: skip


def _horner(coefficients: Sequence[float], number: Callable[[float], str]) -> str:
    text = number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"({number(coefficient)} + z*{text})"
    return text
