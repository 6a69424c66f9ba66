"""Tables of the documents, as printed."""

from __future__ import annotations

from importlib.resources import files


def table(name: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table by their first column; numbers stay the text that is printed."""
    lines = (files(__package__) / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {first: tuple(rest) for first, *rest in rows}
