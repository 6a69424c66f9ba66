"""`python -m benchmarks`: the tables it prints, and benchmarks that need peers."""

import importlib.util
import json
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from benchmarks import __main__ as benchmarks
from kinegraph.reproduce import kidym_native_code as kidym


def run(line):
    return CliRunner().invoke(benchmarks.app, line.split(), prog_name="python -m benchmarks")


def test_kidym_prints_the_published_table_beside_ours(monkeypatch):
    monkeypatch.setattr(kidym, "measure_table_2", lambda example: kidym.Row(example, 0.1, 2.0, 7.5, None, 0.25, 0.5))
    table = run("kidym").stdout
    assert "double pendulum" in table and "no gcc" in table and "KiDyM, published" in table and "3.27 s" in table
    first, second, _ = json.loads(run("kidym --json").stdout)["examples"]
    assert (first["without"], first["with"], first["ratio"], first["source_kb"]) == (2.0, 0.5, 4.0, 7.5)
    assert second["published"]["ratio"] == pytest.approx(1.48, abs=0.01)


def test_kidym_measures_what_it_says():
    """Every part of a row comes from work that was done; how long that took is nothing a test can know."""
    row = kidym.measure_table_2(replace(kidym.EXAMPLES[0], duration=1.0), repeats=1)
    assert min(row.deriving, row.without, row.compiling, row.native) > 0 and 0.5 < row.source < 50


def test_every_benchmark_has_its_module():
    shown = run("--help").stdout
    for name in benchmarks._MODULES:
        assert importlib.util.find_spec(benchmarks.module_of(name)) is not None
        assert name in shown


def test_a_benchmark_gets_its_own_options(capsys):
    result = run("reduction --effort quick rackovic-6r")
    assert result.exit_code == 0 and "rackovic-6r: " in result.stdout and "proved True" in result.stdout
    assert "usage: python -m benchmarks reduction" in run("reduction --help").stdout
    assert run("reduction --effort none").exit_code == 2


def test_a_missing_peer_is_named_with_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    result = run("robots")
    assert result.exit_code == 1 and "pinocchio" in str(result.exception) and ".[bench]" in str(result.exception)
