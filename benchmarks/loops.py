"""Compiled loops: time against size, the cost of the first call, and of a call with a warm cache.

    python -m benchmarks loops

Times are the best of several runs; only ratios mean something on a busy machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from kinegraph.model.builder import Builder, Ry, Sz, inertia
from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.recursive.systems import RecursiveSystem

SIZES = (1_000, 10_000, 100_000)
LINEAR = 13  # a ten times longer chain may take this many times as long

FIRST_CALL = """
import time; began = time.perf_counter()
from benchmarks.loops import chain
from kinegraph.recursive import looped
mechanism = chain(3); ready = time.perf_counter()
system = looped(mechanism)
for call in (system.tau, system.qdd): call([0.1] * 3, [0.2] * 3, [0.3] * 3)
system.energy([0.1] * 3, [0.2] * 3)
print(time.perf_counter() - ready)
"""


def chain(links: int, absolute: bool = False) -> Mechanism:
    """Equal rods of mass and length one, hanging in a row and rotating about y, by relative or absolute angles."""
    builder = Builder(f"chain-{links}", gravity=(0, 0, -9.81))
    rod = inertia(mass=1, Jx=0.08, Jy=0.08, Jz=0.001, at=[Sz(-0.5)])
    base: Body | None = None
    before = None
    for link in range(links):
        angle = builder.coordinate(f"q{link}")
        turn = Ry(angle - before if absolute and before is not None else angle)
        base = builder.body(f"B{link}", base, (turn,) if base is None else (Sz(-1), turn), rod)
        before = angle
    return builder.build()


def best(calls: dict[int, Callable[[], object]], rounds: int = 8) -> dict[int, float]:
    """The shortest time of each call. Sizes take turns, so that other load on the machine affects all equally."""
    shortest = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for size, call in calls.items():
            call()  # compiles, and brings the arrays of this size into the cache
            for _ in range(max(3, 100_000 // size)):
                began = time.perf_counter()
                call()
                shortest[size] = min(shortest[size], time.perf_counter() - began)
    return shortest


def by_size(absolute: bool) -> dict[str, dict[int, float]]:
    """Seconds to prepare chains of all sizes, and per call of each quantity."""
    table: dict[str, dict[int, float]] = {"prepare": {}}
    calls: dict[str, dict[int, Callable[[], object]]] = {"tau": {}, "qdd": {}, "energy": {}}
    for size in SIZES:
        mechanism = chain(size, absolute)
        began = time.perf_counter()
        system = RecursiveSystem(mechanism)
        table["prepare"][size] = time.perf_counter() - began
        q, v, a = np.random.default_rng(1).uniform(-1e-2, 1e-2, (3, size))
        calls["tau"][size] = partial(system.tau, q, v, a)
        calls["qdd"][size] = partial(system.qdd, q, v, system.tau(q, v, a))
        calls["energy"][size] = partial(system.energy, q, v)
    return table | {quantity: best(of_size) for quantity, of_size in calls.items()}


def first_call() -> tuple[float, float]:
    """Seconds for tau, qdd and energy of a new process, with an empty and with a filled cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "KINEGRAPH_CACHE": cache, "PYTHONPATH": os.pathsep.join(sys.path)}
        runs = [
            subprocess.run([sys.executable, "-c", FIRST_CALL], env=environment, capture_output=True, check=True)
            for _ in range(2)
        ]
    empty, filled = (float(run.stdout) for run in runs)
    return empty, filled


def main() -> int:
    """Print the tables; the exit code says whether the time is linear."""
    linear = True
    for absolute in (False, True):
        table = by_size(absolute)
        print(f"\nchain with {'absolute' if absolute else 'relative'} angles, milliseconds")
        print(f"{'':10}" + "".join(f"{size:>12,}" for size in SIZES) + "   ratio 10,000 : 1,000")
        for quantity, times in table.items():
            ratio = times[10_000] / times[1_000]
            linear = linear and (quantity == "prepare" or ratio < LINEAR)
            print(f"{quantity:10}" + "".join(f"{1e3 * t:12.3f}" for t in times.values()) + f"   {ratio:.1f}")
    empty, filled = first_call()
    print(f"\nfirst tau + qdd + energy of a process: {empty:.1f} s compiling, {filled:.2f} s from the cache")
    return 0 if linear else 1


if __name__ == "__main__":
    sys.exit(main())
