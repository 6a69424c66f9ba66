"""Runs of closed loops: reference motions, and no drift in what is saved."""

import numpy as np
import pytest

import kinegraph as kg
from tests.assembly.test_assemble import four_bar
from tests.derive.constraints.test_four_bar import FOUR_BAR, REFERENCE
from tests.interpreted import interpreted

#: The third joint of Bricard's linkage at 1 and 2 seconds (IFToMM A04, computed by an independent reduction).
BRICARD = {1: (0.27448131926, -0.88670793873, -0.46233000269), 2: (-0.77813537303, -0.98035268344, -0.19725267062)}


@pytest.mark.parametrize("branch", ["open", "crossed"])
def test_four_bar_with_a_damper(branch):
    start = {"open": "coupler = 0.4, rocker = 1.3;", "crossed": "coupler = -0.4, rocker = -1.3;"}[branch]
    text = FOUR_BAR.format(gravity="-9.81").replace("coupler, rocker;", start)
    mechanism = kg.parse(text + "damper d | on(crank) damping(0.5);")
    samples = REFERENCE["motion"][branch]["samples"]
    times = [0.0, *(one["t"] for one in samples)]
    found = kg.simulate(mechanism, times[-1], state={"crank": 0.3, "crank'": 0}, times=times, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found["crank"][1:], [one["crank_angle"] for one in samples], atol=1e-9)
    np.testing.assert_allclose(found["crank'"][1:], [one["crank_rate"] for one in samples], atol=1e-9)


def test_bricard_moves_although_its_rows_say_it_cannot():
    found = kg.simulate(kg.load("bricard"), 2, times=[0, 1, 2], rtol=1e-10, atol=1e-11)
    for row, time in enumerate((1, 2), start=1):
        place = [found[f"P3.{axis}"][row] for axis in "xyz"]
        np.testing.assert_allclose(place, BRICARD[time], atol=2e-9)


@pytest.mark.parametrize("method", ["dop853", "dopri5", "rk4", "bdf"])
def test_saved_states_fit_and_energy_stays(method):
    options = {"step": 0.002} if method == "rk4" else {"rtol": 1e-9, "atol": 1e-10}
    found = kg.simulate(four_bar(), 2, method=method, state={"crank": 0.3, "crank'": 4}, times=50, **options)
    kernel = interpreted(four_bar(), "constraints,constraint_rates")
    rows = kernel.batch(
        *(np.column_stack([found[name] for name in names]) for names in (found.positions, found.velocities))
    )
    assert max(np.abs(array).max() for array in rows.values()) < 1e-10
    assert np.ptp(found["energy"]) < 1e-5 * np.abs(found["energy"]).max()
