"""`kinegraph equilibria`: positions of rest."""

from __future__ import annotations

from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, pair, ranges, show_table, state_settings


@reads_model
def run(
    source: ModelSource,
    at: AtOption = None,
    within: Annotated[
        list[str] | None,
        typer.Option("--within", metavar="NAME=FROM:TO", help="Where to look, e.g. --within q1=-10:10."),
    ] = None,
    starts: Annotated[
        int, typer.Option("--starts", min=1, max=1_000_000, help="From how many places to search.")
    ] = 400,
    seed: Annotated[int, typer.Option("--seed", help="Of the starting places.")] = 0,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """All equilibria that are found from many starts, with their stability.

    Example: kinegraph equilibria double-pendulum
    """
    from kinegraph.tasks.equilibria import equilibria

    mechanism = source.mechanism()
    found = equilibria(
        mechanism,
        state_settings(mechanism, at),
        within=ranges(within or (), "--within"),
        starts=starts,
        seed=seed,
        parameters=parameter_settings(mechanism, settings),
    )
    if json:
        rows = [
            {
                "q": dict(zip(found.coordinates, one.q.tolist(), strict=True)),
                "stable": one.stable,
                "eigenvalues": [pair(complex(value)) for value in one.eigenvalues],
            }
            for one in found.equilibria
        ]
        print_json({"equilibria": rows, "starts": found.starts})
        return
    show_table(
        (*found.coordinates, "stable", "growing modes"),
        [(*(f"{value:.10g}" for value in one.q), "yes" if one.stable else "no", str(one.unstable)) for one in found],
    )
