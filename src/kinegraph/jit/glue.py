"""Small functions around code that is already loaded: what a caller knows by one address alone.

They hold addresses of this process, so they are written anew in each and never stored on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from kinegraph.jit.engine import LoadedCode, object_code
from kinegraph.jit.target import host

_ENTRY = "kinegraph_glue"
_HEAD = f"define void @{_ENTRY}(ptr %x, ptr %y)"
_MEMORY = (
    "declare ptr @kinegraph_malloc(i64)\ndeclare void @kinegraph_free(ptr)\n"
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
)
_NO_NUMBER = "0x7FF8000000000000"
_DOUBLE = 8  # bytes


class Memory(Enum):
    """Where numbers stand during a call: what arrives, what is returned, and what is taken for the call alone."""

    X = "%x"
    Y = "%y"
    WORK = "%work"


@dataclass(frozen=True)
class Entry:
    """An entry of one of the arrays."""

    memory: Memory
    start: int = 0


@dataclass(frozen=True)
class Call:
    """Call the code at an address: it reads from one place on and writes from another on."""

    address: int
    source: Entry
    target: Entry


@dataclass(frozen=True)
class Copy:
    """Copy so many numbers."""

    source: Entry
    target: Entry
    count: int


class Glue:
    """A C function `void f(const double *x, double *y)`; it lives as long as this object does."""

    def __init__(self, text: str) -> None:
        self._code = LoadedCode(object_code(text, host()), _ENTRY)
        self.address = self._code.address(_ENTRY)


def with_tables(address: int, tables: Sequence[int]) -> Glue:
    """Call a function with the addresses of tables before x and y."""
    given = ", ".join([*(f"ptr {_pointer(table)}" for table in tables), "ptr %x", "ptr %y"])
    return Glue(f"{_HEAD} {{\n  call void {_pointer(address)}({given})\n  ret void\n}}\n")


def repeated(address: int, times: int) -> Glue:
    """Call a function so many times with the same x and y: as a compiled caller would, to be timed."""
    call = f"  call void {_pointer(address)}(ptr %x, ptr %y)"
    counting = ["  %next = add i64 %count, 1", f"  %done = icmp eq i64 %next, {times}"]
    lines = ["  br label %again", "again:", "  %count = phi i64 [0, %0], [%next, %again]", call, *counting]
    return Glue(
        "\n".join([f"{_HEAD} {{", *lines, "  br i1 %done, label %end, label %again", "end:", "  ret void", "}", ""])
    )


def in_turn(steps: Sequence[Call | Copy], work: int) -> Glue:
    """Do the steps one after the other, with memory for `work` numbers; without memory the first result is NaN."""
    lines = [f"  %work = call ptr @kinegraph_malloc(i64 {_DOUBLE * max(work, 1)})",
             "  %none = icmp eq ptr %work, null", "  br i1 %none, label %failed, label %begin", "failed:",
             f"  store double {_NO_NUMBER}, ptr %y", "  ret void", "begin:"]  # fmt: skip
    for number, step in enumerate(steps):
        lines += [_element(f"%from{number}", step.source), _element(f"%to{number}", step.target), _done(number, step)]
    lines += ["  call void @kinegraph_free(ptr %work)", "  ret void"]
    return Glue("\n".join([_MEMORY, f"{_HEAD} {{", *lines, "}", ""]))


def _done(number: int, step: Call | Copy) -> str:
    if isinstance(step, Call):
        return f"  call void {_pointer(step.address)}(ptr %from{number}, ptr %to{number})"
    size = f"i64 {_DOUBLE * step.count}"
    return f"  call void @llvm.memcpy.p0.p0.i64(ptr %to{number}, ptr %from{number}, {size}, i1 false)"


def _element(name: str, place: Entry) -> str:
    return f"  {name} = getelementptr double, ptr {place.memory.value}, i64 {place.start}"


def _pointer(address: int) -> str:
    return f"inttoptr (i64 {address} to ptr)"
