"""What functions of this folder take: one array of integers holds the whole state of the search."""

from __future__ import annotations

from kinegraph.jit.marks import part as compiled

__all__ = ["Memory", "Schedule", "compiled"]

#: The state; typed as a list because its elements are plain integers to compiled code.
Memory = list[int]
#: Temperatures and chances.
Schedule = list[float]
