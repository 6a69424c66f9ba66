"""The command line starts at once: what only some commands need is imported by them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kinegraph.cli import loaded
from kinegraph.cli.commands import COMMANDS, Entry
from tests.cli.run import ENVIRONMENT, all_loaded, runner

#: They take longer to import than a first result takes to compute.
HEAVY = ("scipy", "matplotlib", "sympy", "casadi", "pyarrow", "sqlalchemy", "pandas", "dask", "zarr")

SEEN = """
import sys
try:
    {code}
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


def imported(code: str) -> set[str]:
    """The modules a new process has imported after some code."""
    command = [sys.executable, "-c", SEEN.format(code=code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return set(done.stderr.splitlines()[-1].split())


def command(line: str) -> str:
    return f"from kinegraph.cli import main; main({line.split()!r})"


def test_the_package_alone_imports_nothing() -> None:
    found = imported("import kinegraph as kg; kg.__version__, dir(kg)")
    assert {name for name in found if name.startswith("kinegraph")} == {
        "kinegraph",
        "kinegraph.garbage_collection",
        "kinegraph.lazy_imports",
        "kinegraph.version",
    }
    assert not found & {*HEAVY, "numpy", "llvmlite", "rich", "typer"}


def test_help_imports_no_command() -> None:
    found = imported(command("--help"))
    parts = ("cli", "cli.commands", "errors", "garbage_collection", "lazy_imports", "version")
    allowed = {"kinegraph", *(f"kinegraph.{part}" for part in parts)}
    assert {name for name in found if name.startswith("kinegraph")} <= allowed
    assert not found & {*HEAVY, "numpy", "llvmlite"}


@pytest.mark.parametrize(
    "line",
    [
        "eval double-pendulum -q tau --json",
        "count double-pendulum -q tau --effort quick --json",
        "simulate double-pendulum --for 0.01 --json",
    ],
)
def test_first_results_wake_nothing_they_do_not_need(line: str) -> None:
    found = imported(command(line))
    assert "numpy" in found and "kinegraph.compiler.chain" in found  # it has run
    assert not found & {*HEAVY, "kinegraph.tasks.equilibria", "kinegraph.studies.study", "kinegraph.io.mjcf.reader"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_all_says_what_the_help_of_each_says(name: str) -> None:
    found = loaded(name)
    assert found.name == name
    assert (found.help or "").split("\n\n")[0].replace("\n", " ") == COMMANDS[name].help
    assert isinstance(COMMANDS[name], Entry) == (not hasattr(found, "commands"))


def test_all_commands_are_there_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    whole = all_loaded()
    assert list(whole.commands) == list(COMMANDS)
    assert "json" in {option.name for option in whole.commands["eval"].params}
    shown = runner(capsys)("--help").out
    assert all(f" {name} " in shown for name in COMMANDS)


def test_a_command_that_does_not_exist_is_an_error_that_offers_another(capsys: pytest.CaptureFixture[str]) -> None:
    result = runner(capsys)("simulat")
    assert result.code == 2
    assert "simulate" in result.err
