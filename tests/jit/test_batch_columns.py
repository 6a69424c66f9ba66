"""Batches read the columns they compute with, wherever in the rows these are."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.llvm.batch import covering_starts
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.jit.engine import host
from kinegraph.jit.kernel import KernelOptions, compile_binding


@pytest.mark.parametrize("seed", range(20))
def test_tiles_cover_what_is_wanted(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 60))
    width = min(8, 1 << (size.bit_length() - 1))
    wanted = set(random.choice(size, int(random.integers(0, size + 1)), replace=False).tolist())
    starts = covering_starts(wanted, size, width)
    assert wanted <= {start + k for start in starts for k in range(width)}
    assert all(0 <= start <= size - width for start in starts)
    # No tile could be left out: each has a wanted column of its own.
    for start in starts:
        rest = {one + k for one in starts if one != start for k in range(width)}
        assert wanted - rest


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
@pytest.mark.parametrize("size, wanted", [(25, range(6, 13)), (25, (0, 24)), (24, ()), (9, (8,)), (300, (3, 150, 299))])
def test_rows_of_which_few_columns_are_read(lanes: int, size: int, wanted: tuple[int, ...]) -> None:
    """Also where the others are no numbers, and for numbers of rows that fill no block."""
    builder = GraphBuilder()
    symbols = tuple(Symbol(Kind.COORDINATE, f"x{k}") for k in range(size))
    more = Symbol(Kind.VELOCITY, "v")
    terms = [(k + 2, ((builder.intern(symbols[k]), 1),)) for k in wanted]
    node = builder.polynomial([*terms, (1, ((builder.intern(more), 2),))])
    graph = builder.graph([Output("y", (1,), (node,))])
    binding = bind(graph, [Argument("x", symbols), Argument("v", (more,))], {})
    kernel = compile_binding(binding, KernelOptions(lanes=lanes, cache=False), host())
    for rows in (1, 13, 32):
        x = np.full((rows, size), np.nan)
        x[:, list(wanted)] = np.random.default_rng(rows).normal(size=(rows, len(wanted)))
        v = np.arange(rows) / 7
        expected = v**2 + sum((k + 2) * x[:, k] for k in wanted)
        np.testing.assert_allclose(kernel.batch(x, v)[:, 0], expected, rtol=1e-13)


@pytest.mark.skipif(host().lanes != 8, reason="vectors of 512 bits")
def test_vectors_on_the_stack_lie_in_one_line() -> None:
    """What finds no register in a batch is stored with an aligned store."""
    kernel = kg.compile("stewart", "platform_acceleration")
    code = kernel.assembly(batch=True)
    body = code[code.index("body:") : code.index("kinegraph_batch:")]
    spilled = [line for line in body.splitlines() if "zmm" in line and ("%rsp" in line or "%rbp" in line)]
    assert spilled and not [line for line in spilled if "vmovup" in line]
