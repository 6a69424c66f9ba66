"""Expressions from elsewhere, with as few operations as possible: SymPy in, SymPy out, proved on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kinegraph.errors import GraphError
from kinegraph.graph.angle import PI
from kinegraph.graph.build import Builder
from kinegraph.graph.count import Operations, count
from kinegraph.graph.functions import FUNCTIONS
from kinegraph.graph.node import Function, Graph, Kind, Output, Polynomial, Symbol
from kinegraph.passes.pipeline import Effort, reduce

_NAMES = {"Abs": "abs"}
_BACK = {"abs": "Abs"}


@dataclass(frozen=True)
class Minimised:
    """Expressions after reduction; `expressions` has the shape of `sympy.cse`'s result, None if a graph was given."""

    expressions: tuple[list[tuple[Any, Any]], list[Any]] | None
    before: Operations
    after: Operations
    graph: Graph
    proved: bool

    @property
    def operations(self) -> tuple[Operations, Operations]:
        """The counts before and after."""
        return self.before, self.after


def minimise(
    expressions: Graph | Any,
    parameters: Iterable[Any] = (),
    effort: Effort = Effort.NORMAL,
    seconds: float | None = None,
    seed: int = 0,
) -> Minimised:
    """The fewest operations found for a list of SymPy expressions (or one, or a graph), proved.

    What consists of `parameters` alone is taken to be computed beforehand and costs nothing. The count before is that
    of the expressions as written, equal subexpressions computed once.
    """
    if isinstance(expressions, Graph):
        reduction = reduce(expressions, effort, seconds, seed)
        return Minimised(None, count(expressions), count(reduction.graph), reduction.graph, reduction.proved)
    wanted = list(expressions) if isinstance(expressions, Sequence | Iterable) else [expressions]
    graph, symbols = _to_graph(wanted, list(parameters))
    reduction = reduce(graph, effort, seconds, seed)
    written = _Writer(reduction.graph, symbols).written()
    return Minimised(written, count(graph), count(reduction.graph), reduction.graph, reduction.proved)


def _sympy() -> Any:
    try:
        import sympy  # type: ignore[import-untyped,unused-ignore]
    except ImportError as problem:
        raise GraphError("expressions come from SymPy, which is not installed: pip install sympy") from problem
    return sympy


def _to_graph(expressions: list[Any], parameters: list[Any]) -> tuple[Graph, dict[str, Any]]:
    reader = _Reader(parameters)
    nodes = tuple(reader.node(expression) for expression in expressions)
    return reader.builder.graph([Output("expressions", (len(nodes),), nodes)]), reader.symbols


class _Reader:
    """SymPy expressions into a builder, children first."""

    def __init__(self, parameters: list[Any]) -> None:
        self.sympy = _sympy()
        self.builder = Builder()
        self.parameters = {str(parameter) for parameter in parameters}
        self.symbols: dict[str, Any] = {}
        self._known: dict[Any, int] = {}

    def node(self, expression: Any) -> int:
        for part in self.sympy.postorder_traversal(self.sympy.sympify(expression)):
            if part not in self._known:
                self._known[part] = self._converted(part)
        return self._known[self.sympy.sympify(expression)]

    def _converted(self, part: Any) -> int:
        builder = self.builder
        if part.is_Symbol:
            self.symbols[part.name] = part
            return builder.symbol(Kind.PARAMETER if part.name in self.parameters else Kind.INPUT, part.name)
        if part is self.sympy.pi:
            return builder.pi()
        if part.is_Rational:
            return builder.number(Fraction(int(part.p), int(part.q)))
        if part.is_Float:
            return builder.number(Fraction(str(part)))
        arguments = [self._known[argument] for argument in part.args]
        if part.is_Add:
            return builder.add(*arguments)
        if part.is_Mul:
            return builder.multiply(*arguments)
        if part.is_Pow:
            return self._power(part, arguments)
        return self._function(part, arguments)

    def _power(self, part: Any, arguments: list[int]) -> int:
        exponent = part.exp
        if exponent.is_Integer:
            return self.builder.power(arguments[0], int(exponent))
        if exponent.is_Rational and exponent.q == 2:
            return self.builder.power(self.builder.apply("sqrt", arguments[0]), int(exponent.p))
        if part.base is self.sympy.E:
            return self.builder.apply("exp", arguments[1])
        raise GraphError(f"cannot read the power {part}: whole exponents, halves and exp(x) are known")

    def _function(self, part: Any, arguments: list[int]) -> int:
        name = _NAMES.get(part.func.__name__, part.func.__name__)
        if name == "tan":
            sine, cosine = (self.builder.apply(f, arguments[0]) for f in ("sin", "cos"))
            return self.builder.multiply(sine, self.builder.reciprocal(cosine))
        if name not in FUNCTIONS:
            raise GraphError(f"cannot read {part}: known functions are tan, {', '.join(sorted(FUNCTIONS))}")
        return self.builder.apply(name, *arguments)


class _Writer:
    """A graph as a list of assignments and the outputs, like `sympy.cse`."""

    def __init__(self, graph: Graph, symbols: dict[str, Any]) -> None:
        self.sympy, self.graph, self.symbols = _sympy(), graph, symbols
        self._fresh = self.sympy.numbered_symbols("x", exclude=list(symbols.values()))
        self.replacements: list[tuple[Any, Any]] = []

    def written(self) -> tuple[list[tuple[Any, Any]], list[Any]]:
        values: list[Any] = []
        for index, node in enumerate(self.graph.nodes):
            value = self._value(node, values)
            if isinstance(node, Polynomial) and self.graph.use_counts[index] > self._shown(index):
                name = next(self._fresh) if not value.is_Number else value
                if not value.is_Number:
                    self.replacements.append((name, value))
                value = name
            values.append(value)
        return self.replacements, [values[index] for output in self.graph.outputs for index in output.nodes]

    def _shown(self, index: int) -> int:
        return sum(output.nodes.count(index) for output in self.graph.outputs)

    def _value(self, node: Symbol | Polynomial | Function, values: list[Any]) -> Any:
        if isinstance(node, Symbol):
            return self.sympy.pi if node == PI else self.symbols[node.name]
        if isinstance(node, Function):
            arguments = [values[a] for a in node.arguments]
            if node.name == "reciprocal":
                return 1 / arguments[0]
            if node.name == "select":
                return self.sympy.Piecewise((arguments[1], arguments[0] >= 0), (arguments[2], True))
            return getattr(self.sympy, _BACK.get(node.name, node.name))(*arguments)
        terms = []
        for c, factors in node.terms:
            product = self.sympy.Rational(c.numerator, c.denominator)
            terms.append(self.sympy.Mul(product, *(values[child] ** e for child, e in factors)))
        return self.sympy.Add(*terms)
