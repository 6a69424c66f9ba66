"""The caches: lines, and how to have one fetched before it is written."""

from __future__ import annotations

from kinegraph.codegen.llvm.writer import Writer

#: Bytes; where lines are longer the code is right and only not quite as fast.
LINE = 64

PREFETCH_DECLARATION = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"


def prefetch(writer: Writer, address: str, distance: int) -> None:
    """Have the line `distance` bytes behind an address fetched, to be written; it need not exist."""
    line = writer.define(f"getelementptr i8, ptr {address}, i64 {distance}")
    writer.do(f"call void @llvm.prefetch.p0(ptr {line}, i32 1, i32 3, i32 1)")
