"""What the command says when a study is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kinegraph.cli import INTERRUPTED
from kinegraph.cli.common import console, print_json

if TYPE_CHECKING:
    from kinegraph.studies.plan import Plan
    from kinegraph.studies.results import Study
    from kinegraph.studies.statistics.intervals import Estimate

_MOST_FAILURES = 20


def show_case(plan: Plan, index: int, as_json: bool) -> None:
    """Run one case and print it."""
    from kinegraph.studies.running.one_case import Case

    one = Case(plan, index)
    if as_json:
        print_json({"row": one.row, "seed": one.seed})
        return
    for name, value in one.row.items():
        console().print(f"{name}: {value}", markup=False)


def finish(found: Study, output: Path | None, page: Path | None, as_json: bool) -> None:
    """Write the page, print the results; exit code 130 where Ctrl-C ended the study."""
    target = page or (output / "page.html" if output is not None else None)
    if target is not None:
        from kinegraph.view.study.page import study_page

        study_page(found, target)
    if as_json:
        print_json(_facts(found))
    else:
        _report(found, target)
    if not found.complete:
        raise typer.Exit(INTERRUPTED)


def _estimate(one: Estimate) -> dict[str, object]:
    return {"value": one.value, "low": one.low, "high": one.high, "confidence": one.confidence, "cases": one.count}


def _facts(found: Study) -> dict[str, object]:
    summaries = {name: found.summary(name) for name in found.numbers}
    return {
        "model": found.plan.mechanism.name, "cases": len(found), "planned": found.plan.samples.total,
        "complete": found.complete, "seconds": found.seconds, "resumed": found.resumed,
        "success": _estimate(found.probability()) if "success" in found.columns else None,
        "classes": {name: _estimate(one) for name, one in found.classes().items()} if "class" in found.columns else {},
        "outcomes": {
            name: {
                "nominal": found[name][0].item(), "mean": _estimate(one.mean), "deviation": one.deviation,
                "min": one.low, "max": one.high, "missing": one.missing,
                "quantiles": {f"{level:g}": _estimate(value) for level, value in one.quantiles.items()},
            }
            for name, one in summaries.items()
        },
        "failed": len(found.failures), "failures": [vars(one) for one in found.failures[:_MOST_FAILURES]],
        "folder": None if found.folder is None else str(found.folder),
    }  # fmt: skip


def _report(found: Study, page: Path | None) -> None:
    from kinegraph.cli.tasks.common import show_table

    console().print(str(found), markup=False, soft_wrap=True)
    rows = []
    for name in found.numbers:
        one = found.summary(name)
        numbers = [one.mean.value, one.mean.half_width, one.deviation, one.low, one.quantiles[0.5].value, one.high]
        rows.append([name, f"{float(found[name][0]):.6g}", *(f"{number:.6g}" for number in numbers), str(one.missing)])
    show_table(["outcome", "nominal", "mean", "+-", "deviation", "min", "median", "max", "missing"], rows)
    for failure in found.failures[:_MOST_FAILURES]:
        console().print(f"  case {failure.case} failed: {failure.reason}", markup=False, soft_wrap=True)
    if len(found.failures) > _MOST_FAILURES:
        console().print(f"  ... and {len(found.failures) - _MOST_FAILURES} more", markup=False)
    if found.folder is not None:
        console().print(f"{found.folder}: everything; {page}: plots and statistics", markup=False, soft_wrap=True)
    if not found.complete:
        console(stderr=True).print("interrupted; the same command goes on from here" if found.folder else "interrupted")
