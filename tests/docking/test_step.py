"""One step in the order of the document: the quantities fit each other as Newton's laws say."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.docking.description import docking_of
from kinegraph.docking.first_contacts import FreeBody
from kinegraph.docking.step import StepQuantity, docking_step
from kinegraph.errors import SolveError
from tests.docking.one_axis import mechanism


@pytest.fixture(scope="module")
def step() -> dict[str, StepQuantity]:
    """Rings that overlap a little, everything moving."""
    docking = docking_of(kg.load("docking-light-legs"))
    q = np.zeros(21)
    q[[3, 10, 17]], q[9], q[16], q[14] = 1, 0.8, 0.845, 0.02
    v = 0.02 * np.random.default_rng(1).standard_normal(18)
    return {one.name: one for one in docking_step(docking, q, v)}


def test_the_order_is_that_of_the_document(step: dict[str, StepQuantity]) -> None:
    assert list(step) == [
        "relative pose", "relative velocity", "contact forces", "leg lengths", "leg rates", "bias", "internal forces",
        "ring acceleration", "leg accelerations", "base reaction", "chaser acceleration", "target acceleration",
    ]  # fmt: skip


def test_forces_and_accelerations_fit_each_other(step: dict[str, StepQuantity]) -> None:
    pushed = step["contact forces"].values.sum(axis=0)
    assert np.linalg.norm(pushed) > 100
    ring, legs = step["ring acceleration"].values[:3], -step["base reaction"].values
    np.testing.assert_allclose(40 * ring, pushed + legs, rtol=1e-9)
    for name in ("leg lengths", "leg rates", "internal forces", "leg accelerations"):
        assert step[name].values.shape == (6,)


def test_leg_accelerations_are_the_slopes_of_their_rates() -> None:
    docking = docking_of(mechanism())
    v, h = np.array([0.1, 0.07, -0.02]), 1e-5
    q = np.array([0.0, 0.48, 0.495])
    found = {one.name: one.values for one in _of_one_axis(docking, q, v)}
    after = _of_one_axis(docking, q + h * v, v + h * found["qdd"])
    before = _of_one_axis(docking, q - h * v, v - h * found["qdd"])
    slope = (after[1].values - before[1].values) / (2 * h)
    np.testing.assert_allclose(found["leg accelerations"], slope, rtol=1e-7)


def _of_one_axis(docking, q, v) -> list[StepQuantity]:
    """The legs' quantities, of bodies that move on one line."""
    from kinegraph.docking.step import _Step

    one = _Step(docking, q, v, 0.0, {})
    rates = [leg.rate for leg in docking.legs]
    return [
        StepQuantity("qdd", "", "", one._word("qdd")),
        StepQuantity("leg rates", "", "", one._formulas(rates)),
        StepQuantity("leg accelerations", "", "", one._second(rates)),
    ]


def test_bodies_must_move_freely() -> None:
    with pytest.raises(SolveError, match="must move freely"):
        FreeBody.of(mechanism(), "Ring")
