"""Two spacecraft in space from first contact to the hard joint. The kernels take a while to make: make soak."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kinegraph.docking.dock import dock
from kinegraph.docking.result import DockingRun, Outcome

pytestmark = pytest.mark.soak

#: Beside the axis, tilted, drifting and turning.
OBLIQUE = {
    "bx": 0.05,
    "by": 0.04,
    "b1": 0.02,
    "b2": 0.01,
    "b3": 0.02,
    "bx'": 0.02,
    "bwx": 0.002,
    "cz'": 0.07,
    "rz'": 0.07,
}


MODELS = ["docking-light-legs", "docking-two-spacecraft"]


@cache
def run(model: str, rtol: float = 1e-10, oblique: bool = True) -> DockingRun:
    return dock(model, 20, state=OBLIQUE if oblique else None, rtol=rtol, native=True)


@pytest.mark.parametrize("model", MODELS)
def test_momentum_and_energy_through_a_whole_docking(model: str) -> None:
    found = run(model)
    assert found.outcome is Outcome.DOCKED
    assert len(found.touches) >= 2 and [one.joint for one in found.joinings][-2:] == ["captured", "hard"]
    assert found.momentum < 1e-11
    assert found.energy < 1e-8
    assert all(0 < one.lost < 0.15 for one in found.joinings)
    assert sorted(found.latches) == ["R1", "R2", "R3"] and max(found.latches.values()) == found.captured
    assert [phase.name for phase in found.phases[:2]] == ["contact", "1 of 3 latches"]


@pytest.mark.parametrize("model", MODELS)
def test_halving_tolerances_hardly_moves_the_capture(model: str) -> None:
    first, second = run(model).captured, run(model, 5e-11).captured
    assert first is not None and second is not None and abs(first - second) < 1e-6


@pytest.mark.parametrize("model", MODELS)
def test_a_symmetric_docking_stays_symmetric(model: str) -> None:
    found = run(model, oblique=False)
    assert found.outcome is Outcome.DOCKED
    for name in ("cx", "cy", "rx", "ry", "bx", "by"):
        assert np.abs(found[name]).max() < 1e-10, name


@pytest.mark.parametrize("model", MODELS)
def test_what_is_joined_stays_joined(model: str) -> None:
    found = run(model)
    for phase in found.phases[-3:]:
        apart = [np.sqrt(sum((phase.columns[f"r{a}"] - phase.columns[f"b{a}"]) ** 2 for a in "xyz"))]
        assert np.ptp(apart) < 1e-12


@pytest.mark.parametrize("model", MODELS)
def test_contact_forces_are_continuous(model: str) -> None:
    """The largest change from one saved state to the next shrinks with the interval: there is no jump."""
    changes = []
    for interval in (1e-3, 2.5e-4):
        found = dock(model, 1.0, state=OBLIQUE, native=True, interval=interval, stop_at_capture=True)
        changes.append(np.abs(np.diff(found["interface"])).max())
        assert found.peaks["interface"].value > 50
    assert changes[1] < 0.4 * changes[0]
