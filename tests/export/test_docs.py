"""The newcomer's path in docs/export.md is walked, and what it shows is what comes out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kinegraph

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")

# The command line of the tree under test, whatever is installed.
SHIM = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(Path(kinegraph.__file__).parents[1])!r})
from kinegraph.cli import app, export, main
if not any(command.name == "export" for command in app.registered_commands):
    app.command("export")(export.run)
main()
"""


def console_steps() -> list[tuple[str, str]]:
    blocks = re.findall(r"```console\n\$ (.*?)\n(.*?)```", TEXT, re.DOTALL)
    return [(command, output) for command, output in blocks]


def comparable(text: str) -> str:
    """Spaces at line ends do not count, nor do operation counts: a better pass may lower them."""
    lines = [re.sub(r"\d+ (mul|add|sin|cos)", r"N \1", line).rstrip() for line in text.strip().splitlines()]
    return "\n".join(lines)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the files of the page, and `kinegraph` on the path."""
    for name, content in re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(content, encoding="utf-8")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "kinegraph").write_text(SHIM)
    (tools / "kinegraph").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_step_gives_what_the_page_shows(workshop: Path) -> None:
    steps = console_steps()
    assert len(steps) >= 8
    for command, expected in steps:
        tools = [tool for tool in ("gcc", "octave-cli", "pdflatex") if tool in command]
        if any(shutil.which(tool) is None for tool in tools):
            continue
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
        assert comparable(done.stdout) == comparable(expected), f"{command}\n{done.stderr}"
    assert r"\tau_{2} &= x_{2}" in (workshop / "paper" / "arm.tex").read_text()


def test_the_python_of_the_page_runs(workshop: Path) -> None:
    pytest.importorskip("sympy")
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(code, "docs/export.md", "exec"), {})
    assert (workshop / "firmware" / "arm.c").exists()
