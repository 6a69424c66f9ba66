"""What the commands of the store share: options, opening it, tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from kinegraph.cli.common import console

if TYPE_CHECKING:  # SQLAlchemy is imported when a command runs: the other commands start without it
    from kinegraph.store.schema.open import Store

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        help="An SQLite file or postgresql:// URL; else $KINEGRAPH_STORE, else a file in the user's data directory.",
    ),
]
StoredArgument = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="NAME, NAME@VERSION, NAME@VERSION:STAGE or #GRAPH.", show_default=False),
]
NumericOption = Annotated[bool, typer.Option("--numeric", help="Parameters as the numbers they were saved with.")]
SumsOption = Annotated[bool, typer.Option("--sums", help="Leave sines and cosines of sums of angles whole.")]


@contextmanager
def store_of(target: str | None, create: bool = False) -> Iterator[Store]:
    """The store of `--store`."""
    from kinegraph.store.schema.open import open_store

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
