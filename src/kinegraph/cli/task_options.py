"""Options and output that task commands share: the state, tables of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import kinegraph as kg
from kinegraph.cli.common import assignments, console, parameter_settings, parse_value
from kinegraph.errors import TaskError
from kinegraph.model.expressions import Scalar

#: Spaces between two columns of a table.
_GAP = 2

StateOption = Annotated[
    list[str] | None,
    typer.Option("--state", metavar="NAME=VALUE,...", help="The state: q1=0.1,q1'=2,tau:q1=3. Default: the model's."),
]


EquilibriumOption = Annotated[
    int | None,
    typer.Option("--equilibrium", metavar="N", min=1, help="Use the N-th equilibrium that `equilibria` lists."),
]


UnknownOption = Annotated[
    str,
    typer.Option(
        "--unknown", metavar="LIST", help="Unknowns of the model, inputs, or tau:NAME. Default: all of the model."
    ),
]
InputOption = Annotated[
    list[str] | None, typer.Option("--input", metavar="NAME=FORMULA", help="The value of a known input over time.")
]
LeastNormOption = Annotated[
    bool, typer.Option("--least-norm", help="If forces are not determined, choose the smallest.")
]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Save a plot: .png, .svg or .pdf.")]


def name_list(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def state_settings(mechanism: kg.Mechanism, state: list[str] | None) -> dict[str, Scalar]:
    """The values of --state."""
    known = [parameter.name for parameter in mechanism.parameters]
    return {name: parse_value(text, "--state", known) for name, text in assignments(state or (), "--state").items()}


def steady_state(
    mechanism: kg.Mechanism, state: list[str] | None, equilibrium: int | None, parameters: Mapping[str, Scalar]
) -> dict[str, Scalar]:
    """The state of --state, or the equilibrium of --equilibrium under its forces."""
    given = state_settings(mechanism, state)
    if equilibrium is None:
        return given
    from kinegraph.tasks.equilibria import equilibria

    found = equilibria(mechanism, given, parameters=parameters)
    listed = (*found, *(one.example for one in found.continua))
    if equilibrium > len(listed):
        raise TaskError(f"--equilibrium: {len(listed)} were found; `kinegraph equilibria` lists them")
    one = listed[equilibrium - 1]
    rates = zip_names(mechanism.layout.velocities, one.v.tolist())
    states = zip_names(found.states, one.z.tolist())
    return {**given, **rates, **states, **zip_names(found.coordinates, one.q.tolist())}


def zip_names(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """Values by name."""
    return dict(zip(names, values, strict=True))


def formula_list(text: str) -> list[str]:
    """Formulas between commas; commas inside parentheses and brackets separate arguments and indices."""
    return [part.strip() for part in re.split(r",(?![^()]*\)|[^\[\]]*\])", text) if part.strip()]


def ranges(texts: Iterable[str], option: str) -> dict[str, tuple[float, float]]:
    """`q1=-10:10` as a name and two numbers."""
    found = {}
    for text in texts:
        name, _, box = text.partition("=")
        low, _, high = box.partition(":")
        try:
            found[name.strip()] = float(low), float(high)
        except ValueError:
            raise TaskError(f"{option}: cannot read {text!r}; write NAME=FROM:TO, e.g. q1=-10:10") from None
    return found


def numbers_by_name(texts: Iterable[str], option: str) -> dict[str, float]:
    """`q1=0.01` as a name and a number."""
    try:
        return {name: float(text) for name, text in assignments(texts, option).items()}
    except ValueError:
        raise TaskError(f"{option}: cannot read {', '.join(texts)!r}; write NAME=NUMBER, e.g. q1=0.01") from None


def written_complex(value: complex) -> str:
    """A complex number for a table: the real part alone where there is no other."""
    if value.imag == 0:
        return f"{value.real + 0.0:.10g}"  # zero has no sign
    return f"{value.real + 0.0:.10g} {'+' if value.imag > 0 else '-'} {abs(value.imag):.10g}i"


def plot_units(mechanism: kg.Mechanism, settings: list[str] | None) -> dict[str, str]:
    """The units of coordinates, velocities and points, for the axes of plots."""
    from kinegraph.compiler.request import bound_parameters
    from kinegraph.view.plot import units_of

    return units_of(mechanism, bound_parameters(mechanism, True, parameter_settings(mechanism, settings)))


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """A table of texts, numbers to the right; turned, a line for each column, where it is wider than the screen."""
    lines = [tuple(columns), *(tuple(row) for row in rows)]
    if len(lines) == 1 or _width(lines) <= console().width:
        _print_table(lines, title)
        return
    names, entries = lines[0], lines[1:]
    while entries:  # as many rows side by side as there is room for
        count = next((k for k in range(len(entries), 1, -1) if _turned_width(names, entries[:k]) <= console().width), 1)
        _print_table(list(zip(names, *entries[:count], strict=True)), title, head=False)
        entries = entries[count:]


def _turned_width(names: Sequence[str], entries: Sequence[Sequence[str]]) -> int:
    return _width(list(zip(names, *entries, strict=True)))


def _width(lines: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) + _GAP for column in zip(*lines, strict=True)) - _GAP


def _print_table(lines: Sequence[Sequence[str]], title: str, head: bool = True) -> None:
    table = Table(box=None, pad_edge=False, title=title or None, title_justify="left", show_header=head)
    for index, column in enumerate(lines[0]):
        table.add_column(column, justify="right" if head or index else "left")
    for line in lines[1:] if head else lines:
        table.add_row(*line)
    console().print(table)
