"""Expressions from elsewhere, with as few operations as possible: SymPy in, SymPy out, proved on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kinegraph.compiler.sympy_reader import SympyReader, listed, sympy_module
from kinegraph.extras import Foreign
from kinegraph.graph.angle import PI
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Function, Graph, Polynomial, Symbol
from kinegraph.passes.pipeline import reduce
from kinegraph.passes.step import Effort

_BACK = {"abs": "Abs"}


@dataclass(frozen=True)
class Minimised:
    """Expressions after reduction; `expressions` has the shape of `sympy.cse`'s result, None if a graph was given."""

    expressions: tuple[list[tuple[Foreign, Foreign]], list[Foreign]] | None
    before: Operations
    after: Operations
    graph: Graph
    proved: bool

    @property
    def operations(self) -> tuple[Operations, Operations]:
        """The counts before and after."""
        return self.before, self.after


def minimise(
    expressions: Graph | Foreign,
    parameters: Iterable[Foreign] = (),
    effort: Effort | str = Effort.NORMAL,
    seconds: float | None = None,
    seed: int = 0,
) -> Minimised:
    """The fewest operations found for a list of SymPy expressions (or one, or a graph), proved.

    Numbers stand for themselves; a Float is the shortest decimal that gives it. What consists of `parameters` alone is
    taken to be computed beforehand and costs nothing. The count before is that of the expressions as written, equal
    subexpressions computed once.
    """
    if isinstance(expressions, Graph):
        reduction = reduce(expressions, effort, seconds, seed)
        return Minimised(None, count(expressions), count(reduction.graph), reduction.graph, reduction.proved)
    reader = SympyReader(parameters)
    graph = reader.graph(listed(expressions))
    reduction = reduce(graph, effort, seconds, seed)
    written = _Writer(reduction.graph, reader.symbols).written()
    return Minimised(written, count(graph), count(reduction.graph), reduction.graph, reduction.proved)


class _Writer:
    """A graph as a list of assignments and the outputs, like `sympy.cse`."""

    def __init__(self, graph: Graph, symbols: dict[str, Foreign]) -> None:
        self.sympy, self.graph, self.symbols = sympy_module(), graph, symbols
        self._fresh = self._new_symbols({str(symbol) for symbol in symbols.values()})
        self.replacements: list[tuple[Foreign, Foreign]] = []

    def _new_symbols(self, taken: set[str]) -> Iterator[Foreign]:
        return (symbol for symbol in self.sympy.numbered_symbols("x") if symbol.name not in taken)

    def written(self) -> tuple[list[tuple[Foreign, Foreign]], list[Foreign]]:
        values: list[Foreign] = []
        for index, node in enumerate(self.graph.nodes):
            value = self._value(node, values)
            if isinstance(node, Polynomial) and self.graph.use_counts[index] > self._times_output(index):
                name = next(self._fresh) if not value.is_Number else value
                if not value.is_Number:
                    self.replacements.append((name, value))
                value = name
            values.append(value)
        return self.replacements, [values[index] for output in self.graph.outputs for index in output.nodes]

    def _times_output(self, index: int) -> int:
        return sum(output.nodes.count(index) for output in self.graph.outputs)

    def _value(self, node: Symbol | Polynomial | Function, values: list[Foreign]) -> Foreign:
        if isinstance(node, Symbol):
            return self.sympy.pi if node == PI else self.symbols[node.name]
        if isinstance(node, Function):
            arguments = [values[a] for a in node.arguments]
            if node.name == "reciprocal":
                return 1 / arguments[0]
            if node.name == "select":
                return self.sympy.Piecewise((arguments[1], arguments[0] >= 0), (arguments[2], True))
            if node.name == "guarded":
                return self.sympy.Piecewise((arguments[0], arguments[1] >= 0), (self.sympy.nan, True))
            return getattr(self.sympy, _BACK.get(node.name, node.name))(*arguments)
        terms = []
        for c, factors in node.terms:
            product = self.sympy.Rational(c.numerator, c.denominator)
            terms.append(self.sympy.Mul(product, *(values[child] ** e for child, e in factors)))
        return self.sympy.Add(*terms)
