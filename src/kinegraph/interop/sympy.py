"""SymPy: the equations as exact expressions in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kinegraph.compiler.request import Quantities
from kinegraph.export.options import ExportOptions, FunctionLayout
from kinegraph.export.prepare import prepare_graphs
from kinegraph.extras import Foreign, extra
from kinegraph.graph.angle import PI
from kinegraph.graph.interpret import Evaluation
from kinegraph.graph.node import Coefficient, Graph, Symbol
from kinegraph.interop.expressions import Expressions
from kinegraph.model.mechanism import Mechanism


@dataclass(frozen=True)
class SympyEquations:
    """Expressions by quantity, in the model's own names.

    A quantity with one index is a column Matrix, with two a Matrix, with more an ImmutableDenseNDimArray.
    """

    symbols: dict[str, Foreign] = field(default_factory=dict)
    results: dict[str, Foreign] = field(default_factory=dict)


def to_sympy(source: Mechanism | Graph, quantities: Quantities, options: ExportOptions | None = None) -> SympyEquations:
    """The equations as SymPy expressions; parameters are symbols unless the options say otherwise."""
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
    """The arithmetic of SymPy: exact rationals, functions left as they are."""

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
