"""Pictures of the crane and of the arms that draw, for the documentation."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.tasks.machines import crane, load_path, torques
from kinegraph.compiler.compile import compile
from kinegraph.model.states import moved_by
from kinegraph.reproduce.documents.inverse import CRANE_LAW, DRAWINGS
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.unknown_forces import unknown_forces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The bars of the crane between its named points.
_BARS = ("Boom", "Trunk", "Stay", "Rocker", "Link")


def draw(folder: Path) -> None:
    """Write crane.png and drawing-arms.png."""
    folder.mkdir(parents=True, exist_ok=True)
    with import_module("kinegraph.view.plot").styled():  # the look of all pictures, which stands above benches
        _crane(folder / "crane.png")
        _arms(folder / "drawing-arms.png")


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _crane(path: Path) -> None:
    page = _figure(10.0, 4.2)
    left, right = page.subplots(1, 2)
    for s, shade in ((7.1, "#0072B2"), (4.68, "#9ecae1"), (2.26, "#9ecae1")):
        _bars(left, s, shade)
    better = crane().dimensions
    left.plot(*load_path({}).T, color="#D55E00", label="path of the load")
    left.set_aspect("equal")
    left.set_xlabel("x / m")
    left.set_ylabel("y / m")
    left.legend(loc="lower right")
    times = np.linspace(0, 40, 201)
    cranes: dict[str, dict[str, float]] = {"lengths of the reference": {}, "lengths found by synthesis": better}
    for name, values in cranes.items():
        force = unknown_forces("crane", CRANE_LAW, times, unknown=["S"], parameters=dict(values))["S"]
        right.plot(times, force / 1000, label=name)
    right.set_xlabel("t / s")
    right.set_ylabel("rack force S / kN")
    right.legend()
    page.savefig(path)


def _bars(axis: Axes, s: float, color: str) -> None:
    """The crane at one length of its rack, bar by bar."""
    poses = compile("crane", [f"pose:{name}" for name in (*_BARS, "Load", "Weight")])(np.array([s]))
    ends: dict[str, list[tuple[float, float]]] = {
        "Boom": [(0, 0), (36, 0)], "Trunk": [(-5.2, 0.31), (0, 0), (18, 0)], "Stay": [(0, 0), (27.78, 0)],
        "Rocker": [(0, 0), (7, 0)], "Link": [(0, 0), (8.5, 0)],
    }  # fmt: skip
    for name, points in ends.items():
        line = np.array([_place(poses[f"pose:{name}"], point) for point in points])
        axis.plot(*line.T, color=color, linewidth=2.0, linestyle="-")
    rocker, weight = poses["pose:Rocker"][:2, 3], poses["pose:Weight"][:2, 3]
    axis.plot(*np.array([rocker, weight]).T, color=color, linewidth=2.0, linestyle="-")
    axis.plot(*weight, "s", color=color, markersize=7)
    axis.plot(*poses["pose:Load"][:2, 3], "v", color=color, markersize=7)


def _place(pose: Floats, point: tuple[float, float]) -> Floats:
    return np.asarray(pose[:2, :2] @ np.array(point) + pose[:2, 3])


def _arms(path: Path) -> None:
    page = _figure(10.0, 6.4)
    panels = page.subplots(2, 2, width_ratios=(1, 2))
    for (left, right), drawing in zip(panels, DRAWINGS, strict=True):
        motion, forces = torques(drawing, 600)
        place = compile(drawing.model, f"pose:{drawing.point}").batch(motion.q)[:, :3, 3]
        left.plot(place[:, 1], place[:, 2])
        left.set_aspect("equal")
        left.set_xlabel("y / m")
        left.set_ylabel("z / m")
        left.set_title(drawing.model)
        for name in drawing.drives:
            right.plot(motion.times, forces[name], label=moved_by(name))
        right.set_xlabel("t / s")
        right.set_ylabel("N m, N")
        right.margins(x=0)
        right.legend(ncols=3)
    page.savefig(path)
