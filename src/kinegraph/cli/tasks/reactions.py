"""`kinegraph reactions`: forces and moments in joints."""

from __future__ import annotations

from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, show_table, state_settings
from kinegraph.tasks.forces.reactions import Axes


@reads_model
def run(
    source: ModelSource,
    joint: Annotated[
        list[str] | None,
        typer.Option("--joint", "-j", metavar="BODY", help="The joint that carries a body; all if none."),
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
    bodies = joint or [body.name for body in mechanism.bodies]
    found = [reactions(mechanism, body, state, axes=axes, parameters=values) for body in bodies]
    if json:
        loads = {one.body: {"force": one.force.tolist(), "moment": one.moment.tolist()} for one in found}
        print_json({"axes": axes.value, "reactions": loads})
        return
    columns = ("joint of", *(f"F{axis} [N]" for axis in "xyz"), *(f"M{axis} [N m]" for axis in "xyz"))
    rows = [(one.body, *(f"{value + 0.0:.8g}" for value in (*one.force, *one.moment))) for one in found]
    show_table(columns, rows, title=f"what each joint exerts on its body, {axes.value} axes")
