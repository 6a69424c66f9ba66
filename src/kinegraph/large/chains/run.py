"""Runs of closed loops with fixed steps, each process moving its own chains: only what closes the loops is sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinegraph.errors import KernelError
from kinegraph.jit.bitcode import compiled
from kinegraph.large.chains.exchange import Exchange, Ranks
from kinegraph.large.chains.steps import message_size, run_steps
from kinegraph.large.chains.system import ChainSystem
from kinegraph.large.chains.totals import Alone, ThroughMemory, ThroughRanks, Total, shared_memory
from kinegraph.large.forward import massless
from kinegraph.large.records import Floats

#: Generalized forces at a time.
Force: TypeAlias = Callable[[float], Floats]

#: Steps between two looks of Python.
_SLICE = 100


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
    force: Force | None = None,
) -> Finished:
    """Runge-Kutta's method of order four with `step`; `force` gives the generalized forces at a time.

    What the loops miss fades away by Baumgarte's stabilisation, if the system has one.
    """
    if system.layout.quaternions:
        raise KernelError("runs over chains take plain coordinates, no quaternions")
    if system.compiled:
        return CompiledRun(system).integrated(q, v, round(duration / step), step, force)
    return _interpreted(system, q, v, round(duration / step), step, force)


class CompiledRun:
    """Runs of one system, all steps in machine code: serially, on threads, or on the ranks of MPI."""

    def __init__(self, system: ChainSystem) -> None:
        self._system = system
        exchange = system.exchange
        self._totals = self._adding(exchange, message_size(system.worker(0, 0)))
        self._workers = [system.worker(k, total.address) for k, total in enumerate(self._totals)]
        self._messages = [np.zeros(message_size(worker)) for worker in self._workers]

    def _adding(self, exchange: Exchange, size: int) -> list[Total]:
        if isinstance(exchange, Ranks):
            return [ThroughRanks(exchange.communicator, size)]
        if exchange.workers == 1:
            return [Alone()]
        memory = shared_memory(exchange.workers, size)
        return [ThroughMemory(*memory, worker) for worker in exchange.mine]

    def integrated(self, q: Floats, v: Floats, steps: int, step: float, force: Force | None) -> Finished:
        """So many steps from a state."""
        states = [(np.array(q, dtype=float), np.array(v, dtype=float)) for _ in self._workers]
        noted = [np.array([0.0, np.inf]) for _ in self._workers]
        started = time.perf_counter()
        for first in range(0, steps, _SLICE):
            count = min(_SLICE, steps - first)
            self._slice(states, _forces(force, len(v), first, count, step), first, count, step, noted)
            # a message takes what is infinite to all workers, so that all of them end here
            _require_numbers([part for state in states for part in state], noted, (first + count) * step)
        seconds = time.perf_counter() - started
        self._note_traffic(steps)
        place, speed = (self._gathered([state[k] for state in states]) for k in range(2))
        missed, pivot = max(float(one[0]) for one in noted), min(float(one[1]) for one in noted)
        return Finished(place, speed, missed, pivot, seconds)

    def _slice(
        self, states: list[tuple[Floats, Floats]], tau: Floats, first: int, count: int, step: float, noted: list[Floats]
    ) -> None:
        stuck = [-1] * len(states)

        def one(k: int) -> None:
            worker, message = self._workers[k], self._messages[k]
            stuck[k] = compiled(run_steps)(worker, *states[k], tau, first, count, step, message, noted[k])

        self._system.exchange.each(one, [[k] for k in range(len(states))])
        for velocity in stuck:
            if velocity >= 0:
                raise massless(self._system.layout.velocities[velocity])

    def _note_traffic(self, steps: int) -> None:
        exchange = self._system.exchange
        if isinstance(exchange, Ranks):
            exchange.traffic.messages += 4 * steps
            exchange.traffic.bytes += 4 * steps * self._messages[0].nbytes
            exchange.traffic.seconds += self._totals[0].waiting

    def _gathered(self, values: list[Floats]) -> Floats:
        if len(values) == 1:
            return self._system.gathered(values[0])
        found = np.zeros_like(values[0])
        for k, own in enumerate(values):
            here = self._system.of_share(k)
            found[here] = own[here]
        return found


def _require_numbers(states: Sequence[Floats], noted: Sequence[Floats], t: float) -> None:
    """KernelError where a run has become infinite or not a number."""
    if all(np.all(np.isfinite(one)) for one in states):
        return
    missed = max(float(one[0]) for one in noted)
    raise KernelError(
        f"the run became infinite or not a number before t = {t:.6g}; loops were open by up to {missed:.3g}\n"
        "  take shorter steps, or smaller gains of the stabilisation: it must not be faster than the steps"
    )


def _forces(force: Force | None, size: int, first: int, count: int, step: float) -> Floats:
    """The forces at every half step of a slice; one row of zeros if there are none."""
    if force is None:
        return np.zeros((1, size))
    return np.array([force((first + 0.5 * half) * step) for half in range(2 * count + 1)])


def _interpreted(system: ChainSystem, q: Floats, v: Floats, steps: int, step: float, force: Force | None) -> Finished:
    """The same with Python between the sweeps, where springs pull at points or nothing is compiled."""
    none = np.zeros(len(v))
    given = force or (lambda t: none)
    place, speed = np.array(q, dtype=float), np.array(v, dtype=float)
    missed, pivot = 0.0, np.inf
    started = time.perf_counter()
    for number in range(steps):
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
        _require_numbers([place, speed], [np.array([missed, pivot])], (number + 1) * step)
    seconds = time.perf_counter() - started
    return Finished(system.gathered(place), system.gathered(speed), missed, pivot, seconds)
