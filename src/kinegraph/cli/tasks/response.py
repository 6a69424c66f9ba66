"""`kinegraph response`: the answer to harmonic forces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, EquilibriumOption, show_table, steady_state
from kinegraph.errors import TaskError

if TYPE_CHECKING:
    from kinegraph.tasks.linear.response import Response

FrequenciesOption = Annotated[
    str,
    typer.Option("--over", metavar="FROM:TO[:N]", help="Angular frequencies in rad/s, evenly in the logarithm."),
]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Amplitude and phase as a picture.")]


@reads_model
def run(
    source: ModelSource,
    at: AtOption = None,
    equilibrium: EquilibriumOption = None,
    inputs: Annotated[str, typer.Option("--input", metavar="LIST", help="Forces: tau:q1, or inputs.")] = "",
    frequencies: FrequenciesOption = "",
    plot: PlotOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Amplitude and phase of the coordinates under harmonic forces, over frequency.

    Example: kinegraph response double-pendulum --equilibrium 1 --input tau:q1 --over 1:20 --plot response.png
    """
    from kinegraph.tasks.linear.response import response

    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    found = response(
        mechanism,
        steady_state(mechanism, at, equilibrium, values),
        frequencies=_range(frequencies) if frequencies else None,
        inputs=[name.strip() for name in inputs.split(",") if name.strip()],
        parameters=values,
    )
    if plot is not None:
        from kinegraph.view.response import plot_response

        plot_response(found, plot)
    if not json:
        _show(found, len(mechanism.layout.velocities))
        return
    head = {"frequencies": found.frequencies.tolist(), "inputs": found.inputs, "outputs": found.outputs}
    print_json({**head, "amplitude": found.amplitude.tolist(), "phase": found.phase.tolist()})


def _show(found: Response, size: int) -> None:
    """Amplitudes of the first outputs, as many as coordinates, at some frequencies."""
    for column, name in enumerate(found.inputs):
        step = max(1, len(found.frequencies) // 20)
        rows = [
            (f"{w:.5g}", *(f"{value:.5g}" for value in found.amplitude[k, :size, column]))
            for k, w in list(enumerate(found.frequencies))[::step]
        ]
        show_table(("rad/s", *found.outputs[:size]), rows, title=f"amplitude per unit of {name}")


def _range(text: str) -> np.ndarray:
    parts = text.split(":")
    try:
        low, high = float(parts[0]), float(parts[1])
        count = int(parts[2]) if len(parts) > 2 else 400
    except (IndexError, ValueError):
        raise TaskError(f"--over: cannot read {text!r}; write FROM:TO or FROM:TO:N, e.g. 0.1:100:200") from None
    if not (0 < low < high < float("inf") and 2 <= count <= 1_000_000):
        raise TaskError(f"--over: {text!r} is no range of frequencies: 0 < FROM < TO, N from 2 to a million")
    return np.geomspace(low, high, count)
