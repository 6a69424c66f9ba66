"""`kinegraph ops --like-rackovic`: the counterpart of Tables 3.3 and 3.4 of Rackovic's dissertation."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

import kinegraph as kg
from kinegraph.cli.common import console, print_json
from kinegraph.compile import quantities_of
from kinegraph.model.expression import Expression
from kinegraph.passes.like_rackovic import PUBLISHED, like_rackovic
from kinegraph.passes.pipeline import PassReport


def show(mechanism: kg.Mechanism, quantity: str, values: Mapping[str, Expression], json: bool) -> None:
    """Run the dissertation's steps, each proved, and print the counts; its figures stand beside its own example."""
    with console(stderr=True).status(f"reducing {mechanism.name} as in the dissertation ..."):
        reports = like_rackovic(kg.derive(mechanism, quantity, values=values))
    published = PUBLISHED if _is_example(mechanism, quantity) else {}
    if json:
        print_json({"passes": [_data(report, published) for report in reports], "proved": True})
        return
    table = Table(title=f"{mechanism.name}: {quantity}", title_justify="left", box=None, pad_edge=False)
    table.add_column("step")
    for column in ("mul", "add", *(("published mul", "published add") if published else ())):
        table.add_column(column, justify="right")
    for report in reports:
        figures = published.get(report.name, ())
        table.add_row(report.name, str(report.after.mul), str(report.after.add), *map(str, figures))
    console().print(table)
    console().print("every step proved equal to the derived equations")


def _is_example(mechanism: kg.Mechanism, quantity: str) -> bool:
    """The published figures are of one mechanism and one list of quantities: beside others they would mislead."""
    return mechanism.name == "rackovic-6r" and {str(q) for q in quantities_of(quantity)} == {"H", "C", "gravity"}


def _data(report: PassReport, published: Mapping[str, tuple[int, int]]) -> dict[str, object]:
    figures = published.get(report.name)
    beside = {"published": {"mul": figures[0], "add": figures[1]}} if figures else {}
    return {"name": report.name, "mul": report.after.mul, "add": report.after.add, **beside}
