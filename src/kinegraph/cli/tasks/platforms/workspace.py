"""`kinegraph workspace`: where the ring of a platform can be, and its poses for given drives."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import PlotOption, numbers_by_name, ranges, show_table
from kinegraph.errors import TaskError

if TYPE_CHECKING:
    from kinegraph.tasks.platforms.workspace import Workspace

OverOption = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="NAME=FROM:TO", help="One to three coordinates of the ring to go over."),
]
AtOption = Annotated[
    list[str] | None, typer.Option("--at", metavar="NAME=VALUE", help="Other coordinates of the ring.")
]
RingTiltOption = Annotated[
    float | None, typer.Option("--ring-tilt", help="The same in its joint on the ring, seen from the ring.")
]
DrivesOption = Annotated[
    list[str] | None,
    typer.Option("--drives", metavar="NAME=VALUE", help="All poses of the ring for these drives instead."),
]


@reads_model
def run(
    source: ModelSource,
    over: OverOption = None,
    at: AtOption = None,
    points: Annotated[int, typer.Option("--points", min=2, help="Values of each coordinate.")] = 41,
    stroke: Annotated[str, typer.Option("--stroke", metavar="FROM:TO", help="Bounds of all drives.")] = "",
    tilt: Annotated[float | None, typer.Option("--tilt", help="Degrees a leg may lean from its start.")] = None,
    ring_tilt: RingTiltOption = None,
    radius: Annotated[float, typer.Option("--radius", help="Of the legs, which must not touch.")] = 0.0,
    least: Annotated[float, typer.Option("--least", help="Least distance from singular poses, 0 to 1.")] = 0.0,
    drives: DrivesOption = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Where the ring of a platform can be, and how far from singular poses; or all its poses for given drives.

    Example: kinegraph workspace stewart --over x=-2:-1 --over y=-0.5:0.5 --stroke 1.1:1.6 --plot workspace.png
    """
    if drives:
        _poses(source, drives, json)
        return
    from kinegraph.tasks.platforms.workspace import workspace

    found = workspace(
        source.mechanism(),
        ranges(over or (), "--over"),
        at=numbers_by_name(at or (), "--at"),
        stroke=ranges([f"stroke={stroke}"], "--stroke")["stroke"] if stroke else None,
        tilt=None if tilt is None else math.radians(tilt),
        ring_tilt=None if ring_tilt is None else math.radians(ring_tilt),
        radius=radius,
        least=least,
        points=points,
    )
    if plot is not None:
        from kinegraph.view.workspace import plot_workspace

        plot_workspace(found, plot)
    print_json(_data(found)) if json else typer.echo(str(found))


def _data(found: Workspace) -> dict[str, object]:
    inside = found.dexterity[found.inside]
    limits = found.limits().items()
    return {
        "axes": {name: values.tolist() for name, values in found.axes.items()},
        "verdict": found.verdict.tolist(),
        "share": found.share,
        "counts": found.counts(),
        "limits": [{"limit": one.meaning, "leg": leg, "poses": count} for (one, leg), count in limits],
        "dexterity": [float(inside.min()), float(inside.max())] if inside.size else None,
    }


def _poses(source: ModelSource, drives: list[str], json: bool) -> None:
    from kinegraph.tasks.platforms.ring_poses import ring_poses

    found = ring_poses(source.mechanism(), numbers_by_name(drives, "--drives"))
    if not found:
        raise TaskError("no pose of the ring was found for these drives: legs of these lengths may not fit together")
    if json:
        poses = [{"ring": dict(one.ring), "residual": one.residual, "hits": one.hits} for one in found]
        paths = None if found.paths is None else asdict(found.paths)
        print_json({"poses": poses, "complete": found.complete, "paths": paths})
        return
    rows = [(*(f"{x:.8g}" for x in one.ring.values()), str(one.hits)) for one in found]
    show_table((*found[0].ring, "found"), rows)
    if found.paths is not None:
        ends = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in asdict(found.paths).items() if count)
        typer.echo(f"{'all isolated poses' if found.complete else 'there may be more'}; paths: {ends}")
