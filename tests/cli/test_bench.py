"""`kinegraph bench`: the tables it prints, and benches that need the source tree."""

import json

import pytest

from kinegraph.bench import kidym
from kinegraph.cli import bench
from tests.cli.run import runner


@pytest.fixture
def run(capsys):
    return runner(capsys)


def test_kidym_prints_the_published_table_beside_ours(run, monkeypatch):
    short = tuple(kidym.Example(one.title, one.model, one.duration / 300, one.published) for one in kidym.EXAMPLES)
    monkeypatch.setattr(kidym, "EXAMPLES", short[:2])
    table = run("bench kidym").out
    assert "double pendulum, second mode" in table and "KiDyM, published" in table and "3.27 s" in table
    (first, second) = json.loads(run("bench kidym --json").out)["examples"]
    assert first["without"] > first["with"] > 0 and first["ratio"] > 1
    assert second["published"]["ratio"] == pytest.approx(1.48, abs=0.01)
    assert 0.5 < first["source_kb"] < 50


def test_other_benches_are_run_from_the_source_tree(run, monkeypatch, tmp_path):
    called = []
    monkeypatch.setattr(bench.subprocess, "call", lambda command, **rest: called.append((command, rest)) or 3)
    assert run("bench simulate --peers").code == 3
    command, rest = called[0]
    assert command[1:] == ["-m", "bench.simulate", "--peers"]
    assert (rest["cwd"] / "bench" / "simulate.py").is_file()
    assert run("bench peers --help").code == 3 and called[1][0][2] == "bench.run_peers"
    monkeypatch.setattr(bench.kinegraph, "__file__", str(tmp_path / "site" / "kinegraph" / "__init__.py"))
    result = run("bench counts")
    assert result.code == 2 and "source tree" in result.err
