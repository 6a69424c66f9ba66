"""`kinegraph export`: equations as code of other languages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import kinegraph as kg
from kinegraph.cli import completion
from kinegraph.cli.common import (
    JsonOption,
    PassesOption,
    QuantityOption,
    SetOption,
    console,
    parameter_settings,
    print_json,
)
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.export import ExportOptions, ExportReport, Fmi, FunctionLayout, Language, Precision, Sines
from kinegraph.export import export as write_files

_LANGUAGES = ", ".join(language.value for language in Language)


ToOption = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="LANGUAGE",
        help=f"One of {_LANGUAGES}.",
        show_default=False,
        autocompletion=completion.languages,
    ),
]
DirectoryOption = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="PATH", help="The folder of the files, or the name of a single file."),
]
NameOption = Annotated[
    str | None, typer.Option("--name", help="Prefix of files and functions. Default: the name of the model.")
]
SymbolicOption = Annotated[
    bool | None,
    typer.Option(
        "--symbolic-parameters/--numeric-parameters",
        help="Pass parameters as an argument p, or write them as numbers. Default: depends on the language.",
    ),
]


@reads_model
def run(
    source: ModelSource,
    to: ToOption,
    directory: DirectoryOption = Path(),
    quantity: QuantityOption = "tau",
    name: NameOption = None,
    single: Annotated[bool, typer.Option("--float", help="Use single precision (c, rust).")] = False,
    libm: Annotated[bool, typer.Option("--libm", help="Call sine and cosine of the C library (c, rust).")] = False,
    symbolic: SymbolicOption = None,
    combined: Annotated[bool, typer.Option("--combined", help="Write one function for all quantities.")] = False,
    chunk: Annotated[int, typer.Option("--chunk", help="About how many operations to write in one function.")] = 1000,
    effort: Annotated[kg.Effort, typer.Option("--effort", help="How hard to reduce.")] = (kg.Effort.QUICK),
    passes: PassesOption = "",
    no_self_test: Annotated[bool, typer.Option("--no-self-test", help="Leave out the self-test.")] = False,
    fmi: Annotated[Fmi, typer.Option("--fmi", help="The version of FMI (fmu).")] = Fmi.THREE,
    no_binary: Annotated[bool, typer.Option("--no-binary", help="Write sources only (fmu).")] = False,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Write equations as source code with a self-test.

    Only files that an export wrote are replaced.

    Example: kinegraph export puma560 --to c -q tau,H -o puma
    """
    mechanism = source.mechanism()
    options = ExportOptions(
        name=name,
        precision=Precision.FLOAT if single else Precision.DOUBLE,
        sines=Sines.LIBRARY if libm else Sines.OWN,
        layout=FunctionLayout.COMBINED if combined else FunctionLayout.SEPARATE,
        symbolic_parameters=symbolic,
        parameters=parameter_settings(mechanism, settings),
        effort=effort,
        passes=passes,
        chunk=chunk,
        self_test=not no_self_test,
        fmi=fmi,
        binary=not no_binary,
    )
    report = write_files(mechanism, quantity, to, directory, options)
    if json:
        print_json(report.to_dict())
    else:
        _show(report)


def _show(report: ExportReport) -> None:
    if report.functions:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("function", "arguments", "results", "operations"):
            table.add_column(title)
        for one in report.functions:
            table.add_row(one.name, ", ".join(one.arguments), ", ".join(one.results), str(one.operations))
        console().print(table)
    for path in report.files:
        typer.echo(f"wrote {path}")
    for note in report.notes:
        typer.echo(f"note: {note}")
