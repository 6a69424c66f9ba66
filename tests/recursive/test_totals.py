"""Compiled runs over chains: sums over threads by machine code, and the same motion as with Python between sweeps."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.recursive.chains.dynamics import ChainSystem, Stabilized, _interpreted, integrated
from kinegraph.recursive.chains.exchange import Serial, SharedMemoryTotal, Threads, shared_memory


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_threads_add_up_messages_round_after_round(workers: int) -> None:
    """Every thread gets the same bits, however far ahead of the others it would run."""
    size, rounds = 7, 100
    memory = shared_memory(workers, size)
    totals = [SharedMemoryTotal(*memory, worker) for worker in range(workers)]
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    given = np.random.default_rng(1).normal(size=(rounds, workers, size))

    def run(worker: int) -> np.ndarray:
        add, found = signature(totals[worker].address), []
        for own in given[:, worker]:
            message = own.copy()
            add(message.ctypes.data, message.ctypes.data)
            found.append(message)
        return np.array(found)

    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(run, range(workers)))
    assert all(np.array_equal(one, found[0]) for one in found)
    assert found[0] == pytest.approx(given.sum(axis=1), abs=1e-14)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["spatial-slider-crank", "loop-9"])
def test_compiled_runs_are_those_with_python_between_sweeps(name: str) -> None:
    mechanism = kg.load(name)
    q, v = Assembler(mechanism).start({})
    push = np.random.default_rng(2).normal(size=len(v))
    ends = []
    for exchange in (Serial(), Threads(2)):
        system = ChainSystem(mechanism, exchange=exchange, stabilized=Stabilized(5, 5))
        ends.append(integrated(system, q, v, 0.2, 0.01, lambda t: push * np.exp(-t)))
    plain = _interpreted(system, q, v, 20, 0.01, lambda t: push * np.exp(-t))
    for one in ends:
        np.testing.assert_allclose(one.q, plain.q, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(one.v, plain.v, rtol=1e-11, atol=1e-13)
        assert one.missed == pytest.approx(plain.missed, rel=1e-6)
    assert np.array_equal(ends[0].q, ends[1].q)
