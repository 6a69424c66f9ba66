"""LLVM assembly text: lines of a function, values of several lanes, and calls of functions that are not arithmetic."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan

from kinegraph.errors import KernelError
from kinegraph.graph.lookup import doubles_of, is_interval, symbol_of
from kinegraph.graph.node import is_lookup

# Lines of one function, with fresh names.


class Writer:
    """Collects instructions; names are numbers, so nothing a user wrote can reach the code."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = "entry"
        self._fresh = 0

    def define(self, text: str) -> str:
        """Append an instruction that has a result; returns the result's name."""
        name = self._name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def new_label(self) -> str:
        """A name for a basic block."""
        self._fresh += 1
        return f"b{self._fresh}"

    def begin(self, block: str) -> None:
        """Begin a basic block."""
        self.block = block
        self.lines.append(f"{block}:")

    def loop(
        self,
        first: int,
        stop: int,
        step: int,
        body: Callable[[str, list[str]], Sequence[str]],
        passed_on: Sequence[str] = (),
        kind: str = "",
    ) -> list[str]:
        """Write `body` in a loop that runs at least once.

        The body gets the counter and what is `passed_on` from the pass before, values of type `kind`, and returns
        what it carries on. Returned is what the last pass did.
        """
        before, inside, after = self.block, self.new_label(), self.new_label()
        counter, places = self._name(), [self._name() for _ in passed_on]
        self.do(f"br label %{inside}")
        self.begin(inside)
        head = len(self.lines)
        following = list(body(counter, places))
        count = self.define(f"add i64 {counter}, {step}")
        again = self.define(f"icmp slt i64 {count}, {stop}")
        last = self.block
        self.do(f"br i1 {again}, label %{inside}, label %{after}")
        self.begin(after)
        joins = [(counter, "i64", str(first), count)]
        joins += [(place, kind, start, end) for place, start, end in zip(places, passed_on, following, strict=True)]
        self.lines[head:head] = [
            f"  {place} = phi {one} [ {start}, %{before} ], [ {end}, %{last} ]" for place, one, start, end in joins
        ]
        return following

    def element(self, base: str, position: int | str, kind: str = "double") -> str:
        """The address of an array's element."""
        return self.define(f"getelementptr inbounds {kind}, ptr {base}, i64 {position}")

    def function(self, head: str) -> str:
        """The whole function, under its head."""
        return "\n".join([f"{head} {{", "entry:", *self.lines, "}\n"])

    def _name(self) -> str:
        self._fresh += 1
        return f"%t{self._fresh}"


# How many states a value holds side by side, and how LLVM writes values of that width.

_LINE = 64


@dataclass(frozen=True)
class Lanes:
    """The spelling of types and literals for a number of lanes."""

    count: int

    @property
    def type(self) -> str:
        """The type of a value in all lanes."""
        return "double" if self.count == 1 else f"<{self.count} x double>"

    @property
    def integer(self) -> str:
        """The type of an integer of a value's width, in all lanes."""
        return "i64" if self.count == 1 else f"<{self.count} x i64>"

    @property
    def condition(self) -> str:
        """The type of a comparison's result."""
        return "i1" if self.count == 1 else f"<{self.count} x i1>"

    @property
    def suffix(self) -> str:
        """The ending of an intrinsic's name."""
        return "f64" if self.count == 1 else f"v{self.count}f64"

    @property
    def bytes(self) -> int:
        """How many bytes a value takes."""
        return 8 * self.count

    @property
    def on_stack(self) -> str:
        """The attribute of a function whose vectors go to the stack for want of registers: none shall lie across two
        lines of the cache. With 512 bits each would: a tenth to a fifth of a batch's time, and of calls' by luck."""
        return f"alignstack({min(_LINE, 8 << (self.count - 1).bit_length())}) " if self.count > 2 else ""

    def literal(self, value: float) -> str:
        """A double in all lanes, exact to the bit."""
        return self._all(f"double {hexadecimal(value)}")

    def literals(self, values: Sequence[float]) -> str:
        """A double of its own in every lane."""
        return f"<{', '.join(f'double {hexadecimal(value)}' for value in values)}>"

    def integer_literal(self, value: int) -> str:
        """An integer in all lanes."""
        return self._all(f"i64 {value}")

    def _all(self, typed: str) -> str:
        return typed.split()[1] if self.count == 1 else f"<{', '.join([typed] * self.count)}>"


def hexadecimal(value: float) -> str:
    """A double as LLVM reads it without rounding."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


# Functions of the graph that are not arithmetic: intrinsics, selections, and the C library's lane by lane.

#: Functions taken from the C library, with their arities.
LIBRARY_FUNCTIONS = {
    "sin": 1, "cos": 1, "exp": 1, "log": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sinh": 1, "cosh": 1, "tanh": 1,
}  # fmt: skip


def call_function(writer: Writer, lanes: Lanes, name: str, arguments: Sequence[str]) -> str:
    """Append the instructions of one function; returns the name of the result."""
    if name in _WRITTEN_OUT:
        return _WRITTEN_OUT[name](writer, lanes, *arguments)
    if name in LIBRARY_FUNCTIONS:
        return _library(writer, lanes, name, arguments)
    if is_lookup(name):
        (x,) = arguments
        return writer.define(f"call {lanes.type} @lookup_{symbol_of(name)}_{lanes.count}({lanes.type} {x})")
    raise KernelError(f"the LLVM backend does not know the function {name!r}")


def lookup_functions(name: str, widths: Iterable[int]) -> str:
    """Define a lookup, its constants in an array, for some numbers of lanes."""
    constants = doubles_of(name)
    listed = ", ".join(f"double {hexadecimal(value)}" for value in constants)
    array = f"@constants_{symbol_of(name)}"
    texts = [f"{array} = private unnamed_addr constant [{len(constants)} x double] [{listed}]"]
    for lanes in map(Lanes, widths):
        writer = Writer()
        total = "poison"
        for lane in range(lanes.count):
            x = "%x" if lanes.count == 1 else writer.define(f"extractelement {lanes.type} %x, i64 {lane}")
            value = (_interval if is_interval(name) else _entry)(writer, array, len(constants), x)
            if lanes.count == 1:
                total = value
            else:
                total = writer.define(f"insertelement {lanes.type} {total}, double {value}, i64 {lane}")
        writer.do(f"ret {lanes.type} {total}")
        head = f"define internal {lanes.type} @lookup_{symbol_of(name)}_{lanes.count}({lanes.type} %x) #0"
        texts.append(writer.function(head))
    return "\n".join(texts)


def _interval(writer: Writer, array: str, size: int, x: str) -> str:
    """How many bounds are not above x, by halving without branches: all searches take equally long."""
    place, length = "0", size
    while length > 0:
        half = (length + 1) // 2
        middle = writer.define(f"add i64 {place}, {half - 1}")
        bound = writer.define(f"load double, ptr {writer.element(array, middle)}")
        reached = writer.define(f"fcmp oge double {x}, {bound}")
        after = writer.define(f"add i64 {place}, {half}")
        place = writer.define(f"select i1 {reached}, i64 {after}, i64 {place}")
        length -= half
    count = writer.define(f"sitofp i64 {place} to double")
    known = writer.define(f"fcmp ord double {x}, {x}")
    return writer.define(f"select i1 {known}, double {count}, double {hexadecimal(nan)}")


def _entry(writer: Writer, array: str, size: int, x: str) -> str:
    """The constant at x; NaN if x is no number or negative."""
    inside = writer.define(f"fcmp oge double {x}, {hexadecimal(0.0)}")
    last = hexadecimal(float(size - 1))
    short = writer.define(f"fcmp olt double {x}, {last}")
    most = writer.define(f"select i1 {short}, double {x}, double {last}")
    safe = writer.define(f"select i1 {inside}, double {most}, double {hexadecimal(0.0)}")
    place = writer.define(f"fptosi double {safe} to i64")
    value = writer.define(f"load double, ptr {writer.element(array, place)}")
    return writer.define(f"select i1 {inside}, double {value}, double {hexadecimal(nan)}")


def library_declarations() -> str:
    """Declarations of the C library's functions, under names of our own that the loader resolves."""
    return "".join(
        f"declare double @kinegraph_libm_{name}({', '.join(['double'] * arity)}) #2\n"
        for name, arity in LIBRARY_FUNCTIONS.items()
    )


def library_function(name: str, lanes: Lanes) -> str:
    """Define `@NAMEn`, the C library's function lane by lane: one call where it is used, not one per lane."""
    writer = Writer()
    parameters = [f"%x{number}" for number in range(LIBRARY_FUNCTIONS[name])]
    total = "poison"
    for lane in range(lanes.count):
        entries = [writer.define(f"extractelement {lanes.type} {one}, i64 {lane}") for one in parameters]
        value = writer.define(f"call double @kinegraph_libm_{name}({_typed('double', entries)})")
        total = writer.define(f"insertelement {lanes.type} {total}, double {value}, i64 {lane}")
    writer.do(f"ret {lanes.type} {total}")
    return writer.function(f"define internal {lanes.type} @{name}{lanes.count}({_typed(lanes.type, parameters)}) #3")


def _library(writer: Writer, lanes: Lanes, name: str, arguments: Sequence[str]) -> str:
    function = f"kinegraph_libm_{name}" if lanes.count == 1 else f"{name}{lanes.count}"
    return writer.define(f"call {lanes.type} @{function}({_typed(lanes.type, arguments)})")


def _typed(kind: str, names: Sequence[str]) -> str:
    return ", ".join(f"{kind} {name}" for name in names)


def _intrinsic(intrinsic: str) -> Callable[..., str]:
    def write(writer: Writer, lanes: Lanes, x: str) -> str:
        return writer.define(f"call {lanes.type} @llvm.{intrinsic}.{lanes.suffix}({lanes.type} {x})")

    return write


def _choose(writer: Writer, lanes: Lanes, condition: str, chosen: str, other: str) -> str:
    return writer.define(f"select {lanes.condition} {condition}, {lanes.type} {chosen}, {lanes.type} {other}")


def _sign(writer: Writer, lanes: Lanes, x: str) -> str:
    """1, -1, or x itself where it is zero or no number."""
    zero = lanes.literal(0.0)
    positive = writer.define(f"fcmp ogt {lanes.type} {x}, {zero}")
    negative = writer.define(f"fcmp olt {lanes.type} {x}, {zero}")
    below = _choose(writer, lanes, negative, lanes.literal(-1.0), x)
    return _choose(writer, lanes, positive, lanes.literal(1.0), below)


def _select(writer: Writer, lanes: Lanes, condition: str, chosen: str, other: str) -> str:
    """A condition that is no number selects nothing: the answer is no number either."""
    zero = lanes.literal(0.0)
    holds = writer.define(f"fcmp oge {lanes.type} {condition}, {zero}")
    fails = writer.define(f"fcmp olt {lanes.type} {condition}, {zero}")
    otherwise = _choose(writer, lanes, fails, other, lanes.literal(nan))
    return _choose(writer, lanes, holds, chosen, otherwise)


_WRITTEN_OUT: dict[str, Callable[..., str]] = {
    "sqrt": _intrinsic("sqrt"),
    "abs": _intrinsic("fabs"),
    "sign": _sign,
    "select": _select,
}
