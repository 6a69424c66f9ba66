"""`kinegraph reproduce`: the source documents, table by table, beside what is computed here."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, console, print_json

if TYPE_CHECKING:
    from kinegraph.reproduce.document import Reproduction, Section


class Which(StrEnum):
    """The words for the documents."""

    KIDYM = "kidym"
    INVERSE = "inverse"
    LOOPS = "loops"
    DATABASE = "database"
    DOCKING = "docking"
    ALL = "all"


def run(
    which: Annotated[Which, typer.Argument(help="The document.")] = Which.ALL,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="The folder of the pages: NAME.html, NAME.md and, for all, index.html.",
        ),
    ] = Path("reproduced"),
    json: JsonOption = False,
) -> None:
    """Recompute every printed table of the source documents, and compare.

    Example: kinegraph reproduce database -o pages
    """
    from kinegraph.reproduce.document import reproduced
    from kinegraph.reproduce.documents import DOCUMENTS
    from kinegraph.reproduce.page import html, index, markdown

    output.mkdir(parents=True, exist_ok=True)
    found = []
    for document in DOCUMENTS.values() if which is Which.ALL else (DOCUMENTS[which.value],):
        one = reproduced(document, None if json else _tell)
        found.append(one)
        (output / f"{document.word}.html").write_text(html(one), encoding="utf-8")
        (output / f"{document.word}.md").write_text(markdown(one), encoding="utf-8")
        if not json:
            console().print(f"[bold]{one}[/bold]\nopen {output / f'{document.word}.html'}")
    if which is Which.ALL:
        (output / "index.html").write_text(index(found), encoding="utf-8")
    if json:
        print_json({"documents": [_data(one) for one in found]})


def _tell(section: Section) -> None:
    words = ", ".join(f"{number} {verdict.value}" for verdict, number in section.verdicts.items())
    console().print(f"{section.title}: {words} ({section.seconds:.1f} s)")


def _data(one: Reproduction) -> dict[str, object]:
    return {
        "document": one.document.word,
        **{verdict.value: number for verdict, number in one.verdicts.items()},
        "sections": [
            {
                "title": section.title,
                "command": section.command,
                "seconds": section.seconds,
                "entries": [
                    {"name": entry.name, "printed": entry.printed, "ours": entry.ours, "verdict": entry.verdict.value}
                    | ({"reason": entry.reason} if entry.reason else {})
                    for entry in section.entries
                ],
            }
            for section in one.sections
        ],
    }
