"""Times that mean something on a machine that does other things too.

Single calls are timed by the thread's processor clock, so that being set aside by the scheduler does not count; sides
take turns in short slices, so that all see the same disturbances; the median of many slices is kept. Batches on two
threads are timed by the process's processor time shared between the threads, which on a quiet machine is the wall
time; the shortest wall time is kept beside it.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.peers.sides.peer import THREADS, Loop, Sweep

#: Seconds a slice should last: short against a time slice of the scheduler, long against reading the clock.
SLICE = 4e-4

#: Seconds a sweep should last: waking threads from Python takes up to a tenth of a millisecond.
SWEEP = 5e-3

#: More running processes than processors: batch figures are then not to be relied on.
BUSY = 1.25


@dataclass(frozen=True)
class Time:
    """Nanoseconds per state: the median, and the quartiles as a measure of how sure it is."""

    median: float
    low: float
    high: float
    best: float
    best_wall: float | None = None

    @property
    def spread(self) -> float:
        """The distance of the quartiles, relative to the median."""
        return (self.high - self.low) / self.median


def summary(nanoseconds: list[float], wall: list[float] | None = None) -> Time:
    """Median, quartiles and the best of some times."""
    low, median, high = statistics.quantiles(nanoseconds, n=4)
    return Time(median, low, high, min(nanoseconds), min(wall) if wall else None)


def time_calls(loops: Mapping[str, Loop], rounds: int) -> dict[str, Time]:
    """Nanoseconds of processor time per call of each side, taking turns."""
    calls = {name: _calls_per_slice(loop) for name, loop in loops.items()}
    found: dict[str, list[float]] = {name: [] for name in loops}
    names = list(loops)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            loops[name](max(calls[name] // 10, 1), turn)  # what the side before left in the caches is no fault of ours
            found[name].append(1e9 * loops[name](calls[name], turn) / calls[name])
    return {name: summary(values) for name, values in found.items()}


def _calls_per_slice(loop: Loop) -> int:
    calls = 1
    while (seconds := loop(calls, 0)) < SLICE / 4:
        calls *= 2
    return max(int(calls * SLICE / seconds), 1)


def time_sweeps(sweeps: Mapping[str, Sweep], states: int, rounds: int) -> dict[str, Time]:
    """Nanoseconds per state of each side, all cores, taking turns."""
    found: dict[str, list[float]] = {name: [] for name in sweeps}
    wall: dict[str, list[float]] = {name: [] for name in sweeps}
    times = {name: _times_per_sweep(sweep) for name, sweep in sweeps.items()}
    names = list(sweeps)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start, start_processor = time.perf_counter(), time.process_time()
            sweeps[name](times[name])
            computed = times[name] * states
            found[name].append(1e9 * (time.process_time() - start_processor) / THREADS / computed)
            wall[name].append(1e9 * (time.perf_counter() - start) / computed)
    return {name: summary(found[name], wall[name]) for name in sweeps}


def _times_per_sweep(sweep: Sweep) -> int:
    times = 1
    while (seconds := _seconds(sweep, times)) < SWEEP / 4:
        times *= 2
    return max(int(times * SWEEP / seconds), 1)


def _seconds(sweep: Sweep, times: int) -> float:
    start = time.perf_counter()
    sweep(times)
    return time.perf_counter() - start


def load() -> float:
    """Running processes per processor, this one not counted."""
    return max(os.getloadavg()[0] - 1, 0) / (os.cpu_count() or 1)
