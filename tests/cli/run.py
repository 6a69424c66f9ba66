"""The command line as a user types it, in this process (quick) or in one of its own (real pipes and signals)."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import typer
from typer.core import TyperGroup

import kinegraph
from kinegraph.cli import app, loaded, main
from kinegraph.cli.commands import COMMANDS
from tests.programs import HANGS

#: Processes of their own run this very package, installed or not.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(kinegraph.__file__).parents[1])}


class Result(NamedTuple):
    code: int
    out: str
    err: str


def all_loaded() -> TyperGroup:
    """The whole command line with every command imported."""
    whole = typer.main.get_group(app)
    for name in COMMANDS:
        whole.add_command(loaded(name), name)
    return whole


def runner(capsys):
    """A function that takes a command line without the leading `kinegraph`."""

    def run(line, *more):
        capsys.readouterr()
        try:
            main([*shlex.split(line), *map(str, more)])
        except SystemExit as stop:
            code = stop.code or 0
        return Result(code, *capsys.readouterr())

    return run


def process(line):
    """The same in a process of its own."""
    command = [sys.executable, "-m", "kinegraph", *shlex.split(line)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, env=ENVIRONMENT)
    return Result(done.returncode, done.stdout, done.stderr)


def data(result):
    """The JSON a command printed; nothing else may be there."""
    assert result.code == 0, result.err
    return json.loads(result.out)
