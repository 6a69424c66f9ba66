"""`kinegraph point`: pose, velocity and acceleration of a point."""

from __future__ import annotations

from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, state_settings
from kinegraph.errors import TaskError


@reads_model
def run(
    source: ModelSource,
    name: Annotated[str, typer.Option("--of", metavar="NAME", help="A body or an output point.")],
    place: Annotated[str, typer.Option("--place", metavar="X,Y,Z", help="A point in the frame of the body.")] = "",
    at: AtOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Pose, velocity and acceleration of a point at a state, as the mechanism moves under its forces.

    Example: kinegraph point double-pendulum --of tip --at "q1=0.5,q1'=2"
    """
    from kinegraph.tasks.kinematics.point_motion import point_motion

    mechanism = source.mechanism()
    point = (name, _numbers(place)) if place else name
    found = point_motion(
        mechanism, point, state_settings(mechanism, at), parameters=parameter_settings(mechanism, settings)
    )
    if json:
        print_json({word: value.tolist() for word, value in vars(found).items() if word != "point"})
    else:
        typer.echo(str(found))


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise TaskError(f"--place: cannot read {text!r}; write three numbers, e.g. 0.1,0,0") from None
