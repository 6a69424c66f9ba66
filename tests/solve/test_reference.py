"""Published and exact motions, to the digits given."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate import Status, simulate
from tests.solve.problems import PENDULUM

DATA = json.loads((Path(__file__).parents[1] / "data" / "motion_references.json").read_text("utf-8"))


def turned(e: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A vector given in turned axes, in the fixed ones."""
    return w + 2 * np.cross(e[1:], np.cross(e[1:], w) + e[0] * w)


def test_five_link_tree() -> None:
    end = simulate(kg.load("five-link-tree"), 1, rtol=1e-13, atol=1e-15).final
    assert sum(end[f"q{i}"] for i in range(5)) == pytest.approx(DATA["five_link_tree"]["sum_q"], abs=1e-13)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_heavy_top(method: str) -> None:
    data = DATA["heavy_top"]
    run = simulate(kg.load("heavy-top"), 2, rtol=1e-13, atol=1e-14, times=[0.2, 1, 2], method=method)
    com = run.array("com.x", "com.y", "com.z")
    for row, time in enumerate(("0.2", "1", "2")):
        assert com[row] == pytest.approx(data[time]["com"], abs=2e-10)
    e, w = run.array("e0", "e1", "e2", "e3"), run.array("wx", "wy", "wz")
    assert np.abs(e[0]) == pytest.approx(np.abs(data["0.2"]["quaternion"]), abs=6e-9)
    assert w[1] == pytest.approx(data["1"]["omega"], abs=6e-9)
    omega = turned(e[2], w[2])
    assert omega == pytest.approx(data["2"]["global_omega"], abs=2e-8)
    assert omega[1] == pytest.approx(data["global_omega_y_t2"], abs=5e-9)  # ten digits: see the note there
    assert omega[1] == pytest.approx(data["global_omega_y_t2_converged"], abs=1e-9)


def test_heavy_top_by_the_symplectic_method() -> None:
    run = simulate(kg.load("heavy-top"), 2, method="symplectic", step=5e-5, times=[2.0])
    com = run.array("com.x", "com.y", "com.z")[0]
    assert com == pytest.approx(DATA["heavy_top"]["2"]["com"], abs=1e-8)
    assert run.checks[-1].error < 1e-15  # the length of the quaternion


def test_wing_nut_against_jacobi() -> None:
    data = DATA["wing_nut"]
    times = sorted(map(float, data["omega"]))
    run = simulate(kg.load("wing-nut"), 50, rtol=1e-13, atol=1e-14, times=times)
    for row, time in enumerate(times):
        expected = data["omega"][f"{time:g}"]
        assert run.array("wx", "wy", "wz")[row] == pytest.approx(expected, abs=2e-10)


def test_wing_nut_flips_with_the_period_of_the_closed_form() -> None:
    run = simulate(kg.load("wing-nut"), 100, rtol=1e-12, events={"flip": "wy"})
    flips = [happening.time for happening in run.events]
    assert len(flips) == 5
    assert np.diff(flips) == pytest.approx(DATA["wing_nut"]["period"] / 2, abs=1e-8)


@pytest.mark.parametrize("method", ["dopri5", "dop853", "adams", "bdf"])
def test_pendulum_of_iftomm(method: str) -> None:
    data = DATA["pendulum_A01"]
    points = np.array(data["points"])
    run = simulate(kg.parse(PENDULUM), 20, method=method, rtol=1e-12, atol=1e-13, times=points[:, 0])
    close = 1e-8 if method in ("dopri5", "dop853") else 2e-6
    assert run["mass.x"] == pytest.approx(points[:, 1], abs=close)
    assert run["mass.z"] == pytest.approx(points[:, 2], abs=close)
    energy = simulate(kg.parse(PENDULUM), 10, method=method, rtol=1e-9)["energy"]
    assert np.abs(energy - energy[0]).max() < data["energy_limit"]


def test_energy_of_six_links() -> None:
    run = simulate(kg.load("pendulum-6"), 10, rtol=1e-10)
    assert run.status is Status.FINISHED
    (energy,) = (check for check in run.checks if check.name == "energy")
    assert energy.error < 1e-8
    values = run["energy"]
    assert np.abs(values / values[0] - 1).max() < 1e-8


@pytest.mark.parametrize("method", ["bdf", "adams"])
def test_quaternions_stay_unit_in_long_runs_of_multistep_methods(method: str) -> None:
    """Left alone the length drifts with every step (here to 1e-4); brought back it stays at the tolerance."""
    run = kg.simulate(kg.load("wing-nut"), 1000, method=method, rtol=1e-6, times=100)
    length = np.sqrt(sum(run[name] ** 2 for name in ("e0", "e1", "e2", "e3")))
    assert np.abs(length - 1).max() < 3e-5
