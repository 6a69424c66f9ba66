"""Figures of task results: curves over time, frequency responses, branches of equilibria, workspaces of platforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import TaskError
from kinegraph.model.states import is_force, moved_by
from kinegraph.view.plot import panels_by_unit, picture_path, put_legend, save_figure, styled, widen, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

    from kinegraph.tasks.campbell import Campbell
    from kinegraph.tasks.continuation import Branch, Branches
    from kinegraph.tasks.platforms.workspace import Workspace
    from kinegraph.tasks.response import Response
    from kinegraph.tasks.tolerances import Tolerances
    from kinegraph.tasks.unbalance_response import UnbalanceResponse

Floats: TypeAlias = NDArray[np.float64]


# Curves over time, with error bands.


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis; bands are one standard deviation to both sides."""

    unit: str
    curves: Mapping[str, Floats]
    bands: Mapping[str, Floats] | None = None


def panels_of(
    columns: Mapping[str, Floats], units: Mapping[str, str], bands: Mapping[str, Floats] | None = None
) -> list[Panel]:
    """A panel for each unit; a curve whose unit is not known has a panel with its name."""
    known = {name: unit_of(name, units) for name in columns}
    return [
        Panel(one.unit or one.names[0], {name: columns[name] for name in one.names}, bands)
        for one in panels_by_unit("", tuple(columns), known)
    ]


def unit_of(name: str, units: Mapping[str, str]) -> str:
    """The unit of a column: as known, of a rate, or of the force on a coordinate; empty if it does not follow."""
    if units.get(name):
        return units[name]
    if is_force(name):
        return {"rad": "N m", "m": "N"}.get(units.get(moved_by(name), ""), "")
    unit = unit_of(name[:-1], units) if name.endswith("'") else ""
    return f"{unit}²" if unit.endswith("/s") else f"{unit}/s" if unit else ""


def plot_curves(path: str | Path, times: Floats, panels: Sequence[Panel], title: str = "") -> Path:
    """Write a .png, .svg or .pdf file: panels over one time axis."""
    from matplotlib.figure import Figure

    path = picture_path(path, TaskError)
    with styled():
        page = Figure(figsize=(8.0, 0.6 + 2.6 * len(panels)), layout="constrained")
        axes = np.atleast_1d(page.subplots(len(panels), 1, sharex=True))
        for axis, panel in zip(axes, panels, strict=True):
            for name, curve in panel.curves.items():
                (line,) = axis.plot(times, curve, label=written(name))
                band = (panel.bands or {}).get(name)
                if band is not None:
                    axis.fill_between(times, curve - band, curve + band, color=line.get_color(), alpha=0.25, lw=0)
            axis.set_ylabel(written(panel.unit))
            widen(axis)
            put_legend(axis)
        axes[-1].set_xlabel("t / s")
        if title:
            page.suptitle(written(title), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return save_figure(page, path)


# Frequency response: amplitude and phase over frequency.


def plot_response(response: Response, path: str | Path, units: Mapping[str, str] | None = None) -> Path:
    """Write a .png, .svg or .pdf file over the frequency in Hz: amplitudes, a panel for each unit, and phases.

    units: of the coordinates by name, such as rad; amplitudes are then in units such as rad/(N m).
    """
    from matplotlib.figure import Figure

    path = picture_path(path, TaskError)
    hertz = response.frequencies / (2 * np.pi)
    curves: dict[str, list[tuple[int, int]]] = {}
    for output, name in enumerate(response.outputs[: max(1, len(response.outputs) // 2)]):
        for column, source in enumerate(response.inputs):
            curves.setdefault(transfer_unit(name, source, units or {}), []).append((output, column))
    with styled():
        page = Figure(figsize=(8.0, 0.8 + 2.6 * (len(curves) + 1)), layout="constrained")
        *above, below = page.subplots(len(curves) + 1, 1, sharex=True)
        for panel, (unit, places) in zip(above, curves.items(), strict=True):
            for output, column in places:
                label = f"{response.outputs[output]} by {response.inputs[column]}"
                curve = response.transfer[:, output, column]
                (drawn,) = panel.loglog(hertz, np.abs(curve), label=written(label))
                style, color = drawn.get_linestyle(), drawn.get_color()
                below.semilogx(hertz, np.degrees(np.unwrap(np.angle(curve))), style, color=color)
            panel.set_ylabel(f"amplitude / {unit}")
            put_legend(panel)
        below.set_ylabel("phase / °")
        below.set_xlabel("f / Hz")
        below.margins(x=0)
    return save_figure(page, path)


def transfer_unit(output: str, source: str, units: Mapping[str, str]) -> str:
    """The unit of an output for a unit of an input; that of a generalized force follows from its coordinate."""
    moved = units.get(moved_by(source), "") if is_force(source) else ""
    force = {"rad": "(N m)", "m": "N"}.get(moved, f"unit of {written(source)}")
    return f"{units.get(output) or f'unit of {written(output)}'}/{force}"


# Branches of equilibria: every coordinate over the variable, stable parts as solid lines.

_MARKERS = {"fold": "<", "branch point": "o", "Hopf": "s", "divergence": "d"}
_MOST_PANELS = 6


def plot_branches(branches: Branches, path: str | Path, units: Mapping[str, str] | None = None) -> Path:
    """Write a .png, .svg or .pdf file. units: of the coordinates by name."""
    path = picture_path(path, TaskError)
    return save_figure(branches_figure(branches, units or {}), path)


def branches_figure(branches: Branches, units: Mapping[str, str]) -> Figure:
    """The picture as a matplotlib figure, one panel per coordinate."""
    from matplotlib.figure import Figure

    names = branches.coordinates[:_MOST_PANELS]
    with styled():
        page = Figure(figsize=(8.0, 1.0 + 2.6 * len(names)), layout="constrained")
        panels = np.ravel(page.subplots(len(names), 1, sharex=True, squeeze=False))
        for index, (panel, name) in enumerate(zip(panels, names, strict=True)):
            for branch in branches:
                _draw_branch(panel, branch, index)
            panel.set_ylabel(_with_unit(name, units))
        panels[-1].set_xlabel(_with_unit(branches.over, units))
        _branches_legend(panels[0], branches)
    return page


def _draw_branch(panel: Axes, branch: Branch, index: int) -> None:
    """One branch: stable parts solid, unstable ones dashed."""
    heights = branch.q[:, index]
    for wanted, style in ((True, "-"), (False, "--")):
        parts = branch.stable == wanted
        parts[:-1] |= branch.stable[1:] == wanted  # a part extends to the next
        panel.plot(branch.values, np.where(parts, heights, np.nan), style, color="#0072B2")
    for one in branch.special:
        panel.plot(one.value, one.q[index], _MARKERS[one.kind], color="#D55E00", markersize=5)


def _branches_legend(panel: Axes, branches: Branches) -> None:
    panel.plot([], [], "-", color="#0072B2", label="stable")
    panel.plot([], [], "--", color="#0072B2", label="unstable")
    for kind in dict.fromkeys(str(one.kind) for one in branches.special):
        panel.plot([], [], _MARKERS[kind], color="#D55E00", markersize=5, label=kind)
    put_legend(panel)


# The workspace of a platform: the distance from singular poses inside, otherwise the limit exceeded.


#: Limits with their own color.
_LEGEND = 11
_DISTANCE = "distance from singular poses"
#: Contour lines are drawn from this number of poses inside a map.
_ENOUGH = 25
#: Slices of a workspace over three coordinates.
_SLICES = 4


def plot_workspace(workspace: Workspace, path: str | Path, units: Mapping[str, str] | None = None) -> Path:
    """Write a .png, .svg or .pdf file. units: of the coordinates by name; axes of one unit have one scale."""
    path = picture_path(path, TaskError)
    return save_figure(workspace_figure(workspace, units or {}), path)


def workspace_figure(workspace: Workspace, units: Mapping[str, str]) -> Figure:
    """The picture as a matplotlib figure: a curve, a map, or slices of a map."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    with styled():
        limits = _limits(workspace)
        page = Figure(layout="constrained")
        (_curve if len(workspace.axes) == 1 else _maps)(page, workspace, limits, units)
        page.suptitle(f"{workspace.share:.1%} of the poses are inside", fontsize="medium")
        if limits.words:
            patches = [Patch(color=_color(k), label=word) for k, word in enumerate(limits.words)]
            page.legend(handles=patches, loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    return page


def _curve(page: Figure, workspace: Workspace, limits: _Limits, units: Mapping[str, str]) -> None:
    """Over one coordinate; colored bands where the platform cannot be."""
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
    panel.set_xlabel(_with_unit(name, units))
    panel.set_ylabel(_DISTANCE)


def _maps(page: Figure, workspace: Workspace, limits: _Limits, units: Mapping[str, str]) -> None:
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
        drawn = _draw_map(panel, values, displayed[pick], limits.places[pick], len(limits.words), top)
        panel.set_xlabel(_with_unit(names[0], units))
        panel.set_ylabel(_with_unit(names[1], units))
        if units.get(names[0]) and units.get(names[0]) == units.get(names[1]):
            panel.set_aspect("equal")
        if place is not None:
            panel.set_title(f"{written(names[2])} = {values[2][place]:.4g} {units.get(names[2], '')}".strip())
    for panel in panels[len(places) :]:
        panel.set_visible(False)
    page.colorbar(drawn, ax=list(panels), label=_DISTANCE)


def _with_unit(name: str, units: Mapping[str, str]) -> str:
    unit = unit_of(name, units)
    return written(f"{name} / ({unit})" if "/" in unit else f"{name} / {unit}" if unit else name)


@dataclass(frozen=True)
class _Limits:
    """The limits of the platform as text, and which of these holds at every pose, -1 for none."""

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


def _draw_map(
    panel: Axes, values: list[Floats], displayed: Floats, limits: NDArray[np.int64], count: int, top: float
) -> QuadMesh:
    from matplotlib.colors import ListedColormap

    if count:
        outside = np.where(limits < 0, np.nan, limits)
        colors = ListedColormap([_color(k) for k in range(count)])
        panel.pcolormesh(values[0], values[1], outside.T, vmin=-0.5, vmax=count - 0.5, cmap=colors, shading="nearest")
    drawn = panel.pcolormesh(values[0], values[1], displayed.T, vmin=0.0, vmax=top, cmap="viridis", shading="nearest")
    _draw_contours(panel, values, displayed)
    return drawn


def _draw_contours(panel: Axes, values: list[Floats], displayed: Floats) -> None:
    """Contour lines, because colors that reach down to zero hardly differ inside; and the border."""
    if min(displayed.shape) < 2 or not np.any(np.isfinite(displayed)):
        return
    inside = np.isfinite(displayed)
    if not np.all(inside):
        panel.contour(values[0], values[1], inside.T.astype(float), levels=[0.5], colors="black", linewidths=0.8)
    if np.nanmax(displayed) - np.nanmin(displayed) > 1e-6 * np.nanmax(displayed) and np.sum(inside) >= _ENOUGH:
        lines = panel.contour(values[0], values[1], displayed.T, levels=5, colors="black", linewidths=0.4, alpha=0.7)
        panel.clabel(lines, fontsize="x-small")


# Rotors: frequencies over the speed with the lines of excitation, and amplitudes under unbalance.

_WHIRLS = {"forward": ("-", "#0072B2"), "backward": ("--", "#D55E00"), "planar": (":", "#009E73")}


def plot_campbell(found: Campbell, path: str | Path) -> Path:
    """Write a .png, .svg or .pdf file: forward modes solid, backward ones dashed; critical speeds as dots."""
    from matplotlib.figure import Figure

    path = picture_path(path, TaskError)
    with styled():
        page = Figure(figsize=(8.0, 5.5), layout="constrained")
        axis = page.subplots()
        words = np.array(found.whirl)
        for k in range(found.frequencies.shape[1]):
            for word in dict.fromkeys(words[:, k].tolist()):
                style, color = _WHIRLS.get(word, ("-.", "#777777"))
                part = words[:, k] == word
                axis.plot(found.speeds, np.where(part, found.frequencies[:, k], np.nan), style, color=color)
        for order in found.orders:
            axis.plot(found.speeds, order * np.abs(found.speeds), color="#999999", lw=0.8)
        for one in found.critical:
            axis.plot(one.speed, one.frequency, "o", color=_WHIRLS.get(one.whirl, ("", "#777777"))[1], markersize=5)
        for word, (style, color) in _WHIRLS.items():
            if word in words:
                axis.plot([], [], style, color=color, label=word)
        axis.plot([], [], color="#999999", lw=0.8, label=f"{', '.join(f'{one:g}' for one in found.orders)} × speed")
        axis.set_xlabel(written(f"{found.over} / (rad/s)"))
        axis.set_ylabel("ω / (rad/s)")
        axis.set_ylim(0, 1.05 * float(np.nanmax(found.frequencies, initial=1.0)))
        axis.margins(x=0)
        put_legend(axis)
    return save_figure(page, path)


#: Amplitudes below this part of the largest are rounding: their phases would wander.
_ROUNDING = 1e-12


def plot_unbalance(found: UnbalanceResponse, path: str | Path, units: Mapping[str, str] | None = None) -> Path:
    """Write a .png, .svg or .pdf file: amplitudes over the speed, a panel for each unit, and phases.

    units: of the outputs by name. Outputs that do not whirl but for rounding are left out.
    """
    from matplotlib.figure import Figure

    path = picture_path(path, TaskError)
    least = _ROUNDING * float(np.max(found.amplitude, initial=0.0))
    columns = {name: found[name] for name in found.outputs if np.max(found[name]) > least}
    panels = panels_of(columns, units or {}) or [Panel("amplitude", {})]
    with styled():
        page = Figure(figsize=(8.0, 0.8 + 2.6 * (len(panels) + 1)), layout="constrained")
        *above, below = page.subplots(len(panels) + 1, 1, sharex=True)
        for axis, panel in zip(above, panels, strict=True):
            for name, curve in panel.curves.items():
                (drawn,) = axis.semilogy(found.speeds, curve, label=written(name))
                phase = np.unwrap(np.angle(found.transfer[:, found.outputs.index(name)]))
                below.plot(found.speeds, np.degrees(phase), drawn.get_linestyle(), color=drawn.get_color())
            axis.set_ylabel(written(f"amplitude / {panel.unit}"))
            put_legend(axis)
        below.set_ylabel("phase / °")
        below.set_xlabel(written(f"{found.over} / (rad/s)"))
        below.margins(x=0)
    return save_figure(page, path)


# Tolerances: shares of the variance of every output, largest first, and their sum.


def plot_tolerances(found: Tolerances, path: str | Path) -> Path:
    """Write a .png, .svg or .pdf file: a Pareto chart for every output."""
    from matplotlib.figure import Figure

    path = picture_path(path, TaskError)
    with styled():
        page = Figure(figsize=(8.0, 0.6 + 2.8 * len(found.outputs)), layout="constrained")
        panels = np.ravel(page.subplots(len(found.outputs), 1, squeeze=False))
        for panel, one in zip(panels, found.outputs, strict=True):
            pareto = found.pareto(one.name)
            names = [written(name) for name, _ in pareto]
            shares = np.array([share for _, share in pareto])
            panel.bar(names, 100 * shares, width=0.6, color="#0072B2", label="share")
            panel.plot(names, 100 * np.cumsum(shares), "o-", color="#D55E00", label="sum")
            panel.set_xlim(-0.6, max(len(names), 6) - 0.4)  # few bars stay narrow
            panel.set_ylim(0, 105)
            panel.set_ylabel("% of the variance")
            panel.set_title(written(f"{one.name}: {one.nominal:.6g}, sigma {one.spread:.3g}"), loc="left")
            put_legend(panel)
    return save_figure(page, path)
