"""The symplectic method: bounded energy error, exact quadratic integrals, canonical equations equal to the others."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.simulate import simulate
from tests.mechanisms import PLAIN_JOINTS, random_tree
from tests.solve.problems import PENDULUM


def test_energy_is_bounded_over_a_million_steps() -> None:
    """The error neither grows nor walks: the last tenth is as good as the first."""
    run = simulate(kg.parse(PENDULUM), 20_000, method="symplectic", step=0.02, grid=20_000)
    assert run.statistics.steps == 1_000_000
    error = np.abs(run["energy"] - run["energy"][0])
    assert error.max() < 5e-6
    assert error[-2000:].max() < 1.2 * error[:2000].max()


def test_a_free_top_keeps_its_quaternion_to_rounding_and_its_energy_bounded() -> None:
    """The length is a quadratic first integral. The energy is not: its error falls as h^4 and does not grow."""
    errors = []
    for step in (0.02, 0.01):
        run = simulate(kg.load("wing-nut"), 2000, method="symplectic", step=step, grid=4000)
        lengths = np.linalg.norm(run.array("e0", "e1", "e2", "e3"), axis=1)
        assert np.abs(lengths - 1).max() < 1e-13
        error = np.abs(run["energy"] / run["energy"][0] - 1)
        assert error[-400:].max() < 1.01 * error[:400].max()
        errors.append(error.max())
    assert abs(np.log2(errors[0] / errors[1]) - 4) < 0.2


@pytest.mark.parametrize("seed", range(3))
def test_momenta_and_velocities_give_the_same_motion(seed: int) -> None:
    tree = random_tree(seed, bodies=3, joints=PLAIN_JOINTS)
    start = dict.fromkeys(tree.layout.velocities, 0.3)
    exact = simulate(tree, 0.2, rtol=1e-12, grid=4, initial=start)
    run = simulate(tree, 0.2, method="symplectic", step=1e-3, grid=4, initial=start)
    assert np.abs(run.array() - exact.array()).max() < 1e-7


def test_what_is_not_conservative_is_refused() -> None:
    with pytest.raises(SolveError, match="conservative"):
        simulate(kg.parse(PENDULUM), 1, method="symplectic", step=0.1, inputs={"q": "sin(t)"})
    with pytest.raises(SolveError, match="step"):
        simulate(kg.parse(PENDULUM), 1, method="symplectic")
