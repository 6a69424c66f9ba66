"""The table of quantities as pages show it."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.derive.quantities.record import Extent, Frame, QuantityRecord
from kinegraph.derive.quantities.table import TABLE
from kinegraph.derive.quantities.variables import Variables

_TITLES = ("word", "what it is", "of", "shape", "components along", "unit", "elements act")


def markdown_table() -> str:
    """All rows as a table in Markdown, in the order of the table."""
    lines = ["| " + " | ".join(_TITLES) + " |", "|" + "---|" * len(_TITLES)]
    lines += ["| " + " | ".join(_cells(record)) + " |" for record in TABLE]
    return "\n".join(lines) + "\n"


def _cells(record: QuantityRecord) -> Iterator[str]:
    yield f"`{record.word}`"
    yield record.meaning.replace("|", "\\|")
    yield ", ".join(record.arguments) or "parameters"
    yield shape_text(record)
    yield f"{record.frame.value}, or `@FRAME`" if record.any_frame else _frame(record.frame)
    yield record.unit
    yield "yes" if record.driven else "no"


def _frame(frame: Frame) -> str:
    return "" if frame is Frame.NONE else frame.value


def shape_text(record: QuantityRecord) -> str:
    """The shape in letters: n velocities, b base parameters, c components."""
    return " x ".join(extent.value if isinstance(extent, Extent) else str(extent) for extent in record.shape)


def variables_text() -> str:
    """What derivatives are taken by, in Markdown."""
    return ", ".join(f"`{group.value}` {group.meaning}" for group in Variables)
