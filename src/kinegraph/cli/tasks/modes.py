"""`kinegraph modes`: free vibrations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, EquilibriumOption, pair, show_table, steady_state, written_complex

if TYPE_CHECKING:
    from kinegraph.tasks.linear.modes import Mode, Modes


@reads_model
def run(
    source: ModelSource,
    at: AtOption = None,
    equilibrium: EquilibriumOption = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="The modes in motion, as an .html page.")
    ] = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Frequencies, damping ratios and shapes about an equilibrium or steady motion.

    Example: kinegraph modes double-pendulum --equilibrium 1 --page modes.html
    """
    from kinegraph.tasks.linear.modes import modes

    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    found = modes(mechanism, steady_state(mechanism, at, equilibrium, values), parameters=values)
    if page is not None:
        from kinegraph.view.modes import modes_page

        modes_page(mechanism, found, page, parameters=values)
    if json:
        period = {} if found.floquet is None else {"period": found.floquet.period}
        listed = [_record(mode, found.displacements) for mode in found.modes]
        print_json({"modes": listed, "stable": found.stable, **period})
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


def _record(mode: Mode, names: tuple[str, ...]) -> dict[str, object]:
    shape = {name: pair(complex(entry)) for name, entry in zip(names, mode.shape, strict=True)}
    multiplier = {} if mode.multiplier is None else {"multiplier": pair(mode.multiplier)}
    return {
        "eigenvalue": pair(mode.eigenvalue), "frequency": mode.frequency, "damping": mode.damping, "shape": shape,
        **multiplier,
    }  # fmt: skip


def _rounded(entry: complex, digits: int = 6) -> complex:
    value = complex(entry)
    return complex(round(value.real, digits) + 0.0, round(value.imag, digits) + 0.0)
