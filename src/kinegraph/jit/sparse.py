"""Kernels of sparse matrices: compute only the entries that can be nonzero, and return SciPy's sparse arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.codegen.kernel import Code, Doubles, Kernel, Outputs, Recipe, Result
from kinegraph.errors import KernelError
from kinegraph.graph.count import Operations
from kinegraph.graph.node import Graph, Output, Polynomial
from kinegraph.jit.kernel import StraightKernel

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ZERO = Polynomial(())


@dataclass(frozen=True)
class Pattern:
    """The sparsity pattern of a matrix, in compressed sparse row (CSR) layout."""

    shape: tuple[int, int]
    columns: NDArray[np.int32]
    row_starts: NDArray[np.int32]

    @property
    def count(self) -> int:
        """The number of entries that can be nonzero."""
        return len(self.columns)

    def matrix(self, values: Doubles) -> csr_array:
        """The sparse array with these values."""
        from scipy.sparse import csr_array

        return csr_array((values, self.columns, self.row_starts), shape=self.shape)


def without_zeros(graph: Graph) -> tuple[Graph, dict[str, Pattern]]:
    """The graph whose outputs list only entries that are not exactly zero, and their sparsity patterns."""
    patterns = {output.name: _pattern(graph, output) for output in graph.outputs}
    outputs = tuple(_nonzero(graph, output) for output in graph.outputs)
    return Graph(graph.nodes, outputs), patterns


def _pattern(graph: Graph, output: Output) -> Pattern:
    if len(output.shape) != 2:
        raise KernelError(f"{output.name} is not a matrix: compile it without sparse=True")
    height, width = output.shape
    present = np.array([graph.nodes[node] != _ZERO for node in output.nodes]).reshape(height, width)
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return Pattern((height, width), np.nonzero(present)[1].astype(np.int32), starts.astype(np.int32))


def _nonzero(graph: Graph, output: Output) -> Output:
    nodes = tuple(node for node in output.nodes if graph.nodes[node] != _ZERO)
    return Output(output.name, (len(nodes),), nodes)


class SparseKernel(Kernel):
    """A kernel of sparse matrices. A call returns a `scipy.sparse.csr_array`, or a dict of them by name.

    kernel: the underlying code, which writes the values only, as `address` does.
    patterns: the sparsity pattern of each output.
    """

    form = "sparse"
    operations: Operations

    def __init__(self, kernel: StraightKernel, patterns: dict[str, Pattern]) -> None:
        self.kernel = kernel
        self.patterns = patterns
        self.arguments, self.operations, self.proof = kernel.arguments, kernel.operations, kernel.proof
        self.outputs = tuple(Result(name, pattern.shape) for name, pattern in patterns.items())

    @property
    def recipe(self) -> Recipe:
        return SparseKernel, (self.kernel, self.patterns)

    @property
    def address(self) -> int:
        return self.kernel.address

    @property
    def code(self) -> Code:
        return self.kernel.code

    def __repr__(self) -> str:
        parts = (f"{name}{list(one.shape)} with {one.count} entries" for name, one in self.patterns.items())
        return f"<SparseKernel -> {', '.join(parts)}: {self.operations}>"

    def __call__(self, *values: ArrayLike, **named: ArrayLike) -> Outputs:
        """The matrices for one state."""
        found = self.kernel(*values, **named)
        if len(self.patterns) == 1:
            return next(iter(self.patterns.values())).matrix(found)
        return {name: self.patterns[name].matrix(part) for name, part in found.items()}

    def batch(self, *values: ArrayLike, out: object = None, **named: ArrayLike) -> Outputs:
        """The values of the matrices' entries for a batch of states, of shape (n, entries)."""
        return self.kernel.batch(*values, out=out, **named)

    def flat(self, x: Doubles) -> Sequence[float]:
        """The values of all entries end to end, as `address` writes them."""
        return self.kernel.flat(x)
