"""`kinegraph reactions`: forces and moments in joints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, PlotOption, show_table, state_settings
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import Loop
from kinegraph.tasks.forces.axes import Axes

if TYPE_CHECKING:
    from kinegraph.tasks.forces.joint_loads import JointLoads
    from kinegraph.tasks.forces.reactions import Reaction


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
    duration: Annotated[
        float | None, typer.Option("--for", metavar="T", help="Along a run of so many seconds: the worst loads.")
    ] = None,
    plot: PlotOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """The force and moment each joint transmits at a state, or the largest ones along a run from there.

    Example: kinegraph reactions double-pendulum --at q1=0.5 --for 3
    """
    joint = [] if joint == ["all"] else joint  # as `statics --joint all`
    if duration is not None:
        _along_run(source, joint or [], at, axes, duration, plot, settings, json)
        return
    if plot is not None:
        raise TaskError("--plot draws loads along a run: add --for SECONDS")
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


def _along_run(
    source: ModelSource,
    joints: list[str],
    at: list[str] | None,
    axes: Axes,
    duration: float,
    plot: Path | None,
    settings: list[str] | None,
    json: bool,
) -> None:
    """Simulate, and show the largest loads and their times."""
    from kinegraph.simulate.run import simulate
    from kinegraph.tasks.forces.joint_loads import joint_loads

    mechanism = source.mechanism()
    known = (*mechanism.layout.positions, *mechanism.layout.velocities)
    given = assignments(at or (), "--at")
    run = simulate(
        mechanism,
        duration,
        initial={name: value for name, value in given.items() if name in known},
        inputs={name: value for name, value in given.items() if name not in known},
        parameters=parameter_settings(mechanism, settings),
        progress=False if json else None,
    )
    found = joint_loads(run, joints, axes=axes)
    if plot is not None:
        _draw(found, plot)
    if json:
        print_json({"axes": axes.value, "t": found.times.tolist(), "worst": [vars(one) for one in found.worst]})
        return
    columns = ("joint of", "force [N]", "at t", "moment [N m]", "at t")
    numbers = [(one.force, one.force_time, one.moment, one.moment_time) for one in found.worst]
    rows = [(one.joint, *(f"{x:.6g}" for x in row)) for one, row in zip(found.worst, numbers, strict=True)]
    show_table(columns, rows, title=f"the largest loads in {duration:g} s")


def _draw(found: JointLoads, path: Path) -> None:
    from kinegraph.view.curves import Panel, plot_curves

    sizes = {
        one.body: (np.linalg.norm(one.force, axis=1), np.linalg.norm(one.moment, axis=1)) for one in found.reactions
    }
    panels = [Panel(unit, {name: pair[k] for name, pair in sizes.items()}) for k, unit in enumerate(("N", "N m"))]
    plot_curves(path, found.times, panels, found.model)


def _data(one: Reaction) -> dict[str, list[float] | list[bool]]:
    return {"force": one.force.tolist(), "moment": one.moment.tolist(), "determinate": list(one.determinate)}


def _entries(one: Reaction) -> list[str]:
    """The six numbers; a star where the motion does not determine one."""
    values = (*one.force, *one.moment)
    return [f"{value + 0.0:.8g}" if sure else "*" for value, sure in zip(values, one.determinate, strict=True)]
