"""Plot a solution: coordinates, velocities, energies and the phase plane, as PNG or SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kinegraph.errors import KinegraphError, SolveError
from kinegraph.extras import Foreign
from kinegraph.files import written_to
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.problem import Floats
from kinegraph.solve.solution import Solution
from kinegraph.view.page.frames import ANGLE, Frames, column_units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# The energies of a solution as readable curves.

#: The columns of energies.
ENERGIES = ("kinetic", "potential", "energy")
_TRANSFERRED = ("work", "dissipated", "supplied")
#: A potential energy larger than all energy changes by this factor would flatten every curve.
_FAR = 3.0


@dataclass(frozen=True)
class Energies:
    """Curves by name; potential and total energy are relative to `level`, in joules."""

    curves: Mapping[str, Floats]
    level: float


def energies(solution: Solution) -> Energies:
    """Energies and transferred work; relative to the initial potential energy if its level would flatten all curves."""
    level = _far_level(solution)
    curves = {}
    for name in (*ENERGIES, *_TRANSFERRED):
        if name in solution:
            moved = level if name in ("potential", "energy") else 0.0
            curves["total" if name == "energy" else name] = solution[name] - moved
    return Energies(curves, level)


def _far_level(solution: Solution) -> float:
    """The initial potential energy if it is large compared with the energy changes; otherwise zero."""
    curves = [solution[name] for name in ENERGIES if name in solution and len(solution[name])]
    if len(curves) < len(ENERGIES):
        return 0.0
    change = max(float(np.ptp(curve)) for curve in curves)
    start = float(solution["potential"][0])
    return start if abs(start) > _FAR * max(change, float(np.max(solution["kinetic"]))) else 0.0


# Plots of a solution: coordinates, velocities, energies and the phase plane, as PNG or SVG.

# the colors of Okabe and Ito: distinguishable by everyone, also in print
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#000000")
_STYLE: dict[str, object] = {
    "font.family": "sans-serif", "font.size": 9.0, "axes.titlesize": 10.0, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#E4E4E4", "grid.linewidth": 0.6, "axes.edgecolor": "#666666", "axes.axisbelow": True,
    "lines.linewidth": 1.3, "legend.frameon": False, "legend.fontsize": 8.0, "figure.dpi": 150, "svg.fonttype": "none",
    "svg.hashsalt": "kinegraph",
    "xtick.color": "#444444", "ytick.color": "#444444", "axes.labelcolor": "#444444",
}  # fmt: skip
_MOST_CURVES = 12
_MOST_PLANES = 4
_WIDTH = 52  # letters of a legend that fit above a panel


class HoldsSolution(Protocol):
    """A result that can be seen as one solution, such as a docking."""

    def solution(self) -> Solution:
        """All of it as columns over time."""
        ...


def solution_of(result: Solution | HoldsSolution) -> Solution:
    """The solution itself, or that of a docking."""
    return result if isinstance(result, Solution) else result.solution()


def plot(solution: Solution | HoldsSolution, path: str | Path, show: Sequence[str] = (), *, wrap: bool = False) -> Path:
    """Write a picture of a solution or a docking to a .png, .svg or .pdf file.

    show: the columns to draw instead of the usual panels. wrap: draw angles between -pi and pi.
    """
    path = picture_path(path, SolveError)
    return save_figure(figure(solution_of(solution), show, wrap=wrap), path)


#: Without these, the same figure would give other bytes at another time.
_UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}


def save_figure(drawn: Figure, path: Path) -> Path:
    """Write a figure in the common style; the same figure gives the same bytes whenever it is written."""
    with styled(), written_to(path):
        drawn.savefig(path, metadata=_UNDATED[path.suffix.lower()])
    return path


def picture_path(path: str | Path, error: type[KinegraphError]) -> Path:
    """The path of a picture; an error of this kind unless it ends in .png, .svg or .pdf and its folder exists."""
    path = Path(path)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise error(f"cannot draw {path.name}: the file name must end in .png, .svg or .pdf")
    if not path.absolute().parent.is_dir():
        raise error(f"cannot draw {path}: the folder {path.parent} does not exist")
    return path


def styled() -> AbstractContextManager[None]:
    """The common style of all pictures."""
    import matplotlib
    from cycler import cycler

    style: Foreign = {**_STYLE, "axes.prop_cycle": cycler(linestyle=("-", "--")) * cycler(color=COLORS)}
    found: AbstractContextManager[None] = matplotlib.rc_context(style)
    return found


def figure(solution: Solution, show: Sequence[str] = (), *, wrap: bool = False) -> Figure:
    """The picture as a matplotlib figure: a panel per unit of coordinates, velocities and outputs, the energies and the
    phase plane; or the charts of the solution; or the columns to show, with a panel per unit."""
    from matplotlib.figure import Figure

    known = _units(solution)
    panels = _panels(solution, show, known)
    planes = [] if show or solution.charts else _planes(solution, known)
    count = len(panels) + (not show) + len(planes)
    columns = min(2, count)
    rows = -(-count // columns)
    with styled():
        page = Figure(figsize=(4.8 * columns, 3.2 * rows), layout="constrained")
        axes = iter(np.ravel(page.subplots(rows, columns, squeeze=False)))
        page.suptitle(written(solution.model), x=0.01, ha="left", fontsize=13, fontweight="bold")
        for one in panels:
            _curves(next(axes), solution, one, wrap)
        if not show:
            _energies(next(axes), solution)
        for pairs in planes:
            _phase_plane(next(axes), solution, pairs, known)
        for unused in axes:
            page.delaxes(unused)
        ended = (solution.charts and solution.ending.detail) or solution.ending.status.value
        footer = f"{solution.method}; {ended} at t = {solution.ending.time:.6g}"
        page.supxlabel(footer, x=0.01, ha="left", fontsize=7.5)
        return page


@dataclass(frozen=True)
class CurvePanel:
    """Columns of one unit that share an axis; an empty unit is not known."""

    title: str
    names: tuple[str, ...]
    unit: str


def _panels(solution: Solution, show: Sequence[str], known: Mapping[str, str]) -> list[CurvePanel]:
    """The panels of curves over time."""
    if show:
        for name in show:
            solution[name]  # a SolveError names the columns there are
        return list(panels_by_unit("Chosen columns", show, known))
    outputs = list(panels_by_unit("Outputs", solution.outputs, known))
    if solution.charts:
        return [*outputs, *(CurvePanel(one.title, tuple(one.names), one.unit) for one in solution.charts)]
    return [
        *panels_by_unit("Coordinates", solution.positions, known),
        *panels_by_unit("Velocities", solution.velocities, known),
        *panels_by_unit("First-order states", solution.states, known),
        *outputs,
    ]


def panels_by_unit(title: str, names: Sequence[str], known: Mapping[str, str]) -> Iterator[CurvePanel]:
    """A panel per unit, in the order of the names; a panel for each name whose unit is not known."""
    for unit in dict.fromkeys(known.get(name, "") or name for name in names):
        own = tuple(name for name in names if (known.get(name, "") or name) == unit)
        yield CurvePanel(title, own, known.get(own[0], ""))


def wrapped(angle: Floats) -> Floats:
    """An angle between -pi and pi, with NaN where a line would jump from one end to the other."""
    found = np.remainder(angle + np.pi, 2 * np.pi) - np.pi
    return np.where(np.abs(np.diff(found, prepend=found[:1])) > np.pi, np.nan, found)


def _curves(panel: Axes, solution: Solution, drawn: CurvePanel, wrap: bool) -> None:
    for name in drawn.names[:_MOST_CURVES]:
        column = wrapped(solution[name]) if wrap and drawn.unit == ANGLE else solution[name]
        panel.plot(solution.t, column, label=written(_short(name)))
    panel.set_title(_titled(drawn.title, _MOST_CURVES, len(drawn.names)))
    panel.set_xlabel("t / s")
    panel.set_ylabel(drawn.unit)
    widen(panel)
    _mark_events(panel, solution)
    _shade_contacts(panel, solution)
    put_legend(panel)


def _short(name: str) -> str:
    """A column without its kind: `load:legA` in a chart of loads is legA."""
    return name.rpartition(":")[2]


def _energies(panel: Axes, solution: Solution) -> None:
    """Energies; relative to the initial potential energy if its level would flatten all curves."""
    found = energies(solution)
    panel.set_title("Energies")
    for name, column in found.curves.items():
        panel.plot(solution.t, column, label=name)
    panel.set_xlabel("t / s")
    panel.set_ylabel("J" if found.level == 0 else f"J, potential relative to {found.level:.4g} J")
    widen(panel)
    put_legend(panel)


#: A curve that changes by less than this part of its size is drawn as constant: rounding is not a motion.
_CONSTANT = 1e-5


def widen(panel: Axes) -> None:
    """Curves from one side to the other; a range of rounding errors becomes one in which they are a straight line."""
    panel.margins(x=0)
    low, high = panel.dataLim.intervaly
    room = _CONSTANT * max(abs(low), abs(high))
    if np.isfinite(room) and high - low < room:
        panel.set_ylim((low + high - 2 * room) / 2, (low + high + 2 * room) / 2)
        panel.ticklabel_format(axis="y", useOffset=False)


def put_legend(panel: Axes) -> None:
    """Names of the curves beside the title, where they cover nothing; on the right if there is no room."""
    names = panel.get_legend_handles_labels()[1]
    if not names:
        return
    letters = 1.5 * len(panel.get_title(loc="left")) + sum(len(name) + 4 for name in names)
    legend = partial(panel.legend, bbox_to_anchor=(1.0, 1.0), handlelength=1.3, handletextpad=0.4)
    if letters < _WIDTH:
        legend(loc="lower right", ncols=len(names), borderaxespad=0.2, columnspacing=0.9)
    else:
        legend(loc="upper left")


def _titled(title: str, most: int, count: int) -> str:
    """A title with the number of curves shown."""
    return f"{title} (first {most} of {count})" if count > most else title


def units_of(mechanism: Mechanism, bound: Mapping[str, Expression]) -> dict[str, str]:
    """The units of coordinates, velocities and output points, as far as joints determine them."""
    return column_units(mechanism, Frames(mechanism, bound))


def _units(solution: Solution) -> dict[str, str]:
    """Units of coordinates and velocities; empty for a solution read from a file."""
    if solution.simulated is None:
        return {}
    return units_of(solution.simulated.mechanism, solution.simulated.parameters)


def _planes(solution: Solution, known: Mapping[str, str]) -> list[list[tuple[str, str]]]:
    """Coordinates with their velocities, a plane per unit; for a single body its angular velocity."""
    pairs = [(name, f"{name}'") for name in solution.positions if f"{name}'" in solution.velocities]
    if not pairs and len(solution.velocities) >= 2:
        pairs = [(solution.velocities[0], solution.velocities[1])]
    found = dict.fromkeys(known.get(position, "") for position, _ in pairs)
    return [[pair for pair in pairs if known.get(pair[0], "") == unit] for unit in found]


def _phase_plane(panel: Axes, solution: Solution, pairs: Sequence[tuple[str, str]], known: Mapping[str, str]) -> None:
    """Velocity over position."""
    panel.set_title(_titled("Phase plane", _MOST_PLANES, len(pairs)))
    for position, velocity in pairs[:_MOST_PLANES]:
        panel.plot(solution[position], solution[velocity], linewidth=0.9, label=written(position))
    words = [written(name) for name in pairs[0]] if len(pairs) == 1 else ["position", "velocity"]
    writers: tuple[Callable[[str], object], ...] = panel.set_xlabel, panel.set_ylabel
    for place, write in enumerate(writers):
        unit = known.get(pairs[0][place], "")
        write(f"{words[place]} / {unit}" if unit else words[place])
    if len(pairs) > 1:
        put_legend(panel)


def _mark_events(panel: Axes, solution: Solution) -> None:
    for time in np.unique([event.time for event in solution.events])[:200]:
        panel.axvline(time, color="#BBBBBB", linewidth=0.7, linestyle=":", zorder=0.5)


def _shade_contacts(panel: Axes, solution: Solution) -> None:
    """A gray background while any contact is closed."""
    modes = [column for name, column in solution.items() if name.endswith(".mode")]
    if modes:
        closed = np.any(np.array(modes) > 0, axis=0)
        ends = panel.get_xaxis_transform()
        panel.fill_between(solution.t, 0, 1, where=closed, transform=ends, color="#EEEEEE", linewidth=0, zorder=0.2)


def written(name: str) -> str:
    """A name as literal text, also if matplotlib would read it as a formula."""
    return name.replace("$", r"\$").replace("'", "′")
