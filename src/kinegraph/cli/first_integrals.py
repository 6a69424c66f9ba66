"""`kinegraph first-integrals`: first integrals of the motion."""

from __future__ import annotations

import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.cli.task_options import InputOption


@reads_model
def run(source: ModelSource, inputs: InputOption = None, settings: SetOption = None, json: JsonOption = False) -> None:
    """Find and prove first integrals: energy, momenta, and their combinations.

    Example: kinegraph first-integrals heavy-top
    """
    from kinegraph.tasks.first_integrals import first_integrals

    mechanism = source.mechanism()
    found = first_integrals(
        mechanism,
        inputs=assignments(inputs or (), "--input"),
        parameters=parameter_settings(mechanism, settings),
    )
    if json:
        print_json(found.to_dict())
        return
    if not found.integrals:
        typer.echo("no first integral was found among energy, momenta, coordinates and time")
    for one in found.integrals:
        typer.echo(f"{one.combination}    (proved)\n\n{one.formula}\n")
