"""The command line starts at once: what only some commands need is imported by them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


#: How many modules of ours a command may import when its code is on disk, with some room above what was measured:
#: 86, 193 and 131. A command that needs more either grew, or imports what only other commands need.
BUDGET = {
    "eval double-pendulum -q tau --json": 95,
    "count double-pendulum -q tau --effort quick --json": 208,
    "simulate double-pendulum --for 0.01 --json": 208,
    "check four-bar --json": 142,
}


@pytest.mark.parametrize("line", BUDGET)
def test_first_results_import_little(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENVIRONMENT, "KINEGRAPH_CACHE", str(tmp_path))
    imported(command(line))  # its code is on disk now
    found = imported(command(line))
    ours = sorted(name for name in found if name.partition(".")[0] == "kinegraph")
    assert "numpy" in found and f"kinegraph.cli.{line.split()[0]}" in ours  # it has run
    assert len(ours) <= BUDGET[line], ours
    assert not found & set(HEAVY)


def test_a_cached_value_needs_no_exact_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact numbers are for deriving and proving; tables of rich would take longer than the value."""
    monkeypatch.setitem(ENVIRONMENT, "KINEGRAPH_CACHE", str(tmp_path))
    line = command("eval double-pendulum -q tau --json")
    assert "flint" in imported(line)
    assert not {name.partition(".")[0] for name in imported(line)} & {"flint", "rich", *HEAVY}


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
