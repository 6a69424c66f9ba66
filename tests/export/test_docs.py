"""The newcomer's paths in docs/export.md and docs/from-urdf.md are walked, and what they show is what comes out."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kinegraph
from tests.cli.run import runner
from tests.programs import HANGS, fault

ROOT = Path(__file__).resolve().parents[2]
PAGES = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("export.md", "from-urdf.md")}
#: What the pages need beside Kinegraph.
TOOLS = ("gcc", "octave-cli", "pdflatex", "nm ")

# The command line of the tree under test, whatever is installed.
SHIM = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(Path(kinegraph.__file__).parents[1])!r})
from kinegraph.cli import main
main()
"""


def console_steps(text: str) -> list[tuple[str, str]]:
    return re.findall(r"```console\n\$ (.*?)\n(.*?)```", text, re.DOTALL)


def comparable(text: str) -> str:
    """Spaces at line ends do not count, nor do operation counts: a better pass may lower them."""
    lines = [re.sub(r"\d+ (mul|add|sin|cos)", r"N \1", line).rstrip() for line in text.strip().splitlines()]
    return "\n".join(lines)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with `kinegraph` and `python` on the path."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "kinegraph").write_text(SHIM)
    (tools / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(kinegraph.__file__).parents[1]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def unpack(text: str, folder: Path) -> None:
    """Write the files a page shows."""
    for name, content in re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL | re.MULTILINE):
        (folder / name).write_text(content, encoding="utf-8")


def missing(command: str) -> list[str]:
    """Why a step cannot be taken on this machine."""
    tools = [reason for tool in TOOLS if tool in command and (reason := fault(tool.strip()))]
    return [
        *tools,
        *(["fmpy is not installed"] if "host.py" in command and not importlib.util.find_spec("fmpy") else []),
    ]


def outcome(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What a step prints; a plain `kinegraph ...` runs in this process, which need not start first."""
    if command.startswith("kinegraph ") and not re.search(r"[|&;<>]", command):
        done = runner(capsys)(command.removeprefix("kinegraph "))
        return done.out, done.err
    finished = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=HANGS)
    return finished.stdout, finished.stderr


@pytest.mark.parametrize("page", PAGES)
def test_every_step_gives_what_the_page_shows(page: str, workshop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unpack(PAGES[page], workshop)
    steps = console_steps(PAGES[page])
    assert len(steps) >= 8
    left_out: set[str] = set()
    for command, expected in steps:
        if missing(command):
            left_out.update(missing(command))
            continue
        out, err = outcome(command, capsys)
        assert comparable(out) == comparable(expected), f"{command}\n{err}"
    assert re.search(r"\\tau_\{\S+\} &= x_\{2\}", (workshop / "paper" / "arm.tex").read_text())
    if left_out:
        pytest.skip(f"all steps agree but those left out: {', '.join(sorted(left_out))}")


def test_the_python_of_the_page_runs(workshop: Path) -> None:
    pytest.importorskip("sympy")
    unpack(PAGES["export.md"], workshop)
    (code,) = re.findall(r"```python\n(.*?)```", PAGES["export.md"], re.DOTALL)
    exec(compile(code, "docs/export.md", "exec"), {})
    assert (workshop / "firmware" / "arm.c").exists()
