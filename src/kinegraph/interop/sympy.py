"""SymPy: the equations as exact expressions in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from kinegraph.compiler.request import Quantities
from kinegraph.export.options import ExportOptions, Layout
from kinegraph.export.prepare import prepare_graphs
from kinegraph.graph.angle import PI
from kinegraph.graph.interpret import Evaluation
from kinegraph.graph.node import Coefficient, Graph, Symbol
from kinegraph.model.mechanism import Mechanism


@dataclass(frozen=True)
class SympyEquations:
    """Expressions by quantity, in the model's own names.

    A quantity with one index is a column Matrix, with two a Matrix, with more an ImmutableDenseNDimArray.
    """

    symbols: dict[str, Any] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)


def to_sympy(source: Mechanism | Graph, quantities: Quantities, options: ExportOptions | None = None) -> SympyEquations:
    """The equations as SymPy expressions; parameters are symbols unless the options say otherwise."""
    options = replace(options or ExportOptions(), layout=Layout.COMBINED)
    if options.symbolic_parameters is None:
        options = replace(options, symbolic_parameters=True)
    (bound,) = prepare_graphs(source, quantities, options)
    graph = bound.binding.graph
    arithmetic = _Exact()
    evaluation = Evaluation(graph, arithmetic)
    results = {
        output.name: _shaped([evaluation[node] for node in output.nodes], output.shape) for output in graph.outputs
    }
    return SympyEquations(arithmetic.symbols, results)


def _shaped(entries: list[Any], shape: tuple[int, ...]) -> Any:
    sympy = import_module("sympy")
    if not shape:
        return entries[0]
    if len(shape) <= 2:
        return sympy.Matrix(shape[0], shape[1] if len(shape) == 2 else 1, entries)
    return sympy.ImmutableDenseNDimArray(entries, shape)


class _Exact:
    """The arithmetic of SymPy: exact rationals, functions left as they are."""

    def __init__(self) -> None:
        self.sympy = sympy = import_module("sympy")
        self.symbols: dict[str, Any] = {}
        self._special: dict[str, Callable[..., Any]] = {
            "reciprocal": lambda x: 1 / x,
            "abs": sympy.Abs,
            "select": lambda c, a, b: sympy.Piecewise((a, c >= 0), (b, True)),
        }

    def symbol(self, symbol: Symbol) -> Any:
        if symbol == PI:
            return self.sympy.pi
        return self.symbols.setdefault(symbol.name, self.sympy.Symbol(symbol.name, real=True))

    def number(self, value: Coefficient) -> Any:
        return self.sympy.Rational(value.numerator, value.denominator)

    def add(self, left: Any, right: Any) -> Any:
        return left + right

    def multiply(self, left: Any, right: Any) -> Any:
        return left * right

    def power(self, base: Any, exponent: int) -> Any:
        return base**exponent

    def function(self, name: str, arguments: Sequence[Any], angle: Callable[[], Any]) -> Any:
        return (self._special.get(name) or getattr(self.sympy, name))(*arguments)
