"""Derivatives at the end of a run, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinegraph.tasks.operating_point import Floats


def derivative_table(
    title: str, results: Sequence[str], by: Sequence[str], derivatives: Floats, values: Floats | None = None
) -> str:
    """A line for each variable, a column for each result; the values of the results before all, if they are given."""
    width = max(14, *(len(name) + 2 for name in (*results, *by)))

    def line(head: str, texts: Iterable[str]) -> str:
        return "".join(f"{text:>{width}}" for text in (head, *texts))

    rows = [] if values is None else [("value", values)]
    rows += zip(by, derivatives.T, strict=True)
    return "\n".join([title, line("by", results), *(line(name, (f"{x:.6g}" for x in row)) for name, row in rows)])
