"""The picture of a platform's workspace: distance from singular poses where the ring can be, else what limits it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.view.plot import picture_path, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinegraph.tasks.platforms.workspace import Workspace

#: Limits with a colour of their own.
_LEGEND = 11
#: Slices of a workspace over three coordinates.
_SLICES = 4


def plot_workspace(workspace: Workspace, path: str | Path) -> Path:
    """Write a .png, .svg or .pdf file."""
    path = picture_path(path, TaskError)
    figure_of(workspace).savefig(path)
    return path


def figure_of(workspace: Workspace) -> Figure:
    """The picture as a matplotlib figure: a curve, a map, or slices of one."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

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
        limits = _limits(workspace)
        for panel, place in zip(panels, places, strict=True):
            pick = (slice(None), slice(None)) if place is None else (slice(None), slice(None), place)
            drawn = _map(panel, values, shown[pick], limits.places[pick], len(limits.words), top)
            panel.set_xlabel(names[0])
            panel.set_ylabel(names[1])
            if place is not None:
                panel.set_title(f"{names[2]} = {values[2][place]:.4g}")
        page.colorbar(drawn, ax=list(panels), label="distance from singular poses")
        if limits.words:
            patches = [Patch(color=_color(k), label=word) for k, word in enumerate(limits.words)]
            page.legend(handles=patches, loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    return page


@dataclass(frozen=True)
class _Limits:
    """What keeps the ring out, in words, and which of these holds at every pose, -1 for none."""

    words: tuple[str, ...]
    places: Any


def _limits(workspace: Workspace) -> _Limits:
    """By limit and leg, the most important ones; all others by the limit alone."""
    first = list(workspace.limits())[:_LEGEND]
    words = [f"{one.meaning}: {leg}" if leg else one.meaning for one, leg in first]
    places = np.full(workspace.verdict.shape, -1)
    for k, (one, leg) in enumerate(first):
        number = workspace.names.index(leg) if leg else -1
        places[(workspace.verdict == one) & (workspace.at_fault == number)] = k
    if np.any(rest := ~workspace.inside & (places < 0)):
        places[rest] = len(words)
        words.append("other limits")
    return _Limits(tuple(words), places)


def _color(index: int) -> Any:
    from matplotlib import colormaps

    return colormaps["Pastel2" if index < 8 else "Pastel1"](index % 8)


def _map(panel: Axes, values: list[Any], shown: Any, limits: Any, count: int, top: float) -> Any:
    from matplotlib.colors import ListedColormap

    if count:
        outside = np.where(limits < 0, np.nan, limits)
        colors = ListedColormap([_color(k) for k in range(count)])
        panel.pcolormesh(values[0], values[1], outside.T, vmin=-0.5, vmax=count - 0.5, cmap=colors, shading="nearest")
    return panel.pcolormesh(values[0], values[1], shown.T, vmin=0.0, vmax=top, cmap="viridis", shading="nearest")
