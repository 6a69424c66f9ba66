"""LLVM in the process: the target processor, object code from assembly, loaded code, and glue functions around it."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, wraps
from itertools import count
from threading import RLock
from typing import TypeVar, cast

import llvmlite
from llvmlite import binding as llvm

from kinegraph.codegen.llvm.assembly import LIBRARY_FUNCTIONS
from kinegraph.errors import KernelError

F = TypeVar("F", bound=Callable[..., object])

#: One lock for all functions marked with `once`: they call each other, and separate locks could deadlock.
making = RLock()

if hasattr(os, "register_at_fork"):  # a child must not start with a lock held by a thread of its parent
    os.register_at_fork(before=making.acquire, after_in_parent=making.release, after_in_child=making.release)


def once(make: F) -> F:
    """Cache a function's results for the life of the process, and compute each only once, in one thread.

    `functools.cache` may compute a result in two threads and drop one of them. With code in memory this is fatal: an
    address in the dropped copy points to freed code.
    """
    cached = cache(make)

    @wraps(make)
    def made_once(*given: Hashable) -> object:
        with making:
            return cached(*given)

    return cast(F, made_once)


@dataclass(frozen=True)
class Target:
    """The processor that code is generated for, as LLVM names it."""

    triple: str
    cpu: str
    features: str

    @property
    def fused(self) -> bool:
        """Does the processor have a fused multiply-add? Only older x86 processors do not."""
        if not self.triple.startswith(("x86", "i386", "i486", "i586", "i686", "amd64")):
            return True
        return "+fma," in f"{self.features},"

    @property
    def lanes(self) -> int:
        """The fastest number of lanes for batches."""
        return 8 if "+avx512f," in f"{self.features}," else 4

    def machine(self) -> llvm.TargetMachine:
        """A new LLVM target machine."""
        initialize()
        target = llvm.Target.from_triple(self.triple)
        # Position-independent code with the small code model reads literals relative to the code, in one instruction.
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=3, reloc="pic", codemodel="small", jit=True
        )


@cache
def host() -> Target:
    """This machine."""
    initialize()
    features = llvm.get_host_cpu_features()
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten() if features else "")


@cache
def initialize() -> None:
    """Prepare LLVM for this machine, once."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def versions() -> str:
    """The versions of the compiler, for cache keys."""
    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


#: Functions of the C library that code may call, with their arities. Compiled loops also need `pow`.
IMPORTED_FUNCTIONS = {**LIBRARY_FUNCTIONS, "pow": 2}


def object_code(text: str, target: Target) -> bytes:
    """Compile LLVM assembly."""
    machine = target.machine()
    return bytes(machine.emit_object(_optimized(text, target, machine)))


def assembly(text: str, target: Target) -> str:
    """The machine code of LLVM assembly, as readable text."""
    machine = target.machine()
    return str(machine.emit_assembly(_optimized(text, target, machine)))


def _optimized(text: str, target: Target, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    # The text is already optimized and ordered; only the sine functions remain to be inlined.
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(2)))
    return module


class LoadedCode:
    """Object code in memory, valid while this object lives."""

    def __init__(self, code: bytes, *names: str) -> None:
        library = llvm.JITLibraryBuilder().add_object_img(code)
        for symbol, address in _imports().items():
            library.import_symbol(symbol, address)
        for name in names:
            library.export_symbol(name)
        self._linker = _linker()
        self._tracker = library.link(self._linker, f"kinegraph{next(_numbers)}")

    def address(self, name: str) -> int:
        """The address of a function."""
        return int(self._tracker[name])


_numbers = count()


@once
def _linker() -> llvm.LLJIT:
    # JITLink places code and its literals close together, as the small code model requires.
    return llvm.create_lljit_compiler(host().machine(), use_jit_link=sys.platform != "win32")


@cache
def _imports() -> dict[str, int]:
    """The addresses of C library functions, under the names in generated code."""
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
    """The C library and its mathematical part, by name; ctypes.util.find_library would start a compiler or linker."""
    by_system = {"linux": ("libm.so.6", "libc.so.6"), "darwin": ("libSystem.dylib",), "win32": ("ucrtbase",)}
    for name in by_system.get(sys.platform, ()):
        try:
            yield ctypes.CDLL(name)
        except OSError:
            continue
    if sys.platform != "win32":
        yield ctypes.CDLL(None)


# ---- Glue: small functions around loaded code, for callers that need one address
#
# They contain addresses of this process, so they are never stored on disk.

_ENTRY = "kinegraph_glue"
_HEAD = f"define void @{_ENTRY}(ptr %x, ptr %y)"
_MEMORY = (
    "declare ptr @kinegraph_malloc(i64)\ndeclare void @kinegraph_free(ptr)\n"
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
)
_NO_NUMBER = "0x7FF8000000000000"
_DOUBLE = 8  # bytes


class Memory(Enum):
    """The arrays of a call: arguments, results, and working memory."""

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
    """Call the code at an address: it reads from `source` on and writes from `target` on."""

    address: int
    source: Entry
    target: Entry


@dataclass(frozen=True)
class Copy:
    """Copy `count` numbers."""

    source: Entry
    target: Entry
    count: int


class Glue:
    """A C function `void f(const double *x, double *y)`, valid while this object lives."""

    def __init__(self, text: str) -> None:
        self._code = LoadedCode(object_code(text, host()), _ENTRY)
        self.address = self._code.address(_ENTRY)


def with_tables(address: int, tables: Sequence[int]) -> Glue:
    """A function that calls another with the addresses of tables before x and y."""
    given = ", ".join([*(f"ptr {_pointer(table)}" for table in tables), "ptr %x", "ptr %y"])
    return Glue(f"{_HEAD} {{\n  call void {_pointer(address)}({given})\n  ret void\n}}\n")


def repeated(address: int, times: int) -> Glue:
    """A function that calls another `times` times with the same x and y, for benchmarks."""
    call = f"  call void {_pointer(address)}(ptr %x, ptr %y)"
    counting = ["  %next = add i64 %count, 1", f"  %done = icmp eq i64 %next, {times}"]
    lines = ["  br label %again", "again:", "  %count = phi i64 [0, %0], [%next, %again]", call, *counting]
    return Glue(
        "\n".join([f"{_HEAD} {{", *lines, "  br i1 %done, label %end, label %again", "end:", "  ret void", "}", ""])
    )


def in_turn(steps: Sequence[Call | Copy], work: int) -> Glue:
    """A function of consecutive steps with memory for `work` numbers. Its first result is NaN if memory runs out."""
    lines = [f"  %work = call ptr @kinegraph_malloc(i64 {_DOUBLE * max(work, 1)})",
             "  %none = icmp eq ptr %work, null", "  br i1 %none, label %failed, label %begin", "failed:",
             f"  store double {_NO_NUMBER}, ptr %y", "  ret void", "begin:"]  # fmt: skip
    for number, step in enumerate(steps):
        lines += [
            _element(f"%from{number}", step.source),
            _element(f"%to{number}", step.target),
            _step_text(number, step),
        ]
    lines += ["  call void @kinegraph_free(ptr %work)", "  ret void"]
    return Glue("\n".join([_MEMORY, f"{_HEAD} {{", *lines, "}", ""]))


def _step_text(number: int, step: Call | Copy) -> str:
    if isinstance(step, Call):
        return f"  call void {_pointer(step.address)}(ptr %from{number}, ptr %to{number})"
    size = f"i64 {_DOUBLE * step.count}"
    return f"  call void @llvm.memcpy.p0.p0.i64(ptr %to{number}, ptr %from{number}, {size}, i1 false)"


def _element(name: str, place: Entry) -> str:
    return f"  {name} = getelementptr double, ptr {place.memory.value}, i64 {place.start}"


def _pointer(address: int) -> str:
    return f"inttoptr (i64 {address} to ptr)"
