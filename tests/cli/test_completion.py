"""What the Tab key offers (fault 28)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kinegraph.cli import completion
from tests.cli.run import ENVIRONMENT
from tests.programs import HANGS


def offered(*words: str) -> list[str]:
    """What bash gets for a command line whose last word is not finished."""
    line = " ".join(("kinegraph", *words))
    environment = {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), "_KINEGRAPH_COMPLETE": "complete_bash"}
    command = [sys.executable, "-m", "kinegraph"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, timeout=HANGS, check=False
    )
    return done.stdout.split()


def test_bash_is_told_of_commands_and_models():
    assert "simulate" in offered("sim")
    assert set(offered("check", "kidym")) == {"kidym-biped-new", "kidym-biped-old"}


@pytest.mark.parametrize(
    ("start", "expected"), [("grav", ["gravity"]), ("H,grav", ["H,gravity"]), ("H,pos", ["H,pose:"]), ("nothing", [])]
)
def test_quantities_go_on_after_a_comma(start, expected):
    assert completion.quantities(start) == expected


def test_files_are_offered_beside_the_library(tmp_path, monkeypatch):
    (tmp_path / "panda.urdf").touch()
    (tmp_path / "picture.png").touch()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.kg").touch()
    monkeypatch.chdir(tmp_path)
    assert completion.models("pu") == ["puma-drawing", "puma-full", "puma-principal", "puma560"]
    assert completion.models("pa") == ["panda.urdf", "parts/"]
    assert "pendulum-" in completion.models("pe")
    assert completion.models("parts/") == ["parts/arm.kg"]
    assert completion.models("nowhere/") == []
    assert completion.languages("m") == ["matlab"]
