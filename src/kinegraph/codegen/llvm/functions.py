"""Functions of the graph that are no arithmetic: intrinsics, selections, and the C library's lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan

from kinegraph.codegen.llvm.lanes import Lanes
from kinegraph.codegen.llvm.writer import Writer
from kinegraph.errors import KernelError

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
    raise KernelError(f"the LLVM backend does not know the function {name!r}")


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
