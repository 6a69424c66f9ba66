"""The picture of a frequency response: amplitude and phase over frequency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.view.plot import picture_path, styled

if TYPE_CHECKING:
    from kinegraph.tasks.linear.response import Response


def plot_response(response: Response, path: str | Path) -> Path:
    """Write a .png, .svg or .pdf file: one curve for every displacement and input."""
    from matplotlib.figure import Figure

    path = picture_path(path, TaskError)
    with styled():
        page = Figure(figsize=(8.0, 6.0), layout="constrained")
        above, below = page.subplots(2, 1, sharex=True)
        size = max(1, len(response.outputs) // 2)
        for output, name in enumerate(response.outputs[:size]):
            for column, source in enumerate(response.inputs):
                curve = response.transfer[:, output, column]
                above.loglog(response.frequencies, np.abs(curve), label=f"{name} by {source}")
                below.semilogx(response.frequencies, np.degrees(np.unwrap(np.angle(curve))))
        above.set_ylabel("amplitude per unit force")
        below.set_ylabel("phase [deg]")
        below.set_xlabel("angular frequency [rad/s]")
        above.legend()
        page.savefig(path)
    return path
