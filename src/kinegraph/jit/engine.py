"""LLVM at work: text to object code, object code to callable addresses."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from functools import cache
from itertools import count

from llvmlite import binding as llvm

from kinegraph.codegen.llvm.functions import LIBRARY_FUNCTIONS
from kinegraph.errors import KernelError
from kinegraph.jit.once import once
from kinegraph.jit.target import Target, host

#: Functions of the C library that code may call, with their arities; loops need powers beside those of graphs.
IMPORTED_FUNCTIONS = {**LIBRARY_FUNCTIONS, "pow": 2}


def object_code(text: str, target: Target) -> bytes:
    """Compile LLVM assembly."""
    machine = target.machine()
    return bytes(machine.emit_object(_optimised(text, target, machine)))


def assembly(text: str, target: Target) -> str:
    """The machine code of LLVM assembly, to be read by people."""
    machine = target.machine()
    return str(machine.emit_assembly(_optimised(text, target, machine)))


def _optimised(text: str, target: Target, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    # The text is already in the order and form it should have: what is left is to put the sines in place.
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(2)))
    return module


class LoadedCode:
    """Object code in memory. The code lives as long as this object does."""

    def __init__(self, code: bytes, *names: str) -> None:
        library = llvm.JITLibraryBuilder().add_object_img(code)
        for symbol, address in _imports().items():
            library.import_symbol(symbol, address)
        for name in names:
            library.export_symbol(name)
        self._linker = _linker()
        self._tracker = library.link(self._linker, f"kinegraph{next(_numbers)}")

    def address(self, name: str) -> int:
        """Where a function begins."""
        return int(self._tracker[name])


_numbers = count()


@once
def _linker() -> llvm.LLJIT:
    # JITLink places code and its literals together, which the small code model relies on.
    return llvm.create_lljit_compiler(host().machine(), use_jit_link=sys.platform != "win32")


@cache
def _imports() -> dict[str, int]:
    """Where the C library's functions are, under the names our modules use."""
    libraries = list(_libraries())
    names = {f"kinegraph_libm_{name}": name for name in IMPORTED_FUNCTIONS}
    names |= {"kinegraph_malloc": "malloc", "kinegraph_free": "free"}
    addresses: dict[str, int] = {}
    for symbol, name in names.items():
        found = next((library for library in libraries if hasattr(library, name)), None)
        if found is None:
            raise KernelError(f"the C library of this system has no function {name!r}")
        addresses[symbol] = ctypes.cast(getattr(found, name), ctypes.c_void_p).value or 0
    return addresses


def _libraries() -> Iterator[ctypes.CDLL]:
    """The C library and its mathematical part; found by name, for searching would start a compiler or linker."""
    by_system = {"linux": ("libm.so.6", "libc.so.6"), "darwin": ("libSystem.dylib",), "win32": ("ucrtbase",)}
    for name in by_system.get(sys.platform, ()):
        try:
            yield ctypes.CDLL(name)
        except OSError:
            continue
    if sys.platform != "win32":
        yield ctypes.CDLL(None)
