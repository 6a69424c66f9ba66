"""`kinegraph store`: the commands of the model database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from kinegraph.cli.common import (
    JsonOption,
    PassesOption,
    StoreOption,
    assignments,
    console,
    parse_value,
    plural,
    print_json,
)  # fmt: skip
from kinegraph.cli.eval import written
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.model.evaluate import number
from kinegraph.passes.effort import Effort

if TYPE_CHECKING:
    from kinegraph.store.catalog import SavedModel
    from kinegraph.store.database import Store
    from kinegraph.store.maintenance import CountChange
    from kinegraph.store.queries import Answer
    from kinegraph.store.source_code import StoredCode


# What the commands of the store share: options, opening it, tables.

StoredArgument = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="NAME, NAME@VERSION, NAME@VERSION:STAGE or #GRAPH.", show_default=False),
]
NumericOption = Annotated[bool, typer.Option("--numeric", help="Replace parameters by their saved values.")]
SumsOption = Annotated[bool, typer.Option("--sums", help="Keep sines and cosines of sums of angles.")]


@contextmanager
def store_of(target: str | None, create: bool = False) -> Iterator[Store]:
    """The store of `--store`."""
    from kinegraph.store.database import open_store

    store = open_store(target, create=create)
    try:
        yield store
    finally:
        store.close()


def show_rows(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """A table without lines."""
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*("" if cell is None else escape(_cell(cell)) for cell in row))
    console().print(table)


def _cell(cell: object) -> str:
    return f"{cell:.10g}" if isinstance(cell, float) else str(cell)


# What reads the store: list, show, query, eval, expression, code, check.

EntryArgument = Annotated[
    str, typer.Argument(metavar="OUTPUT", help="An output (H), an entry (H11, H[1,1], tau3) or a variable (%7).")
]


def list_models(
    name: Annotated[str | None, typer.Argument(help="Only this mechanism.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """List the stored models and graphs."""
    from kinegraph.store.catalog import graph_rows

    with store_of(store) as here, here.reading() as connection:
        rows = graph_rows(connection, name)
    if json:
        print_json({"graphs": [asdict(row) for row in rows]})
        return
    columns = ("graph", "model", "stage", "quantities", "nodes", "levels", "proved", "saved")
    show_rows(columns, [
        (f"#{r.id}", f"{r.name}@{r.version}", r.stage, ",".join(r.quantities), r.nodes, r.levels,
         {True: "yes", False: "no", None: ""}[r.proved], r.created)
        for r in rows
    ])  # fmt: skip


def show(
    model: StoredArgument,
    text: Annotated[bool, typer.Option("--text", help="Print only the saved mechanism.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show a stored graph: its outputs, and the counts after each pass."""
    from kinegraph.store.queries import describe

    with store_of(store) as here:
        found = describe(here, model)
    if json:
        print_json(asdict(found))
        return
    if text:
        typer.echo(found.text, nl=False)
        return
    graph = found.graph
    typer.echo(f"{graph}  #{graph.id}  {plural(graph.nodes, 'node')}, {plural(graph.levels, 'level')}, {graph.created}")
    show_rows(("output", "shape"), [(name, "x".join(map(str, shape)) or "scalar") for name, shape in found.outputs])
    show_rows(("pass", "mul", "add", "div", "sqrt", "sin", "cos", "seconds"), [
        (p["name"], p["mul"], p["add"], p["div"], p["sqrt"], p["sin"], p["cos"],
         "" if p["seconds"] is None else f"{p['seconds']:.3f}") for p in found.passes
    ])  # fmt: skip
    if found.expressions:
        show_rows(("stored expressions", "form", "terms"), [tuple(row) for row in found.expressions])


QUESTIONS = """
depends MODEL OUTPUT: which symbols does it depend on?\n
affects MODEL SYMBOL: which entries depend on it?\n
uses SYMBOL: which models depend on it, a parameter for example?\n
terms MODEL OUTPUT NAME,...: the terms of its complete expression that contain all these names\n
shared MODEL: the subexpressions used most often\n
costliest MODEL: operations by output and entry\n
levels MODEL: variables by level\n
defined MODEL: variables that the model has a name for\n
bodies, transforms, joints, elements, loops, constraints MODEL: the parts of the mechanism\n
changed NAME [OLD NEW]: what changed between two versions\n
sql STATEMENT: any SQL that reads (docs/store.md lists the tables)
"""


def query(
    question: Annotated[str, typer.Argument(help="One of the questions above.")],
    words: Annotated[list[str] | None, typer.Argument(metavar="...", help="Arguments of the question.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Largest number of rows.")] = 1000,
    seconds: Annotated[float, typer.Option(help="Time limit for SQL, in seconds.")] = 60.0,
    numeric: NumericOption = False,
    sums: SumsOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Ask a question about what is stored."""
    from kinegraph.store.queries import Question, answer_to

    with store_of(store) as here:
        answer = answer_to(here, Question(question, tuple(words or ()), limit, seconds, numeric, sums))
    _answer(answer, json)


def _answer(answer: Answer, json: bool) -> None:
    if json:
        print_json({"columns": answer.columns, "rows": answer.records(), "more": answer.more})
        return
    show_rows(answer.columns, answer.rows)
    if answer.more:
        typer.echo("... and more rows: raise --limit")


def evaluate(
    model: StoredArgument,
    quantity: Annotated[str, typer.Option("--quantity", "-q", metavar="LIST", help="Outputs or entries.")] = "",
    state: Annotated[
        list[str] | None, typer.Option("--state", metavar="NAME=VALUE,...", help="The state. Default: as saved.")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Evaluate a stored graph at a state, inside the store."""
    from kinegraph.store.catalog import quantity_words
    from kinegraph.store.evaluation import evaluate as evaluate_stored

    given = assignments(state or (), "--state")
    values = {name: number(parse_value(text, "--state"), {}) for name, text in given.items()}
    with store_of(store) as here:
        results = evaluate_stored(here, model, quantity_words(quantity), values)
    if json:
        print_json({name: array.tolist() for name, array in results.items()})
        return
    typer.echo("\n\n".join("\n".join(written(name, array)) for name, array in results.items()))


def expression(
    model: StoredArgument,
    output: EntryArgument,
    numeric: NumericOption = False,
    sums: SumsOption = False,
    keep: Annotated[bool, typer.Option("--keep", help="Save it in the store.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Print the complete analytic expression of an output or of an entry."""
    from kinegraph.store.expressions import Form, form_expressions

    with store_of(store) as here:
        found = form_expressions(here, model, output, Form(numeric, sums), keep)
    if json:
        form = str(Form(numeric, sums))
        print_json({"form": form, "expressions": [{"label": e.label, "terms": e.rows()} for e in found]})
        return
    typer.echo("\n".join(map(str, found)))


def code(
    model: StoredArgument,
    to: Annotated[
        str, typer.Option("--to", help="c, text, latex, graph, or cpp, python, matlab, julia, rust, fortran.")
    ] = "c",
    quantity: Annotated[str, typer.Option("--quantity", "-q", metavar="LIST", help="Outputs or entries.")] = "",
    runtime: Annotated[str, typer.Option(metavar="LIST", help="Parameters to keep as inputs of the program.")] = "",
    directory: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write files to this path instead of printing them."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Save the text in the store.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Program text of chosen quantities, straight from the store.

    Functions take the arguments of the kernel of the same quantity: complete, in model order.
    """
    from kinegraph.store.catalog import quantity_words
    from kinegraph.store.source_code import code as stored_code

    with store_of(store) as here:
        found = stored_code(here, model, to, quantity_words(quantity), quantity_words(runtime), keep)
    paths = () if directory is None else _write(found, directory)
    if json:
        print_json(asdict(found) | {"text": found.text, "written": [str(path) for path in paths]})
    elif paths:
        typer.echo("\n".join(f"wrote {path}" for path in paths))
    else:
        typer.echo(found.text, nl=not found.text.endswith("\n"))


def _write(found: StoredCode, directory: Path) -> tuple[Path, ...]:
    from kinegraph.export.write import write_files
    from kinegraph.store.source_code import TEXTS

    return write_files(found.files, directory, replace=found.language in TEXTS)


def check(store: StoreOption = None, json: JsonOption = False) -> None:
    """Read everything and compare it with what was saved. Exit code 1 if something is damaged."""
    from kinegraph.store.maintenance import check as examine

    with store_of(store) as here:
        report = examine(here)
    if json:
        print_json(asdict(report) | {"whole": bool(report)})
    else:
        for line in (*report.faults, *report.warnings):
            typer.echo(line)
        held = f"{plural(report.mechanisms, 'mechanism')}, {plural(report.graphs, 'graph')}"
        typer.echo(f"{held}: {'whole' if report else plural(len(report.faults), 'fault')}")
    if not report:
        raise typer.Exit(1)


# What changes the store, and compares what was saved: add, diff, prune, eliminate, reduce, differentiate.


@reads_model
def add(
    source: ModelSource,
    quantity: Annotated[str, typer.Option("--quantity", "-q", metavar="LIST")] = "H,C,gravity",
    effort: Annotated[Effort, typer.Option(help="How hard to reduce.")] = Effort.QUICK,
    passes: PassesOption = "",
    closed_form: Annotated[
        bool,
        typer.Option("--closed-form", help="Keep Racković's formulas as the initial graph: e_i, r_ij, Q_i have names."),
    ] = False,
    expressions: Annotated[
        str | None, typer.Option(metavar="LIST", help="Also save the complete expressions of these outputs.")
    ] = None,
    numeric: NumericOption = False,
    sums: SumsOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Derive, reduce and save: the mechanism, its initial and its reduced graph, the counts after each pass."""
    from kinegraph.store.expressions import Form, form_expressions
    from kinegraph.store.models import add as add_model

    with store_of(store, create=True) as here:
        saved = add_model(here, source.mechanism(), quantity, effort, passes=passes, closed_form=closed_form)
        for wanted in (expressions or "").split(",") if expressions else ():
            form_expressions(here, saved.graphs[-1], wanted.strip(), Form(numeric, sums), keep=True)
        if json:
            print_json(asdict(saved) | {"store": here.where})
        else:
            _say_saved(saved, here.where)


def _say_saved(saved: SavedModel, where: str) -> None:
    graphs = ", ".join(f"#{graph}" for graph in saved.graphs)
    typer.echo(f"{saved.name}@{saved.version} saved with graphs {graphs} in {where}")


def diff(
    name: Annotated[str, typer.Argument(help="A mechanism.")],
    old: Annotated[int | None, typer.Argument(help="A version. Default: the one before NEW.")] = None,
    new: Annotated[int | None, typer.Argument(help="A version. Default: the newest.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Records and counts that changed between two versions of a mechanism."""
    from kinegraph.store.maintenance import diff as compare

    with store_of(store) as here:
        found = compare(here, name, old, new)
    if json:
        print_json(asdict(found))
        return
    typer.echo(f"{name}: version {found.old} -> {found.new}")
    typer.echo("\n".join([*(f"- {line}" for line in found.removed), *(f"+ {line}" for line in found.added)]))
    show_rows(("stage", "quantities", "before", "after"), [_change(one) for one in found.counts])


def _change(one: CountChange) -> tuple[str, ...]:
    return one.stage, ",".join(one.quantities), str(one.before or "none"), str(one.after or "none")


def prune(
    keep: Annotated[int | None, typer.Option(min=1, help="Remove all but this many newest versions.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Remove what nothing refers to: lost runs, graphs saved again later, old versions without graphs and runs."""
    from kinegraph.store.maintenance import prune as remove

    with store_of(store) as here:
        gone = remove(here, keep, dry_run)
    if json:
        print_json(asdict(gone) | {"dry_run": dry_run})
        return
    parts = (plural(len(gone.runs), "run"), plural(len(gone.graphs), "graph"), plural(len(gone.mechanisms), "version"))
    typer.echo(f"{'would remove' if dry_run else 'removed'} {', '.join(parts)}")


def eliminate(
    model: StoredArgument, numeric: NumericOption = False, store: StoreOption = None, json: JsonOption = False
) -> None:
    """Remove neutral elements and identical expressions inside the database; the result is a graph of its own."""
    from kinegraph.store.elimination import eliminate as rewrite

    with store_of(store) as here:
        found = rewrite(here, model, numeric)
    if json:
        print_json(asdict(found))
        return
    typer.echo(f"graph #{found.graph}")
    show_rows(("pass", "operations"), [(one.name, str(one.operations)) for one in found.passes])


def reduce(
    model: StoredArgument,
    passes: PassesOption = "",
    effort: Annotated[Effort, typer.Option(help="How hard to reduce if no passes are given.")] = Effort.QUICK,
    stage: Annotated[str, typer.Option(help="Name of the result. Default: `reduced`, or `by passes`.")] = "",
    updates: Annotated[
        bool, typer.Option("--updates", help="Run each of --passes as an update of rows inside the database.")
    ] = False,
    numeric: NumericOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Reduce a stored graph (of a model: the initial one); keep the result, proved, and the counts after each pass.

    Example: kinegraph store reduce rackovic-6r --passes "expand(forms=0), products, monomials"
    """
    from kinegraph.store.reduction import reduce_by_updates, reduce_stored

    with store_of(store) as here:
        if updates:
            found = reduce_by_updates(here, model, passes, stage, numeric)
        else:
            found = reduce_stored(here, model, passes, effort, stage, numeric=numeric)
    if json:
        print_json(asdict(found))
        return
    typer.echo(f"graph #{found.graph} ({found.stage}) from #{found.origin} by {found.passes}, proved equal")
    show_rows(("pass", "operations"), [(one.name, str(one.operations)) for one in found.counts])


def differentiate(
    model: StoredArgument,
    outputs: Annotated[str, typer.Argument(metavar="LIST", help="Outputs, entries or named variables.")],
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="A symbol of the graph, or q, v, a, tau, u, p.")],
    stage: Annotated[str, typer.Option(help="Name of the result. Default: `differentiated`.")] = "",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Differentiate a stored graph by one of its symbols; keep the result, proved, as a graph of its own.

    Example: kinegraph store differentiate double-pendulum H --by q2
    """
    from kinegraph.store.catalog import quantity_words
    from kinegraph.store.differentiation import differentiate as differentiate_stored

    with store_of(store) as here:
        found = differentiate_stored(here, model, quantity_words(outputs), by, stage)
    if json:
        print_json(asdict(found) | {"proved": found.proved})
        return
    proof = (
        f"proved {found.proof}"
        if found.proved
        else "not proved: too large, or by displacements of quaternions; try single entries, or q"
    )
    typer.echo(f"graph #{found.graph} ({found.stage}) from #{found.origin}: {', '.join(found.outputs)}; {proof}")
    show_rows(("pass", "operations"), [(one.name, str(one.operations)) for one in found.counts])


# `kinegraph store`: the model database.

app = typer.Typer(
    help="The model database: add, list, show, query, eval, expression, code, reduce, eliminate, differentiate, diff, "
    "prune, check."
)

app.command("add")(add)
app.command("list")(list_models)
app.command("show")(show)
app.command("query", help="Ask the store a question:\n\n" + QUESTIONS)(query)
app.command("eval")(evaluate)
app.command("expression")(expression)
app.command("code")(code)
app.command("diff")(diff)
app.command("prune")(prune)
app.command("eliminate")(eliminate)
app.command("reduce")(reduce)
app.command("differentiate")(differentiate)
app.command("check")(check)
