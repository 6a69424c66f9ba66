"""What all commands share: options, reading `name=value`, tables, errors."""

from __future__ import annotations

import json
import logging
import math
import re
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

import kinegraph as kg
from kinegraph.cli import completion
from kinegraph.derive.plan import Closure
from kinegraph.derive.quantities.quantity import WORDS
from kinegraph.errors import ModelError
from kinegraph.model.expressions import TIME, Expression

if TYPE_CHECKING:  # the display is imported by what is shown: JSON needs none
    from rich.console import Console

ClosureOption = Annotated[
    Closure, typer.Option("--closure", help="How to close loops; see docs/closed-loops.md.", show_default=True)
]
PassesOption = Annotated[
    str,
    typer.Option(
        "--passes", help="Run these passes instead, in order: 'expand(forms=0), products, monomials(degree=4)'."
    ),
]
QuantityOption = Annotated[
    str,
    typer.Option(
        "--quantity",
        "-q",
        metavar="LIST",
        help=f"Quantities: {', '.join(WORDS)}.",
        autocompletion=completion.quantities,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Values of parameters, e.g. --set m1=2,l1=0.5."),
]


def _tell_only_errors(json: bool) -> bool:
    """What goes on meanwhile is of no interest to a program."""
    logging.getLogger("kinegraph").setLevel(logging.ERROR if json else logging.NOTSET)
    return json


JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print JSON and nothing else.", callback=_tell_only_errors),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        help="An SQLite file or postgresql:// URL. Default: $KINEGRAPH_STORE, or a file in the user's data directory.",
    ),
]


def console(stderr: bool = False) -> Console:
    """Where tables go; wide enough for them when the output is a file or a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else 120, highlight=False)


def show_error(message: str) -> None:
    """A red message on stderr."""
    from rich.text import Text

    console(stderr=True).print(Text(f"error: {message}", style="red"), soft_wrap=True)


def say_assembled(note: str | None) -> None:
    """Say on stderr which declared values loops have moved."""
    if note:
        typer.echo(note, err=True)


def print_json(data: Mapping[str, object]) -> None:
    """One JSON object. What is not a number (NaN, infinity) is null, for JSON has no word for it."""
    typer.echo(json.dumps(_finite(data), ensure_ascii=False))


def _finite(data: object) -> object:
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def assignments(texts: Iterable[str], option: str) -> dict[str, str]:
    """`q1=0.1,q2=pi/3` as names and what stands behind them; the option may be given several times."""
    found: dict[str, str] = {}
    for text in texts:
        for part in re.split(r",(?![^()]*\))", text):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not (name and equals and value):
                raise ModelError(f"{option}: cannot read {part.strip()!r}", remedy=f"write {option} name=value,...")
            if name in found:
                raise ModelError(f"{option}: {name} is given twice", remedy="give it once")
            found[name] = value
    return found


def parse_value(text: str, option: str, parameters: Iterable[str] = ()) -> Expression:
    """A number or an expression such as pi/3 or 2*m1, read by the model language, never by Python."""
    if re.search(r"[;|~#]|//|/\*", text):
        raise _unreadable(option, text)
    declared = "".join(f"{name}, " for name in parameters if name != _VALUE)
    try:
        model = kg.parse(f"parameters {declared}{_VALUE} = {text};\n B | | ;")
    except ModelError as error:
        if "unit" in f"{error}" or "two meanings" in f"{error}":
            raise ModelError(f"{option}: {text!r}: {error.problem}", remedy=error.remedy) from None
        raise _unreadable(option, text) from None
    value = model.parameters[-1].value
    assert value is not None
    return value


_VALUE = "value"
_TIMED = re.compile(rf"\b{TIME}\b")


def force_value(text: str, parameters: Iterable[str]) -> Expression:
    """The value of an unknown force: a number, or a formula of parameters and time."""
    if not _TIMED.search(text):
        return parse_value(text, "--set", parameters)
    from kinegraph.simulate.formulas import formula

    return formula(text)


def _unreadable(option: str, text: str) -> ModelError:
    return ModelError(
        f"{option}: {text!r} is not a number", remedy="write a number or an expression such as pi/3 or 30 deg"
    )


def parameter_settings(mechanism: kg.Mechanism, settings: list[str] | None) -> dict[str, Expression]:
    """The values of --set; unknown names are refused where they are used."""
    known = [parameter.name for parameter in mechanism.parameters]
    return {name: parse_value(text, "--set", known) for name, text in parameter_texts(mechanism, settings).items()}


def parameter_texts(mechanism: kg.Mechanism, settings: list[str] | None) -> dict[str, str]:
    """The values of --set as they were typed. A coordinate, velocity or state is an error that names --state."""
    given = assignments(settings or (), "--set")
    for name, text in given.items():
        if name in mechanism.layout.initial:
            message = f"--set: {name!r} is not a parameter of {mechanism.name}"
            raise ModelError(message, remedy=f"write --state {name}={text}")
    values = {one.name: one.value for one in mechanism.inputs}
    known = [parameter.name for parameter in mechanism.parameters]
    # A value that an input has already is that of an unknown, given when the model was read.
    return {name: one for name, one in given.items() if not values.get(name) or values[name] != force_value(one, known)}


def plural(count: int, word: str) -> str:
    """`1 body`, `3 bodies`."""
    if count == 1:
        return f"1 {word}"
    return f"{count} {word[:-1]}ies" if word.endswith("y") else f"{count} {word}s"
