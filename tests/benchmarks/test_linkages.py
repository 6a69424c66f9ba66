"""Benches of linkages: published problems come out right, and Exudyn is given the same mechanisms."""

import numpy as np
import pytest
from benchmarks.linkages.beside_exudyn import DURATION, exudyn_run, four_bar, slider_crank
from benchmarks.linkages.iftomm import PROBLEMS, measure

from kinegraph.simulate.run import simulate


@pytest.mark.parametrize("problem", [PROBLEMS[0], PROBLEMS[1], PROBLEMS[4]], ids=lambda one: one.title[:3])
def test_problems_agree_with_their_references(problem):
    row = measure(problem, repeats=1, native=False)
    assert row.error < 5e-8 and row.drift["position"] < 1e-10 and row.drift["energy"] < 1e-8


@pytest.mark.parametrize(("linkage", "error"), [(four_bar(), 1e-3), (slider_crank(), 5e-2)], ids=["bars", "slider"])
def test_exudyn_runs_the_same_linkage(linkage, error):
    pytest.importorskip("exudyn")
    run = simulate(linkage.model, DURATION, times=[0, DURATION], rtol=1e-9, native=False, progress=False)
    _, angles = exudyn_run(linkage, 1000)
    for name, angle in zip(linkage.angles, angles, strict=False):
        np.testing.assert_allclose(angle, run[name][-1], atol=error)
