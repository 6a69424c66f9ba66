"""`kinegraph synthesise`: dimensions for a wanted result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, assignments, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.run_options import CompileOption, DurationOption, InputOption, IntegralOption, RunSetOption
from kinegraph.cli.simulate import formulas, input_values, split_settings
from kinegraph.cli.tasks.common import name_list, ranges, zip_names

if TYPE_CHECKING:
    from kinegraph.tasks.runs.synthesise import Synthesis


WantedOption = Annotated[
    list[str], typer.Option("--want", metavar="RESULT=FORMULA", help="What a result should be: tip.x=0.3*sin(t).")
]
BoundsOption = Annotated[
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
def run(
    source: ModelSource,
    wanted: WantedOption,
    bounds: BoundsOption,
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

    Example: kinegraph synthesise double-pendulum --for 1 --want tip.x=0.5 --at-end --bounds amplitude=0:1.5
    Example: kinegraph synthesise crane -m s=7.1-0.12*t --for 40 --want F.y=level --bounds EL=24:32 --bounds level=10:25
    """
    from kinegraph.tasks.kinematics.path_synthesis import synthesise_path
    from kinegraph.tasks.runs.synthesise import synthesise

    mechanism = source.mechanism()
    initial, values = split_settings(mechanism, assignments(settings or (), "--set"))
    parameters, targets, within = formulas(values), assignments(wanted, "--want"), ranges(bounds, "--bounds")
    if motion:
        times, ends = np.linspace(0.0, duration, points + 1), dict.fromkeys(name_list(at_ends), (0.0, duration))
        laws = assignments(motion, "--motion")
        path = synthesise_path(
            mechanism, laws, targets, within, times, only_at=ends, parameters=parameters, starts=starts, seed=seed
        )
        _show(path, json)
        return
    found = synthesise(
        mechanism, duration, targets, within, integrals=assignments(integrals or (), "--integral"), initial=initial,
        parameters=parameters, inputs=input_values(assignments(inputs or (), "--input")),
        grid=[duration] if at_end else points, starts=starts, seed=seed, native=native,
    )  # fmt: skip
    _show(found, json)


def _show(found: Synthesis, json: bool) -> None:
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
