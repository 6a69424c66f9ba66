"""The picture of branches of equilibria: every coordinate over the variable, stable parts drawn through."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.view.plot import picture_path, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinegraph.tasks.branches.branches import Branch, Branches

_MARKERS = {"fold": "<", "branch point": "o", "Hopf": "s", "divergence": "d"}
_MOST_PANELS = 6


def plot_branches(branches: Branches, path: str | Path) -> Path:
    """Write a .png, .svg or .pdf file."""
    path = picture_path(path, TaskError)
    diagram(branches).savefig(path)
    return path


def diagram(branches: Branches) -> Figure:
    """The picture as a matplotlib figure, a panel for each coordinate."""
    from matplotlib.figure import Figure

    names = branches.coordinates[:_MOST_PANELS]
    with styled():
        page = Figure(figsize=(8.0, 1.0 + 2.6 * len(names)), layout="constrained")
        panels = np.ravel(page.subplots(len(names), 1, sharex=True, squeeze=False))
        for index, (panel, name) in enumerate(zip(panels, names, strict=True)):
            for branch in branches:
                _draw(panel, branch, index)
            panel.set_ylabel(name)
        panels[-1].set_xlabel(branches.over)
        _legend(panels[0], branches)
    return page


def _draw(panel: Axes, branch: Branch, index: int) -> None:
    """One branch: stable parts drawn through, unstable ones dashed."""
    heights = branch.q[:, index]
    for wanted, style in ((True, "-"), (False, "--")):
        parts = branch.stable == wanted
        parts[:-1] |= branch.stable[1:] == wanted  # a part reaches up to the next
        panel.plot(branch.values, np.where(parts, heights, np.nan), style, color="#0072B2")
    for one in branch.special:
        panel.plot(one.value, one.q[index], _MARKERS[one.kind], color="#D55E00", markersize=5)


def _legend(panel: Axes, branches: Branches) -> None:
    panel.plot([], [], "-", color="#0072B2", label="stable")
    panel.plot([], [], "--", color="#0072B2", label="unstable")
    for kind in dict.fromkeys(str(one.kind) for one in branches.special):
        panel.plot([], [], _MARKERS[kind], color="#D55E00", markersize=5, label=kind)
    panel.legend()
