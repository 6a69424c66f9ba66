"""One step of the 14-joint walker in one run: its support opens and closes, and both switches keep their accounts."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg

pytestmark = pytest.mark.soak

SOLE = {"heel": np.array([-0.06, 0, -0.03]), "toe": np.array([0.12, 0, -0.03])}
#: Before and after an event.
NEAR = 1e-7


@pytest.fixture(scope="module")
def step() -> tuple[kg.Solution, kg.Solution]:
    """The run, and once more with its states just before and after each switch."""
    run = kg.simulate("rackovic-14r-step", 0.65)
    times = {event.time + side * NEAR for event in _switches(run) for side in (-1, 1)}
    return run, kg.simulate("rackovic-14r-step", 0.65, times=sorted({0.0, 0.65, *times}))


def _switches(run: kg.Solution) -> list:
    return [event for event in run.events if event.time > 0.01 and event.name.endswith(("impact", "release"))]


def test_the_support_opens_and_closes(step) -> None:
    run, _ = step
    names = [event.name for event in _switches(run)]
    assert names == ["toe: release", "heel: release", "toe: impact", "heel: impact", "toe: impact"]
    lifted = (run["t"] > 0.2) & (run["t"] < 0.5)
    assert (run["heel.gap"][lifted] > 1e-3).all() and (run["toe.normal"][lifted] == 0).all()
    carried = run["t"] < 0.1
    assert (run["heel.normal"] + run["toe.normal"])[carried & (run["t"] > 0.01)].min() > 50


def test_energy_and_momentum_at_every_switch(step) -> None:
    """H (v+ - v-) is the sum of the impulses; what is lost is the energy of the lost velocities and friction's work."""
    run, near = step
    bare = kg.load("rackovic-14r")
    inertia, jacobian, pose = (kg.compile(bare, word) for word in ("H", "jacobian:L8", "pose:L8"))
    layout = bare.layout
    q, v = (np.array([near[name] for name in names]).T for names in (layout.positions, layout.velocities))
    for event in _switches(run):
        before, after = (int(np.argmin(abs(near["t"] - event.time - side * NEAR))) for side in (-1, 1))
        H, change = inertia(q[before]), v[after] - v[before]
        rows = _rows(jacobian(q[before]), pose(q[before])[:3, :3])
        impulses = np.linalg.lstsq(rows.T, H @ change, rcond=None)[0]
        assert rows.T @ impulses == pytest.approx(H @ change, abs=1e-3)
        energy = [v[k] @ H @ v[k] / 2 for k in (before, after)]
        if event.name.endswith("release"):
            assert energy[0] == pytest.approx(energy[1], abs=1e-4)
            continue
        friction = impulses @ (rows @ v[after])  # normal velocities are zero where a contact closed
        assert energy[0] - energy[1] == pytest.approx(change @ H @ change / 2 - friction, abs=1e-3)
        assert energy[0] > energy[1]


def _rows(jacobian: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Velocities of heel and toe along x and z."""
    found = []
    for place in SOLE.values():
        x, y, z = turn @ place
        across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        found += [*(jacobian[:3] - across @ jacobian[3:])[[0, 2]]]
    return np.array(found)
