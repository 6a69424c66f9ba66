"""A process that compiles and times kernels of whatever copy of Kinegraph its path leads to.

It uses only what every version has: `kg.load`, `kg.compile`, the operations of a kernel, its address and its batch. So
it imports nothing of this package's own, and is run as a file. Each line it reads is a JSON array: `["compile", model,
quantities]` answers with the operations of the kernel's graph and the instructions of its machine code, for one state
and for batches, `["time"]` with nanoseconds of one burst, per call and per state of a batch.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
import time
from typing import Protocol, cast

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

import kinegraph as kg

Doubles = NDArray[np.float64]

CALLS, STATES = 2048, 256
ROWS, BATCHES = 1024, 8
PAGE = 4096

DRIVER = """
define void @drive(ptr %f, ptr %x, ptr %y, i64 %calls, i64 %mask, i64 %inputs, i64 %outputs) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %k = and i64 %i, %mask
  %xi = mul i64 %k, %inputs
  %yi = mul i64 %k, %outputs
  %px = getelementptr double, ptr %x, i64 %xi
  %py = getelementptr double, ptr %y, i64 %yi
  call void %f(ptr %px, ptr %py)
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %calls
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


class Caller:
    """Calls a kernel many times from compiled code."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(DRIVER), machine)
        self.engine.finalize_object()
        kinds = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 4
        self.drive = ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address("drive"))


class Memory:
    """Arrays at the same places of pages in every process: stores beside loads of like addresses cost some per cent."""

    def __init__(self) -> None:
        self.taken = 0

    def copy(self, values: Doubles) -> Doubles:
        """The same numbers, each array five cache lines further from the beginning of its page than the last."""
        begin = 320 * self.taken
        self.taken += 1
        memory = np.empty(values.nbytes + begin + PAGE, np.uint8)
        first = -memory.ctypes.data % PAGE + begin
        found = memory[first : first + values.nbytes].view(np.float64).reshape(values.shape)
        found[...] = values
        return found


class Straight(Protocol):
    """Kernels of straight code, in every version."""

    def assembly(self, batch: bool = False) -> str:
        """The machine code as text."""


class Timed:
    """A kernel with states to call it at."""

    def __init__(self, caller: Caller, model: str, quantities: str) -> None:
        mechanism = kg.load(model)
        self.caller = caller
        self.kernel = kg.compile(mechanism, quantities)
        random = np.random.default_rng(1)
        sizes = [len(argument.symbols) for argument in self.kernel.arguments]
        memory = Memory()
        self.states = [memory.copy(random.uniform(-1.5, 1.5, (ROWS, size))) for size in sizes]
        self.x = memory.copy(np.hstack([one[:STATES] for one in self.states]))
        self.y = memory.copy(np.zeros((STATES, max(self.kernel.output_size, 1))))
        out = self.kernel.batch(*self.states)
        self.out = {name: memory.copy(one) for name, one in out.items()} if isinstance(out, dict) else memory.copy(out)

    def sizes(self) -> tuple[int, int, int, int]:
        """Multiplications and additions; instructions of the code for one state, and for batches."""
        operations = self.kernel.operations
        assert operations is not None  # straight code counts them
        code = cast(Straight, self.kernel)
        call, batch = (instructions(code.assembly(batched)) for batched in (False, True))
        return operations.mul, operations.add, call, batch

    def code(self) -> list[str]:
        """The machine code for one state and for batches, without comments, directives and the numbers of labels."""
        kernel = cast(Straight, self.kernel)
        return [plain(kernel.assembly(batched)) for batched in (False, True)]

    def burst(self) -> tuple[float, float]:
        """Nanoseconds per call and per state of a batch."""
        shapes = CALLS, STATES - 1, self.x.shape[1], self.y.shape[1]
        self.caller.drive(self.kernel.address, self.x.ctypes.data, self.y.ctypes.data, *shapes)  # warms the caches
        begun = time.perf_counter()
        self.caller.drive(self.kernel.address, self.x.ctypes.data, self.y.ctypes.data, *shapes)
        called = time.perf_counter()
        for _ in range(BATCHES):
            self.kernel.batch(*self.states, out=self.out)
        return 1e9 * (called - begun) / CALLS, 1e9 * (time.perf_counter() - called) / (ROWS * BATCHES)


def instructions(assembly: str) -> int:
    """How many instructions machine code has; it is straight, so that many run."""
    return len(re.findall(r"^\s+[a-z]", assembly, re.MULTILINE))


def plain(assembly: str) -> str:
    """The instructions of machine code with their operands, one a line; names of labels become `L`."""
    lines = re.findall(r"^\s+[a-z].*$", assembly, re.MULTILINE)
    return "\n".join(re.sub(r"\.L\w+", "L", " ".join(line.split("#")[0].split())) for line in lines)


def main() -> None:
    """Answer line by line until there are no more."""
    caller = Caller()
    timed: Timed | None = None
    for line in sys.stdin:
        word, *arguments = json.loads(line)
        if word == "compile":
            timed = Timed(caller, *arguments)
            print(json.dumps(timed.sizes()), flush=True)
        elif timed is not None and word == "code":
            print(json.dumps(timed.code()), flush=True)
        elif timed is not None:
            print(json.dumps(timed.burst()), flush=True)


if __name__ == "__main__":
    main()
