"""The demo, with less searching than `make demo` takes time for."""

import ctypes
import json

import numba
import numpy as np
import pytest

import kinegraph as kg
from kinegraph.cli import demo
from tests.cli.run import data, runner


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
    names = {"kidym-biped-new.kg", "tau.tex", "tau.c", "qdd.tex", "qdd.c", "report.json"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == names
    assert kg.load(tmp_path / "out" / "kidym-biped-new.kg") == kg.load("kidym-biped-new")
    assert json.loads((tmp_path / "out" / "report.json").read_text())["model"] == "kidym-biped-new"


def test_what_is_timed_is_the_kernel():
    kernel = kg.compile(kg.load("double-pendulum"), "tau")
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)

    @numba.njit
    def call(x, y):
        function(x.ctypes, y.ctypes)

    x, y = np.arange(6) / 10, np.empty(2)
    call(x, y)
    assert (y == kernel(x[:2], x[2:4], x[4:])).all()
