"""The command line: `kinegraph COMMAND ...`, one file per command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kinegraph import __version__
from kinegraph.cli import check, demo, derive, eval, export, inspect, models, ops, reproduce, simulate, study, view
from kinegraph.cli.bench import bench_app
from kinegraph.cli.common import INTERRUPTED, console, show_error
from kinegraph.cli.store import store_app
from kinegraph.cli.tasks import (
    assemble,
    dock,
    equilibria,
    fit,
    integrals,
    linearise,
    modes,
    response,
    sensitivity,
    synthesise,
)
from kinegraph.cli.tasks.forces import inverse, reactions, statics
from kinegraph.cli.tasks.kinematics import ik, point
from kinegraph.cli.tasks.platforms import workspace
from kinegraph.errors import KinegraphError


class Commands(TyperGroup):
    """All commands: Ctrl-C ends each with one line and the exit code that shells know, whatever it was about."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; Ctrl-C becomes one line and an exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            console(stderr=True).print("interrupted")
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=Commands,
    name="kinegraph",
    help="Symbolic rigid-body mechanics: exact equations, fewest operations, proven, compiled.",
    epilog="MODEL is a file (model language, URDF, MJCF, SDF) or a name of the library. Start with: kinegraph demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
TASKS = (
    assemble,
    inverse,
    statics,
    reactions,
    equilibria,
    linearise,
    modes,
    response,
    integrals,
    ik,
    point,
    workspace,
    dock,
    sensitivity,
    fit,
    synthesise,
)
for command in (models, check, derive, ops, eval, simulate, study, *TASKS, view, export, inspect, reproduce, demo):
    app.command(command.__name__.rpartition(".")[2])(command.run)
app.add_typer(store_app, name="store")
app.add_typer(bench_app, name="bench")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kinegraph {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Symbolic rigid-body mechanics: exact equations, fewest operations, proven, compiled."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors a user can cause are one message and the exit code 2, never a traceback."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="kinegraph")
    except KinegraphError as error:
        show_error(str(error))
    except OSError as error:
        show_error(f"{error.filename or 'file'}: {error.strerror or error}")
    sys.exit(2)
