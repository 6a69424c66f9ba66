"""Commands on positions and poses: `assemble`, `inverse-kinematics`, `point-motion`, `workspace`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.cli.task_options import (
    PlotOption,
    StateOption,
    numbers_by_name,
    plot_units,
    ranges,
    show_table,
    state_settings,
)
from kinegraph.errors import TaskError

if TYPE_CHECKING:
    from kinegraph.tasks.inverse_kinematics import PoseSolutions
    from kinegraph.tasks.prescribed_motion import SampledMotion
    from kinegraph.tasks.sampled_paths import PathLaw


# `kinegraph assemble`: positions that fit the loops and constraints.


@reads_model
def run_assemble(
    source: ModelSource,
    state: StateOption = None,
    every: Annotated[bool, typer.Option("--all", help="List all assembly modes that are found.")] = False,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Find positions that satisfy all loops and constraints, keeping the values of --state where possible.

    Example: kinegraph assemble four-bar --state crank=1 --all
    """
    from kinegraph.assembly.assemble import Assembler
    from kinegraph.derive.constraints.positions import CLOSED

    mechanism = source.mechanism()
    assembler = Assembler(mechanism, parameter_settings(mechanism, settings))
    given = state_settings(mechanism, state)
    found = assembler.modes(given) if every else [assembler.assemble(given)]
    names = mechanism.layout.positions
    free = assembler.left_free(found[0].q, tuple(given)) if found else None
    if json:
        rows = [one.to_dict() for one in found]
        print_json({"modes": rows, "dof": found[0].mobility if found else None, "free": free})
        return
    show_table((*names, "open by"), [(*(f"{x:.10g}" for x in one.q), f"{one.residual:.1e}") for one in found])
    for one in found[:1]:
        if one.table:
            follow = f"; they follow from {', '.join(one.independent)}" if one.independent else ""
            typer.echo(f"declared -> assembled{follow}:")
        for line in one.table:
            typer.echo(f"  {line}")
        if one.residual > CLOSED:
            typer.echo(f"rounded numbers contradict each other: the loops stay open by {one.residual:.1e} at least")
        typer.echo(f"degrees of freedom here: {one.mobility}")
    if every and free:
        typer.echo(
            f"samples of a continuum: with {', '.join(given) or 'nothing'} held the mechanism can still move in {free} "
            f"{'way' if free == 1 else 'ways'}; hold as many more coordinates with --state to see all assembly modes"
        )


# `kinegraph inverse-kinematics --path`: the motion that leads points along a path.


def follow_path(
    source: ModelSource,
    path: list[str],
    duration: float | None,
    times: int,
    spring: float | None,
    state: list[str] | None,
    plot: Path | None,
    output: Path | None,
    settings: list[str] | None,
    json: bool,
) -> None:
    """Follow, and show positions, velocities and accelerations."""
    from kinegraph.tasks.follow import follow, follow_by_spring

    mechanism = source.mechanism()
    laws = path_laws(path)
    moments = path_times(laws, duration, times)
    start, values = state_settings(mechanism, state), parameter_settings(mechanism, settings)
    facts: dict[str, object]
    if spring is None:
        exact = follow(mechanism, laws, moments, state=start, parameters=values)
        names, motion, text = exact.coordinates, exact.motion, str(exact)
        facts = {"near_singular": exact.near_singular.tolist(), "crossings": [list(pair) for pair in exact.crossings]}
    else:
        pulled = follow_by_spring(mechanism, laws, moments, stiffness=spring, state=start, parameters=values)
        names, motion, text, facts = pulled.coordinates, pulled.motion, str(pulled), {"deviation": pulled.deviation}
    if output is not None:
        (exact if spring is None else pulled).save(output)
    if plot is not None:
        _draw_path(names, motion, plot, mechanism.name, plot_units(mechanism, settings))
    if json:
        columns = {name: column.tolist() for name, column in _path_columns(names, motion).items()}
        print_json({"t": moments.tolist(), **columns, **facts})
        return
    step = max(1, times // 20)
    table = _path_columns(names, motion)
    rows = [(f"{t:.6g}", *(f"{column[k]:.8g}" for column in table.values())) for k, t in enumerate(moments)][::step]
    show_table(("t", *table), rows)
    typer.echo(text)
    if output is not None:
        typer.echo(f"wrote {output}")


def path_laws(texts: list[str]) -> dict[str, PathLaw]:
    """The formulas of --path; `@path.csv` are samples of all its columns over t."""
    from kinegraph.tasks.fit import measurements

    laws: dict[str, PathLaw] = {**assignments([text for text in texts if not text.startswith("@")], "--path")}
    for text in texts:
        if text.startswith("@"):
            read = measurements(text[1:])
            for name, column, known in zip(read.columns, read.values.T, read.known.T, strict=True):
                if name in laws:
                    raise TaskError(f"--path: {name} is given twice")
                laws[name] = read.times[known], column[known]
    return laws


def path_times(laws: Mapping[str, PathLaw], duration: float | None, intervals: int) -> np.ndarray:
    """Equal intervals from the start of all samples, or zero, to --duration, the end of the samples, or one second."""
    sampled = [np.asarray(law[0], dtype=float) for law in laws.values() if isinstance(law, tuple)]
    start = max((float(one[0]) for one in sampled), default=0.0)
    end = min((float(one[-1]) for one in sampled), default=1.0) if duration is None else start + duration
    if not start < end < float("inf"):
        raise TaskError(f"--duration {end - start:g}: give a time above zero")
    return np.linspace(start, end, intervals + 1)


def _path_columns(names: tuple[str, ...], motion: SampledMotion) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for order, rows in enumerate((motion.q, motion.v, motion.a)):
        found |= {name + "'" * order: rows[:, k] for k, name in enumerate(names)}
    return found


def _draw_path(names: tuple[str, ...], motion: SampledMotion, path: Path, title: str, units: Mapping[str, str]) -> None:
    from kinegraph.view.task_figures import panels_of, plot_curves

    plot_curves(path, motion.times, panels_of(_path_columns(names, motion), units), title)


# `kinegraph inverse-kinematics`: positions for a pose.

BodyOption = Annotated[str, typer.Option("--body", "-b", metavar="NAME", help="The body or output point to place.")]
PoseOption = Annotated[
    str,
    typer.Option(
        "--pose",
        metavar="NUMBERS",
        help="The pose: x,y,z; x,y,z,roll,pitch,yaw (as in URDF); or a 4 x 4 matrix by rows.",
    ),
]
PathOption = Annotated[
    list[str] | None,
    typer.Option(
        "--path", metavar="NAME=FORMULA", help="Follow a path: tip.x=0.4*cos(t), q4=0, or @path.csv. Repeatable."
    ),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Save the result: .csv, .npz or .parquet.")
]
SpringOption = Annotated[
    float | None, typer.Option("--spring", metavar="N/M", help="Follow the path by springs of this stiffness.")
]
BoundsOption = Annotated[
    list[str] | None,
    typer.Option("--bounds", metavar="NAME=FROM:TO", help="Limits of a coordinate instead of the robot file's."),
]
LimitsOption = Annotated[
    bool, typer.Option("--limits/--no-limits", help="Respect the joint limits of the robot file, or not.")
]
StartsOption = Annotated[
    int, typer.Option("--starts", min=1, max=1_000_000, help="Number of random starts of a search.")
]


ClosedFormOption = Annotated[
    str | None,
    typer.Option(
        "--closed-form", metavar="FORMAT", help="Print the closed form (text, latex), or write it to -o DIR (c, ...)."
    ),
]


@reads_model
def run_inverse_kinematics(
    source: ModelSource,
    body: BodyOption = "",
    pose: PoseOption = "",
    path: PathOption = None,
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration", "--for", metavar="SECONDS", help="How long to follow a path. Default: 1, or its samples."
        ),
    ] = None,
    times: Annotated[
        int, typer.Option("--times", min=1, max=1_000_000, help="Number of equal intervals of a path.")
    ] = 100,
    spring: SpringOption = None,
    state: StateOption = None,
    plot: PlotOption = None,
    output: OutputOption = None,
    closed_form: ClosedFormOption = None,
    points: Annotated[bool, typer.Option("--points", help="With --closed-form: of a point, by three joints.")] = False,
    bounds: BoundsOption = None,
    limits: LimitsOption = True,
    starts: StartsOption = 256,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Inverse kinematics: find all joint positions for a pose, or follow a path.

    Example: kinegraph inverse-kinematics puma560 --body L6 --pose 0.4,0.1,0.3,0,0,0
    Example: kinegraph inverse-kinematics double-pendulum --path tip.x=0.5 --path "tip.z=-1-0.2*t" --for 2
    Example: kinegraph inverse-kinematics puma560 --body L6 --closed-form c -o puma-kinematics
    """
    if closed_form is not None:
        _show_closed_form(source, body, closed_form, points, output, settings, json)
        return
    if path:
        follow_path(source, path, duration, times, spring, state, plot, output, settings, json)
        return
    if output is not None:
        raise TaskError("-o saves the motion along a --path, or a --closed-form: add one of them, or use --json")
    if not body or not pose:
        raise TaskError("nothing to solve for: give --body NAME and --pose NUMBERS, or a --path")
    from kinegraph.tasks.inverse_kinematics import inverse_kinematics

    mechanism = source.mechanism()
    found = inverse_kinematics(
        mechanism, body, _pose(pose), bounds=ranges(bounds or (), "--bounds"), limits=limits, starts=starts,
        parameters=parameter_settings(mechanism, settings),
    )  # fmt: skip
    if json:
        print_json(found.to_dict())
    elif found.solutions:
        _show_solutions(found)
    if not found.solutions:
        raise TaskError(found.reason)


def _show_closed_form(
    source: ModelSource, body: str, form: str, points: bool, output: Path | None, settings: list[str] | None, json: bool
) -> None:
    """Print the equations, or write them as source code."""
    from kinegraph.tasks.closed_form_equations import closed_form_equations

    if not body:
        raise TaskError("--closed-form: name the body with --body")
    mechanism = source.mechanism()
    found = closed_form_equations(mechanism, body, points=points, parameters=parameter_settings(mechanism, settings))
    if json and output is None:
        print_json(found.to_dict())
    elif form in ("text", "latex") and output is None:
        typer.echo(str(found) if form == "text" else found.latex())
    elif output is None:
        raise TaskError(f"--closed-form {form} writes files: add -o DIR, or use text or latex to print")
    else:
        from kinegraph.export import ExportOptions, export

        name = f"{mechanism.name}-{body}-inverse-kinematics"
        report = export(found.graph, "", form, output, ExportOptions(name=name))
        if json:
            print_json({"files": [str(file) for file in report.files]})
            return
        for file in report.files:
            typer.echo(f"wrote {file}")


def _show_solutions(found: PoseSolutions) -> None:
    rows = [(*(f"{value:.10g}" for value in one.q), f"{one.error:.1e}") for one in found.solutions]
    headings = (*found.coordinates, "error")
    if found.family:
        rows = [(*row, "yes" if one.isolated else "no") for row, one in zip(rows, found.solutions, strict=True)]
        headings = (*headings, "isolated")
    show_table(headings, rows)
    if found.family:
        typer.echo("where it is not isolated, the mechanism can move while the body stays: infinitely many solutions")
    typer.echo(f"found by {found.method}" + (": these are all" if found.complete else "") + found.remark)


def _pose(text: str) -> np.ndarray:
    try:
        numbers = np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise TaskError(f"--pose: cannot read {text!r}; write numbers separated by commas") from None
    if numbers.size == 3:
        return numbers
    if numbers.size == 16:
        return numbers.reshape(4, 4)
    if numbers.size == 6:
        return _from_angles(numbers)
    raise TaskError(f"--pose: {numbers.size} numbers; 3 make a point, 6 a place with roll, pitch, yaw, 16 a matrix")


def _from_angles(numbers: np.ndarray) -> np.ndarray:
    (cr, cp, cy), (sr, sp, sy) = np.cos(numbers[3:]), np.sin(numbers[3:])
    pose = np.eye(4)
    pose[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    pose[:3, 3] = numbers[:3]
    return pose


# `kinegraph point-motion`: pose, velocity and acceleration of a point.


@reads_model
def run_point_motion(
    source: ModelSource,
    point: Annotated[str, typer.Option("--point", metavar="NAME", help="A body or an output point.")],
    place: Annotated[str, typer.Option("--place", metavar="X,Y,Z", help="A point in the frame of the body.")] = "",
    state: StateOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compute pose, velocity and acceleration of a point at a state.

    Example: kinegraph point-motion double-pendulum --point tip --state "q1=0.5,q1'=2"
    """
    from kinegraph.tasks.point_motion import point_motion

    mechanism = source.mechanism()
    chosen = (point, _numbers(place)) if place else point
    found = point_motion(
        mechanism, chosen, state_settings(mechanism, state), parameters=parameter_settings(mechanism, settings)
    )
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise TaskError(f"--place: cannot read {text!r}; write three numbers, e.g. 0.1,0,0") from None


# `kinegraph workspace`: where a platform can be, and its poses for given drives.

OverOption = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="NAME=FROM:TO", help="One to three coordinates of the platform to vary."),
]
PlatformStateOption = Annotated[
    list[str] | None, typer.Option("--state", metavar="NAME=VALUE", help="Other coordinates of the platform.")
]
PlatformTiltOption = Annotated[
    float | None,
    typer.Option("--platform-tilt", help="Largest tilt of a leg at its platform joint, in degrees."),
]
DrivesOption = Annotated[
    list[str] | None,
    typer.Option("--drives", metavar="NAME=VALUE", help="List all poses for these drive lengths instead."),
]


@reads_model
def run_workspace(
    source: ModelSource,
    over: OverOption = None,
    state: PlatformStateOption = None,
    points: Annotated[int, typer.Option("--points", min=2, help="Number of values of each coordinate.")] = 41,
    stroke: Annotated[str, typer.Option("--stroke", metavar="FROM:TO", help="Limits of all drives.")] = "",
    tilt: Annotated[float | None, typer.Option("--tilt", help="Largest tilt of a leg at the base, in degrees.")] = None,
    platform_tilt: PlatformTiltOption = None,
    radius: Annotated[float, typer.Option("--radius", help="Radius of the legs, which must not touch.")] = 0.0,
    least: Annotated[float, typer.Option("--least", help="Least distance from singular poses, 0 to 1.")] = 0.0,
    drives: DrivesOption = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Compute the workspace of a parallel platform, or all its poses for given drives.

    Example: kinegraph workspace stewart --over x=-2:-1 --over y=-0.5:0.5 --stroke 1.1:1.6 --plot workspace.png
    """
    if drives:
        _show_poses(source, drives, json)
        return
    from kinegraph.tasks.platforms.workspace import workspace

    found = workspace(
        source.mechanism(),
        ranges(over or (), "--over"),
        state=numbers_by_name(state or (), "--state"),
        stroke=ranges([f"stroke={stroke}"], "--stroke")["stroke"] if stroke else None,
        tilt=None if tilt is None else math.radians(tilt),
        platform_tilt=None if platform_tilt is None else math.radians(platform_tilt),
        radius=radius,
        least=least,
        points=points,
    )
    if plot is not None:
        from kinegraph.view.task_figures import plot_workspace

        plot_workspace(found, plot, plot_units(source.mechanism(), None))
    print_json(found.to_dict()) if json else typer.echo(str(found))


def _show_poses(source: ModelSource, drives: list[str], json: bool) -> None:
    from kinegraph.tasks.platforms.platform_poses import platform_poses

    found = platform_poses(source.mechanism(), numbers_by_name(drives, "--drives"))
    if not found:
        raise TaskError("no platform pose was found for these drives: legs of these lengths may not fit together")
    if json:
        print_json(found.to_dict())
        return
    rows = [(*(f"{x:.8g}" for x in one.coordinates.values()), str(one.hits)) for one in found]
    show_table((*found[0].coordinates, "found"), rows)
    if found.paths is not None:
        ends = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in asdict(found.paths).items() if count)
        typer.echo(f"{'all isolated poses' if found.complete else 'there may be more'}; paths: {ends}")
