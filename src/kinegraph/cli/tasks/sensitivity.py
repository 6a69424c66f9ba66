"""`kinegraph sensitivity`: derivatives of a run's results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, assignments, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.run_options import DurationOption, InputOption, IntegralOption, QuietOption, RtolOption, RunSetOption
from kinegraph.cli.simulate import formulas, input_values, split_settings
from kinegraph.cli.tasks.common import formula_list, show_table

ByOption = Annotated[
    str, typer.Option("--by", metavar="LIST", help="Parameters (m1) and initial values (q1(0), q1'(0)).")
]
ResultsOption = Annotated[
    str, typer.Option("--results", metavar="LIST", help="Formulas: tip.x,q1^2,energy. By default the state.")
]
BackwardOption = Annotated[
    bool, typer.Option("--backward", help="At the end only, backwards in time: for many parameters.")
]


@reads_model
def run(
    source: ModelSource,
    by: ByOption,
    duration: DurationOption = 10.0,
    results: ResultsOption = "",
    integrals: IntegralOption = None,
    settings: RunSetOption = None,
    inputs: InputOption = None,
    method: Annotated[str, typer.Option(help="rk4, dopri5, dop853, adams or bdf.")] = "dop853",
    rtol: RtolOption = 1e-10,
    points: Annotated[int, typer.Option(min=1, help="Equal intervals that --json prints.")] = 100,
    backward: BackwardOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Exact derivatives of a run's results by parameters and initial values.

    Example: kinegraph sensitivity double-pendulum --for 2 --by m1,l1,q1(0) --results tip.x,tip.z
    """
    mechanism = source.mechanism()
    initial, values = split_settings(mechanism, assignments(settings or (), "--set"))
    parameters = formulas(values)
    wanted = formula_list(results)
    integrands = assignments(integrals or (), "--integral")
    wanted_columns = [*wanted, *integrands] if wanted else None
    driven = input_values(assignments(inputs or (), "--input"))
    progress = False if quiet or json else None
    if backward:
        from kinegraph.tasks.runs.gradient import gradient

        last = gradient(
            mechanism, duration, by, results=wanted_columns, integrals=integrands, initial=initial,
            parameters=parameters, inputs=driven, method=method, rtol=rtol, progress=progress,
        )  # fmt: skip
        report = _Report([last.time], last.results, last.by, last.at, last.values[None], last.derivatives[None])
        _show(report, json, last.model)
        return
    from kinegraph.tasks.runs.sensitivities import sensitivities

    found = sensitivities(
        mechanism, duration, by, results=wanted_columns, integrals=integrands, initial=initial, parameters=parameters,
        inputs=driven, grid=points, method=method, rtol=rtol, progress=progress,
    )  # fmt: skip
    report = _Report(found.times.tolist(), found.results, found.by, found.at, found.values, found.derivatives)
    _show(report, json, found.model)


@dataclass(frozen=True)
class _Report:
    """What both ways have in common: values and derivatives, the first index that of time."""

    times: list[float]
    results: tuple[str, ...]
    by: tuple[str, ...]
    at: np.ndarray
    values: np.ndarray
    derivatives: np.ndarray


def _show(found: _Report, json: bool, model: str) -> None:
    if json:
        print_json(
            {
                "t": found.times, "results": found.results, "by": found.by, "at": found.at.tolist(),
                "values": found.values.tolist(), "derivatives": found.derivatives.tolist(),
            }
        )  # fmt: skip
        return
    typer.echo(f"{model}: derivatives at t = {found.times[-1]:.9g}")
    rows = [("value", "", *(f"{value:.10g}" for value in found.values[-1]))]
    rows += [
        (f"by {name}", f"{value:.6g}", *(f"{entry:.10g}" for entry in column))
        for name, value, column in zip(found.by, found.at.tolist(), found.derivatives[-1].T, strict=True)
    ]
    show_table(("", "at", *found.results), rows)
