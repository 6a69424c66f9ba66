"""SymPy expressions with as few operations as possible, proved equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import count
from numbers import Rational, Real
from types import ModuleType

from kinegraph.errors import GraphError
from kinegraph.extras import Foreign
from kinegraph.graph.angle import PI
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.count import Operations
from kinegraph.graph.count import count as count_count
from kinegraph.graph.node import FUNCTIONS, Function, Graph, Kind, Output, Polynomial, Symbol
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce

# SymPy expressions read into a graph; nothing is evaluated, so strings are refused.

_NAMES = {"Abs": "abs"}

#: Floats beyond 2^20000 or below 2^-20000 would make numbers of thousands of digits.
_LARGEST_EXPONENT = 20_000


def sympy_module() -> ModuleType:
    """SymPy, or an error that says how to get it."""
    try:
        return import_module("sympy")
    except ImportError as problem:
        raise GraphError("expressions come from SymPy, which is not installed: pip install sympy") from problem


class SympyReader:
    """SymPy expressions into a builder, children first; `symbols` says what each name of the graph stands for."""

    def __init__(self, parameters: Iterable[Foreign] = ()) -> None:
        self.sympy = sympy_module()
        self.builder = GraphBuilder()
        self.symbols: dict[str, Foreign] = {}
        self._parameters = set(parameters)
        self._known: dict[Foreign, int] = {}

    def graph(self, expressions: Iterable[Foreign]) -> Graph:
        """All expressions as one output."""
        nodes = tuple(self.node(expression) for expression in expressions)
        return self.builder.graph([Output("expressions", (len(nodes),), nodes)])

    def node(self, expression: Foreign) -> int:
        """The node of one expression: SymPy's, or a number."""
        if not isinstance(expression, self.sympy.Expr):
            return self._number_node(expression)
        for part in self._parts(expression):
            if part not in self._known:
                self._known[part] = self._converted(part)
        return self._known[expression]

    def _number_node(self, value: Foreign) -> int:
        if isinstance(value, Rational) and not isinstance(value, bool):
            return self.builder.number(Fraction(int(value.numerator), int(value.denominator)))
        if isinstance(value, Real) and not isinstance(value, bool):
            return self._float(self.sympy.Float(float(value)))
        raise _not_an_expression(value)

    def _parts(self, expression: Foreign) -> Iterator[Foreign]:
        """Every part of an expression, children first; without recursion, for expressions may be deep."""
        stack = [(expression, False)]
        while stack:
            part, visited = stack.pop()
            if visited or part in self._known or self._is_leaf(part):
                yield part
            else:
                stack.append((part, True))
                stack.extend((argument, False) for argument in reversed(part.args))

    def _is_leaf(self, part: Foreign) -> bool:
        """Symbols, and what stands for one: q(t) and its derivatives."""
        functions = self.sympy.core.function
        return not part.args or isinstance(part, functions.AppliedUndef | functions.Derivative)

    def _converted(self, part: Foreign) -> int:
        builder, sympy = self.builder, self.sympy
        if part.is_Rational:
            return builder.number(Fraction(int(part.p), int(part.q)))
        if part.is_Float:
            return self._float(part)
        if part is sympy.pi:
            return builder.pi()
        if part is sympy.E:
            return builder.apply("exp", builder.one)
        if part.is_Symbol or (self._is_leaf(part) and part.args):
            return self._symbol(part)
        arguments = [self._known[argument] for argument in part.args]
        if part.is_Add:
            return builder.add(*arguments)
        if part.is_Mul:
            return builder.multiply(*arguments)
        return self._power(part, arguments) if part.is_Pow else self._function(part, arguments)

    def _symbol(self, part: Foreign) -> int:
        """A symbol of the graph for one of SymPy's: different ones may have the same name, and get another here."""
        if part.is_commutative is False:
            raise GraphError(f"the symbol {part} does not commute: only numbers can be computed with")
        text = str(part)
        name = next(name for name in _alternatives(text) if name not in self.symbols)
        self.symbols[name] = part
        static = part in self._parameters or text in self._parameters
        return self.builder.symbol(Kind.PARAMETER if static else Kind.INPUT, name)

    def _float(self, part: Foreign) -> int:
        """The shortest decimal that is this very number in the precision it has."""
        if not part.is_finite or abs(part._mpf_[2]) > _LARGEST_EXPONENT:
            raise GraphError(f"cannot read the number {_short(part)}: it is not finite or far too large or small")
        libmp = import_module("mpmath.libmp")
        least = libmp.prec_to_dps(part._prec)
        for digits in range(least, least + 5):
            text = libmp.to_str(part._mpf_, digits)
            if libmp.from_str(text, part._prec, "n") == part._mpf_:
                return self.builder.number(Fraction(text))
        raise AssertionError(f"no decimal of {least + 4} digits is {part!r}")

    def _power(self, part: Foreign, arguments: list[int]) -> int:
        exponent = self.builder.value_of(arguments[1])
        if exponent is not None and exponent.denominator == 1:
            return self.builder.power(arguments[0], int(exponent))
        if exponent is not None and exponent.denominator == 2:
            return self.builder.power(self.builder.apply("sqrt", arguments[0]), exponent.numerator)
        if part.base is self.sympy.E:
            return self.builder.apply("exp", arguments[1])
        raise GraphError(f"cannot read the power {_short(part)}: whole exponents, halves and exp(x) are known")

    def _function(self, part: Foreign, arguments: list[int]) -> int:
        name = _NAMES.get(part.func.__name__, part.func.__name__)
        if name == "tan":
            sine, cosine = (self.builder.apply(f, arguments[0]) for f in ("sin", "cos"))
            return self.builder.multiply(sine, self.builder.reciprocal(cosine))
        if name not in FUNCTIONS:
            raise GraphError(f"cannot read {_short(part)}: known functions are tan, {', '.join(sorted(FUNCTIONS))}")
        return self.builder.apply(name, *arguments)


_WANTED = "give expressions of SymPy, as in minimize([x*y + x, sympy.sin(x)*y]); strings are not evaluated"


def listed(expressions: Foreign) -> list[Foreign]:
    """One expression or several (a list, a matrix) in the order given; an error for what has no order."""
    if isinstance(expressions, sympy_module().Expr | Real):
        return [expressions]
    if isinstance(expressions, str | bytes | dict | set | frozenset):
        raise _not_an_expression(expressions)
    try:
        return list(expressions)
    except TypeError:
        raise _not_an_expression(expressions) from None


def _not_an_expression(value: Foreign) -> GraphError:
    return GraphError(f"cannot read {_short(value)} ({type(value).__name__}): {_WANTED}")


def _alternatives(text: str) -> Iterator[str]:
    """A name, and others like it."""
    yield text
    yield from (f"{text}_{number}" for number in count(1))


def _short(value: Foreign) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# Expressions from elsewhere, with as few operations as possible: SymPy in, SymPy out, proved on the way.

_BACK = {"abs": "Abs"}


@dataclass(frozen=True)
class Minimized:
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


def minimize(
    expressions: Graph | Foreign,
    parameters: Iterable[Foreign] = (),
    effort: Effort | str = Effort.NORMAL,
    seconds: float | None = None,
    seed: int = 0,
) -> Minimized:
    """Rewrite SymPy expressions with as few operations as possible, and prove the result.

    expressions: a list of SymPy expressions, a single one, or a graph. A Float means its shortest decimal.
    parameters: symbols that are known in advance; expressions of parameters alone cost nothing.
    effort: how hard to search: quick, normal or search. seconds: time limit of a search. seed: of the search.
    The count before is that of the expressions as written, with common subexpressions computed once.
    """
    if isinstance(expressions, Graph):
        reduction = reduce(expressions, effort, seconds, seed)
        return Minimized(
            None, count_count(expressions), count_count(reduction.graph), reduction.graph, reduction.proved
        )
    reader = SympyReader(parameters)
    graph = reader.graph(listed(expressions))
    reduction = reduce(graph, effort, seconds, seed)
    written = _Writer(reduction.graph, reader.symbols).written()
    return Minimized(written, count_count(graph), count_count(reduction.graph), reduction.graph, reduction.proved)


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
