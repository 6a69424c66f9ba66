"""`kinegraph reactions`: forces and moments in joints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, PlotOption, show_table, state_settings
from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes

if TYPE_CHECKING:
    from kinegraph.tasks.forces.joint_loads import JointLoads
    from kinegraph.tasks.forces.joint_places import LoadView
    from kinegraph.tasks.forces.reactions import Reaction

AxesOption = Annotated[Axes, typer.Option("--axes", help="In whose axes loads are.")]
PointOption = Annotated[
    str | None,
    typer.Option(
        "--point",
        metavar="POINT",
        help="Moments about: parent, a body, an output, or X,Y,Z; else the body's side.",
    ),
]
BearingOption = Annotated[
    bool, typer.Option("--bearing", help="Without drives and springs on the joint's own coordinates.")
]


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
    axes: AxesOption = Axes.WORLD,
    point: PointOption = None,
    bearing: BearingOption = False,
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
    view = view_of(axes, point, bearing)
    if duration is not None:
        _along_run(source, joint or [], at, view, duration, plot, settings, json)
        return
    if plot is not None:
        raise TaskError("--plot draws loads along a run: add --for SECONDS")
    from kinegraph.tasks.forces.joint_loads import all_joints
    from kinegraph.tasks.forces.reactions import reactions_at

    mechanism = source.mechanism()
    state, values = state_settings(mechanism, at), parameter_settings(mechanism, settings)
    found = reactions_at(mechanism, joint or all_joints(mechanism), state, view, values)
    if json:
        print_json(reactions_data(view, found))
    else:
        show_reactions(view, found)


def view_of(axes: Axes, point: str | None, bearing: bool) -> LoadView:
    """What --axes, --point and --bearing ask for."""
    from kinegraph.tasks.forces.joint_places import load_view

    if point is None or "," not in point:
        return load_view(axes, point, not bearing)
    try:
        place = [float(part) for part in point.split(",")]
    except ValueError:
        raise TaskError(f"--point: cannot read {point!r}; write a name, or three numbers, e.g. 0,0,1.5") from None
    return load_view(axes, place, not bearing)


def show_reactions(view: LoadView, found: Sequence[Reaction]) -> None:
    """A table of components; a star where the motion does not determine one."""
    columns = ("joint of", *(f"F{axis} [N]" for axis in "xyz"), *(f"M{axis} [N m]" for axis in "xyz"))
    rows = [(one.body, *_entries(one)) for one in found]
    show_table(columns, rows, title=f"what each joint exerts on its body, {view.words}")
    if not all(all(one.determinate) for one in found):
        typer.echo("* loops have redundant rows here: the motion does not determine this component")


def reactions_data(view: LoadView, found: Sequence[Reaction]) -> dict[str, object]:
    """The same for JSON."""
    return {**_view_data(view), "reactions": {one.body: _data(one) for one in found}}


def _view_data(view: LoadView) -> dict[str, object]:
    point = view.point if view.point is None or isinstance(view.point, str) else list(view.point)
    return {"axes": view.axes.value, "point": point or "joint", "drives": view.drives}


def _along_run(
    source: ModelSource,
    joints: list[str],
    at: list[str] | None,
    view: LoadView,
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
    found = joint_loads(run, joints, axes=view.axes, point=view.point, drives=view.drives)
    if plot is not None:
        _draw(found, plot)
    if json:
        worst = [vars(one) for one in found.worst]
        print_json({**_view_data(view), "t": found.times.tolist(), "worst": worst, "searched": found.searched})
        return
    columns = ("joint of", "force [N]", "at t", "moment [N m]", "at t")
    rows = []
    for one in found.worst:
        stars = ["" if known else "*" for known in one.determinate]
        numbers = (f"{one.force:.6g}{stars[0]}", f"{one.force_time:.6g}", f"{one.moment:.6g}{stars[1]}")
        rows.append((one.joint, *numbers, f"{one.moment_time:.6g}"))
    show_table(columns, rows, title=f"the largest loads in {duration:g} s")
    for note in found.notes:
        typer.echo(note)
    if not all(all(one.determinate) for one in found.worst):
        typer.echo("* at least: loops have redundant rows, and the motion does not determine all components")


def _draw(found: JointLoads, path: Path) -> None:
    from kinegraph.view.curves import Panel, plot_curves

    sizes = {one.body: (one.force_size, one.moment_size) for one in found.reactions}
    panels = [Panel(unit, {name: pair[k] for name, pair in sizes.items()}) for k, unit in enumerate(("N", "N m"))]
    plot_curves(path, found.times, panels, found.model)


def _data(one: Reaction) -> dict[str, list[float] | list[bool]]:
    return {
        "force": one.force.tolist(), "moment": one.moment.tolist(), "about": one.about.tolist(),
        "determinate": list(one.determinate),
    }  # fmt: skip


def _entries(one: Reaction) -> list[str]:
    """The six numbers; a star where the motion does not determine one."""
    values = (*one.force, *one.moment)
    return [f"{value + 0.0:.8g}" if sure else "*" for value, sure in zip(values, one.determinate, strict=True)]
