"""Commands `equilibria` and `continuation`: equilibria, steady motions, and their branches over a parameter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.cli.task_options import StateOption, name_list, plot_units, ranges, show_table, state_settings

if TYPE_CHECKING:
    from kinegraph.tasks.continuation import Branches
    from kinegraph.tasks.equilibria import Continuum, Equilibria


OverOption = Annotated[
    str,
    typer.Option(
        "--over", metavar="NAME=FROM:TO", help="Vary a parameter, force, input or steady rate, e.g. omega=0:10."
    ),
]
BoundsOption = Annotated[
    list[str] | None,
    typer.Option("--bounds", metavar="NAME=FROM:TO", help="Limits of the search, e.g. --bounds q1=-10:10."),
]
UnknownOption = Annotated[
    str, typer.Option("--unknown", metavar="LIST", help="Steady rates to find, e.g. shaft': drives and loads balance.")
]
StartsOption = Annotated[int, typer.Option("--starts", min=0, max=1_000_000, help="Number of random starts.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Save a bifurcation diagram.")]


@reads_model
def run_equilibria(
    source: ModelSource,
    state: StateOption = None,
    unknown: UnknownOption = "",
    bounds: BoundsOption = None,
    starts: StartsOption = 400,
    seed: SeedOption = 0,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Find equilibria and their stability from many starts; a rate in --state asks for steady motions.

    Example: kinegraph equilibria double-pendulum
    """
    from kinegraph.tasks.equilibria import equilibria

    mechanism = source.mechanism()
    found = equilibria(
        mechanism, state_settings(mechanism, state), unknown=name_list(unknown),
        bounds=ranges(bounds or (), "--bounds"), starts=starts, seed=seed,
        parameters=parameter_settings(mechanism, settings),
    )  # fmt: skip
    _show(found, json)


@reads_model
def run_continuation(
    source: ModelSource,
    over: OverOption,
    state: StateOption = None,
    unknown: UnknownOption = "",
    bounds: BoundsOption = None,
    starts: StartsOption = 200,
    seed: SeedOption = 0,
    points: Annotated[int, typer.Option("--points", min=2, help="Largest number of points of a branch.")] = 2000,
    plot: PlotOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Follow branches of equilibria over a parameter, and find their bifurcations.

    Example: kinegraph continuation bead-on-hoop --over omega=0:10 --plot hoop.png
    """
    from kinegraph.tasks.continuation import continuation

    mechanism = source.mechanism()
    ((name, (low, high)),) = ranges([over], "--over").items()
    found = continuation(
        mechanism, name, low, high, state_settings(mechanism, state), unknown=name_list(unknown),
        bounds=ranges(bounds or (), "--bounds"), starts=starts, seed=seed, points=points,
        parameters=parameter_settings(mechanism, settings),
    )  # fmt: skip
    if plot is not None:
        from kinegraph.view.task_figures import plot_branches

        plot_branches(found, plot, plot_units(mechanism, settings))
    _show_branches(found, json)


def _show(found: Equilibria, json: bool) -> None:
    if json:
        print_json(found.to_dict())
        return
    listed, moving = found.listed, list(found.moving)
    wide = ("continuum",) if found.continua else ()
    marks = [*("" for _ in found), *(_continuum_words(found, one) for one in found.continua)]
    show_table(
        (
            *found.coordinates, *(found.velocities[index] for index in moving), *found.states, "stable",
            "growing modes", *wide,
        ),
        [
            (*(f"{value:.10g}" for value in (*one.q, *one.v[moving], *one.z)), _ANSWERS[one.stable], str(one.unstable),
             *((mark,) if wide else ()))
            for one, mark in zip(listed, marks, strict=True)
        ],
    )  # fmt: skip
    if not listed:
        typer.echo("no equilibrium was found at a regular position")
    for note in dict.fromkeys(one.undecided for one in listed if one.undecided):
        typer.echo(f"undecided: {note}")
    for period in {one.floquet.period for one in listed if one.floquet}:
        typer.echo(f"stable, growing modes: by Floquet multipliers over a period of {period:.9g} s; --json lists them")
    for place in found.singular:
        where = ", ".join(f"{name} = {value:.4g}" for name, value in zip(found.coordinates, place.q, strict=True))
        typer.echo(f"{'no stability' if place.reason else 'singular'} at {where}: {place}")


_ANSWERS = {True: "yes", False: "no", None: "undecided"}


def _continuum_words(found: Equilibria, one: Continuum) -> str:
    spans = [
        f"{name} {low:.4g} to {high:.4g}"
        for name, low, high in zip(found.coordinates, one.low, one.high, strict=True)
        if high - low > 1e-6
    ]
    return f"one of a continuum ({'line' if one.dimension == 1 else f'{one.dimension} dimensions'}; {', '.join(spans)})"


def _show_branches(found: Branches, json: bool) -> None:
    if json:
        print_json(found.to_dict())
        return
    typer.echo(f"{found.model}: {len(found)} branches over {found.over}")
    show_table(
        ("branch", "from", "to", "points", "stable", "ends because"),
        [
            (
                str(number), f"{one.values[0]:.8g}", f"{one.values[-1]:.8g}", str(len(one)),
                f"{np.mean(one.stable):.0%}", one.ends,
            )
            for number, one in enumerate(found, 1)
        ],
    )  # fmt: skip
    rows = [
        (
            one.kind,
            f"{one.value:.12g}",
            f"{one.frequency:.8g}" if one.frequency else "",
            *(f"{x:.8g}" for x in (*one.q, *one.z)),
        )
        for one in found.special
    ]
    if rows:
        show_table(("special point", found.over, "rad/s", *found.coordinates, *found.states), rows)
