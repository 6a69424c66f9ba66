"""Program text for chosen quantities, straight from the store: only what they need is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinegraph.codegen.c import c_source
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.errors import StoreError
from kinegraph.graph import text as graph_text
from kinegraph.graph.angle import PI
from kinegraph.graph.node import Coefficient, Graph, Kind
from kinegraph.notation.latex import latex
from kinegraph.notation.naming import natural
from kinegraph.notation.text import formula
from kinegraph.store.read.cone import needed
from kinegraph.store.read.evaluate import wanted_outputs
from kinegraph.store.read.expression import parameter_values
from kinegraph.store.read.find import graph_row
from kinegraph.store.read.load import compact, read_nodes
from kinegraph.store.schema.open import Store
from kinegraph.store.write.save import save_source

LANGUAGES = ("c", "text", "latex", "graph")

#: The order in which a program takes its inputs, and the letter of each group.
_GROUPS = (
    ("q", Kind.COORDINATE), ("v", Kind.VELOCITY), ("a", Kind.ACCELERATION), ("tau", Kind.INPUT), ("t", Kind.TIME),
    ("p", Kind.PARAMETER),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredCode:
    """A program text with what it takes (`x` of the C function holds these groups one after another) and returns."""

    language: str
    text: str
    arguments: tuple[tuple[str, tuple[str, ...]], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part of a stored graph and the values its parameters were saved with."""

    row: int
    graph: Graph
    values: Mapping[str, Coefficient]

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """What a program of it takes."""
        return _arguments(self.graph, self.values)


def code(
    store: Store,
    reference: str | int,
    language: str = "c",
    names: Sequence[str] = (),
    runtime: Sequence[str] = (),
    keep: bool = False,
) -> StoredCode:
    """Code for outputs or entries of a stored graph (all outputs if none is named).

    Parameters have the values they were saved with, unless named in `runtime`; those without a value are inputs too.
    With `keep` the text is saved beside the graph.
    """
    if language not in LANGUAGES:
        raise StoreError(f"there is no code in {language!r}; choose one of {', '.join(LANGUAGES)}")
    part = stored_part(store, reference, names, runtime)
    return with_text(store, part, language, _text(language, part), keep)


def stored_part(store: Store, reference: str | int, names: Sequence[str], runtime: Sequence[str] = ()) -> StoredPart:
    """What outputs or entries of a stored graph need, and no more of it."""
    with store.reading() as connection:
        row = graph_row(connection, reference)
        outputs = wanted_outputs(connection, row, names)
        with needed(connection, row.id, {code for output in outputs for code in output.nodes}) as only:
            nodes = read_nodes(connection, row.id, only=only)
        values = {name: value for name, value in parameter_values(connection, row.id).items() if name not in runtime}
    return StoredPart(row.id, compact(nodes, outputs), values)


def with_text(store: Store, part: StoredPart, language: str, source: str, keep: bool) -> StoredCode:
    """A program text with what it takes and returns; with `keep` saved beside the graph."""
    outputs = part.graph.outputs
    if keep:
        save_source(store, part.row, language, tuple(output.name for output in outputs), source)
    takes = tuple((argument.name, tuple(symbol.name for symbol in argument.symbols)) for argument in part.arguments)
    return StoredCode(language, source, takes, tuple((output.name, output.shape) for output in outputs))


def _arguments(graph: Graph, values: Mapping[str, Coefficient]) -> tuple[Argument, ...]:
    groups = []
    for letter, kind in _GROUPS:
        symbols = [s for s in graph.symbols(kind) if kind is not Kind.PARAMETER or s.name not in values]
        if symbols:
            groups.append(Argument(letter, tuple(sorted(symbols, key=lambda symbol: natural(symbol.name)))))
    constants = [s for s in graph.symbols(Kind.CONSTANT) if s != PI]
    return (*groups, Argument("constants", tuple(constants))) if constants else tuple(groups)


def _text(language: str, part: StoredPart) -> str:
    if language == "c":
        return c_source(bind(part.graph, part.arguments, part.values))
    if language == "latex":
        return latex(part.graph)
    return formula(part.graph) if language == "text" else graph_text.dump(part.graph)
