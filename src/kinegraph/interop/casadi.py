"""CasADi: quantities as `casadi.Function`s of SX symbols, for optimisation and optimal control."""

from __future__ import annotations

from dataclasses import replace

from kinegraph.compiler.request import Quantities
from kinegraph.export.options import ExportOptions
from kinegraph.export.prepare import NamedGraph, prepare_graphs
from kinegraph.extras import Foreign, extra
from kinegraph.graph.angle import PI
from kinegraph.graph.interpret import Evaluation
from kinegraph.graph.node import Coefficient, Graph, Symbol
from kinegraph.interop.expressions import Expressions
from kinegraph.model.mechanism import Mechanism


def to_casadi(
    source: Mechanism | Graph, quantities: Quantities, options: ExportOptions | None = None
) -> dict[str, Foreign]:
    """A `casadi.Function` for every quantity (one for all with FunctionLayout.COMBINED), by its name in code.

    Arguments are columns q, v, a, ...; CasADi knows matrices only, so of a result with three indices the last two are
    one, row after row.
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
