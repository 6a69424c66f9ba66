"""Machine code in the process: compiling, caching on disk, loading and calling kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.codegen.kernel import Kernel
    from kinegraph.codegen.program.binding import Argument
    from kinegraph.jit.kernel import KernelOptions, compile_graph

__all__ = ["Argument", "Kernel", "KernelOptions", "compile_graph"]

load_on_demand(
    __name__,
    {
        "Argument": "kinegraph.codegen.program.binding",
        **dict.fromkeys(("Kernel", "KernelOptions", "compile_graph"), "kinegraph.jit.kernel"),
    },
)
