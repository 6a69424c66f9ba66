"""Plots of a solution: coordinates, velocities, energies and the phase plane, as PNG or SVG."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinegraph.errors import SolveError
from kinegraph.solve.results.solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart by everyone, also in print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#000000")
_STYLE: dict[str, Any] = {
    "font.family": "sans-serif", "font.size": 9.0, "axes.titlesize": 10.0, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#E4E4E4", "grid.linewidth": 0.6, "axes.edgecolor": "#666666", "axes.axisbelow": True,
    "lines.linewidth": 1.3, "legend.frameon": False, "legend.fontsize": 8.0, "figure.dpi": 150, "svg.fonttype": "none",
    "xtick.color": "#444444", "ytick.color": "#444444", "axes.labelcolor": "#444444",
}  # fmt: skip
_MOST_CURVES = 12
_ENERGIES = ("kinetic", "potential", "energy")
_ACCOUNTS = ("work", "dissipated", "supplied")
_FAR = 3.0  # times the change of energies


def plot(solution: Solution, path: str | Path, columns: Sequence[str] = ()) -> Path:
    """Write a picture of the solution to a .png, .svg or .pdf file; `columns` chooses the curves of the first panel."""
    path = Path(path)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise SolveError(f"cannot draw {path.name}: the ending must be .png, .svg or .pdf")
    figure(solution, columns).savefig(path)
    return path


def styled() -> AbstractContextManager[None]:
    """All pictures look the same inside."""
    import matplotlib
    from cycler import cycler

    style: Any = {**_STYLE, "axes.prop_cycle": cycler(color=_COLOURS)}
    found: AbstractContextManager[None] = matplotlib.rc_context(style)
    return found


def figure(solution: Solution, columns: Sequence[str] = ()) -> Figure:
    """The picture as a matplotlib figure: positions, velocities, energies, phase plane."""
    from matplotlib.figure import Figure

    with styled():
        page = Figure(figsize=(9.6, 6.4), layout="constrained")
        panels = page.subplots(2, 2)
        page.suptitle(_written(solution.model), x=0.01, ha="left", fontsize=13, fontweight="bold")
        _curves(panels[0, 0], solution, columns or solution.positions, "Chosen columns" if columns else "Coordinates")
        _curves(panels[0, 1], solution, solution.velocities, "Velocities")
        _energies(panels[1, 0], solution)
        _phase_plane(panels[1, 1], solution)
        footer = f"{solution.method}; {solution.ending.status.value} at t = {solution.ending.time:.6g}"
        page.supxlabel(footer, x=0.01, ha="left", fontsize=7.5)
        return page


def _curves(panel: Any, solution: Solution, names: Sequence[str], title: str) -> None:
    for name in names[:_MOST_CURVES]:
        panel.plot(solution.t, solution[name], label=_written(name))
    left_out = len(names) - _MOST_CURVES
    panel.set_title(f"{title} (first {_MOST_CURVES} of {len(names)})" if left_out > 0 else title)
    panel.set_xlabel("t / s")
    panel.margins(x=0)
    _mark_events(panel, solution)
    if names:
        _legend(panel, min(len(names), _MOST_CURVES))


def _energies(panel: Any, solution: Solution) -> None:
    """Energies; from the start of the potential where its level would make all curves flat."""
    shown = [name for name in (*_ENERGIES, *_ACCOUNTS) if name in solution]
    level = _far_level(solution)
    panel.set_title("Energies")
    for name in shown:
        moved = level if name in ("potential", "energy") else 0.0
        panel.plot(solution.t, solution[name] - moved, label="total" if name == "energy" else name)
    panel.set_xlabel("t / s")
    panel.set_ylabel("J" if level == 0 else f"J, potential from {level:.4g} J")
    panel.margins(x=0)
    _legend(panel, len(panel.lines))


def _far_level(solution: Solution) -> float:
    """The potential at the start if it is far from zero compared with how much energies change; else zero."""
    curves = [solution[name] for name in _ENERGIES if name in solution and len(solution[name])]
    if len(curves) < len(_ENERGIES):
        return 0.0
    change = max(float(np.ptp(curve)) for curve in curves)
    start = float(solution["potential"][0])
    return start if abs(start) > _FAR * max(change, float(np.max(solution["kinetic"]))) else 0.0


def _legend(panel: Any, count: int) -> None:
    """Names of the curves beside the title, where they hide nothing."""
    panel.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=min(count, 6), borderaxespad=0.2,
        handlelength=1.1, handletextpad=0.4, columnspacing=0.9,
    )  # fmt: skip


def _phase_plane(panel: Any, solution: Solution) -> None:
    """Velocity over position of the coordinates that have both; for a single body its angular velocity."""
    pairs = [(name, f"{name}'") for name in solution.positions if f"{name}'" in solution.velocities]
    if not pairs and len(solution.velocities) >= 2:
        pairs = [(solution.velocities[0], solution.velocities[1])]
    panel.set_title("Phase plane")
    for position, velocity in pairs[:4]:
        panel.plot(solution[position], solution[velocity], linewidth=0.9, label=_written(position))
    if len(pairs) == 1:
        panel.set_xlabel(_written(pairs[0][0]))
        panel.set_ylabel(_written(pairs[0][1]))
    elif pairs:
        panel.set_xlabel("position")
        panel.set_ylabel("velocity")
        _legend(panel, 4)


def _mark_events(panel: Any, solution: Solution) -> None:
    for time in np.unique([happening.time for happening in solution.happenings])[:200]:
        panel.axvline(time, color="#BBBBBB", linewidth=0.7, linestyle=":", zorder=0.5)


def _written(name: str) -> str:
    """A name as text: what matplotlib would read as a formula is taken literally."""
    return name.replace("$", r"\$").replace("'", "′")
