"""The command line: `kinegraph COMMAND ...`, one file per command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn, TypeAlias

import typer
from typer.core import TyperGroup

from kinegraph import __version__
from kinegraph.cli.commands import COMMANDS, ELSEWHERE, RENAMED_OPTIONS, Group
from kinegraph.errors import KinegraphError

#: The exit code of a command that Ctrl-C ended.
INTERRUPTED = 130


#: A command or context of click. Typer has its own copy of click in some versions: no name of the type holds for all.
Click: TypeAlias = Any


class Commands(TyperGroup):
    """All commands: the module of one is imported when it is called.

    Ctrl-C ends each with one line and the exit code that shells know, whatever it was about.
    """

    def resolve_command(self, ctx: Click, args: list[str]) -> tuple[str | None, Click | None, list[str]]:
        """The command that is called, with the words that are left for it."""
        if args and args[0] in ELSEWHERE:
            typer.echo(f"error: there is no command {args[0]}\n  type `kinegraph {ELSEWHERE[args[0]]}`", err=True)
            raise typer.Exit(2)
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMMANDS:
            command = loaded(name)
            _refuse_old_options(name, command, rest)
        return name, command, rest

    def invoke(self, ctx: Click) -> object:
        """Run a command; Ctrl-C becomes one line and an exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


def _refuse_old_options(name: str, command: Click, words: Sequence[str]) -> None:
    """An error for an option of an earlier version that names the option of today."""
    known = {option for one in command.params for option in one.opts}
    for word in words:
        option = word.partition("=")[0]
        new = RENAMED_OPTIONS.get(f"{name} {option}", RENAMED_OPTIONS.get(option))
        if new and option not in known:
            typer.echo(f"error: {name} has no option {option}\n  write {new}", err=True)
            raise typer.Exit(2)


def loaded(name: str) -> Click:
    """A command or group of the table, ready to be called."""
    module, _, attribute = COMMANDS[name].target.partition(":")
    target = getattr(import_module(module), attribute)
    if isinstance(COMMANDS[name], Group):
        group = typer.main.get_group(target)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name)(target)
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Commands,
    name="kinegraph",
    help="Symbolic rigid-body mechanics: exact equations, fewest operations, proven, compiled.",
    epilog="MODEL is a file (model language, URDF, MJCF, SDF) or a name of the library. Start with: kinegraph demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _listed() -> None:
    """Stands for a command where only its name and help are needed."""


for _name, _entry in COMMANDS.items():
    app.command(_name, help=_entry.help)(_listed)


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
        _end(str(error))
    except OSError as error:
        _end(f"{error.filename or 'file'}: {error.strerror or error}")


def _end(message: str) -> NoReturn:
    from kinegraph.cli.common import show_error

    show_error(message)
    sys.exit(2)
