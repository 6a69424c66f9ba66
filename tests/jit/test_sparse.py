"""Sparse kernels give the matrices of dense ones, without entries that are always zero."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KernelError
from tests.effort import SOAK
from tests.mechanisms import PLAIN_JOINTS, random_state, random_tree


@pytest.mark.parametrize("seed", range(4) if SOAK else [1])
def test_matrices_of_trees(seed: int) -> None:
    tree = random_tree(seed, bodies=7, joints=PLAIN_JOINTS, branching=0.8)
    words = "H,d(tau)/d(dq),d(tau)/d(v)"
    q, v, a, _ = random_state(tree, seed)
    dense, sparse = kg.compile(tree, words)(q, v, a), kg.compile(tree, words, sparse=True)
    for name, matrix in sparse(q, v, a).items():
        np.testing.assert_allclose(matrix.toarray(), dense[name], rtol=0, atol=1e-12 * np.abs(dense[name]).max())
        assert matrix.nnz == sparse.patterns[name].count < dense[name].size
        assert np.count_nonzero(dense[name]) <= matrix.nnz


def test_one_matrix_and_batches() -> None:
    legs = kg.load("five-link-tree")
    kernel = kg.compile(legs, "d(tau)/d(a)", sparse=True)
    size = len(legs.layout.positions)
    states = np.random.default_rng(1).normal(size=(3, size))
    rows = [states] * len(kernel.kernel.arguments)
    values = kernel.batch(*rows)
    for row, state in zip(values, states, strict=True):
        expected = kernel(*[state] * len(rows))
        np.testing.assert_allclose(row, expected.data, rtol=1e-12)
    assert expected.shape == (size, size) and "d(tau)/d(a)" in repr(kernel)


def test_only_matrices_can_be_sparse() -> None:
    with pytest.raises(KernelError, match="tau is not a matrix"):
        kg.compile(kg.load("double-pendulum"), "tau", sparse=True)
