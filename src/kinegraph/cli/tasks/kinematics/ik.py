"""`kinegraph ik`: positions for a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, PlotOption, ranges, show_table
from kinegraph.cli.tasks.kinematics.path import follow_path
from kinegraph.errors import TaskError

if TYPE_CHECKING:
    from kinegraph.tasks.kinematics.inverse_kinematics import PoseSolutions

BodyOption = Annotated[str, typer.Option("--body", "-b", metavar="NAME", help="The body or output point to be placed.")]
PoseOption = Annotated[
    str,
    typer.Option(
        "--pose",
        metavar="NUMBERS",
        help="x,y,z of a point; x,y,z,roll,pitch,yaw (as in URDF); or the 16 numbers of a 4 x 4 matrix by rows.",
    ),
]
PathOption = Annotated[
    list[str] | None,
    typer.Option("--path", metavar="WHAT=LAW", help="Follow a path: tip.x=0.4*cos(t), q4=0; several times."),
]
SpringOption = Annotated[
    float | None, typer.Option("--spring", metavar="N/M", help="Follow by fictitious springs of this stiffness.")
]
WithinOption = Annotated[
    list[str] | None,
    typer.Option("--within", metavar="NAME=FROM:TO", help="Limits in place of the robot file's: --within q1=-2:2."),
]
LimitsOption = Annotated[
    bool, typer.Option("--limits/--no-limits", help="Keep within the limits that the robot file states.")
]
StartsOption = Annotated[int, typer.Option("--starts", min=1, max=1_000_000, help="From how many places to search.")]


@reads_model
def run(
    source: ModelSource,
    body: BodyOption = "",
    pose: PoseOption = "",
    path: PathOption = None,
    duration: Annotated[float, typer.Option("--for", metavar="T", help="The end time of a path in seconds.")] = 1.0,
    steps: Annotated[int, typer.Option("--steps", min=1, max=1_000_000, help="Of a path.")] = 100,
    spring: SpringOption = None,
    at: AtOption = None,
    plot: PlotOption = None,
    within: WithinOption = None,
    limits: LimitsOption = True,
    starts: StartsOption = 256,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """All positions that bring a body to a pose, each certified by forward kinematics; or the motion along a path.

    Example: kinegraph ik puma560 --body L6 --pose 0.4,0.1,0.3,0,0,0
    Example: kinegraph ik stanford --path gripper.x=1.15 --path "gripper.y=0.6*cos(t)^3" --path "gripper.z=0.6*sin(t)^3"
    """
    if path:
        follow_path(source, path, duration, steps, spring, at, plot, settings, json)
        return
    if not body or not pose:
        raise TaskError("say what is wanted: --body NAME and --pose NUMBERS, or a --path")
    from kinegraph.tasks.kinematics.inverse_kinematics import inverse_kinematics

    mechanism = source.mechanism()
    found = inverse_kinematics(
        mechanism, body, _pose(pose), within=ranges(within or (), "--within"), limits=limits, starts=starts,
        parameters=parameter_settings(mechanism, settings),
    )  # fmt: skip
    if json:
        print_json(_data(found))
    elif found.solutions:
        _show(found)
    if not found.solutions:
        raise TaskError(found.reason)


def _data(found: PoseSolutions) -> dict[str, object]:
    rows, outside = (
        [
            {
                "q": dict(zip(found.coordinates, one.q.tolist(), strict=True)),
                "error": one.error,
                "isolated": one.isolated,
            }
            for one in solutions
        ]
        for solutions in (found.solutions, found.outside)
    )
    data = {"solutions": rows, "family": found.family, "nearest": found.nearest.error, "outside_limits": outside}
    return {**data, "with_turns": found.with_turns, "method": found.method, "complete": found.complete}


def _show(found: PoseSolutions) -> None:
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
