"""`kinegraph derive`: the equations, as text or LaTeX."""

from __future__ import annotations

from typing import Annotated

import typer

import kinegraph as kg
from kinegraph.cli.common import JsonOption, PassesOption, QuantityOption, SetOption, parameter_settings, print_json
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.compiler import stored
from kinegraph.compiler.base_parameters import base_parameters
from kinegraph.compiler.request import request_of
from kinegraph.errors import DerivationError
from kinegraph.graph.node import Graph
from kinegraph.model.expressions import Expression


@reads_model
def run(
    source: ModelSource,
    quantity: QuantityOption = "H,C,gravity",
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX for amsmath.")] = False,
    numeric: Annotated[bool, typer.Option("--numeric", help="Replace parameters by the model's values.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print the equations before any reduction.")] = False,
    passes: PassesOption = "",
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Derive exact equations, and print them with a list of abbreviations.

    They are shortened by a quick reduction, which is proved; or by --passes of your own; --raw shows them as they were
    derived.

    Example: kinegraph derive double-pendulum -q H,gravity --latex
    """
    mechanism = source.mechanism()
    graph = equations(mechanism, quantity, numeric, parameter_settings(mechanism, settings), raw, passes)
    from kinegraph.notation.latex import latex as latex_of
    from kinegraph.notation.text import formula

    heading = f"{mechanism.name}: {quantity}, coordinates {', '.join(mechanism.layout.positions)}"
    if quantity.strip() == "base_parameters":
        text = f"{base_parameters(mechanism, numeric=numeric, parameters=parameter_settings(mechanism, settings))}\n"
    else:
        text = formula(graph, mechanism=mechanism)
    if json:
        print_json({"name": mechanism.name, "text": text, "latex": latex_of(graph, heading, mechanism=mechanism)})
    elif latex:
        typer.echo(latex_of(graph, heading, mechanism=mechanism), nl=False)
    else:
        typer.echo(f"# {heading}\n\n{text}", nl=False)


def equations(
    mechanism: kg.Mechanism, quantity: str, numeric: bool, values: dict[str, Expression], raw: bool, passes: str
) -> Graph:
    """The graph whose equations are shown."""
    if raw and passes:
        raise DerivationError("--raw shows equations before any pass: leave out --raw or --passes")
    request = request_of(mechanism, quantity, numeric=numeric, parameters=values, passes=passes)
    request = stored.resolve_closure(request)
    return stored.derived(request).graph if raw else stored.reduced(request).graph
