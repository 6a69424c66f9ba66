"""Curves as pictures inside a page: ours, for the figures of the documents, of which only the captions can be read."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
_SIZE = (5.2, 3.0)


def curves(title: str, across: str, x: Floats, up: str, lines: Mapping[str, Floats], equal: bool = False) -> str:
    """An SVG: lines over one axis, with a legend where there are several; `equal` scales both axes equally."""
    from matplotlib.figure import Figure  # slow to import, and most entries need no picture

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    for name, y in lines.items():
        axes.plot(x, y, label=name, linewidth=1.4)
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.title.set_fontsize(10)
    axes.grid(alpha=0.3)
    if equal:
        axes.set_aspect("equal", adjustable="datalim")
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=8)
    return _svg(figure)


def _svg(figure: Figure) -> str:
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
