"""`kinegraph linearise`: the linear system about an equilibrium or steady motion."""

from __future__ import annotations

from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, parameter_settings, print_json
from kinegraph.cli.eval import written
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import AtOption, EquilibriumOption, pair, steady_state, written_complex


@reads_model
def run(
    source: ModelSource,
    at: AtOption = None,
    equilibrium: EquilibriumOption = None,
    outputs: Annotated[
        str, typer.Option("--outputs", metavar="LIST", help="What is observed, e.g. pose:tip. By default the state.")
    ] = "",
    anywhere: Annotated[
        bool, typer.Option("--anywhere", help="Also at one moment of a state that accelerates or changes with time.")
    ] = False,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """A, B, C, D of the linear system about a state, from exact derivatives.

    Example: kinegraph linearise double-pendulum --equilibrium 1
    """
    from kinegraph.tasks.linear.linearise import linearise

    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    found = linearise(
        mechanism,
        steady_state(mechanism, at, equilibrium, values),
        outputs=outputs or (),
        parameters=values,
        steady=not anywhere,
    )
    if json:
        matrices = {name: getattr(found, name).tolist() for name in "ABCD"}
        names = {"states": found.states, "inputs": found.inputs, "outputs": found.outputs}
        print_json(matrices | names | {"eigenvalues": [pair(value) for value in found.eigenvalues]})
        return
    typer.echo(f"states: {', '.join(found.states)}\ninputs: {', '.join(found.inputs)}")
    for name in "AB" if not outputs else "ABCD":
        typer.echo("\n".join(written(name, getattr(found, name))))
    typer.echo("eigenvalues: " + ", ".join(written_complex(value) for value in found.eigenvalues))
