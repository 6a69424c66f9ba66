"""What reads the store: list, show, query, eval, expression, code, check."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, assignments, parse_value, plural, print_json
from kinegraph.cli.eval import written
from kinegraph.cli.store.common import NumericOption, StoredArgument, StoreOption, SumsOption, show_rows, store_of
from kinegraph.model.evaluate import number

if TYPE_CHECKING:
    from kinegraph.store.query.sql import Answer
    from kinegraph.store.read.code import StoredCode

EntryArgument = Annotated[
    str, typer.Argument(metavar="OUTPUT", help="An output (H), an entry (H11, H[1,1], tau3) or a variable (%7).")
]


def list_models(
    name: Annotated[str | None, typer.Argument(help="Only this mechanism.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """What the store holds."""
    from kinegraph.store.read.find import graph_rows

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
    text: Annotated[bool, typer.Option("--text", help="Print the mechanism as it was saved and nothing else.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """One stored graph: its outputs, and the counts after each pass."""
    from kinegraph.store.read.show import describe

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
    words: Annotated[list[str] | None, typer.Argument(metavar="...", help="What it is about.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most rows shown.")] = 1000,
    seconds: Annotated[float, typer.Option(help="Longest time for SQL.")] = 60.0,
    numeric: NumericOption = False,
    sums: SumsOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Ask a question about what is stored."""
    from kinegraph.store.query.words import Question, answer_to

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
    at: Annotated[list[str] | None, typer.Option("--at", metavar="NAME=VALUE,...")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Numbers, computed in the store level by level; what is not given has the value it was saved with."""
    from kinegraph.store.read.evaluate import evaluate as evaluate_stored
    from kinegraph.store.read.find import quantity_words

    values = {name: number(parse_value(text, "--at"), {}) for name, text in assignments(at or (), "--at").items()}
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
    keep: Annotated[bool, typer.Option("--keep", help="Keep it in the store.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """The complete analytic expression of an output or one of its entries."""
    from kinegraph.store.read.expression import Form, form_expressions

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
    runtime: Annotated[str, typer.Option(metavar="LIST", help="Parameters that are inputs of the program.")] = "",
    directory: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write the files there instead of printing them."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the text in the store.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Program text of chosen quantities, straight from the store.

    Functions take the arguments of the kernel of the same quantity: complete, in model order.
    """
    from kinegraph.store.read.code import code as stored_code
    from kinegraph.store.read.find import quantity_words

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
    from kinegraph.store.read.code import TEXTS

    return write_files(found.files, directory, replace=found.language in TEXTS)


def check(store: StoreOption = None, json: JsonOption = False) -> None:
    """Read everything and compare it with what was saved. Exit code 1 if something is damaged."""
    from kinegraph.store.read.check import check as examine

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
