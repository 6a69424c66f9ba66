"""Source code for chosen quantities, generated from the store; only the variables they need are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.request import arguments_of, runtime_names
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import DerivationError, ModelError, StoreError
from kinegraph.export.options import ExportOptions, Language
from kinegraph.export.prepare import Origin, prepare_as_it_is, symbol_arguments
from kinegraph.export.write import PROGRAM_LANGUAGES, files_of
from kinegraph.graph import text as graph_text
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.node import Coefficient, Graph, Kind, Symbol
from kinegraph.io import parse
from kinegraph.model.evaluate import following
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.latex import latex
from kinegraph.notation.text import formula
from kinegraph.store import tables as schema
from kinegraph.store.catalog import StoredGraph, entry_codes, graph_row
from kinegraph.store.database import Store
from kinegraph.store.evaluation import wanted_outputs
from kinegraph.store.expressions import parameter_values
from kinegraph.store.graphs import compact, needed, read_nodes, read_outputs
from kinegraph.store.saving import save_source

#: Texts that are not programs, by file extension.
TEXTS = {"text": "txt", "latex": "tex", "graph": "graph"}

LANGUAGES = ("c", *TEXTS, *(one.value for one in PROGRAM_LANGUAGES if one is not Language.C))


@dataclass(frozen=True, slots=True)
class StoredCode:
    """Program text as `export` writes it, with the arguments its functions take and the outputs they return.

    A function takes the arguments of its output: those of the kernel of the same quantity, complete, in model order.
    """

    language: str
    files: Mapping[str, str]
    arguments: tuple[tuple[str, tuple[str, ...]], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def text(self) -> str:
        """The text of the file; of several, each begins with its name."""
        if len(self.files) == 1:
            return next(iter(self.files.values()))
        return "\n".join(f"==> {name} <==\n{text}" for name, text in self.files.items())


@dataclass(frozen=True, slots=True)
class _StoredPart:
    """A part of a stored graph, its stored parameter values, and the arguments of each output."""

    row: StoredGraph
    graph: Graph
    values: Mapping[str, Coefficient]
    origin: Origin


def code(
    store: Store,
    reference: str | int,
    language: str = "c",
    names: Sequence[str] = (),
    runtime: Sequence[str] = (),
    keep: bool = False,
) -> StoredCode:
    """Code for outputs or entries of a stored graph (all outputs if none is named).

    Parameters have their stored values, unless named in `runtime`; those without a value are also inputs. With
    `keep` the text is saved beside the graph.
    """
    if language not in LANGUAGES:
        raise StoreError(f"unknown language {language!r}; choose from {', '.join(LANGUAGES)}")
    part = _stored_part(store, reference, names, runtime)
    outputs = tuple((output.name, output.shape) for output in part.graph.outputs)
    found = StoredCode(language, _files(language, part), _taken(part.origin), outputs)
    if keep:
        save_source(store, part.row.id, language, tuple(name for name, _ in outputs), found.text)
    return found


def _stored_part(store: Store, reference: str | int, wanted: Sequence[str], runtime: Sequence[str]) -> _StoredPart:
    """The part of a stored graph that outputs or entries need."""
    with store.reading() as connection:
        row = graph_row(connection, reference)
        outputs = wanted_outputs(connection, row, wanted)
        with needed(connection, row.id, {code for output in outputs for code in output.nodes}) as only:
            nodes = read_nodes(connection, row.id, only=only)
        values = {name: value for name, value in parameter_values(connection, row.id).items() if name not in runtime}
        origin = _origin(connection, row, [output.name for output in outputs], values, runtime)
    graph = compact(nodes, outputs)
    if origin.mechanism:
        graph = _with_formulas(graph, origin.mechanism, _late(origin.mechanism, runtime))
    return _StoredPart(row, graph, values, origin)


def _with_formulas(graph: Graph, mechanism: Mechanism, late: Sequence[str]) -> Graph:
    """Parameters that are formulas of runtime parameters follow them, as in a kernel."""
    formulas = {one.name: one.value for one in mechanism.parameters if one.value is not None and one.name not in late}
    followers = following(mechanism, late)
    if not followers:
        return graph
    builder = GraphBuilder()
    meaning = Names(builder, mechanism, formulas)

    def symbol(node: Symbol) -> int:
        follows = node.kind is Kind.PARAMETER and node.name in followers
        return meaning[node.name].index if follows else builder.symbol(node.kind, node.name)

    return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))


def _taken(origin: Origin) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The arguments of all outputs, each once."""
    every = dict.fromkeys(one for arguments in origin.arguments.values() for one in arguments)
    return tuple((one.name, tuple(symbol.name for symbol in one.symbols)) for one in sorted(every, key=_place))


def _place(argument: Argument) -> int:
    return _ORDER.index(argument.name)


_ORDER = ("q", "v", "z", "a", "tau", "u", "t", "p", "c")


def _origin(
    connection: Connection,
    row: StoredGraph,
    outputs: Iterable[str],
    values: Mapping[str, Coefficient],
    runtime: Sequence[str],
) -> Origin:
    m = schema.mechanism
    text = connection.execute(select(m.c.text).where(m.c.id == row.mechanism)).scalar_one()
    try:
        mechanism = parse(text, f"{row.name}@{row.version}")
        late = _late(mechanism, runtime)
        takes = {name: arguments_of(mechanism, _quantities(connection, row, name), late) for name in outputs}
    except (ModelError, DerivationError):  # a graph saved with another text, or not a quantity of its model
        arguments = symbol_arguments(_symbols(connection, row.id), values)
        return Origin(None, dict.fromkeys(outputs, arguments))
    return Origin(mechanism, takes)


def _late(mechanism: Mechanism, runtime: Sequence[str]) -> tuple[str, ...]:
    """Runtime parameters: the named ones, in that order, and those without a value."""
    missing = (one.name for one in mechanism.parameters if one.value is None)
    return tuple(dict.fromkeys((*runtime_names(mechanism, runtime), *missing)))


def _quantities(connection: Connection, row: StoredGraph, name: str) -> tuple[str, ...]:
    """The quantity of an output or an entry; a variable may belong to any of them."""
    known = [output.name for output in read_outputs(connection, row.id)]
    if name in known:
        return (name,)
    (label,) = entry_codes(connection, row, name)
    return tuple(known) if label.startswith("%") else (label.rpartition("[")[0],)


def _symbols(connection: Connection, graph: int) -> tuple[Symbol, ...]:
    """Every symbol of a stored graph, in its order."""
    v = schema.variable
    rows = connection.execute(
        select(v.c.kind, v.c.name)
        .where(v.c.graph == graph, v.c.kind.in_([kind.value for kind in Kind]))
        .order_by(v.c.code)
    )
    return tuple(Symbol(Kind(kind), name) for kind, name in rows)


def _files(language: str, part: _StoredPart) -> dict[str, str]:
    graph = part.graph
    if language in TEXTS:
        return {f"{part.row.name}.{TEXTS[language]}": _text(language, graph)}
    options = ExportOptions(name=part.row.name, parameters=dict(part.values))
    return files_of(prepare_as_it_is(graph, part.origin, options), Language(language))


def _text(language: str, graph: Graph) -> str:
    if language == "latex":
        return latex(graph)
    return formula(graph) if language == "text" else graph_text.dump(graph)
