"""Commands on the parameters of a run: `sensitivity`, `fit`, `synthesize`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, assignments, print_json
from kinegraph.cli.options import (
    CompileOption,
    DurationOption,
    InputOption,
    IntegralOption,
    ModelSource,
    QuietOption,
    RtolOption,
    RunSetOption,
    reads_model,
)
from kinegraph.cli.simulate import formulas, input_values, split_settings
from kinegraph.cli.task_options import formula_list, name_list, numbers_by_name, ranges, show_table, zip_names

if TYPE_CHECKING:
    from kinegraph.tasks.fit import Fit
    from kinegraph.tasks.synthesize import Synthesis


# `kinegraph sensitivity`: derivatives of a run's results.

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
def run_sensitivity(
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
        from kinegraph.tasks.gradient import gradient

        last = gradient(
            mechanism, duration, by, results=wanted_columns, integrals=integrands, state=initial,
            parameters=parameters, inputs=driven, method=method, rtol=rtol, progress=progress,
        )  # fmt: skip
        report = _SensitivityReport(
            [last.time], last.results, last.by, last.at, last.values[None], last.derivatives[None]
        )
        _show_sensitivities(report, json, last.model)
        return
    from kinegraph.tasks.sensitivities import sensitivities

    found = sensitivities(
        mechanism, duration, by, results=wanted_columns, integrals=integrands, state=initial, parameters=parameters,
        inputs=driven, times=points, method=method, rtol=rtol, progress=progress,
    )  # fmt: skip
    report = _SensitivityReport(
        found.times.tolist(), found.results, found.by, found.at, found.values, found.derivatives
    )
    _show_sensitivities(report, json, found.model)


@dataclass(frozen=True)
class _SensitivityReport:
    """What both ways have in common: values and derivatives, the first index that of time."""

    times: list[float]
    results: tuple[str, ...]
    by: tuple[str, ...]
    at: np.ndarray
    values: np.ndarray
    derivatives: np.ndarray


def _show_sensitivities(found: _SensitivityReport, json: bool, model: str) -> None:
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


# `kinegraph fit`: parameters from measured motion.

DataArgument = Annotated[
    Path, typer.Argument(metavar="DATA.csv", help="Measured motion: a head of names (t,q1,...), then numbers.")
]
UnknownOption = Annotated[
    str, typer.Option("--unknown", metavar="LIST", help="Parameters (m1) and initial values (q1(0), q1'(0)).")
]
ColumnsOption = Annotated[str, typer.Option("--columns", metavar="LIST", help="Which columns count. By default all.")]
NoiseOption = Annotated[
    list[str] | None,
    typer.Option("--noise", metavar="NAME=SIGMA", help="Standard deviation of a column. Else estimated."),
]
FitBoundsOption = Annotated[
    list[str] | None, typer.Option("--bounds", metavar="NAME=FROM:TO", help="Where an unknown may lie.")
]


@reads_model
def run_fit(
    source: ModelSource,
    data: DataArgument,
    unknown: UnknownOption,
    columns: ColumnsOption = "",
    noise: NoiseOption = None,
    bounds: FitBoundsOption = None,
    settings: RunSetOption = None,
    inputs: InputOption = None,
    start: Annotated[float, typer.Option(help="The time of the initial values.")] = 0.0,
    rtol: RtolOption = 1e-9,
    native: CompileOption = True,
    json: JsonOption = False,
) -> None:
    """Parameters and initial values from measured motion, with error bars; begins at the values of the model and --set.

    Example: kinegraph fit double-pendulum measured.csv --unknown l2,amplitude --columns q1,q2
    """
    from kinegraph.tasks.fit import fit, measurements

    mechanism = source.mechanism()
    limits = ranges(bounds or (), "--bounds")
    initial, parameters = split_settings(mechanism, assignments(settings or (), "--set"))
    measured = measurements(data)
    found = fit(
        mechanism,
        measured.only(formula_list(columns)) if columns else measured,
        unknown,
        noise=numbers_by_name(noise, "--noise") if noise else None,
        bounds=limits,
        state=initial,
        parameters=formulas(parameters),
        inputs=input_values(assignments(inputs or (), "--input")),
        t0=start,
        rtol=rtol,
        native=native,
    )
    print_json(_fit_data(found)) if json else typer.echo(str(found))


def _fit_data(found: Fit) -> dict[str, object]:
    return {
        "values": zip_names(found.unknown, found.values.tolist()),
        "standard_errors": zip_names(found.unknown, found.standard_errors.tolist()),
        "intervals": {name: found.interval(name) for name in found.unknown},
        "noise": zip_names(found.columns, found.noise.tolist()),
        "noise_is_estimated": found.noise_is_estimated,
        "degrees_of_freedom": found.degrees_of_freedom,
        "runs": found.runs,
        "doubts": found.doubts,
    }


# `kinegraph synthesize`: dimensions for a wanted result.

WantedOption = Annotated[
    list[str], typer.Option("--want", metavar="RESULT=FORMULA", help="What a result should be: tip.x=0.3*sin(t).")
]
DesignBoundsOption = Annotated[
    list[str], typer.Option("--bounds", metavar="NAME=FROM:TO", help="What is free, and within which bounds.")
]
MotionOption = Annotated[
    list[str] | None,
    typer.Option("--motion", "-m", metavar="NAME=LAW", help="Dimensions for a path: no run, laws of time instead."),
]
AtEndsOption = Annotated[
    str, typer.Option("--at-ends", metavar="LIST", help="With --motion: results that count at both ends only.")
]


@reads_model
def run_synthesize(
    source: ModelSource,
    wanted: WantedOption,
    bounds: DesignBoundsOption,
    motion: MotionOption = None,
    at_ends: AtEndsOption = "",
    duration: DurationOption = 10.0,
    at_end: Annotated[bool, typer.Option("--at-end", help="Only the end of the run counts.")] = False,
    integrals: IntegralOption = None,
    settings: RunSetOption = None,
    inputs: InputOption = None,
    points: Annotated[int, typer.Option(min=1, help="At how many equal intervals results count.")] = 100,
    starts: Annotated[int, typer.Option(min=1, max=10_000, help="From how many places to search.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the starting places.")] = 0,
    native: CompileOption = True,
    json: JsonOption = False,
) -> None:
    """Parameters and initial values within bounds whose run comes nearest to what is wanted.

    Example: kinegraph synthesize double-pendulum --for 1 --want tip.x=0.5 --at-end --bounds amplitude=0:1.5
    Example: kinegraph synthesize crane -m s=7.1-0.12*t --for 40 --want F.y=level --bounds EL=24:32 --bounds level=10:25
    """
    from kinegraph.tasks.synthesize import synthesize, synthesize_path

    mechanism = source.mechanism()
    initial, values = split_settings(mechanism, assignments(settings or (), "--set"))
    parameters, targets, within = formulas(values), assignments(wanted, "--want"), ranges(bounds, "--bounds")
    if motion:
        times, ends = np.linspace(0.0, duration, points + 1), dict.fromkeys(name_list(at_ends), (0.0, duration))
        laws = assignments(motion, "--motion")
        path = synthesize_path(
            mechanism, laws, targets, within, times, only_at=ends, parameters=parameters, starts=starts, seed=seed
        )
        _show_design(path, json)
        return
    found = synthesize(
        mechanism, duration, targets, within, integrals=assignments(integrals or (), "--integral"), state=initial,
        parameters=parameters, inputs=input_values(assignments(inputs or (), "--input")),
        times=[duration] if at_end else points, starts=starts, seed=seed, native=native,
    )  # fmt: skip
    _show_design(found, json)


def _show_design(found: Synthesis, json: bool) -> None:
    if not json:
        typer.echo(str(found))
        return
    print_json(
        {
            "values": zip_names(found.free, found.values.tolist()),
            "at_bounds": found.at_bounds,
            "largest_deviations": {name: found.largest_deviation(name) for name in found.wanted},
            "runs": found.runs,
        }
    )
