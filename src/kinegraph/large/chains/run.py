"""Runs of closed loops with fixed steps, each process moving its own chains: only what closes the loops is sent."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinegraph.errors import KernelError
from kinegraph.large.chains.system import ChainSystem
from kinegraph.large.records import Floats


@dataclass(frozen=True)
class Finished:
    """The last state, gathered from all processes; the largest miss and the lowest pivot on the way; seconds."""

    q: Floats
    v: Floats
    missed: float
    pivot: float
    seconds: float


def integrated(
    system: ChainSystem,
    q: Floats,
    v: Floats,
    duration: float,
    step: float,
    force: Callable[[float], Floats] | None = None,
) -> Finished:
    """Runge-Kutta's method of order four with `step`; `force` gives the generalized forces at a time.

    What the loops miss fades away by Baumgarte's stabilisation, if the system has one.
    """
    if system.layout.quaternions:
        raise KernelError("runs over chains take plain coordinates, no quaternions")
    none = np.zeros(len(v))
    given = force or (lambda t: none)
    place, speed = np.array(q, dtype=float), np.array(v, dtype=float)
    missed, pivot = 0.0, np.inf
    started = time.perf_counter()
    for number in range(round(duration / step)):
        t = number * step
        changes = []
        at, rate = place, speed
        for part in (0.5, 0.5, 1.0, 0.0):
            found = system.evaluated(at, rate, given(t), t)
            changes.append((rate, found.qdd.copy()))
            missed = max(missed, float(np.max(np.abs(found.missed), initial=0.0)))
            pivot = min(pivot, float(np.min(found.pivots, initial=1.0)))
            t = number * step + part * step
            at, rate = place + part * step * changes[-1][0], speed + part * step * changes[-1][1]
        weights = step / 6 * np.array([1.0, 2.0, 2.0, 1.0])
        place = place + sum(w * one for w, (one, _) in zip(weights, changes, strict=True))
        speed = speed + sum(w * one for w, (_, one) in zip(weights, changes, strict=True))
    seconds = time.perf_counter() - started
    return Finished(system.gathered(place), system.gathered(speed), missed, pivot, seconds)
