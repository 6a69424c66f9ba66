"""`kinegraph simulate` as a user types it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kinegraph.cli import simulate
from kinegraph.errors import MissingPackageError, ModelError, SolveError
from kinegraph.simulate import Solution
from kinegraph.simulate import run_task as task
from kinegraph.solve.execution import Silent

app = typer.Typer()
app.command("simulate")(simulate.run)
run = CliRunner().invoke


def test_a_run_with_files(tmp_path: Path) -> None:
    parquet, picture = tmp_path / "run.parquet", tmp_path / "run.png"
    words = ["double-pendulum", "--for", "1", "--state", "q1=pi/2", "--set", "m2=2"]
    words += ["-o", str(parquet), "--plot", str(picture)]
    result = run(app, words)
    assert result.exit_code == 0, result.output
    assert "energy" in result.output
    assert parquet.exists() and picture.exists()


def test_a_page_that_cannot_be_written_is_said_before_the_run() -> None:
    result = run(app, ["double-pendulum", "--for", "1e9", "--page", "run.pdf"])
    assert isinstance(result.exception, SolveError) and "must end in .html" in str(result.exception)


def test_a_file_that_cannot_be_written_is_said_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(app, ["double-pendulum", "--for", "1e9", "-o", "run.xls"])
    assert isinstance(result.exception, SolveError) and "is not .parquet" in str(result.exception)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run(app, ["double-pendulum", "--for", "1e9", "-o", "run.parquet"])
    assert isinstance(result.exception, MissingPackageError)
    assert "pip install 'kinegraph[parquet]'" in str(result.exception)


def test_json_events_and_inputs() -> None:
    words = ["double-pendulum", "--for", "3", "--event", "swing=q1'", "--input", "q1=-0.1*q1'", "--json"]
    data = json.loads(run(app, words).output)
    assert data["status"] == "FINISHED"
    assert data["events"][0]["name"] == "swing"
    assert data["final"]["work"] < 0


def test_a_failed_run_says_so() -> None:
    result = run(app, ["double-pendulum", "--for", "3", "--input", "q1=sqrt(1-t)"])
    assert result.exit_code == 1
    assert "not a number" in result.output or "too small" in result.output


class Impatient(Silent):
    """Presses Ctrl-C at the first report."""

    def reached(self, amount: float) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_keeps_what_was_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "bar", lambda *_, **__: Impatient())
    result = run(app, ["pendulum-3", "--for", "1e6", "--interpret", "-o", str(tmp_path / "run.parquet")])
    assert result.exit_code == 130 and "interrupted" in result.output
    assert len(Solution.load(tmp_path / "run.parquet").t) >= 1


def test_native_code_is_asked_for_and_reported() -> None:
    for option, answer in (("--native", "yes, as asked for"), ("--interpret", "no, as asked for"), (None, "no, ")):
        words = ["double-pendulum", "--for", "0.1", "--method", "bdf"]  # whose compiled parts are the smallest
        result = run(app, [*words, *([option] if option else [])])
        assert f"native: {answer}" in result.output
    data = json.loads(run(app, ["double-pendulum", "--for", "0.1", "--json"]).output)
    assert data["native"]["execution"] == "INTERPRETED"


def test_samples_from_a_file(tmp_path: Path) -> None:
    model = tmp_path / "slide.kg"
    model.write_text("model slide; inputs u; coordinates x; A | Sx(x) | m(2); force motor | value(u), on(x);", "utf-8")
    for text in ("0,0\n2,12\n", "t,u\n0,0\n2,12\n"):
        (tmp_path / "u.csv").write_text(text, "utf-8")
        data = json.loads(run(app, [str(model), "--for", "2", "--input", f"u=@{tmp_path / 'u.csv'}", "--json"]).output)
        assert data["final"]["x"] == pytest.approx(4)
    (tmp_path / "u.csv").write_text("0,0\n1\n", "utf-8")
    with pytest.raises(ModelError, match="two columns"):
        app_run(str(model), "--input", f"u=@{tmp_path / 'u.csv'}")


def app_run(*words: str) -> None:
    """As `run`, but errors come through."""
    run(app, list(words), catch_exceptions=False)
