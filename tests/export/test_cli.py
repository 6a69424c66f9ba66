"""`kinegraph export` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kinegraph.cli import export as command
from kinegraph.errors import KernelError

app = typer.Typer()
app.command("export")(command.run)


def kinegraph_export(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_c_into_a_directory(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    output = kinegraph_export("double-pendulum", "--to", "c", "-q", "tau,qdd", "-o", str(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["double_pendulum.c", "double_pendulum.h"]
    assert "double_pendulum.c" in output and "q[2], v[2], a[2]" in output


def test_options_reach_the_code(tmp_path: Path) -> None:
    flags = ("--float", "--libm", "--symbolic-parameters", "--combined", "--name", "arm", "--set", "m1=2.5")
    kinegraph_export("double-pendulum", "--to", "c", "-q", "tau,H", "-o", str(tmp_path), *flags)
    source = (tmp_path / "arm.c").read_text()
    assert "void arm_evaluate(const float q[2]" in source and "const float p[5]" in source
    assert "sinf(q[0])" in source and "2.5f, 1.0f, 1.0f, 1.0f, 0.1f" in source


def test_json(tmp_path: Path) -> None:
    found = json.loads(kinegraph_export("double-pendulum", "--to", "matlab", "-o", str(tmp_path), "--json"))
    assert found["language"] == "matlab" and len(found["sha256"]) == 64
    assert [Path(name).name for name in found["files"]] == ["double_pendulum_tau.m", "double_pendulum_selftest.m"]
    assert found["functions"][0]["results"] == ["tau[2]"]


@pytest.mark.parametrize(
    "language",
    ["c", "cpp", "python", "matlab", "julia", "rust", "fortran", "javascript", "latex", "records", "urdf", "fmu"],
)
def test_every_language_has_a_word(language: str, tmp_path: Path) -> None:
    kinegraph_export("double-pendulum", "--to", language, "-o", str(tmp_path))
    assert any(tmp_path.iterdir())


def test_an_unknown_language_is_named(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="choose from c, cpp, python"):
        kinegraph_export("double-pendulum", "--to", "cobol", "-o", str(tmp_path))
