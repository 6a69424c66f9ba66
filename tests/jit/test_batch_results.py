"""Rows of results of every length, with repeated values and constants, at every address."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.llvm.assembly import Lanes
from kinegraph.codegen.llvm.batch import SHORT_ROW, LongRows, Results
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.jit.engine import Target, host
from kinegraph.jit.kernel import KernelOptions, compile_binding
from tests.effort import SOAK

INPUTS = 11
CONSTANTS = (0, 1, Fraction(-5, 2), Fraction(1, 3))
UNCACHED = KernelOptions(cache=False)


class Mixed:
    """Results of the given lengths: entry by entry 1, 2 or 3 times an input, or a constant."""

    def __init__(self, sizes: Sequence[int], seed: int = 0) -> None:
        generator = np.random.default_rng(seed)
        self.sizes = sizes
        numbers = [generator.integers(-len(CONSTANTS), INPUTS, size).tolist() for size in sizes]
        self.entries = [[(k, int(generator.integers(1, 4))) for k in row] for row in numbers]

    def graph(self) -> Graph:
        builder = GraphBuilder()
        x = [builder.intern(symbol) for symbol in symbols()]
        constants = [builder.number(value) for value in CONSTANTS]
        outputs = []
        for number, entries in enumerate(self.entries):
            nodes = [builder.scale(factor, x[k]) if k >= 0 else constants[-k - 1] for k, factor in entries]
            outputs.append(Output(f"y{number}", (len(nodes),), tuple(nodes)))
        return builder.graph(outputs)

    def expected(self, x: np.ndarray) -> list[np.ndarray]:
        constants = [float(value) for value in CONSTANTS]
        return [
            np.array([[f * row[k] if k >= 0 else constants[-k - 1] for k, f in entries] for row in x])
            for entries in self.entries
        ]

    def kernel(self, target: Target | None = None, lanes: int | None = None) -> Kernel:
        options = KernelOptions(lanes=lanes, cache=False)
        return compile_binding(bind(self.graph(), [Argument("x", symbols())], {}), options, target or host())


def symbols() -> tuple[Symbol, ...]:
    return tuple(Symbol(Kind.COORDINATE, f"x{number}") for number in range(INPUTS))


def at_offset(rows: int, size: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that begin `offset` doubles behind a cache line, and the memory around them."""
    memory = np.full(rows * size + 48, -7.0)
    start = -(memory.ctypes.data // 8) % 8 + 16 + offset
    return memory[start : start + rows * size].reshape(rows, size), memory


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_rows_of_all_lengths_at_all_addresses(lanes: int) -> None:
    longer = [SHORT_ROW + more for more in (1, 2, 3, 4, lanes)]
    longest = [333] if lanes in (2, 8) or SOAK else []
    mixed = Mixed([1, 3, lanes - 1, lanes, lanes + 1, 49, SHORT_ROW, *longer, *longest])
    kernel = mixed.kernel(lanes=lanes)
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 3)(kernel.batch_address)
    for offset in range(8):
        first, rows = (0, 1, 3, 5)[offset % 4], 2 * lanes + offset
        x = np.random.default_rng(offset).normal(size=(rows, INPUTS))
        places = [at_offset(rows, size, offset) for size in mixed.sizes]
        results = (ctypes.c_void_p * len(places))(*(array.ctypes.data for array, _ in places))
        function(first, rows, (ctypes.c_void_p * 1)(x.ctypes.data), (ctypes.c_int64 * 1)(INPUTS), results)
        for (array, memory), expected in zip(places, mixed.expected(x), strict=True):
            assert np.array_equal(array[first:], expected[first:])
            array[first:] = -7
            assert (memory == -7).all(), "written beside the results"


@cache
def long_rows() -> tuple[Mixed, Kernel]:
    mixed = Mixed([49, 200, 333], seed=1)
    return mixed, mixed.kernel()


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 31])
def test_blocks_of_fewer_states_than_lanes(rows: int) -> None:
    mixed, kernel = long_rows()
    x = np.random.default_rng(rows).normal(size=(rows, INPUTS))
    found = kernel.batch(x)
    assert all(np.array_equal(*pair) for pair in zip(found.values(), mixed.expected(x), strict=True))


def test_long_rows_on_a_processor_without_wide_vectors() -> None:
    if not host().triple.startswith("x86_64"):
        pytest.skip("the plain x86-64 processor is tried on x86-64 only")
    mixed = Mixed([20, 150, 301], seed=2)
    x = np.random.default_rng(2).normal(size=(13, INPUTS))
    found = mixed.kernel(Target(host().triple, "x86-64", "")).batch(x)
    assert all(np.array_equal(*pair) for pair in zip(found.values(), mixed.expected(x), strict=True))


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
@pytest.mark.parametrize("size", [150, 151, 152, 153, 154])
def test_vectors_of_long_rows_stay_within_lines(lanes: int, size: int) -> None:
    rows = LongRows(Lanes(lanes), 0, range(size))
    for phase in rows.phases:
        for lane, shift in enumerate(rows.shifts(phase)):
            assert 0 <= shift < lanes and 8 * (phase + lane * size + shift) % min(8 * lanes, 64) == 0


def test_constants_are_told_apart_by_their_bits() -> None:
    assert len(Results(Lanes(4), [[0.0, -0.0, 0, 1.0], [1.0, 0.0]]).constants) == 3
