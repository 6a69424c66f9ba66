"""Time kernels and name the processor."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kinegraph.jit.engine import LoadedCode, host, object_code

#: States are taken in random order, as in sampling: branch prediction then cannot learn those of the C library.
STATES = 256

_DRIVER = """
define void @drive(ptr %f, ptr %x, ptr %y, i64 %calls, i64 %mask, i64 %inputs, i64 %outputs, i64 %step, i64 %seed) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %k = phi i64 [ 0, %entry ], [ %k1, %loop ]
  %r = phi i64 [ %seed, %entry ], [ %r1, %loop ]
  %xi = mul i64 %k, %inputs
  %yi = mul i64 %k, %outputs
  %px = getelementptr double, ptr %x, i64 %xi
  %py = getelementptr double, ptr %y, i64 %yi
  call void %f(ptr %px, ptr %py)
  %r0 = mul i64 %r, 6364136223846793005
  %r1 = add i64 %r0, 1442695040888963407
  %random = lshr i64 %r1, 33
  %next = add i64 %k, 1
  %stepping = icmp ne i64 %step, 0
  %chosen = select i1 %stepping, i64 %next, i64 %random
  %k1 = and i64 %chosen, %mask
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %calls
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


class KernelCaller:
    """Calls kernels from compiled code."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.code = LoadedCode(object_code(_DRIVER, host()), "drive")
        kinds = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 6
        self.function = ctypes.CFUNCTYPE(None, *kinds)(self.code.address("drive"))
        self.x = np.random.default_rng(1).uniform(-np.pi, np.pi, size=(STATES, max(inputs, 1)))
        self.y = np.zeros((STATES, max(outputs, 1)))

    def time(self, addresses: Sequence[int], ordered: bool, calls: int = 2000, rounds: int = 300) -> list[float]:
        """Nanoseconds per call of each function, measured in turns so that all see the same disturbances."""
        shapes = STATES - 1, self.x.shape[1], self.y.shape[1], int(ordered)
        times = [float("inf")] * len(addresses)
        for seed in range(rounds):
            for number, address in enumerate(addresses):
                start = time.perf_counter()
                self.function(address, self.x.ctypes.data, self.y.ctypes.data, calls, *shapes, seed)
                times[number] = min(times[number], time.perf_counter() - start)
        return [1e9 * one / calls for one in times]


def cpu_model() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    found = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines}
    return f"{found.get('model name', 'unknown')}, family {found.get('cpu family')} model {found.get('model')}"
