"""`kinegraph assemble`: positions that fit the loops and constraints."""

from __future__ import annotations

from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, show_table, state_settings, zip_names


@reads_model
def run(
    source: ModelSource,
    at: AtOption = None,
    every: Annotated[bool, typer.Option("--all", help="All ways to assemble that are found.")] = False,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Positions that fit the loops and constraints; values of --at stay as they are if they can.

    Example: kinegraph assemble four-bar --at crank=1 --all
    """
    from kinegraph.assembly.assemble import Assembler
    from kinegraph.derive.constraints.positions import CLOSED

    mechanism = source.mechanism()
    assembler = Assembler(mechanism, parameter_settings(mechanism, settings))
    state = state_settings(mechanism, at)
    found = assembler.modes(state) if every else [assembler.assemble(state)]
    names = mechanism.layout.positions
    free = assembler.left_free(found[0].q, tuple(state)) if found else None
    if json:
        rows = [
            {
                "q": zip_names(names, one.q.tolist()),
                "residual": one.residual,
                "changed": one.changed,
                "moved": {value.name: [value.given, value.assembled] for value in one.moved},
            }
            for one in found
        ]
        print_json({"modes": rows, "dof": found[0].mobility if found else None, "free": free})
        return
    show_table((*names, "open by"), [(*(f"{x:.10g}" for x in one.q), f"{one.residual:.1e}") for one in found])
    for one in found[:1]:
        if one.table:
            follow = f"; they follow from {', '.join(one.independent)}" if one.independent else ""
            typer.echo(f"declared -> assembled{follow}:")
        for line in one.table:
            typer.echo(f"  {line}")
        if one.residual > CLOSED:
            typer.echo(f"rounded numbers contradict each other: the loops stay open by {one.residual:.1e} at least")
        typer.echo(f"degrees of freedom here: {one.mobility}")
    if every and free:
        typer.echo(
            f"samples of a continuum: with {', '.join(state) or 'nothing'} held the mechanism can still move in {free} "
            f"{'way' if free == 1 else 'ways'}; hold as many more coordinates with --at to see all ways to assemble"
        )
