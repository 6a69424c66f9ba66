"""`kinegraph inverse`: unknown forces from a given motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import (
    InputOption,
    LeastNormOption,
    PlotOption,
    UnknownOption,
    name_list,
    numbers_by_name,
    show_table,
)
from kinegraph.errors import TaskError

if TYPE_CHECKING:
    from kinegraph.tasks.forces.motion_law import Law
    from kinegraph.tasks.forces.unknown_forces import UnknownForces


MotionOption = Annotated[
    list[str] | None,
    typer.Option("--motion", "-m", metavar="NAME=LAW", help="A law of time, e.g. -m 's=0.5*cos(t)'."),
]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE.csv", help="Measured coordinates: a head of names (t,s,...), numbers."),
]
NoiseOption = Annotated[
    list[str] | None,
    typer.Option("--noise", metavar="NAME=SIGMA", help="Standard deviation of measured values. Else estimated."),
]
DurationOption = Annotated[
    float | None, typer.Option("--for", metavar="T", help="The end time in seconds; else the times of --data.")
]
LeastSquaresOption = Annotated[
    bool, typer.Option("--least-squares", help="The best values where the unknowns cannot cause the motion.")
]


@reads_model
def run(
    source: ModelSource,
    motion: MotionOption = None,
    data: DataOption = None,
    noise: NoiseOption = None,
    duration: DurationOption = None,
    unknown: UnknownOption = "",
    inputs: InputOption = None,
    steps: Annotated[int, typer.Option("--steps", min=1, max=1_000_000, help="Into how many equal steps.")] = 20,
    least_norm: LeastNormOption = False,
    least_squares: LeastSquaresOption = False,
    plot: PlotOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """The unknown forces for a motion given by laws of time, or by samples with their noise.

    Example: kinegraph inverse double-pendulum -m 'q1=sin(t)' -m 'q2=0.5*t' --unknown tau:q1,tau:q2 --for 2
    """
    from kinegraph.tasks.forces.unknown_forces import inverse_dynamics

    mechanism = source.mechanism()
    laws: dict[str, Law] = {**_measured(data, noise), **assignments(motion or (), "--motion")}
    found = inverse_dynamics(
        mechanism,
        laws,
        None if duration is None else np.linspace(0.0, _above_zero(duration), steps + 1),
        unknown=name_list(unknown),
        inputs=assignments(inputs or (), "--input"),
        parameters=parameter_settings(mechanism, settings),
        least_norm=least_norm,
        least_squares=least_squares,
    )
    if plot is not None:
        _draw(found, plot, mechanism.name)
    if json:
        print_json(_data(found))
    else:
        _show(found)


def _above_zero(duration: float) -> float:
    if not 0 < duration < float("inf"):
        raise TaskError(f"--for {duration:g}: give a time above zero")
    return duration


def _measured(data: Path | None, noise: list[str] | None) -> dict[str, Law]:
    if data is None:
        return {}
    from kinegraph.tasks.forces.smoothing import Measured
    from kinegraph.tasks.runs.measurements import measurements

    read, deviations = measurements(data), numbers_by_name(noise or (), "--noise")
    return {
        name: Measured(read.times[known], column[known], deviations.get(name))
        for name, column, known in zip(read.columns, read.values.T, read.known.T, strict=True)
    }


def _draw(found: UnknownForces, path: Path, title: str) -> None:
    from kinegraph.view.curves import Panel, plot_curves

    bands = None if found.errors is None else {name: found.error(name) for name in found.unknowns}
    plot_curves(path, found.times, [Panel("N, N m", {name: found[name] for name in found.unknowns}, bands)], title)


def _data(found: UnknownForces) -> dict[str, object]:
    data: dict[str, object] = {"t": found.times.tolist()}
    data |= {name: found[name].tolist() for name in found.unknowns}
    data |= {"determinate": list(found.determinate), "near_singular": found.near_singular.tolist()}
    data |= {"crossings": found.crossings, "residual": found.residual, "equations": list(found.equations)}
    if found.errors is not None:
        data["errors"] = {name: found.error(name).tolist() for name in found.unknowns}
        data["acceleration_errors"] = {name: column.tolist() for name, column in found.acceleration_errors.items()}
    return data


def _show(found: UnknownForces) -> None:
    from kinegraph.tasks.forces.unknown_forces import singular_lines

    columns: list[str] = []
    for name in found.unknowns:
        columns += [name] if found.errors is None else [name, "+-"]
    rows = []
    for k, time in enumerate(found.times):
        row = [f"{time:.6g}"]
        for place, value in enumerate(found.values[k]):
            row += [f"{value:.8g}"] if found.errors is None else [f"{value:.8g}", f"{found.errors[k, place]:.2g}"]
        rows.append(row)
    show_table(("t", *columns), rows)
    for name, known in zip(found.unknowns, found.determinate, strict=True):
        if not known:
            typer.echo(f"{name} is not determined by the motion")
    for line in singular_lines(found):
        typer.echo(line)
