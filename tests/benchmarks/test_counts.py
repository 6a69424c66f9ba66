"""Counts beside those of an earlier state, and kernels of two copies of the source in turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.counts import ROWS, Earlier, Result, operations
from benchmarks.self import kernels_in_turn
from benchmarks.self.kernels_in_turn import Timing, Worker, compared, ratio

import kinegraph
from benchmarks import counts
from tests.effort import SOAK

EARLY = Path(__file__).parents[1] / "data" / "counts_1b4bd57.json"


def result(place: int, reduced: str) -> Result:
    return Result(ROWS[place], "100+100", reduced, True, 1.0, 10.0, 9.0, True)


def test_what_is_higher_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {ROWS[0]: "60+40", ROWS[1]: "500+400"}
    monkeypatch.setattr(counts, "measure", lambda row, effort, seconds: result(ROWS.index(row), found[row]))
    models = ["--models", ROWS[0].model, ROWS[1].model]
    counts.main([*models, "--json", str(tmp_path / "first.json")])
    found |= {ROWS[0]: "61+40", ROWS[1]: "510+380"}
    counts.main([*models, "--against", str(tmp_path / "first.json")])
    shown = capsys.readouterr().out
    assert "60+40 HIGHER NOW" in shown
    assert "500+400 HIGHER" not in shown  # fewer in all
    assert f"1 of 2 counts higher than before: {ROWS[0].model} {ROWS[0].quantities}" in shown


def test_rows_an_earlier_state_did_not_have_are_not_judged() -> None:
    earlier = Earlier({(ROWS[0].model, ROWS[0].quantities): (1, 1)})
    assert earlier.beside(result(1, "5+5")) == "none"
    assert earlier.verdict([result(1, "5+5"), result(0, "1+1")]) == "0 of 1 counts higher than before"


def test_two_copies_compile_and_are_timed_in_turn(tmp_path: Path) -> None:
    source = Path(kinegraph.__file__).parents[1]
    each = 2 if SOAK else 1
    workers = [Worker(source, str(tmp_path)) for _ in range(2 * each)]
    copies = [workers[:each], workers[each:]]
    try:
        found = compared(copies, "double-pendulum", "tau", rounds=2)
    finally:
        for worker in workers:
            worker.close()
    first, second = found.timings
    assert (first.mul, first.add) == (second.mul, second.add) == (9, 9)
    assert first.call_instructions == second.call_instructions > 18
    assert first.batch_instructions == second.batch_instructions > first.call_instructions
    assert min(first.call, first.batch, second.call, second.batch) > 0
    assert all(worker.process.returncode == 0 for worker in workers)


def test_a_worker_that_fails_is_said_to(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kinegraph.py").write_text("raise SystemExit(3)")
    with pytest.raises(RuntimeError, match="compile double-pendulum tau ended with code 3"):
        Worker(tmp_path, str(tmp_path)).times_of("compile", "double-pendulum", "tau")


def test_longer_times_and_higher_counts_are_marked() -> None:
    assert ratio(100.0, 102.0) == "+2.0 %"
    assert ratio(100.0, 104.0) == "+4.0 % longer"
    one = kernels_in_turn.Comparison("m", "q", (Timing(10, 11, 20, 40, 5.0, 5.0), Timing(10, 10, 20, 41, 5.0, 5.0)))
    shown = kernels_in_turn.table([one])
    assert list(shown.columns[2].cells) == ["10+10 -> 10+11 higher"]
    assert [list(shown.columns[place].cells) for place in (5, 8)] == [["20 -> 20"], ["41 -> 40"]]


def test_the_recorded_state_has_the_rows_of_today() -> None:
    known = Earlier.read(EARLY).reduced
    assert {(row.model, row.quantities) for row in ROWS} - known.keys() == {
        ("rackovic-14r-double", "H,C,gravity,B:support")
    }
    assert all(one["proved"] for one in json.loads(EARLY.read_text()))
    assert operations("73+49") == (73, 49)
