"""`kinegraph count`: operation counts after each stage of the reduction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import kinegraph as kg
from kinegraph.cli.common import (
    ClosureOption,
    JsonOption,
    PassesOption,
    QuantityOption,
    SetOption,
    console,
    parameter_settings,
    print_json,
)
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.codegen.kernel import KernelChoice
from kinegraph.compiler.base_parameters import BaseParameters, base_parameters
from kinegraph.compiler.choose import chosen as chosen_graph
from kinegraph.compiler.derive import Derivations, in_closed_form
from kinegraph.compiler.reduce import reduced as reduced_equations
from kinegraph.compiler.request import Request, quantities_of, same_passes
from kinegraph.compiler.stored import resolve_closure
from kinegraph.derive.plan import Closure
from kinegraph.errors import TaskError
from kinegraph.graph.count import Operations, largest_exponent
from kinegraph.model.evaluate import known_parameter_values
from kinegraph.model.expressions import Expression
from kinegraph.passes.effort import Effort
from kinegraph.passes.expand import Expand
from kinegraph.passes.like_rackovic import LIMITS, Case, Published, ReductionStep, like_rackovic

# `kinegraph count --like-rackovic`: the counterpart of Tables 3.3 and 3.4 of Rackovic's dissertation.


def show_like_rackovic(mechanism: kg.Mechanism, quantity: str, values: Mapping[str, Expression], json: bool) -> None:
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
    table = _counts_table(title, "case", (*kinds, *(f"published {kind}" for kind in kinds if beside)))
    for case in cases:
        final = case.result
        figures = [str(getattr(final.operations, kind)) for kind in kinds]
        figures += [str(getattr(final.published, kind)) if final.published else "" for kind in kinds if beside]
        table.add_row(f"{case.number}: {case.title}", *figures)
    return table


def _steps_table(steps: tuple[ReductionStep, ...], title: str, beside: bool) -> Table:
    table = _counts_table(title, "after", ("mul", "add", *(("published mul", "published add") if beside else ())))
    for step in steps:
        figures = [str(step.operations.mul), str(step.operations.add)]
        if beside:
            figures += [str(step.published.mul), str(step.published.add)] if step.published else ["", ""]
        table.add_row(f"{step.name}{_left(step)}", *figures)
    return table


def _left(step: ReductionStep) -> str:
    """Why a step changed nothing."""
    if step.changed:
        return ""
    return ": too large, left as it is" if step.too_large else ": nothing to change"


def _counts_table(title: str, first: str, columns: tuple[str, ...]) -> Table:
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


# `kinegraph count`: operation counts after each stage of the reduction.

_COLUMNS = ("mul", "add", "div", "sqrt", "sin", "cos")


@dataclass(frozen=True)
class CountedStage:
    """The count after one stage."""

    name: str
    operations: Operations

    def as_data(self) -> dict[str, str | int]:
        """As plain data."""
        return {"name": self.name, **counts(self.operations)}


@dataclass(frozen=True)
class Account:
    """All stages of one reduction, and whether the result was proved equal to the equations as first derived."""

    stages: tuple[CountedStage, ...]
    result: Operations
    proved: bool
    kernel: KernelChoice
    #: Most joints are those of limbs with others like them, which kernels compute side by side where that pays.
    limbs: bool
    #: The highest power of any quantity in the result.
    largest_exponent: int

    def as_data(self) -> dict[str, object]:
        """The JSON of the command."""
        passes = [stage.as_data() for stage in self.stages]
        kernel = {
            "reduction_taken": self.kernel.reduction_taken,
            "cycles_before": round(self.kernel.before, 1),
            "cycles_after": round(self.kernel.after, 1),
            "limbs_of_one_shape": self.limbs,
        }
        return {**counts(self.result), "passes": passes, "proved": self.proved, "kernel": kernel} | {
            "largest_exponent": self.largest_exponent
        }


def counts(operations: Operations) -> dict[str, int]:
    """The six kinds of operations; other functions are added where there are any."""
    found = asdict(operations)
    return {kind: found[kind] for kind in (*_COLUMNS, *(("other",) if operations.other else ()))}


EffortOption = Annotated[Effort | None, typer.Option(help="How hard to reduce.  [default: normal]", show_default=False)]
SecondsOption = Annotated[float | None, typer.Option(min=0.0, help="Time of the search; implies --effort search.")]
RackovicOption = Annotated[
    bool, typer.Option("--like-rackovic", help="Follow the steps of Rackovic's dissertation, and compare.")
]
RegroupedOption = Annotated[bool, typer.Option("--base-parameters", help="Also list the base parameters as formulas.")]


@reads_model
def run(
    source: ModelSource,
    quantity: QuantityOption = "H,C,gravity",
    effort: EffortOption = None,
    seconds: SecondsOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    symbolic: Annotated[bool, typer.Option("--symbolic", help="Keep all parameters symbolic.")] = False,
    rackovic: RackovicOption = False,
    regrouped: RegroupedOption = False,
    passes: PassesOption = "",
    closure: ClosureOption = Closure.MULTIPLIERS,
    settings: SetOption = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Save a bar chart of the counts.")] = None,
    json: JsonOption = False,
) -> None:
    """Count operations after each stage of the reduction, and prove the result.

    Parameters with values become numbers. Multiplications and additions are binary; signs and expressions of
    parameters alone cost nothing.

    Example: kinegraph count puma560 -q tau --effort quick --plot counts.png
    """
    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    if not symbolic:
        values = {**known_values(mechanism), **values}
    if rackovic:
        show_like_rackovic(mechanism, quantity, values, json)
        return
    if plot is not None:
        from kinegraph.view.plot import picture_path

        picture_path(plot, TaskError)  # said before the search, not after it
    chosen = effort or (Effort.NORMAL if seconds is None else Effort.SEARCH)
    with console(stderr=True).status(f"reducing {mechanism.name} ..."):
        account = reduce_with_account(mechanism, quantity, values, chosen, seconds, seed, passes, closure)
    if plot is not None:
        draw(account, f"{mechanism.name}: {quantity}", plot)
    formulas = base_parameters(mechanism, parameters=parameter_settings(mechanism, settings)) if regrouped else None
    if json:
        print_json(account.as_data() | (_formulas_data(formulas) if formulas else {}))
        return
    _show(account, f"{mechanism.name}: {quantity}")
    if formulas:
        number = f"{len(formulas)} base parameters" + (", the fewest possible" if formulas.minimal else "")
        console().print(f"\n{number}; links by their first body, later ones taken in:", markup=False)
        console().print(str(formulas), markup=False, soft_wrap=True)


def _show(account: Account, title: str) -> None:
    console().print(_table(account, title))
    console().print(_verdict(account), markup=False)
    console().print(f"largest exponent: {account.largest_exponent}", markup=False)
    console().print(str(account.kernel), markup=False)
    if account.limbs:
        console().print(
            "limbs of one shape: kernels compute them side by side where that pays; counted is each", markup=False
        )


def _formulas_data(found: BaseParameters) -> dict[str, object]:
    formulas = {parameter.name: parameter.formula for parameter in found.parameters}
    return {"base_parameters": formulas, "no_effect": list(found.idle), "minimal": found.minimal}


def known_values(mechanism: kg.Mechanism) -> dict[str, Expression]:
    """The parameters whose value the model says, directly or through others."""
    known = known_parameter_values(mechanism).keys()
    return {p.name: p.value for p in mechanism.parameters if p.value is not None and p.name in known}


def reduce_with_account(
    mechanism: kg.Mechanism,
    quantity: str,
    values: Mapping[str, Expression],
    effort: Effort,
    seconds: float | None = None,
    seed: int = 0,
    passes: str = "",
    closure: Closure = Closure.MULTIPLIERS,
) -> Account:
    """Derive, choose frames, reduce; the counts after each stage."""
    request = Request(
        mechanism, quantities_of(quantity), values, effort, seconds, seed, closure=closure, passes=same_passes(passes)
    )
    derivations = Derivations(resolve_closure(request))
    reduced = reduced_equations(derivations)
    stages = [CountedStage("derived", reduced.first), CountedStage("frames chosen", reduced.derived)]
    stages += [CountedStage(report.name, report.after) for report in reduced.reports]
    kernel = chosen_graph(derivations).choice
    exponent = largest_exponent(reduced.graph)
    limbs = derivations.limb_search.limbs_are_faster
    return Account(tuple(stages), kg.count(reduced.graph), True, kernel, limbs, exponent)


def _table(account: Account, title: str) -> Table:
    columns = counts(account.result).keys()
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("stage")
    for column in columns:
        table.add_column(column, justify="right")
    for stage in account.stages:
        table.add_row(stage.name.replace("_", " "), *(str(stage.as_data()[column]) for column in columns))
    table.add_section()
    table.add_row("result", *(str(number) for number in counts(account.result).values()), style="bold")
    return table


def _verdict(account: Account) -> str:
    before, after = account.stages[0].operations.total, account.result.total
    saved = f", {100 * (before - after) / before:.0f} % fewer" if before > after else ""
    proof = "proved equal to the derived equations" if account.proved else "NOT proved"
    return f"{before} -> {after} multiplications and additions{saved}; {proof}"


def draw(account: Account, title: str, file: Path) -> None:
    """A bar chart of multiplications and additions after each stage."""
    from matplotlib.figure import Figure

    from kinegraph.view.plot import COLORS, put_legend, save_figure, styled

    stages = [*account.stages, CountedStage("result", account.result)]
    with styled():
        figure = Figure(figsize=(1.5 + 0.9 * len(stages), 4.2), layout="constrained")
        axes = figure.add_subplot()
    places = range(len(stages))
    muls, adds = ([getattr(stage.operations, kind) for stage in stages] for kind in ("mul", "add"))
    lower = axes.bar(places, muls, label="multiplications", color=COLORS[0])
    upper = axes.bar(places, adds, bottom=muls, label="additions", color=COLORS[4])
    axes.bar_label(lower, label_type="center", color="white", fontsize=8)
    axes.bar_label(upper, labels=[str(number) for number in adds], label_type="center", fontsize=8)
    axes.set_xticks(places, [stage.name.replace("_", " ") for stage in stages], rotation=20, ha="right")
    axes.set_ylabel("operations")
    axes.set_title(title)
    axes.grid(False, axis="x")
    with styled():
        put_legend(axes)
    save_figure(figure, file)
