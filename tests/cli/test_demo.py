"""The demo, with less searching than `make demo` takes time for."""

import ctypes
import json

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.cli import demo
from kinegraph.graph.count import Operations
from kinegraph.jit.engine import repeated
from tests.cli.run import data, runner

#: Figures that cost nothing.
MEASURED = demo.Measured(
    kg.compile(kg.load("double-pendulum"), "tau"), Operations(), Operations(), proved=True, seconds=1.0,
    nanoseconds=1.0, rate=1.0,
)  # fmt: skip


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setattr(demo, "QUANTITIES", dict.fromkeys(demo.QUANTITIES, kg.Effort.QUICK))
    return runner(capsys)


def test_demo_reports_and_leaves_files(run, tmp_path):
    figures = data(run("demo --json -o", tmp_path / "out"))
    assert figures["both_forms_differ_by"] < 1e-13
    for one in figures["quantities"].values():
        assert one["proved"] and one["nanoseconds_per_call"] > 0 and one["batched_per_second"] > 0
        assert sum(one["after"].values()) < sum(one["before"].values())
    names = {"kidym-biped-new.kg", "tau.tex", "tau.c", "qdd.tex", "qdd.c", "report.json", "walk.html", "walk.png"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == names
    assert kg.load(tmp_path / "out" / "kidym-biped-new.kg") == kg.load("kidym-biped-new")
    assert figures["motion"]["energy_balance"] < 1e-6 and figures["page"] == str(tmp_path / "out" / "walk.html")
    assert json.loads((tmp_path / "out" / "report.json").read_text())["model"] == "kidym-biped-new"


def test_demo_names_the_file_to_open(run, tmp_path, monkeypatch):
    """Fault 29: the demo shows motion, and says where."""
    monkeypatch.setattr(demo, "measure", lambda mechanism, quantity: MEASURED)
    monkeypatch.setattr(demo, "disagreement", lambda kernel: 0.0)
    monkeypatch.setattr(demo, "draw", lambda motion, folder: [folder / "walk.html", folder / "walk.png"])
    out = run("demo -o", tmp_path).out
    assert "A walk of 5 s" in out and f"open {tmp_path / 'walk.html'} in a browser" in out


def test_what_is_timed_is_the_kernel():
    kernel = kg.compile(kg.load("double-pendulum"), "tau")
    loop = repeated(kernel.address, 3)
    x, y = np.arange(6) / 10, np.empty(2)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loop.address)(x.ctypes.data, y.ctypes.data)
    assert (y == kernel(x[:2], x[2:4], x[4:])).all()
