"""`kinegraph inverse`: unknown forces from a given motion."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import show_table
from kinegraph.errors import TaskError


@reads_model
def run(
    source: ModelSource,
    motion: Annotated[
        list[str], typer.Option("--motion", "-m", metavar="NAME=LAW", help="A law of time, e.g. -m 's=0.5*cos(t)'.")
    ],
    duration: Annotated[float, typer.Option("--for", metavar="T", help="The end time in seconds.")],
    unknown: Annotated[
        str, typer.Option("--unknown", metavar="LIST", help="Unknowns of the model, inputs, or tau:NAME. All if none.")
    ] = "",
    steps: Annotated[int, typer.Option("--steps", min=1, max=1_000_000, help="Into how many equal steps.")] = 20,
    least_norm: Annotated[
        bool, typer.Option("--least-norm", help="The smallest values where the motion does not determine them.")
    ] = False,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """The unknown forces for a motion given by laws of time.

    Example: kinegraph inverse double-pendulum -m 'q1=sin(t)' -m 'q2=0.5*t' --unknown tau:q1,tau:q2 --for 2
    """
    from kinegraph.tasks.forces.unknown_forces import inverse_dynamics

    if not 0 < duration < float("inf"):
        raise TaskError(f"--for {duration:g}: give a time above zero")
    mechanism = source.mechanism()
    found = inverse_dynamics(
        mechanism,
        assignments(motion, "--motion"),
        np.linspace(0.0, duration, steps + 1),
        unknown=[name.strip() for name in unknown.split(",") if name.strip()],
        parameters=parameter_settings(mechanism, settings),
        least_norm=least_norm,
    )
    if json:
        columns = {name: found[name].tolist() for name in found.unknowns}
        print_json({"t": found.times.tolist(), **columns, "determinate": list(found.determinate)})
        return
    rows = [(f"{t:.6g}", *(f"{x:.8g}" for x in row)) for t, row in zip(found.times, found.values, strict=True)]
    show_table(("t", *found.unknowns), rows)
    for name, known in zip(found.unknowns, found.determinate, strict=True):
        if not known:
            typer.echo(f"{name} is not determined by the motion")
    if found.near_singular.size:
        typer.echo(f"nearly singular at t = {', '.join(f'{t:.6g}' for t in found.near_singular[:5])}")
