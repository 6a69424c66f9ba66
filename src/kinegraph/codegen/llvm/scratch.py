"""Where intermediate values live that do not stay in registers: on the stack, or on the heap where they are many.

Nothing is shared between calls, so kernels may be called from any number of threads at once. If the heap has no room
the results are NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinegraph.codegen.llvm.lanes import Lanes
from kinegraph.codegen.llvm.writer import Writer

#: Beyond this many bytes the heap is used: threads may have stacks of a few hundred kilobytes.
STACK_LIMIT = 1 << 16
_ALIGNMENT = 64

HEAP_DECLARATIONS = "declare ptr @kinegraph_malloc(i64) nounwind\ndeclare void @kinegraph_free(ptr) nounwind\n"


@dataclass(frozen=True)
class Scratch:
    """An array of `size` values."""

    lanes: Lanes
    size: int

    def around(self, writer: Writer, work: Callable[[str], None], failed: Callable[[], None]) -> None:
        """Write `work`, which gets the name of the array's address; if there is no memory `failed` happens instead."""
        if not self.size:
            work("poison")
            return
        size = self.lanes.bytes * self.size
        if size <= STACK_LIMIT:
            work(writer.define(f"alloca [{self.size} x {self.lanes.type}], align {_ALIGNMENT}"))
            return
        raw = writer.define(f"call ptr @kinegraph_malloc(i64 {size + _ALIGNMENT})")
        missing = writer.define(f"icmp eq ptr {raw}, null")
        writer.do(f"br i1 {missing}, label %no_memory, label %memory")
        writer.begin("no_memory")
        failed()
        writer.do("br label %end")
        writer.begin("memory")
        beyond = writer.element(raw, _ALIGNMENT - 1, "i8")
        work(writer.define(f"call ptr @llvm.ptrmask.p0.i64(ptr {beyond}, i64 {-_ALIGNMENT})"))
        writer.do(f"call void @kinegraph_free(ptr {raw})")
        writer.do("br label %end")
        writer.begin("end")


def fill_with_nan(writer: Writer, address: str, count: int | str) -> None:
    """Write NaN to `count` doubles: a double whose bits are all set is one."""
    size = writer.define(f"mul i64 {count}, 8")
    writer.do(f"call void @llvm.memset.p0.i64(ptr align 8 {address}, i8 -1, i64 {size}, i1 false)")
