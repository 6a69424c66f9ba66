"""What changes the store, and compares what was saved: add, diff, prune, eliminate, reduce."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, PassesOption, plural, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.store.common import NumericOption, StoredArgument, StoreOption, SumsOption, show_rows, store_of
from kinegraph.passes.step import Effort

if TYPE_CHECKING:
    from kinegraph.store.schema.records import SavedModel
    from kinegraph.store.write.history import CountChange


@reads_model
def add(
    source: ModelSource,
    quantity: Annotated[str, typer.Option("--quantity", "-q", metavar="LIST")] = "H,C,gravity",
    effort: Annotated[Effort, typer.Option(help="How long to reduce.")] = Effort.QUICK,
    passes: PassesOption = "",
    expressions: Annotated[
        str | None, typer.Option(metavar="LIST", help="Form and keep the complete expressions of these outputs.")
    ] = None,
    numeric: NumericOption = False,
    sums: SumsOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Derive, reduce and save: the mechanism, its initial and its reduced graph, the counts after each pass."""
    from kinegraph.store.read.expression import Form, form_expressions
    from kinegraph.store.write.add import add as add_model

    with store_of(store, create=True) as here:
        saved = add_model(here, source.mechanism(), quantity, effort, passes=passes)
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
    old: Annotated[int | None, typer.Argument(help="A version; else the one before NEW.")] = None,
    new: Annotated[int | None, typer.Argument(help="A version; else the newest.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Records and counts that changed between two versions of a mechanism."""
    from kinegraph.store.write.history import diff as compare

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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Remove what nothing refers to: lost runs, graphs saved again later, old versions without graphs and runs."""
    from kinegraph.store.write.history import prune as remove

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
    from kinegraph.store.write.rewrite import eliminate as rewrite

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
    effort: Annotated[Effort, typer.Option(help="How long to reduce, where no passes are given.")] = Effort.QUICK,
    stage: Annotated[str, typer.Option(help="What the result is called; else `reduced`, or `by passes`.")] = "",
    updates: Annotated[
        bool, typer.Option("--updates", help="Run each of --passes as an update of rows inside the database.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Reduce a stored graph (of a model: the initial one); keep the result, proved, and the counts after each pass.

    Example: kinegraph store reduce rackovic-6r --passes "expand(forms=0), products, monomials"
    """
    from kinegraph.store.write.by_updates import reduce_by_updates
    from kinegraph.store.write.reduce import reduce_stored

    with store_of(store) as here:
        if updates:
            found = reduce_by_updates(here, model, passes, stage)
        else:
            found = reduce_stored(here, model, passes, effort, stage)
    if json:
        print_json(asdict(found))
        return
    typer.echo(f"graph #{found.graph} ({found.stage}) from #{found.origin} by {found.passes}, proved equal")
    show_rows(("pass", "operations"), [(one.name, str(one.operations)) for one in found.counts])
