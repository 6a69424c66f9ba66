"""`kinegraph fit`: parameters from measured motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, assignments, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.run_options import CompileOption, InputOption, RtolOption, RunSetOption
from kinegraph.cli.simulate import formulas, input_values, split_settings
from kinegraph.cli.tasks.common import formula_list, numbers_by_name, ranges, zip_names

if TYPE_CHECKING:
    from kinegraph.tasks.runs.fit import Fit

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
BoundsOption = Annotated[
    list[str] | None, typer.Option("--bounds", metavar="NAME=FROM:TO", help="Where an unknown may lie.")
]


@reads_model
def run(
    source: ModelSource,
    data: DataArgument,
    unknown: UnknownOption,
    columns: ColumnsOption = "",
    noise: NoiseOption = None,
    bounds: BoundsOption = None,
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
    from kinegraph.tasks.runs.fit import fit
    from kinegraph.tasks.runs.measurements import measurements

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
        initial=initial,
        parameters=formulas(parameters),
        inputs=input_values(assignments(inputs or (), "--input")),
        start=start,
        rtol=rtol,
        native=native,
    )
    print_json(_data(found)) if json else typer.echo(str(found))


def _data(found: Fit) -> dict[str, object]:
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
