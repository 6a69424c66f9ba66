"""What every side of the comparison offers."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeAlias

import numpy as np

from benchmarks.peers.sides.build import shared_library
from benchmarks.peers.states import Array, State

#: The quantities of the bench. Derivatives come together: by q, v and a (or tau).
QUANTITIES = ("tau", "H", "qdd", "coriolis", "d(tau)", "d(qdd)")

#: What the table calls them.
TITLES = {
    "tau": "inverse dynamics",
    "H": "inertia matrix",
    "qdd": "forward dynamics",
    "coriolis": "Coriolis matrix",
    "d(tau)": "d(inverse)/d(q,v,a)",
    "d(qdd)": "d(forward)/d(q,v,tau)",
}

#: Runs a number of calls over random states, with a seed, and says how many processor seconds they took.
Loop: TypeAlias = Callable[[int, int], float]
#: Computes all states of a batch so many times: starting threads from Python must not be what is measured.
Sweep: TypeAlias = Callable[[int], object]

THREADS = 2
_POOL = ThreadPoolExecutor(THREADS)


def third_argument(quantity: str, state: State) -> Array:
    """The vector after q and v: forces for forward dynamics, accelerations otherwise."""
    return state.tau if quantity in ("qdd", "d(qdd)") else state.a


class Peer(ABC):
    """One side."""

    name: str

    @abstractmethod
    def offers(self, quantity: str) -> bool:
        """Can it compute this?"""

    @abstractmethod
    def value(self, quantity: str, state: State) -> Array:
        """The result in Pinocchio's conventions and order, flat."""

    @abstractmethod
    def loop(self, quantity: str, states: Sequence[State]) -> Loop:
        """Timed calls, one state after the other, in compiled code."""

    def sweep(self, quantity: str, states: Sequence[State]) -> Sweep | None:
        """All states at once on two threads, or None if there is no such thing."""
        return None

    def operations(self, quantity: str) -> int | None:
        """Multiplications and additions of one call, if they can be counted."""
        return None

    def remark(self, quantity: str) -> str:
        """Which variant was taken, if there are several."""
        return ""


class Function:
    """A C function f(const double *x, double *y) with its compiled loops."""

    def __init__(self, address: int, outputs: int) -> None:
        self.address = address
        self.outputs = outputs
        self._library = driver()

    def __call__(self, row: Array) -> Array:
        result = np.zeros(self.outputs)
        x = np.ascontiguousarray(row)
        self._library.sweep(self.address, x.ctypes.data, result.ctypes.data, len(x), self.outputs, 1, 1)
        return result

    def loop(self, rows: Array) -> Loop:
        """Timed calls over rows, whose number must be a power of two."""
        require_power_of_two(len(rows))
        y = np.zeros(self.outputs)

        def run(calls: int, seed: int) -> float:
            x_address, y_address = rows.ctypes.data, y.ctypes.data
            width, mask = rows.shape[1], len(rows) - 1
            return float(self._library.drive(self.address, x_address, y_address, width, mask, calls, seed))

        return run

    def sweep(self, rows: Array) -> Sweep:
        """All rows, half of them on each thread."""
        y = np.zeros((len(rows), self.outputs))
        parts = list(zip(np.array_split(rows, THREADS), np.array_split(y, THREADS), strict=True))

        def part(x: Array, out: Array, times: int) -> None:
            sizes = x.shape[1], out.shape[1], len(x)
            self._library.sweep(self.address, x.ctypes.data, out.ctypes.data, *sizes, times)

        return in_threads([partial(part, x, out) for x, out in parts])


def in_threads(tasks: Sequence[Callable[[int], object]]) -> Sweep:
    """Tasks side by side, each told how many times to repeat itself; ctypes calls give the interpreter free."""

    def sweep(times: int) -> None:
        for future in [_POOL.submit(task, times) for task in tasks]:
            future.result()

    return sweep


def require_power_of_two(number: int) -> None:
    """Refuse a number of states that no mask of bits can pick from."""
    if number & (number - 1):
        raise ValueError(f"{number} states: random rows are picked by a mask, give a power of two")


def driver() -> ctypes.CDLL:
    """The C program that calls code again and again and takes the time."""
    library = shared_library("driver.c", compiler="gcc", options=("-O2",))
    pointer, long = ctypes.c_void_p, ctypes.c_long
    library.drive.argtypes = [pointer, pointer, pointer, long, long, long, ctypes.c_ulong]
    library.drive.restype = ctypes.c_double
    library.sweep.argtypes = [pointer, pointer, pointer, long, long, long, long]
    library.sweep.restype = None
    library.sweep_batch.argtypes = [pointer, long, long, pointer, pointer, pointer, long]
    library.sweep_batch.restype = None
    return library
