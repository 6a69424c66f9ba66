"""Commands on forces: `unknown-forces`, `statics`, `reactions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.kinematics import OutputOption, PathOption
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.cli.task_options import (
    InputOption,
    LeastNormOption,
    PlotOption,
    StateOption,
    UnknownOption,
    name_list,
    numbers_by_name,
    plot_units,
    show_table,
    state_settings,
)
from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes

if TYPE_CHECKING:
    from kinegraph.model.expressions import Scalar
    from kinegraph.model.mechanism import Mechanism
    from kinegraph.tasks.follow import PathMotion
    from kinegraph.tasks.joint_loads import JointLoads
    from kinegraph.tasks.prescribed_motion import PrescribedMotion
    from kinegraph.tasks.reactions import LoadView, Reaction
    from kinegraph.tasks.unknown_forces import UnknownForces


# `kinegraph unknown-forces`: unknown forces from a given motion.

MotionOption = Annotated[
    list[str] | None,
    typer.Option("--motion", "-m", metavar="NAME=FORMULA", help="The motion of a coordinate, e.g. -m 's=0.5*cos(t)'."),
]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE.csv", help="Measured coordinates: a line of names (t,s,...), then numbers."),
]
NoiseOption = Annotated[
    list[str] | None,
    typer.Option("--noise", metavar="NAME=SIGMA", help="Standard deviation of measured values. Default: estimated."),
]
DurationOption = Annotated[
    float | None,
    typer.Option("--duration", "--for", metavar="SECONDS", help="The end time. Default: the times of --data."),
]
LeastSquaresOption = Annotated[
    bool, typer.Option("--least-squares", help="If the unknowns cannot cause the motion, find the closest.")
]


@reads_model
def run_unknown_forces(
    source: ModelSource,
    motion: MotionOption = None,
    path: PathOption = None,
    state: StateOption = None,
    data: DataOption = None,
    noise: NoiseOption = None,
    duration: DurationOption = None,
    unknown: UnknownOption = "",
    inputs: InputOption = None,
    times: Annotated[int, typer.Option("--times", min=1, max=1_000_000, help="Number of equal intervals.")] = 20,
    least_norm: LeastNormOption = False,
    least_squares: LeastSquaresOption = False,
    plot: PlotOption = None,
    output: OutputOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Find unknown forces from a given motion: formulas of time, or measured samples.

    Example: kinegraph unknown-forces double-pendulum -m 'q1=sin(t)' -m 'q2=0.5*t' --unknown tau:q1,tau:q2 --for 2
    Example: kinegraph unknown-forces double-pendulum --path tip.x=0.3+0.2*t --path tip.z=-1.5
    --unknown tau:q1,tau:q2 -o forces.csv
    """
    from kinegraph.tasks.unknown_forces import unknown_forces

    mechanism = source.mechanism()
    laws: dict[str, PrescribedMotion] = {**_measured(data, noise), **assignments(motion or (), "--motion")}
    if path and laws:
        raise TaskError("--path gives the whole motion: leave out --motion and --data, or add their formulas as paths")
    given = state_settings(mechanism, state)
    states = {name: value for name, value in given.items() if name in mechanism.layout.states}
    places = {name: value for name, value in given.items() if name not in states}
    if places and not path:
        raise TaskError("--state says where to start a --path: a motion by --motion or --data has its own start")
    along = _along_path(mechanism, path, duration, times, places, settings) if path else None
    found = unknown_forces(
        mechanism,
        along.motion if along else laws,
        None if along or duration is None else np.linspace(0.0, _above_zero(duration), times + 1),
        unknown=name_list(unknown),
        inputs=assignments(inputs or (), "--input"),
        state=states,
        parameters=parameter_settings(mechanism, settings),
        least_norm=least_norm,
        least_squares=least_squares,
    )
    if plot is not None:
        _draw_forces(found, plot, mechanism.name, plot_units(mechanism, settings))
    if output is not None:
        found.save(output)
    if json:
        print_json(found.to_dict())
        return
    _show_forces(found)
    for file in filter(None, (output, plot)):
        typer.echo(f"wrote {file}")


def _along_path(
    mechanism: Mechanism,
    path: list[str],
    duration: float | None,
    times: int,
    start: Mapping[str, Scalar],
    settings: list[str] | None,
) -> PathMotion:
    """The motion of --path, by inverse kinematics."""
    from kinegraph.cli.kinematics import path_laws, path_times
    from kinegraph.tasks.follow import follow

    laws = path_laws(path)
    values = parameter_settings(mechanism, settings)
    return follow(mechanism, laws, path_times(laws, duration, times), state=start, parameters=values)


def _above_zero(duration: float) -> float:
    if not 0 < duration < float("inf"):
        raise TaskError(f"--duration {duration:g}: give a time above zero")
    return duration


def _measured(data: Path | None, noise: list[str] | None) -> dict[str, PrescribedMotion]:
    if data is None:
        return {}
    from kinegraph.tasks.fit import measurements
    from kinegraph.tasks.prescribed_motion import Measured

    read, deviations = measurements(data), numbers_by_name(noise or (), "--noise")
    return {
        name: Measured(read.times[known], column[known], deviations.get(name))
        for name, column, known in zip(read.columns, read.values.T, read.known.T, strict=True)
    }


def _draw_forces(found: UnknownForces, path: Path, title: str, units: Mapping[str, str]) -> None:
    from kinegraph.view.task_figures import panels_of, plot_curves

    bands = None if found.errors is None else {name: found.error(name) for name in found.unknowns}
    plot_curves(path, found.times, panels_of({name: found[name] for name in found.unknowns}, units, bands), title)


def _show_forces(found: UnknownForces) -> None:
    from kinegraph.tasks.unknown_forces import singular_lines

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


# `kinegraph reactions`: forces and moments in joints.

AxesOption = Annotated[Axes, typer.Option("--axes", help="The axes of forces and moments.")]
PointOption = Annotated[
    str | None,
    typer.Option(
        "--point",
        metavar="POINT",
        help="Take moments about: parent, a body, an output, BODY(X,Y,Z), or X,Y,Z. Default: the joint.",
    ),
]
DrivesOption = Annotated[
    bool, typer.Option("--drives/--no-drives", help="Include forces on the joint's own coordinates, or not.")
]


LoadsOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Save the loads over time: .csv, .npz or .parquet (extra)."),
]


@reads_model
def run_reactions(
    source: ModelSource,
    joint: Annotated[
        list[str] | None,
        typer.Option(
            "--joint", "-j", metavar="NAME", help="A body, for the joint that carries it, or a loop. Default: all."
        ),
    ] = None,
    state: StateOption = None,
    axes: AxesOption = Axes.WORLD,
    point: PointOption = None,
    drives: DrivesOption = True,
    duration: Annotated[
        float | None,
        typer.Option("--duration", "--for", metavar="SECONDS", help="Simulate, and show the largest loads."),
    ] = None,
    output: LoadsOption = None,
    plot: PlotOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compute the force and moment in each joint at a state, or the largest along a run.

    Example: kinegraph reactions double-pendulum --state q1=0.5 --for 3
    """
    joint = [] if joint == ["all"] else joint  # as `statics --joint all`
    view = view_of(axes, point, drives)
    if duration is not None:
        _along_run(source, joint or [], state, view, duration, output, plot, settings, json)
        return
    if plot is not None or output is not None:
        raise TaskError("--plot and --output show loads along a run: add --duration SECONDS")
    from kinegraph.tasks.joint_loads import all_joints
    from kinegraph.tasks.reactions import reactions_at

    mechanism = source.mechanism()
    given, values = state_settings(mechanism, state), parameter_settings(mechanism, settings)
    found = reactions_at(mechanism, joint or all_joints(mechanism), given, view, values)
    if json:
        print_json({**view.to_dict(), "reactions": {one.body: one.to_dict() for one in found}})
    else:
        show_reactions(view, found)


def view_of(axes: Axes, point: str | None, drives: bool) -> LoadView:
    """The loads that --axes, --point and --drives ask for."""
    from kinegraph.tasks.reactions import load_view

    if point is None or "," not in point or "(" in point:
        return load_view(axes, point, drives)
    try:
        place = [float(part) for part in point.split(",")]
    except ValueError:
        raise TaskError(f"--point: cannot read {point!r}; write a name, or three numbers, e.g. 0,0,1.5") from None
    return load_view(axes, place, drives)


def show_reactions(view: LoadView, found: Sequence[Reaction]) -> None:
    """A table of components; a star where the motion does not determine one."""
    columns = ("joint of", *(f"F{axis} [N]" for axis in "xyz"), *(f"M{axis} [N m]" for axis in "xyz"))
    rows = [(one.body, *_reaction_cells(one)) for one in found]
    show_table(columns, rows, title=f"what each joint exerts on its body, {view.words}")
    if not all(all(one.determinate) for one in found):
        typer.echo("* loops have redundant rows here: the motion does not determine this component")


def _along_run(
    source: ModelSource,
    joints: list[str],
    state: list[str] | None,
    view: LoadView,
    duration: float,
    output: Path | None,
    plot: Path | None,
    settings: list[str] | None,
    json: bool,
) -> None:
    """Simulate, and show the largest loads and their times."""
    from kinegraph.simulate.run import simulate
    from kinegraph.tasks.joint_loads import joint_loads

    mechanism = source.mechanism()
    known = mechanism.layout.initial
    given = assignments(state or (), "--state")
    run = simulate(
        mechanism,
        duration,
        state={name: value for name, value in given.items() if name in known},
        inputs={name: value for name, value in given.items() if name not in known},
        parameters=parameter_settings(mechanism, settings),
        progress=False if json else None,
    )
    found = joint_loads(run, joints, axes=view.axes, point=view.point, drives=view.drives)
    if plot is not None:
        _draw_loads(found, plot)
    if output is not None:
        found.save(output)
    if json:
        print_json(found.to_dict())
        return
    columns = ("joint of", "force [N]", "at t", "moment [N m]", "at t")
    rows = []
    for one in found.worst:
        stars = ["" if known else "*" for known in one.determinate]
        numbers = (f"{one.force:.6g}{stars[0]}", f"{one.force_time:.6g}", f"{one.moment:.6g}{stars[1]}")
        rows.append((one.joint, *numbers, f"{one.moment_time:.6g}"))
    show_table(columns, rows, title=f"the largest loads in {duration:g} s")
    ranges = [
        (one.joint, one.component, f"{one.low:.6g}", f"{one.low_time:.6g}", f"{one.high:.6g}", f"{one.high_time:.6g}")
        for one in found.ranges
        if one.high > one.low
    ]
    show_table(("joint of", "component", "lowest", "at t", "highest", "at t"), ranges, title="components with signs")
    for note in found.notes:
        typer.echo(note)
    if not all(all(one.determinate) for one in found.worst):
        typer.echo("* at least: loops have redundant rows, and the motion does not determine all components")


def _draw_loads(found: JointLoads, path: Path) -> None:
    from kinegraph.view.task_figures import Panel, plot_curves

    sizes = {one.body: (one.force_size, one.moment_size) for one in found.reactions}
    panels = [Panel(unit, {name: pair[k] for name, pair in sizes.items()}) for k, unit in enumerate(("N", "N m"))]
    plot_curves(path, found.times, panels, found.model)


def _reaction_cells(one: Reaction) -> list[str]:
    """The six numbers; a star where the motion does not determine one."""
    values = (*one.force, *one.moment)
    return [f"{value + 0.0:.8g}" if sure else "*" for value, sure in zip(values, one.determinate, strict=True)]


# `kinegraph statics`: forces that hold a mechanism at rest.

JointOption = Annotated[
    list[str] | None,
    typer.Option("--joint", "-j", metavar="NAME", help="Show the reaction of this joint; --joint all for all."),
]


@reads_model
def run_statics(
    source: ModelSource,
    state: StateOption = None,
    unknown: UnknownOption = "",
    inputs: InputOption = None,
    joint: JointOption = None,
    axes: AxesOption = Axes.WORLD,
    point: PointOption = None,
    drives: DrivesOption = True,
    least_norm: LeastNormOption = False,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Find the forces that hold a mechanism at rest, and the joint reactions.

    Example: kinegraph statics double-pendulum --state q1=0.5,q2=0.2 --joint all
    """
    from kinegraph.tasks.joint_loads import all_joints
    from kinegraph.tasks.statics import statics

    mechanism, view = source.mechanism(), view_of(axes, point, drives)
    every = all_joints(mechanism) if joint == ["all"] else joint
    found = statics(
        mechanism,
        state_settings(mechanism, state),
        unknown=name_list(unknown),
        inputs=assignments(inputs or (), "--input"),
        joints=every or (),
        axes=view.axes,
        point=view.point,
        drives=view.drives,
        parameters=parameter_settings(mechanism, settings),
        least_norm=least_norm,
    )
    if not json:
        typer.echo(str(replace(found, reactions=())))
        if found.reactions:
            show_reactions(view, found.reactions)
        return
    print_json({**view.to_dict(), **found.to_dict()})
