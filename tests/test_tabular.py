"""Results as tables: `to_pandas` and `to_xarray` hold the numbers of the result itself, under the same names."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import MissingPackageError, StudyError

PENDULUM = "parameters l = 1; coordinates q = 0.5; gravity 0, 0, -9.81; Bob | Ry(q), Sz(-l) | m(1);"


def mechanism(text: str = PENDULUM) -> kg.Mechanism:
    return kg.parse(text)


def test_a_run_has_its_columns() -> None:
    run = kg.simulate(mechanism(), 1, times=10, native=False)
    frame, dataset = run.to_pandas(), run.to_xarray()
    assert list(frame.columns) == list(run)
    assert all(np.array_equal(frame[name], run[name]) for name in run)
    assert np.array_equal(dataset["q"].sel(t=run.t[3]), run["q"][3])
    assert dataset.attrs["status"] == "FINISHED" and dataset["energy"].dims == ("t",)


def test_a_sweep_has_runs_and_times() -> None:
    found = kg.sweep(mechanism(), 1, over={"q": [0.1, 0.2, 0.3]}, times=4)
    dataset = found.to_xarray()
    assert dataset["q"].dims == ("run", "t") and np.array_equal(dataset["q"], found["q"])
    assert np.array_equal(dataset["q(0)"], [0.1, 0.2, 0.3])
    assert len(found.to_pandas()) == 3 * len(found.times)


def test_a_study_has_cases(tmp_path: Path) -> None:
    found = kg.study(mechanism(), 0.2, vary={"q": "uniform(0, 1)"}, outcomes={"h": "max(q)"}, times=3, cases=5)
    frame, dataset = found.to_pandas(), found.to_xarray()
    assert list(frame["case"]) == list(range(6)) and np.array_equal(frame["h"], found["h"])
    assert np.array_equal(dataset["q"][:, 0], found["q"]) and np.array_equal(dataset["q(0)"], found["q"])
    with pytest.raises(StudyError, match="give times="):
        kg.study(mechanism(), 0.2, vary={"q": "uniform(0, 1)"}, cases=5).to_xarray()


def test_derivatives_of_a_run() -> None:
    found = kg.sensitivities(mechanism(), 1, "l", outputs=["q", "q'"], times=5)
    frame = found.to_pandas()
    assert np.array_equal(frame["d(q')/d(l)"], found.derivative("q'", "l"))
    assert np.array_equal(frame["q"], found["q"])
    backward = kg.gradient(mechanism(), 1, "l", outputs=["q"])
    assert backward.to_pandas()["d(q)/d(l)"].item() == backward.derivative("q", "l")


def test_modes_and_equilibria() -> None:
    frame = kg.modes(mechanism(), {"q": 0}).to_pandas()
    assert frame["frequency"].item() == pytest.approx(9.81**0.5) and frame["shape:q"].item() == 1
    rest = kg.equilibria(mechanism()).to_pandas()
    assert dict(zip(np.abs(rest["q"]).round(3), rest["stable"], strict=True)) == {0: "yes", 3.142: "no"}


def test_no_solutions_are_an_empty_table() -> None:
    far = kg.inverse_kinematics("puma560", "L6", [[1, 0, 0, 9], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    frame = far.to_pandas()
    assert len(frame) == len(far.solutions) == 0 and set(far.coordinates) <= set(frame.columns)


def test_a_response_has_a_row_for_each_pair() -> None:
    found = kg.response(mechanism(), {"q": 0}, frequencies=[1.0, 2.0])
    frame = found.to_pandas()
    one = frame[(frame["frequency"] == 2.0) & (frame["output"] == found.outputs[1])]
    assert one["amplitude"].item() == found.amplitude[1, 1, 0] and len(frame) == found.transfer.size


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    run = kg.simulate(mechanism(), 0.1, native=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"kinegraph\[tables\]"):
        run.to_pandas()
