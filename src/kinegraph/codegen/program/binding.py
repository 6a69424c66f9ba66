"""The input of code generation: a graph with bound symbols, a final back-substitution, and how code is emitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import isfinite
from numbers import Rational, Real
from typing import TYPE_CHECKING, TypeAlias

from kinegraph.codegen import program
from kinegraph.errors import KernelError
from kinegraph.graph.angle import PI
from kinegraph.graph.count import Operations
from kinegraph.graph.node import Graph, Output, Symbol

if TYPE_CHECKING:
    import flint

    from kinegraph.codegen.simd import Exchanged


# Which symbols arrive when code runs, and what is known beforehand.

ParameterValue: TypeAlias = Fraction | int | float


@dataclass(frozen=True)
class Argument:
    """A run-time argument: a vector with one entry per symbol, in this order.

    quaternions: where in it the four components of each begin; the equations take them to be of unit length.
    """

    name: str
    symbols: tuple[Symbol, ...]
    quaternions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Bound:
    """A graph with every live symbol either an input or known.

    `inputs` says where in the concatenated arguments a symbol's node is found. `known` are the statics where they
    follow from another graph.
    """

    graph: Graph
    arguments: tuple[Argument, ...]
    parameters: Mapping[str, Fraction]
    inputs: Mapping[int, int]
    known: Mapping[int, flint.arb] | None = None

    @property
    def statics(self) -> Mapping[int, flint.arb]:
        """The values, in extended precision, of every live node that does not depend on an input.

        They are computed where code is written, not where it is found on disk.
        """
        # No cached property, which has a lock: who asks may hold that of the precision, and others wait the other way.
        found: Mapping[int, flint.arb] | None = self.__dict__.get("_statics", self.known)
        if found is None:
            found = program.static_values(self.graph, self.parameters, self.inputs)
            self.__dict__["_statics"] = found
        return found

    @property
    def input_size(self) -> int:
        """How many numbers all arguments have."""
        return sum(len(argument.symbols) for argument in self.arguments)

    @property
    def output_size(self) -> int:
        """How many numbers all outputs have."""
        return sum(len(output.nodes) for output in self.graph.outputs)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{one.name}[{len(one.symbols)}]" for one in self.arguments)
        return f"<bound: ({arguments}) -> {self.output_size} numbers; {len(self.statics)} nodes are known before>"

    def __str__(self) -> str:
        symbols = [symbol for argument in self.arguments for symbol in argument.symbols]
        lines = [f"%{node} = input [{place}] {symbols[place].name}" for node, place in self.inputs.items()]
        return "\n".join(lines + [f"%{node} = {float(value)!r}" for node, value in self.statics.items()])


def bind(graph: Graph, arguments: Sequence[Argument], parameters: Mapping[str, ParameterValue]) -> Bound:
    """Bind a graph's symbols; a symbol that is both argument and parameter is an argument.

    Raises KernelError naming what is missing, repeated or no number.
    """
    arguments = tuple(arguments)
    positions = _positions(arguments)
    values = exact_parameters(parameters)
    inputs = _inputs(graph, positions, values)
    return Bound(graph, arguments, values, inputs)


def _positions(arguments: tuple[Argument, ...]) -> dict[Symbol, int]:
    names = [argument.name for argument in arguments]
    positions: dict[Symbol, int] = {}
    for argument in arguments:
        if argument.name == "out":
            raise KernelError("an argument is called 'out', which says where a batch puts its results: rename it")
        if names.count(argument.name) > 1:
            raise KernelError(f"two arguments are called {argument.name!r}: give each a name of its own")
        for symbol in argument.symbols:
            if symbol in positions:
                raise KernelError(
                    f"{symbol.kind.value} {symbol.name!r} stands twice among the arguments, again in "
                    f"{argument.name!r}: list it once"
                )
            positions[symbol] = len(positions)
    return positions


def exact_parameters(parameters: Mapping[str, ParameterValue]) -> dict[str, Fraction]:
    """The values as exact numbers; KernelError for what is no finite number."""
    values: dict[str, Fraction] = {}
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise KernelError(f"parameter {name!r} is {value!r}: give a number")
        if not isinstance(value, Rational) and not isfinite(value):
            raise KernelError(f"parameter {name!r} is {value!r}: give a finite number")
        values[name] = Fraction(value) if isinstance(value, Rational) else Fraction(float(value))
    return values


def _inputs(graph: Graph, positions: Mapping[Symbol, int], values: Mapping[str, Fraction]) -> dict[int, int]:
    inputs: dict[int, int] = {}
    missing: list[Symbol] = []
    for index, node in enumerate(graph.nodes):
        if not isinstance(node, Symbol) or not graph.live[index] or node == PI:
            continue
        if node in positions:
            inputs[index] = positions[node]
        elif node.name not in values:
            missing.append(node)
    if missing:
        named = ", ".join(f"{symbol.kind.value} {symbol.name!r}" for symbol in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise KernelError(
            f"nothing says what {named}{more} is: put it in an Argument, or give its value in `parameters`"
        )
    return inputs


# The last step of derivatives of accelerations: many right-hand sides of one factorized linear system.
#
# H = L^T D L has been factorized and the right-hand sides computed by straight code; solving for a hundred columns by
# straight code would be most of it. As loops over the columns it is short, and runs in the lanes of vectors.


@dataclass(frozen=True)
class BackSubstitution:
    """X = - (L^T D L)^-1 R for square matrices R.

    The graph before it has as many outputs as `solved`, each a right-hand side or, where `solved` is false, a result
    to be copied; then `lower`, the entries L_ij of the pairs (i, j); then `inverse`, one over the entries of D.
    """

    size: int
    order: tuple[int, ...]
    lower: tuple[tuple[int, int], ...]
    solved: tuple[bool, ...]

    def results(self, graph: Graph) -> tuple[Output, ...]:
        """The outputs that are left."""
        return graph.outputs[: len(self.solved)]

    def starts(self, graph: Graph) -> list[int]:
        """Where in the values of the graph its outputs begin."""
        return list(accumulate((len(output.nodes) for output in graph.outputs), initial=0))

    def operations(self) -> Operations:
        """What it adds to the operations of the graph."""
        columns = self.size * sum(self.solved)
        pairs = 2 * len(self.lower) * columns
        return Operations(mul=pairs + self.size * columns, add=pairs)


# What the writing of code depends on beside the graph.

#: The names of the functions that modules define.
SCALAR_ENTRY = "kinegraph_scalar"
BATCH_ENTRY = "kinegraph_batch"

#: Pairs of symbols, the second in place of the first.
Exchange: TypeAlias = "tuple[tuple[Exchanged, Exchanged], ...]"


@dataclass(frozen=True)
class Emission:
    """How code is written: lanes of the batch, instructions per function (None: what runs fastest), whether the
    processor has fused multiply-add, what comes after the graph, and which symbols to exchange so that limbs of one
    shape become each other, to be computed side by side."""

    lanes: int
    chunk: int | None
    fused: bool
    tail: BackSubstitution | None = None
    exchange: Exchange = ()

    def results(self, graph: Graph) -> tuple[Output, ...]:
        """What the code gives back."""
        return self.tail.results(graph) if self.tail else graph.outputs
