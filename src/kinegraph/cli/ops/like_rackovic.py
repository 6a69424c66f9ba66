"""`kinegraph ops --like-rackovic`: the counterpart of Tables 3.3 and 3.4 of Rackovic's dissertation."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

import kinegraph as kg
from kinegraph.cli.common import console, print_json
from kinegraph.compiler.closed_form import in_closed_form
from kinegraph.compiler.request import quantities_of
from kinegraph.model.expression import Expression
from kinegraph.passes.expand import Expand
from kinegraph.passes.like_rackovic import LIMITS, Case, Published, Step, like_rackovic


def show(mechanism: kg.Mechanism, quantity: str, values: Mapping[str, Expression], json: bool) -> None:
    """Run the dissertation's steps, each proved, and print the counts; its figures stand beside its own example."""
    with console(stderr=True).status(f"reducing {mechanism.name} as in the dissertation ..."):
        cases = like_rackovic(in_closed_form(mechanism, quantity, values))
        symbolic = kg.count(Expand(LIMITS, forms=0).apply(in_closed_form(mechanism, quantity, {}))) if values else None
    beside = _is_example(mechanism, quantity)
    if json:
        found = {"cases": [_data(case, beside) for case in cases], "proved": True}
        print_json(found | ({"symbolic": {"mul": symbolic.mul, "add": symbolic.add}} if symbolic else {}))
        return
    console().print(_cases_table(cases, f"{mechanism.name}: {quantity}, the four cases (Table 3.3)", beside))
    for case in cases:
        title = f"case {case.number}: {case.title}" + (" (Table 3.4)" if case.number == len(cases) else "")
        console().print()
        console().print(_steps_table(case.steps, title, beside))
    if symbolic:
        console().print(f"\nanalytic expressions with all parameters symbols: {symbolic.mul} mul, {symbolic.add} add")
    console().print("\nevery step proved equal to the equations in closed form")


def _is_example(mechanism: kg.Mechanism, quantity: str) -> bool:
    """The published figures are of one mechanism and one list of quantities: beside others they would mislead."""
    return mechanism.name == "rackovic-6r" and {str(q) for q in quantities_of(quantity)} == {"H", "C", "gravity"}


def _cases_table(cases: tuple[Case, ...], title: str, beside: bool) -> Table:
    kinds = ("mul", "add", "sin", "cos")
    table = _table(title, "case", (*kinds, *(f"published {kind}" for kind in kinds if beside)))
    for case in cases:
        final = case.result
        figures = [str(getattr(final.operations, kind)) for kind in kinds]
        figures += [str(getattr(final.published, kind)) if final.published else "" for kind in kinds if beside]
        table.add_row(f"{case.number}: {case.title}", *figures)
    return table


def _steps_table(steps: tuple[Step, ...], title: str, beside: bool) -> Table:
    table = _table(title, "after", ("mul", "add", *(("published mul", "published add") if beside else ())))
    for step in steps:
        figures = [str(step.operations.mul), str(step.operations.add)]
        if beside:
            figures += [str(step.published.mul), str(step.published.add)] if step.published else ["", ""]
        table.add_row(f"{step.name}{_left(step)}", *figures)
    return table


def _left(step: Step) -> str:
    """Why a step changed nothing."""
    if step.changed:
        return ""
    return ": too large, left as it is" if step.too_large else ": nothing to change"


def _table(title: str, first: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _data(case: Case, beside: bool) -> dict[str, object]:
    steps = []
    for step in case.steps:
        row: dict[str, object] = {"name": step.name, "mul": step.operations.mul, "add": step.operations.add}
        if beside and step.published:
            row["published"] = _published(step.published)
        steps.append(row)
    final = case.result.operations
    result = {kind: getattr(final, kind) for kind in ("mul", "add", "sin", "cos")}
    return {"case": case.number, "title": case.title, **result, "steps": steps}


def _published(figures: Published) -> dict[str, int]:
    found = {"mul": figures.mul, "add": figures.add, "sin": figures.sin, "cos": figures.cos}
    return {kind: number for kind, number in found.items() if number is not None}
