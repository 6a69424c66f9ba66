"""Commands `equilibria` and `continuation`: equilibria, steady motions, and their branches over a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.cli.task_options import StateOption, pair, ranges, show_table, state_settings, zip_names

if TYPE_CHECKING:
    from kinegraph.tasks.continuation import Branch, Branches
    from kinegraph.tasks.equilibria import Continuum, Equilibria, Equilibrium


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
StartsOption = Annotated[int, typer.Option("--starts", min=0, max=1_000_000, help="Number of random starts.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Save a bifurcation diagram.")]


@reads_model
def run_equilibria(
    source: ModelSource,
    state: StateOption = None,
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
        mechanism, state_settings(mechanism, state), bounds=ranges(bounds or (), "--bounds"), starts=starts, seed=seed,
        parameters=parameter_settings(mechanism, settings),
    )  # fmt: skip
    _show(found, json, mechanism.layout.velocities)


@reads_model
def run_continuation(
    source: ModelSource,
    over: OverOption,
    state: StateOption = None,
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
        mechanism, name, low, high, state_settings(mechanism, state), bounds=ranges(bounds or (), "--bounds"),
        starts=starts, seed=seed, points=points, parameters=parameter_settings(mechanism, settings),
    )  # fmt: skip
    if plot is not None:
        from kinegraph.view.task_figures import plot_branches

        plot_branches(found, plot)
    _show_branches(found, json, low)


def _show(found: Equilibria, json: bool, velocities: Sequence[str]) -> None:
    listed = (*found, *(one.example for one in found.continua))
    moving = [index for index, name in enumerate(velocities) if any(one.v[index] for one in listed)]
    if json:
        rates = [velocities[index] for index in moving]
        rows = [_equilibrium(found, one, rates, moving) for one in found]
        continua = [
            {
                **_equilibrium(found, one.example, rates, moving), "dimension": one.dimension, "found": one.found,
                "low": zip_names(found.coordinates, one.low.tolist()),
                "high": zip_names(found.coordinates, one.high.tolist()),
            }
            for one in found.continua
        ]  # fmt: skip
        apart = [
            {
                "q": zip_names(found.coordinates, one.q.tolist()), "rows": one.rows, "coordinates": one.coordinates,
                "reason": str(one),
            }
            for one in found.singular
        ]  # fmt: skip
        print_json({"equilibria": rows, "starts": found.starts, "singular": apart, "continua": continua})
        return
    wide = ("continuum",) if found.continua else ()
    marks = [*("" for _ in found), *(_continuum_words(found, one) for one in found.continua)]
    show_table(
        (*found.coordinates, *(velocities[index] for index in moving), "stable", "growing modes", *wide),
        [
            (*(f"{value:.10g}" for value in (*one.q, *one.v[moving])), _ANSWERS[one.stable], str(one.unstable),
             *((mark,) if wide else ()))
            for one, mark in zip(listed, marks, strict=True)
        ],
    )  # fmt: skip
    if not listed:
        typer.echo("no equilibrium was found at a regular position")
    for note in dict.fromkeys(_undecided(one) for one in listed if one.stable is None):
        typer.echo(f"undecided: {note}")
    for period in {one.floquet.period for one in listed if one.floquet}:
        typer.echo(f"stable, growing modes: by Floquet multipliers over a period of {period:.9g} s; --json lists them")
    for place in found.singular:
        where = ", ".join(f"{name} = {value:.4g}" for name, value in zip(found.coordinates, place.q, strict=True))
        typer.echo(f"{'no stability' if place.reason else 'singular'} at {where}: {place}")


_ANSWERS = {True: "yes", False: "no", None: "undecided"}


def _undecided(one: Equilibrium) -> str:
    return one.note or "linear forces vanish along some direction, so eigenvalues do not decide"


def _continuum_words(found: Equilibria, one: Continuum) -> str:
    spans = [
        f"{name} {low:.4g} to {high:.4g}"
        for name, low, high in zip(found.coordinates, one.low, one.high, strict=True)
        if high - low > 1e-6
    ]
    return f"one of a continuum ({'line' if one.dimension == 1 else f'{one.dimension} dimensions'}; {', '.join(spans)})"


def _equilibrium(found: Equilibria, one: Equilibrium, rates: Sequence[str], moving: Sequence[int]) -> dict[str, object]:
    return {
        "q": zip_names(found.coordinates, one.q.tolist()),
        "stable": one.stable,
        "eigenvalues": [pair(complex(value)) for value in one.eigenvalues],
        **({"multipliers": _multipliers(one), "period": one.floquet.period} if one.floquet else {}),
        **({"note": _undecided(one)} if one.stable is None else {}),
        **({"rates": zip_names(rates, one.v[list(moving)].tolist())} if rates else {}),
    }


def _multipliers(one: Equilibrium) -> list[list[float]]:
    return [pair(complex(value)) for value in one.floquet.multipliers] if one.floquet else []


def _show_branches(found: Branches, json: bool, low: float) -> None:
    if json:
        first = [
            _point(found, branch, index)
            for branch in found
            for index in range(len(branch))
            if branch.values[index] == low
        ]
        print_json({"over": found.over, "equilibria": first, "branches": [_record(found, one) for one in found]})
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
        (one.kind, f"{one.value:.12g}", f"{one.frequency:.8g}" if one.frequency else "", *(f"{x:.8g}" for x in one.q))
        for one in found.special
    ]
    if rows:
        show_table(("special point", found.over, "rad/s", *found.coordinates), rows)


def _record(found: Branches, branch: Branch) -> dict[str, object]:
    special = [
        {
            "kind": one.kind, found.over: one.value, "q": zip_names(found.coordinates, one.q.tolist()),
            "frequency": one.frequency, "eigenvalues": [pair(complex(value)) for value in one.eigenvalues],
        }
        for one in branch.special
    ]  # fmt: skip
    points = [_point(found, branch, index) for index in range(len(branch))]
    return {"points": points, "special": special, "begins": branch.begins, "ends": branch.ends}


def _point(found: Branches, branch: Branch, index: int) -> dict[str, object]:
    return {
        found.over: float(branch.values[index]),
        "q": zip_names(found.coordinates, branch.q[index].tolist()),
        "stable": bool(branch.stable[index]),
        "eigenvalues": [pair(complex(value)) for value in branch.eigenvalues[index]],
    }
