"""`kinegraph reactions`: forces and moments in joints."""

from __future__ import annotations

from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, show_table, state_settings
from kinegraph.model.constraints.records import Loop
from kinegraph.tasks.forces.reactions import Axes, Reaction


@reads_model
def run(
    source: ModelSource,
    joint: Annotated[
        list[str] | None,
        typer.Option(
            "--joint", "-j", metavar="NAME", help="A body, for the joint that carries it, or a loop; all if none."
        ),
    ] = None,
    at: AtOption = None,
    axes: Annotated[Axes, typer.Option("--axes", help="In whose axes.")] = Axes.WORLD,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """The force and moment each joint transmits at a state, as the mechanism moves under its forces.

    Example: kinegraph reactions double-pendulum --at q1=0.5
    """
    from kinegraph.tasks.forces.reactions import reactions

    mechanism = source.mechanism()
    state, values = state_settings(mechanism, at), parameter_settings(mechanism, settings)
    loops = [loop.name for loop in mechanism.loops if isinstance(loop, Loop)]
    joints = joint or [*(body.name for body in mechanism.bodies), *loops]
    found = [reactions(mechanism, one, state, axes=axes, parameters=values) for one in joints]
    if json:
        print_json({"axes": axes.value, "reactions": {one.body: _data(one) for one in found}})
        return
    columns = ("joint of", *(f"F{axis} [N]" for axis in "xyz"), *(f"M{axis} [N m]" for axis in "xyz"))
    rows = [(one.body, *_entries(one)) for one in found]
    show_table(columns, rows, title=f"what each joint exerts on its body, {axes.value} axes")
    if not all(all(one.determinate) for one in found):
        typer.echo("* loops have redundant rows here: the motion does not determine this component")


def _data(one: Reaction) -> dict[str, list[float] | list[bool]]:
    return {"force": one.force.tolist(), "moment": one.moment.tolist(), "determinate": list(one.determinate)}


def _entries(one: Reaction) -> list[str]:
    """The six numbers; a star where the motion does not determine one."""
    values = (*one.force, *one.moment)
    return [f"{value + 0.0:.8g}" if sure else "*" for value, sure in zip(values, one.determinate, strict=True)]
