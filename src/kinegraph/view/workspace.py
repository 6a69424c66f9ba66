"""The picture of a platform's workspace: distance from singular poses where the ring can be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.view.plot import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinegraph.tasks.platforms.workspace import Workspace

#: Slices of a workspace over three coordinates.
_SLICES = 4


def plot_workspace(workspace: Workspace, path: str | Path) -> Path:
    """Write a .png, .svg or .pdf file."""
    path = Path(path)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise TaskError(f"cannot draw {path.name}: the ending must be .png, .svg or .pdf")
    figure_of(workspace).savefig(path)
    return path


def figure_of(workspace: Workspace) -> Figure:
    """The picture as a matplotlib figure: a curve, a map, or slices of one."""
    from matplotlib.figure import Figure

    names, values = list(workspace.axes), list(workspace.axes.values())
    shown = np.where(workspace.inside, workspace.dexterity, np.nan)
    with styled():
        if len(names) == 1:
            page = Figure(figsize=(8.0, 4.0), layout="constrained")
            panel = page.subplots()
            panel.plot(values[0], shown)
            panel.set_xlabel(names[0])
            panel.set_ylabel("distance from singular poses")
            return page
        places = [None] if len(names) == 2 else np.linspace(0, len(values[2]) - 1, _SLICES).astype(int).tolist()
        page = Figure(figsize=(4.6 * min(2, len(places)) + 1, 4.2 * ((len(places) + 1) // 2)), layout="constrained")
        panels = np.ravel(page.subplots((len(places) + 1) // 2, min(2, len(places)), squeeze=False))
        top = float(np.nanmax(shown)) if np.any(workspace.inside) else 1.0
        for panel, place in zip(panels, places, strict=True):
            drawn = _map(panel, values, shown if place is None else shown[:, :, place], top)
            panel.set_xlabel(names[0])
            panel.set_ylabel(names[1])
            if place is not None:
                panel.set_title(f"{names[2]} = {values[2][place]:.4g}")
        page.colorbar(drawn, ax=list(panels), label="distance from singular poses")
    return page


def _map(panel: Axes, values: list[Any], shown: Any, top: float) -> Any:
    panel.set_facecolor("#dddddd")
    return panel.pcolormesh(values[0], values[1], shown.T, vmin=0.0, vmax=top, cmap="viridis", shading="nearest")
