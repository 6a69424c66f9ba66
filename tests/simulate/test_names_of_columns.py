"""A name of the model means what the model says, also where a run has a total of the same name."""

import numpy as np

import kinegraph as kg


def test_coordinates_called_like_totals_keep_their_names() -> None:
    fall = kg.parse("coordinates pz = 1, energy; gravity 0, 0, -2; A | Sz(pz) | m(3); B | Sx(energy) | m(1);")
    run = kg.simulate(fall, 1, state={"energy'": 0.5}, native=False, progress=False)
    np.testing.assert_allclose(run["pz"], 1 - run.t**2, atol=1e-12)
    np.testing.assert_allclose(run["energy"], 0.5 * run.t, atol=1e-12)
    np.testing.assert_allclose(run["total.pz"], -6 * run.t, atol=1e-12)
    np.testing.assert_allclose(run["total.energy"], 6 + 0.125, atol=1e-12)
    assert all(check.passed for check in run.checks)


def test_other_runs_have_the_usual_names() -> None:
    run = kg.simulate("double-pendulum", 0.1, native=False, progress=False)
    assert "pz" in run and "energy" in run and not any(name.startswith("total.") for name in run)
