"""Tables of the documents, as printed."""

from __future__ import annotations

from importlib.resources import files


def text(name: str) -> str:
    """A printed formula or file, unchanged."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def table(name: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table by their first column; numbers stay as printed text."""
    lines = text(f"{name}.tsv").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {first: tuple(rest) for first, *rest in rows}
