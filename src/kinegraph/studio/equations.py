"""Equations for the page: typeset, with what each entry depends on, its value at the current state, and the counts."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from kinegraph.compiler import stored
from kinegraph.compiler.compile import LARGE
from kinegraph.compiler.request import request_of
from kinegraph.errors import DerivationError
from kinegraph.export import export
from kinegraph.extras import extra
from kinegraph.graph.count import Operations, count
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output, Symbol, children
from kinegraph.interop.symbolic import to_sympy
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expressions import TIME, expressions, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.latex import latex
from kinegraph.notation.mathml import Display, mathml
from kinegraph.notation.naming import Naming
from kinegraph.notation.text import formula
from kinegraph.studio.model_text import read_model
from kinegraph.studio.requests import Arguments, Channel
from kinegraph.studio.scene import settings

#: Longer lists are not typeset; the page names the command that prints them.
MOST_EQUATIONS = 1500
_MOST_NODES = 40_000
_DIGITS = 5


@dataclass(frozen=True)
class _Request:
    """What the page asks for: quantities of a mechanism."""

    mechanism: Mechanism
    quantities: str

    def graph(self) -> Graph:
        """The equations, shortened and proved."""
        return stored.reduced(stored.resolve_closure(request_of(self.mechanism, self.quantities))).graph


def _equations_of(arguments: Arguments) -> _Request:
    mechanism = replace(read_model(arguments), contacts=())  # their forces enter as multipliers
    if len(mechanism.layout.velocities) > LARGE:
        raise DerivationError(
            f"{len(mechanism.layout.velocities)} velocities are too many to write equations out\n"
            "  they are computed by recursive algorithms over bodies"
        )
    return _Request(mechanism, str(arguments.get("quantities") or "H,gravity"))


def equations(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Abbreviations and entries in MathML, the counts after each pass, and the proof."""
    channel.progress(0.1, "deriving")
    request = _equations_of(arguments)
    reduced = stored.reduced(stored.resolve_closure(request_of(request.mechanism, request.quantities)))
    graph = reduced.graph
    channel.progress(0.7, "typesetting")
    found = mathml(graph, request.mechanism, _DIGITS) if len(graph) <= _MOST_NODES else None
    if found is None or len(found.abbreviations) + len(found.entries) > MOST_EQUATIONS:
        raise DerivationError(
            f"{request.quantities} has {len(graph)} nodes: too long to read on a page\n"
            f"  kinegraph derive MODEL -q {request.quantities}"
        )
    naming = Naming(graph, mechanism=request.mechanism)
    symbols = _symbols(graph)
    entries = [entry.node for section in naming.sections for entry in section.entries]
    values = _values(graph, entries, request.mechanism, arguments)
    stages = [("derived", reduced.first), ("frames chosen", reduced.derived)]
    stages += [(report.name, report.after) for report in reduced.reports]
    return {
        "quantities": request.quantities,
        "abbreviations": list(_rows(found.abbreviations, naming.order, symbols, {})),
        "entries": list(_rows(found.entries, entries, symbols, values)),
        "bodies": _bodies(request.mechanism),
        "counts": [{"name": name, **_operations(operations)} for name, operations in stages],
        "total": _operations(count(graph)),
        "proof": "proved equal to the derived equations",
    }


def _rows(
    displays: Sequence[Display], nodes: Sequence[int], symbols: Sequence[frozenset[str]], values: Mapping[int, float]
) -> Iterator[dict[str, object]]:
    for display, node in zip(displays, nodes, strict=True):
        yield {
            "left": display.left, "terms": list(display.terms), "symbols": sorted(symbols[node]),
            "value": values.get(node),
        }  # fmt: skip


def _symbols(graph: Graph) -> list[frozenset[str]]:
    """For each node the names it depends on."""
    found: list[frozenset[str]] = []
    for node in graph.nodes:
        if isinstance(node, Symbol):
            found.append(frozenset() if node.kind is Kind.CONSTANT else frozenset({node.name}))
        else:
            found.append(frozenset[str]().union(*(found[child] for child in set(children(node)))))
    return found


def _bodies(mechanism: Mechanism) -> dict[str, list[str]]:
    """The names that tell a body's terms in the equations: its coordinates, and what no other body uses."""
    used = {
        body.name: {name for root in expressions((body.transforms, body.inertia)) for name in names(root)}
        for body in mechanism.bodies
    }
    uses = Counter(name for own in used.values() for name in own)
    moving = set(mechanism.layout.positions)
    return {body: sorted(name for name in own if name in moving or uses[name] == 1) for body, own in used.items()}


def _values(graph: Graph, nodes: Sequence[int], mechanism: Mechanism, arguments: Arguments) -> dict[int, float]:
    """The entries at the state of the page; none if a parameter has no value."""
    given = settings(mechanism, arguments)
    if any(one.value is None and one.name not in given for one in mechanism.parameters):
        return {}
    state = arguments.get("state")
    known: dict[str, float] = {symbol.name: 0.0 for symbol in graph.symbols() if symbol.kind is not Kind.CONSTANT}
    known |= float_values(parameter_values(mechanism, given)) | {TIME: 0.0}
    known |= {str(name): float(value) for name, value in (state if isinstance(state, Mapping) else {}).items()}
    selected = Graph(graph.nodes, (Output("entries", (len(nodes),), tuple(nodes)),))
    found = np.asarray(
        interpret(selected, {s.name: known[s.name] for s in graph.symbols() if s.name in known})["entries"]
    )
    return dict(zip(nodes, found.tolist(), strict=True))


def _operations(operations: Operations) -> dict[str, int]:
    return {kind: number for kind, number in asdict(operations).items() if number or kind in ("mul", "add")}


def equations_as(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """The equations as text of a language: latex, text, sympy or c."""
    request, form = _equations_of(arguments), arguments.get("form")
    if form == "sympy":
        return {"text": _sympy(request)}
    if form == "c":
        with tempfile.TemporaryDirectory() as folder:
            report = export(request.mechanism, request.quantities, "c", folder)
            return {"text": next(Path(path) for path in report.files if str(path).endswith(".c")).read_text("utf-8")}
    write = latex if form == "latex" else formula
    return {"text": write(request.graph(), mechanism=request.mechanism)}


def _sympy(request: _Request) -> str:
    """Python that makes SymPy expressions; it needs nothing but SymPy."""
    sympy = extra("sympy", "an equation of SymPy")
    found = to_sympy(request.mechanism, request.quantities)
    lines = [f"{name.replace(':', '_')} = {sympy.srepr(value)}" for name, value in found.results.items()]
    return "from sympy import *\n\n" + "\n".join(lines) + "\n"
