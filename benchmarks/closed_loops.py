"""Accelerations of closed loops beside Pinocchio C++, in one run.

    python -m benchmarks closed-loops [--sizes 4,8,16,64,256,1000,10000,100000]

A planar loop of N joints: straight code up to N = 300, loops over bars beyond, without Pinocchio. That computes with
the faster of `constraintDynamics` and `lcaba`, cut in the middle or at the end, compiled with clang where there is one.
Only the ratio means something on a busy machine.
"""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.linkages import long_loops
from benchmarks.linkages.states import moving_states
from benchmarks.peers.sides.build import Unavailable, cpp_compiler, pinocchio_options, shared_library
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.mechanism_source import load
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.reproduce.parallel_chains import polygon
from kinegraph.solve.problem import Floats

SIZES = (4, 8, 16, 64, 256, 1000, 10_000, 100_000)
_STRAIGHT = 300  # joints; longer loops are computed by loops over bars
_ROWS = 16
_ROUNDS = 30
_PROXIMAL = (1e-8, 5)  # a planar loop has a redundant row in space: without a proximal term the result is not a number


@dataclass(frozen=True)
class Measured:
    """One size: nanoseconds per acceleration, which variant of the peer was the fastest, and how far both agree."""

    joints: int
    own: float
    peer: float | None
    variant: str
    difference: float | None

    @property
    def ratio(self) -> float | None:
        """How many times as long the peer takes; None where it was not measured."""
        return None if self.peer is None else self.peer / self.own


def main(sizes: Sequence[int] = SIZES) -> None:
    """Measure and print a table."""
    print(f"accelerations of a planar loop of N joints, ns a call; {cpu_model()}")
    print(f"{'N':>6} {'Kinegraph':>10} {'Pinocchio':>10} {'ratio':>7}  variant, largest relative difference")
    for joints in sizes:
        one = measured(joints) if joints <= _STRAIGHT else long_measured(joints)
        peer = "-" if one.peer is None else f"{one.peer:.0f}"
        ratio = "" if one.ratio is None else f"{one.ratio:.1f}"
        difference = "" if one.difference is None else f", {one.difference:.1e}"
        print(f"{one.joints:>6} {one.own:>10.0f} {peer:>10} {ratio:>7}  {one.variant}{difference}", flush=True)


def measured(joints: int) -> Measured:
    """Both sides at the same states, in turns."""
    rows = moving_states(load(f"loop-{joints}"), _ROWS)
    kernel = compile(f"loop-{joints}", "qdd", loops=False)
    own = own_timer(kernel, rows)
    try:
        peers = _peers(joints, rows)
    except Unavailable as error:
        return Measured(joints, min(own() for _ in range(_ROUNDS)), None, str(error), None)
    best, least = float("inf"), dict.fromkeys(peers, float("inf"))
    for _ in range(_ROUNDS):
        best = min(best, own())
        least = {name: min(least[name], peer.nanoseconds()) for name, peer in peers.items()}
    name = min(least, key=lambda one: least[one])
    wanted = np.array([np.asarray(kernel(*np.split(row, 3))) for row in rows])
    found = np.array([peers[f"middle cut, {name.split(', ')[1]}"].accelerations(row) for row in rows])
    difference = float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))
    return Measured(joints, best, least[name], name, difference)


def long_measured(joints: int) -> Measured:
    """A long loop, pin by pin, at one state; in place of a difference, what the equations of motion miss."""
    own = long_loops.measured(joints, np.array(polygon(joints)))
    note = f"lowest pivot {own.pivot:.1e}, equations fulfilled to"
    return Measured(joints, own.nanoseconds, None, note, own.residual)


def own_timer(kernel: Kernel, rows: Floats) -> Callable[[], float]:
    """A function that measures nanoseconds a call over rows of states."""
    library = shared_library("driver.c", "cc", ("-O2",))
    library.drive.restype = ctypes.c_double
    pointer, long = ctypes.c_void_p, ctypes.c_long
    library.drive.argtypes = [pointer, pointer, pointer, long, long, long, ctypes.c_ulong]
    result = np.zeros(rows.shape[1])
    calls: int = max(200, 200_000 // rows.shape[1])

    def timed() -> float:
        arguments = kernel.address, rows.ctypes.data, result.ctypes.data, rows.shape[1], len(rows) - 1, calls, 1
        return 1e9 * float(library.drive(*arguments)) / calls

    return timed


@dataclass(frozen=True)
class _Ring:
    """One way for Pinocchio to compute, with its own rows of states."""

    library: ctypes.CDLL
    handle: int
    articulated: bool
    rows: Floats

    def nanoseconds(self) -> float:
        calls: int = max(50, 20_000 // self.rows.shape[1])
        took = self.library.ring_seconds(
            self.handle, int(self.articulated), self.rows.ctypes.data, len(self.rows) - 1, calls
        )
        return 1e9 * float(took) / calls

    def accelerations(self, row: Floats) -> Floats:
        result = np.zeros(len(row) // 3)
        self.library.ring_result(self.handle, int(self.articulated), row.ctypes.data, result.ctypes.data)
        return result


def _peers(joints: int, rows: Floats) -> dict[str, _Ring]:
    library = shared_library("pinocchio_loops.cpp", cpp_compiler(), ("-O3", "-march=native", *pinocchio_options()))
    library.ring_open.restype = library.ring_result.restype = ctypes.c_void_p
    library.ring_open.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_double, ctypes.c_int]
    library.ring_result.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    library.ring_seconds.restype = ctypes.c_double
    library.ring_seconds.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
    found = {}
    for cut, left, right, states in (
        ("middle cut", *_halves(joints), rows),
        ("end cut", joints - 1, 0, _open_chain(rows, *_halves(joints))),
    ):
        for algorithm in ("constraintDynamics", "lcaba"):
            handle = library.ring_open(left, right, *_PROXIMAL)
            found[f"{cut}, {algorithm}"] = _Ring(library, handle, algorithm == "lcaba", np.ascontiguousarray(states))
    return found


def _halves(joints: int) -> tuple[int, int]:
    """How many bars the library's loop has on either side of its cut."""
    names = load(f"loop-{joints}").layout.positions
    left = sum(name.startswith("a") for name in names)
    return left, len(names) - left


def _open_chain(rows: Floats, left: int, right: int) -> Floats:
    """The same states as one chain around the loop: the second half is walked from its end back to the ground."""
    found = []
    for row in rows:
        q, v, tau = np.split(row, 3)
        found.append(np.concatenate([_walked(q, left, np.pi), _walked(v, left, 0.0), tau]))
    return np.array(found)


def _walked(values: Floats, left: int, half_turn: float) -> Floats:
    first, absolute = values[:left], np.cumsum(values[left:])[::-1] + half_turn
    before = np.concatenate([[np.sum(first)], absolute[:-1]])
    return np.concatenate([first, absolute - before])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of joints, separated by commas")
    main([int(size) for size in parser.parse_args().sizes.split(",")])
