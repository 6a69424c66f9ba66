"""LaTeX: a complete document, with the meaning of the symbols, the list of abbreviations, and the equations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from kinegraph.compiler.request import Quantities
from kinegraph.export.identifiers import Scope, comment, prefix
from kinegraph.export.options import ExportOptions, FunctionLayout
from kinegraph.export.prepare import NamedGraph, digest_of, prepare_graphs
from kinegraph.export.unit import MARK, kinegraph_version
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Node, Output, Symbol
from kinegraph.graph.text import dump
from kinegraph.io.language.writer import write
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.latex import LatexNames, latex, needs_cyrillic
from kinegraph.notation.naming import natural

_KINDS = {
    Kind.PARAMETER: "parameters",
    Kind.COORDINATE: "coordinates",
    Kind.VELOCITY: "velocities",
    Kind.STATE: "first-order states",
    Kind.ACCELERATION: "accelerations",
    Kind.INPUT: "generalized forces",
    Kind.TIME: "time",
}
_BREAKABLE = str.maketrans({letter: rf"\{letter}" for letter in "$_%&#{}"} | {"^": r"\^{}", "~": r"\~{}"})


def latex_files(source: Mechanism | Graph, quantities: Quantities, options: ExportOptions) -> dict[str, str]:
    """One document for pdfLaTeX."""
    options = replace(options, layout=FunctionLayout.COMBINED)
    if options.symbolic_parameters is None:
        options = replace(options, symbolic_parameters=True)
    (bound,) = prepare_graphs(source, quantities, options)
    title = source.name if isinstance(source, Mechanism) else (options.name or "model")
    text = write(source) if isinstance(source, Mechanism) else dump(source)
    digest = digest_of(text, [output.name for output in bound.binding.graph.outputs], options.parameters)
    mechanism = source if isinstance(source, Mechanism) else None
    return {f"{prefix(options.name or title)}.tex": "\n".join(_document(bound, title, digest, mechanism))}


def _document(bound: NamedGraph, title: str, digest: str, mechanism: Mechanism | None) -> Iterator[str]:
    graph = printable(bound.binding.graph)
    cyrillic = needs_cyrillic(node.name for node in graph.nodes if isinstance(node, Symbol))
    yield from (f"% {MARK} {kinegraph_version()}.", f"% SHA-256 of model and quantities: {digest}")
    yield r"\documentclass[10pt,a4paper]{article}"
    if cyrillic:
        yield r"\usepackage[T2A]{fontenc}"
    yield from (r"\usepackage[utf8]{inputenc}", r"\usepackage[margin=20mm]{geometry}", r"\usepackage{amsmath}")
    yield from (r"\allowdisplaybreaks", r"\setlength{\parindent}{0pt}", r"\raggedright", "", r"\begin{document}", "")
    yield from (rf"\section*{{{_escaped(comment(title))}: {_escaped(bound.title)}}}", "")
    yield from (f"{count(graph)}.", "", *_symbols(graph), "", latex(graph, mechanism=mechanism).rstrip(), "")
    yield from (
        rf"{{\footnotesize {MARK} {kinegraph_version()}. SHA-256 of model and quantities:\\",
        rf"\texttt{{{digest}}}}}",
    )
    yield from (r"\end{document}", "")


def _symbols(graph: Graph) -> Iterator[str]:
    names = LatexNames(graph.symbols())
    for kind, word in _KINDS.items():
        symbols = sorted(graph.symbols(kind), key=lambda symbol: natural(symbol.name))
        if symbols:
            listed = ", ".join(f"${names[symbol]}$" for symbol in symbols)
            yield from (rf"{word.capitalize()}: {listed}.\\",)


def _escaped(text: str) -> str:
    """Text that is safe for comments, escaped for TeX's paragraphs as well."""
    return text.translate(_BREAKABLE)


#: Letters, digits and signs of names in models and quantities, in alphabets that TeX's fonts have.
_PRINTABLE = re.compile(r"[A-Za-z0-9Α-ωА-яёЁ_$:()/]{1,40}'*")


def printable(graph: Graph) -> Graph:
    """The graph with printable names; others are transliterated."""
    taken = Scope()
    names: dict[str, str] = {}

    def code_name(name: str) -> str:
        if name not in names:
            names[name] = name if _PRINTABLE.fullmatch(name) else taken.take(name)
        return names[name]

    def renamed(node: Node) -> Node:
        return Symbol(node.kind, code_name(node.name)) if isinstance(node, Symbol) else node

    outputs = tuple(Output(code_name(output.name), output.shape, output.nodes) for output in graph.outputs)
    return Graph(tuple(map(renamed, graph.nodes)), outputs)
