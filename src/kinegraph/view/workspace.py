"""The picture of a platform's workspace: distance from singular poses where the ring can be, else what limits it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import TaskError
from kinegraph.view.plot import picture_path, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

    from kinegraph.tasks.platforms.workspace import Workspace

Floats: TypeAlias = NDArray[np.float64]

#: Limits with a colour of their own.
_LEGEND = 11
_DISTANCE = "distance from singular poses"
#: Poses inside a map from which on lines of equal distance are drawn.
_ENOUGH = 25
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

    with styled():
        limits = _limits(workspace)
        page = Figure(layout="constrained")
        (_curve if len(workspace.axes) == 1 else _maps)(page, workspace, limits)
        page.suptitle(f"{workspace.share:.1%} of the poses are inside", fontsize="medium")
        if limits.words:
            patches = [Patch(color=_color(k), label=word) for k, word in enumerate(limits.words)]
            page.legend(handles=patches, loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    return page


def _curve(page: Figure, workspace: Workspace, limits: _Limits) -> None:
    """Over one coordinate; bands of colour where the ring cannot be."""
    ((name, values),) = workspace.axes.items()
    page.set_size_inches(8.0, 4.6)
    panel = page.subplots()
    panel.plot(values, np.where(workspace.inside, workspace.dexterity, np.nan), color="black")
    half = (values[1] - values[0]) / 2 if len(values) > 1 else 0.5
    for value, place in zip(values, limits.places, strict=True):
        if place >= 0:
            panel.axvspan(value - half, value + half, color=_color(place), lw=0)
    panel.set_xlim(values[0] - half, values[-1] + half)
    panel.set_ylim(0.0, 1.1 * float(np.max(workspace.dexterity, initial=1e-3, where=workspace.inside)))
    panel.set_xlabel(name)
    panel.set_ylabel(_DISTANCE)


def _maps(page: Figure, workspace: Workspace, limits: _Limits) -> None:
    """Over two coordinates, or slices of three."""
    names, values = list(workspace.axes), list(workspace.axes.values())
    displayed = np.where(workspace.inside, workspace.dexterity, np.nan)
    places: list[int | None] = [None]
    if len(names) == 3:
        places = list(dict.fromkeys(np.linspace(0, len(values[2]) - 1, _SLICES).round().astype(int).tolist()))
    rows, columns = (len(places) + 1) // 2, min(2, len(places))
    page.set_size_inches(4.6 * columns + 1, 4.2 * rows + 0.4)
    panels = np.ravel(page.subplots(rows, columns, squeeze=False))
    top = float(np.nanmax(displayed)) if np.any(workspace.inside) else 1.0
    for panel, place in zip(panels, places, strict=False):
        pick = (slice(None), slice(None)) if place is None else (slice(None), slice(None), place)
        drawn = _map(panel, values, displayed[pick], limits.places[pick], len(limits.words), top)
        panel.set_xlabel(names[0])
        panel.set_ylabel(names[1])
        if place is not None:
            panel.set_title(f"{names[2]} = {values[2][place]:.4g}")
    for panel in panels[len(places) :]:
        panel.set_visible(False)
    page.colorbar(drawn, ax=list(panels), label=_DISTANCE)


@dataclass(frozen=True)
class _Limits:
    """What keeps the ring out, in words, and which of these holds at every pose, -1 for none."""

    words: tuple[str, ...]
    places: NDArray[np.int64]


def _limits(workspace: Workspace) -> _Limits:
    """By limit and leg, the most important ones, in the order of limits and legs; all others together."""
    order = {name: number for number, name in enumerate(workspace.names)}
    first = sorted(list(workspace.limits())[:_LEGEND], key=lambda one: (one[0], order.get(one[1], -1)))
    words = [f"{one.meaning}: {leg}" if leg else one.meaning for one, leg in first]
    places = np.full(workspace.verdict.shape, -1)
    for k, (one, leg) in enumerate(first):
        number = workspace.names.index(leg) if leg else -1
        places[(workspace.verdict == one) & (workspace.at_fault == number)] = k
    if np.any(rest := ~workspace.inside & (places < 0)):
        places[rest] = len(words)
        words.append("other limits")
    return _Limits(tuple(words), places)


def _color(index: int) -> tuple[float, float, float, float]:
    from matplotlib import colormaps

    red, green, blue, alpha = colormaps["Pastel2" if index < 8 else "Pastel1"](index % 8)
    return red, green, blue, alpha


def _map(
    panel: Axes, values: list[Floats], displayed: Floats, limits: NDArray[np.int64], count: int, top: float
) -> QuadMesh:
    from matplotlib.colors import ListedColormap

    if count:
        outside = np.where(limits < 0, np.nan, limits)
        colors = ListedColormap([_color(k) for k in range(count)])
        panel.pcolormesh(values[0], values[1], outside.T, vmin=-0.5, vmax=count - 0.5, cmap=colors, shading="nearest")
    drawn = panel.pcolormesh(values[0], values[1], displayed.T, vmin=0.0, vmax=top, cmap="viridis", shading="nearest")
    _lines(panel, values, displayed)
    return drawn


def _lines(panel: Axes, values: list[Floats], displayed: Floats) -> None:
    """Lines of equal distance, for colours that reach down to zero hardly differ inside; and the border."""
    if min(displayed.shape) < 2 or not np.any(np.isfinite(displayed)):
        return
    inside = np.isfinite(displayed)
    if not np.all(inside):
        panel.contour(values[0], values[1], inside.T.astype(float), levels=[0.5], colors="black", linewidths=0.8)
    if np.nanmax(displayed) - np.nanmin(displayed) > 1e-6 * np.nanmax(displayed) and np.sum(inside) >= _ENOUGH:
        lines = panel.contour(values[0], values[1], displayed.T, levels=5, colors="black", linewidths=0.4, alpha=0.7)
        panel.clabel(lines, fontsize="x-small")
