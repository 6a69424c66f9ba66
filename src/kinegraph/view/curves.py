"""The picture of curves over time, with error bands: what tasks of mechanics find along a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.tasks.operating_point import Floats
from kinegraph.view.plot import picture_path, styled


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis; bands are one standard deviation to both sides."""

    unit: str
    curves: Mapping[str, Floats]
    bands: Mapping[str, Floats] | None = None


def plot_curves(path: str | Path, times: Floats, panels: Sequence[Panel], title: str = "") -> Path:
    """Write a .png, .svg or .pdf file: panels over one axis of time."""
    from matplotlib.figure import Figure

    path = picture_path(path, TaskError)
    with styled():
        page = Figure(figsize=(8.0, 0.6 + 2.6 * len(panels)), layout="constrained")
        axes = np.atleast_1d(page.subplots(len(panels), 1, sharex=True))
        for axis, panel in zip(axes, panels, strict=True):
            for name, curve in panel.curves.items():
                (line,) = axis.plot(times, curve, label=name.replace("$", r"\$"))
                band = (panel.bands or {}).get(name)
                if band is not None:
                    axis.fill_between(times, curve - band, curve + band, color=line.get_color(), alpha=0.25, lw=0)
            axis.set_ylabel(panel.unit)
            axis.margins(x=0)
            axis.legend(loc="upper right", ncols=3)
        axes[-1].set_xlabel("t / s")
        if title:
            page.suptitle(title.replace("$", r"\$"), x=0.01, ha="left", fontsize=12, fontweight="bold")
        page.savefig(path)
    return path
