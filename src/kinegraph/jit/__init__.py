"""Machine code in the process: compiling, caching on disk, loading and calling kernels."""

from kinegraph.codegen.program.binding import Argument
from kinegraph.jit.kernel import Kernel, KernelOptions, compile_graph

__all__ = ["Argument", "Kernel", "KernelOptions", "compile_graph"]
