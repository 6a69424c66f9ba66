"""Commands on small motions about a state: `linearize`, `modes`, `response`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.eval import written
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.cli.task_options import (
    EquilibriumOption,
    StateOption,
    plot_units,
    show_table,
    steady_state,
    written_complex,
)
from kinegraph.errors import TaskError

if TYPE_CHECKING:
    from kinegraph.tasks.modes import Modes
    from kinegraph.tasks.response import Response


# `kinegraph linearize`: the linear system about an equilibrium or steady motion.


@reads_model
def run_linearize(
    source: ModelSource,
    state: StateOption = None,
    equilibrium: EquilibriumOption = None,
    outputs: Annotated[
        str, typer.Option("--outputs", metavar="LIST", help="Outputs of the system, e.g. pose:tip. Default: the state.")
    ] = "",
    steady: Annotated[
        bool, typer.Option("--steady/--no-steady", help="Require a steady motion, or linearize at any moment.")
    ] = True,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compute A, B, C, D of the linear system about a state, from exact derivatives.

    Example: kinegraph linearize double-pendulum --equilibrium 1
    """
    from kinegraph.tasks.linearize import linearize

    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    found = linearize(
        mechanism,
        steady_state(mechanism, state, equilibrium, values),
        outputs=outputs or (),
        parameters=values,
        steady=steady,
    )
    if json:
        print_json(found.to_dict())
        return
    typer.echo(f"states: {', '.join(found.states)}\ninputs: {', '.join(found.inputs)}")
    for name in "AB" if not outputs else "ABCD":
        typer.echo("\n".join(written(name, getattr(found, name))))
    typer.echo("eigenvalues: " + ", ".join(written_complex(value) for value in found.eigenvalues))


# `kinegraph modes`: free vibrations.


@reads_model
def run_modes(
    source: ModelSource,
    state: StateOption = None,
    equilibrium: EquilibriumOption = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Save an animation of the modes as an .html page.")
    ] = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compute frequencies, damping ratios and shapes about an equilibrium or steady motion.

    Example: kinegraph modes double-pendulum --equilibrium 1 --page modes.html
    """
    from kinegraph.tasks.modes import modes

    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    found = modes(mechanism, steady_state(mechanism, state, equilibrium, values), parameters=values)
    if page is not None:
        from kinegraph.view.modes import modes_page

        modes_page(mechanism, found, page, parameters=values)
    if json:
        print_json(found.to_dict())
        return
    if found.floquet is not None:
        _show_floquet(found)
        return
    rows = [
        (
            written_complex(mode.eigenvalue), f"{mode.frequency:.8g}", f"{mode.frequency / (2 * math.pi):.8g}",
            f"{mode.damping:.6g}", *(written_complex(_rounded(entry)) for entry in mode.shape),
        )
        for mode in found.modes
    ]  # fmt: skip
    show_table(("eigenvalue", "rad/s", "Hz", "damping", *found.displacements), rows)


def _show_floquet(found: Modes) -> None:
    """Multipliers and exponents, largest first."""
    assert found.floquet is not None
    answer = "stable" if found.stable else f"{found.floquet.unstable} of {len(found.floquet.multipliers)} grow"
    typer.echo(f"the linear system has a period of {found.floquet.period:.9g} s: Floquet multipliers, {answer}")
    modes = sorted(found.modes, key=lambda mode: -abs(mode.multiplier or 0.0))
    rows = [
        (
            written_complex(_rounded(mode.multiplier or 0.0, 10)), f"{abs(mode.multiplier or 0.0):.8g}",
            written_complex(_rounded(mode.eigenvalue, 10)), *(written_complex(_rounded(entry)) for entry in mode.shape),
        )
        for mode in modes
    ]  # fmt: skip
    show_table(("multiplier", "size", "exponent (1/s)", *found.displacements), rows)


def _rounded(entry: complex, digits: int = 6) -> complex:
    value = complex(entry)
    return complex(round(value.real, digits) + 0.0, round(value.imag, digits) + 0.0)


# `kinegraph response`: the answer to harmonic forces.

FrequenciesOption = Annotated[
    str,
    typer.Option("--frequencies", metavar="FROM:TO[:N]", help="Angular frequencies in rad/s, spaced logarithmically."),
]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Save a plot of amplitude and phase.")]


@reads_model
def run_response(
    source: ModelSource,
    state: StateOption = None,
    equilibrium: EquilibriumOption = None,
    inputs: Annotated[
        str, typer.Option("--inputs", metavar="LIST", help="Forces (tau:q1) or inputs. Default: all.")
    ] = "",
    frequencies: FrequenciesOption = "",
    plot: PlotOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compute amplitude and phase of the coordinates under harmonic forces.

    Example: kinegraph response double-pendulum --equilibrium 1 --inputs tau:q1 --frequencies 1:20 --plot response.png
    """
    from kinegraph.tasks.response import response

    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    found = response(
        mechanism,
        steady_state(mechanism, state, equilibrium, values),
        frequencies=_frequency_range(frequencies) if frequencies else None,
        inputs=[name.strip() for name in inputs.split(",") if name.strip()],
        parameters=values,
    )
    if plot is not None:
        from kinegraph.view.task_figures import plot_response

        plot_response(found, plot, plot_units(mechanism, settings))
    if not json:
        _show_response(found, len(mechanism.layout.velocities))
        return
    print_json(found.to_dict())


def _show_response(found: Response, size: int) -> None:
    """Amplitudes of the first outputs, as many as coordinates, at some frequencies."""
    for column, name in enumerate(found.inputs):
        step = max(1, len(found.frequencies) // 20)
        rows = [
            (f"{w:.5g}", *(f"{value:.5g}" for value in found.amplitude[k, :size, column]))
            for k, w in list(enumerate(found.frequencies))[::step]
        ]
        show_table(("rad/s", *found.outputs[:size]), rows, title=f"amplitude per unit of {name}")


def _frequency_range(text: str) -> np.ndarray:
    parts = text.split(":")
    try:
        low, high = float(parts[0]), float(parts[1])
        count = int(parts[2]) if len(parts) > 2 else 400
    except (IndexError, ValueError):
        raise TaskError(f"--frequencies: cannot read {text!r}; write FROM:TO or FROM:TO:N, e.g. 0.1:100:200") from None
    if not (0 < low < high < float("inf") and 2 <= count <= 1_000_000):
        raise TaskError(f"--frequencies: {text!r} is not a range of frequencies: 0 < FROM < TO, N from 2 to a million")
    return np.geomspace(low, high, count)
