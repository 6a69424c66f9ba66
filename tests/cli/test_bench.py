"""`kinegraph bench`: the tables it prints, and benches that need programs of others."""

import importlib.util
import json
import sys
from dataclasses import replace

import pytest

from kinegraph.bench.kidym import table_2 as kidym
from kinegraph.cli import bench
from tests.cli.run import runner


@pytest.fixture
def run(capsys):
    return runner(capsys)


def test_kidym_prints_the_published_table_beside_ours(run, monkeypatch):
    monkeypatch.setattr(kidym, "measure", lambda example: kidym.Row(example, 0.1, 2.0, 7.5, None, 0.25, 0.5))
    table = run("bench kidym").out
    assert "double pendulum" in table and "no gcc" in table and "KiDyM, published" in table and "3.27 s" in table
    first, second, _ = json.loads(run("bench kidym --json").out)["examples"]
    assert (first["without"], first["with"], first["ratio"], first["source_kb"]) == (2.0, 0.5, 4.0, 7.5)
    assert second["published"]["ratio"] == pytest.approx(1.48, abs=0.01)


def test_kidym_measures_what_it_says():
    """Every part of a row comes from work that was done; how long that took is nothing a test can know."""
    row = kidym.measure(replace(kidym.EXAMPLES[0], duration=1.0), repeats=1)
    assert min(row.deriving, row.without, row.compiling, row.native) > 0 and 0.5 < row.source < 50


def test_other_benches_are_modules_of_the_package(run):
    """They come with a wheel too; nothing of the source tree is needed."""
    for name in bench._MODULES:
        assert importlib.util.find_spec(f"kinegraph.bench.{bench.module_of(name)}") is not None
        assert name in run("bench --help").out


def test_a_bench_gets_its_own_options(run):
    result = run("bench reduction --effort quick rackovic-6r")
    assert result.code == 0 and "rackovic-6r: " in result.out and "proved True" in result.out
    assert "usage: kinegraph bench reduction" in run("bench reduction --help").out
    assert run("bench reduction --effort none").code == 2


def test_a_missing_peer_is_named_with_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    result = run("bench robots")
    assert result.code == 2 and "pinocchio" in result.err and "kinegraph[bench]" in result.err
