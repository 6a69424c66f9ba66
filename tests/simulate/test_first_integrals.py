"""First integrals that runs with constraints list: those of every motion, not those of the one at hand alone."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.simulate.checks import momentum
from kinegraph.simulate.checks.fitting import states_beside
from kinegraph.simulate.equations import VelocityForm

ROD = """
    model rod; coordinates x1, y1, z1, x2 = 1, y2, z2; GRAVITY
    A | Sx(x1), Sy(y1), Sz(z1) | m(1); B | Sx(x2), Sy(y2), Sz(z2) | m(2);
    constraint c | (x1 - x2)^2 + (y1 - y2)^2 + (z1 - z2)^2 = 1;
"""
CART = """
    model cart; coordinates x, z = SIZE; gravity 0, 0, -9.81;
    A | Sx(x) | m(1); B | Sx(x), Sz(z) | m(2); constraint c | x^2 + z^2 = SIZE^2;
"""


def listed(run: kg.Solution) -> list[str]:
    return [one.name.removeprefix("momentum ") for one in run.checks if one.name.startswith(("momentum", "energy"))]


def test_a_bicycle_that_runs_straight_keeps_energy_alone() -> None:
    run = kg.simulate("bicycle", 0.3, native=False, grid=30)
    assert np.ptp(run["px"]) < 1e-9 * run["px"].max()  # it does not change here
    assert listed(run) == ["energy"]


@pytest.mark.parametrize(
    ("gravity", "wanted"),
    [("", ["energy", "px", "py", "pz", "Lx", "Ly", "Lz"]), ("gravity 0, 0, -9.81;", ["energy", "px", "py", "Lz"])],
    ids=["without", "with gravity"],
)
def test_what_every_motion_keeps_is_listed(gravity: str, wanted: list[str]) -> None:
    """A free rod that moves along its axis, or does not move at all."""
    rod = kg.parse(ROD.replace("GRAVITY", gravity))
    for initial in ({}, {"x1'": 1.0, "x2'": 1.0}, {"y1'": 1.0, "z2'": 0.3}):
        assert listed(kg.simulate(rod, 0.3, native=False, grid=30, initial=initial)) == wanted


@pytest.mark.parametrize("size", ["1e-3", "1", "1e3"])
def test_states_beside_a_run_fit_whatever_its_size(size: str) -> None:
    model = kg.parse(CART.replace("SIZE", size))
    equations = VelocityForm(model, {}, NO_FORCES)
    q = np.tile([0.0, float(size)], (7, 1))
    times, beside, v = states_beside(equations, np.linspace(0, 1, 7), q, np.zeros((7, 2)))
    assert len(times) >= 4 and np.all(np.any(beside != q[: len(beside)], axis=1))
    np.testing.assert_allclose(np.sum(beside**2, axis=1), float(size) ** 2, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.sum(beside * v, axis=1), 0.0, atol=1e-8)


def test_integrals_are_looked_for_once_for_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    first = kg.simulate("heavy-top", 0.1, native=False).checks
    monkeypatch.setattr(momentum, "along_motion", None)
    again = kg.simulate("heavy-top", 0.1, native=False).checks
    assert [one.name for one in again] == [one.name for one in first]
    assert any(one.name.startswith("first integral") for one in first)
