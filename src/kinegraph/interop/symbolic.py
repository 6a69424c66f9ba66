"""Quantities as SymPy expressions and CasADi functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kinegraph.compiler.request import Quantities
from kinegraph.export.options import ExportOptions, FunctionLayout
from kinegraph.export.prepare import NamedGraph, prepare_graphs
from kinegraph.extras import Foreign, extra
from kinegraph.graph.angle import PI
from kinegraph.graph.interpret import Evaluation
from kinegraph.graph.lookup import selected
from kinegraph.graph.node import Coefficient, Graph, Symbol, is_lookup
from kinegraph.model.mechanism import Mechanism


class Expressions:
    """Arithmetic with the expressions of a symbolic library, for `Evaluation`.

    library: the module with functions of the same names as in the graph, except those in `special`.
    """

    def __init__(self, library: Foreign, special: Mapping[str, Callable[..., Foreign]]) -> None:
        self.library = library
        self._special: dict[str, Callable[..., Foreign]] = {"reciprocal": lambda x: 1 / x, **special}

    def symbol(self, symbol: Symbol) -> Foreign:
        """The expression of a symbol of the graph."""
        raise NotImplementedError

    def number(self, value: Coefficient) -> Foreign:
        """The expression of a number."""
        raise NotImplementedError

    def add(self, left: Foreign, right: Foreign) -> Foreign:
        """The sum of two values."""
        return left + right

    def multiply(self, left: Foreign, right: Foreign) -> Foreign:
        """The product of two values."""
        return left * right

    def power(self, base: Foreign, exponent: int) -> Foreign:
        """A value to an integer power."""
        return base**exponent

    def function(self, name: str, arguments: Sequence[Foreign], angle: Callable[[], Foreign]) -> Foreign:
        """A function of values."""
        if is_lookup(name):
            select = self._special["select"]
            return selected(name, arguments[0], self.number, lambda c, a, b: select(c, a, b))
        return (self._special.get(name) or getattr(self.library, name))(*arguments)


@dataclass(frozen=True)
class SympyEquations:
    """SymPy expressions by quantity, in the names of the model.

    A quantity with one index is a column Matrix, with two a Matrix, with more an ImmutableDenseNDimArray.
    """

    symbols: dict[str, Foreign] = field(default_factory=dict)
    results: dict[str, Foreign] = field(default_factory=dict)


def to_sympy(source: Mechanism | Graph, quantities: Quantities, options: ExportOptions | None = None) -> SympyEquations:
    """The equations as SymPy expressions; by default parameters are symbols."""
    options = replace(options or ExportOptions(), layout=FunctionLayout.COMBINED)
    if options.symbolic_parameters is None:
        options = replace(options, symbolic_parameters=True)
    sympy = extra("sympy", "an equation of SymPy")
    (bound,) = prepare_graphs(source, quantities, options)
    graph = bound.binding.graph
    arithmetic = _Exact(sympy)
    evaluation = Evaluation(graph, arithmetic)
    results = {
        output.name: _shaped(sympy, [evaluation[node] for node in output.nodes], output.shape)
        for output in graph.outputs
    }
    return SympyEquations(arithmetic.symbols, results)


def _shaped(sympy: Foreign, entries: list[Foreign], shape: tuple[int, ...]) -> Foreign:
    if not shape:
        return entries[0]
    if len(shape) <= 2:
        return sympy.Matrix(shape[0], shape[1] if len(shape) == 2 else 1, entries)
    return sympy.ImmutableDenseNDimArray(entries, shape)


class _Exact(Expressions):
    """The arithmetic of SymPy: exact rationals, unevaluated functions."""

    def __init__(self, sympy: Foreign) -> None:
        special = {
            "abs": sympy.Abs,
            "select": lambda c, a, b: sympy.Piecewise((a, c >= 0), (b, True)),
            "guarded": lambda value, room: sympy.Piecewise((value, room >= 0), (sympy.nan, True)),
        }
        super().__init__(sympy, special)
        self.symbols: dict[str, Foreign] = {}

    def symbol(self, symbol: Symbol) -> Foreign:
        if symbol == PI:
            return self.library.pi
        return self.symbols.setdefault(symbol.name, self.library.Symbol(symbol.name, real=True))

    def number(self, value: Coefficient) -> Foreign:
        return self.library.Rational(value.numerator, value.denominator)


def to_casadi(
    source: Mechanism | Graph, quantities: Quantities, options: ExportOptions | None = None
) -> dict[str, Foreign]:
    """A `casadi.Function` of SX symbols for each quantity (one for all with FunctionLayout.COMBINED), by name.

    Arguments are columns q, v, a, ... CasADi has only matrices, so the last two indices of a result with three indices
    are flattened, row by row.
    """
    casadi = extra("casadi", "a CasADi function")
    options = options or ExportOptions()
    if options.symbolic_parameters is None:
        options = replace(options, symbolic_parameters=False)
    return {bound.name: _function(casadi, bound) for bound in prepare_graphs(source, quantities, options)}


def _function(casadi: Foreign, bound: NamedGraph) -> Foreign:
    binding = bound.binding
    inputs = [casadi.SX.sym(field.name, field.size) for field in bound.inputs]
    entries = [vector[position] for vector in inputs for position in range(vector.numel())]
    by_symbol = dict(zip((s for one in binding.arguments for s in one.symbols), entries, strict=True))
    evaluation = Evaluation(binding.graph, _Doubles(casadi, by_symbol, dict(binding.parameters)))
    results = []
    for output in binding.graph.outputs:
        columns = len(output.nodes) // output.shape[0] if len(output.shape) > 1 and output.shape[0] else 1
        flat = casadi.vertcat(*(evaluation[node] for node in output.nodes))
        results.append(casadi.reshape(flat, columns, -1).T if columns > 1 else flat)
    names = [[field.name for field in fields] for fields in (bound.inputs, bound.outputs)]
    return casadi.Function(bound.name, inputs, results, *names)


class _Doubles(Expressions):
    """The arithmetic of CasADi's scalar expressions."""

    def __init__(self, casadi: Foreign, by_symbol: dict[Symbol, Foreign], parameters: dict[str, Foreign]) -> None:
        special = {
            "abs": casadi.fabs,
            "select": lambda c, a, b: casadi.if_else(c >= 0, a, b),
            "guarded": lambda value, room: casadi.if_else(room >= 0, value, float("nan")),
        }
        super().__init__(casadi, special)
        self.by_symbol = by_symbol
        self.parameters = parameters

    def symbol(self, symbol: Symbol) -> Foreign:
        if symbol == PI:
            return self.library.SX(self.library.pi)
        return self.by_symbol[symbol] if symbol in self.by_symbol else self.number(self.parameters[symbol.name])

    def number(self, value: Coefficient) -> Foreign:
        return self.library.SX(float(value))
