"""One step in the order of the document: the quantities fit each other as Newton's laws say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.docking.description import Leg, docking_of
from kinegraph.docking.first_contacts import FreeBody
from kinegraph.docking.step import StepQuantity, _Step, docking_step
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


@pytest.mark.soak
def test_the_order_is_that_of_the_document(step: dict[str, StepQuantity]) -> None:
    assert list(step) == [
        "relative pose", "relative velocity", "contact forces", "leg lengths", "leg rates", "bias", "internal forces",
        "ring acceleration", "leg accelerations", "base reaction", "chaser acceleration", "target acceleration",
    ]  # fmt: skip


def test_forces_and_accelerations_fit_each_other(step: dict[str, StepQuantity]) -> None:
    pushed = step["contact forces"].values.sum(axis=0)
    assert np.linalg.norm(pushed) > 100
    ring, legs = step["ring acceleration"].values[:3], -step["base reaction"].values[:3]
    np.testing.assert_allclose(40 * ring, pushed + legs, rtol=1e-9)
    for name in ("leg lengths", "leg rates", "internal forces", "leg accelerations"):
        assert step[name].values.shape == (6,)


def on_chaser(name: str) -> tuple[np.ndarray, np.ndarray]:
    """What legs exert on the chaser of 8 t, and what by Newton and Euler its motion takes, about its origin."""
    docking = docking_of(kg.load(name))
    random = np.random.default_rng(2)
    layout = docking.mechanism.layout
    free = [one for one in layout.velocities if "_" not in one]
    at = {"rx": 0.02, "ry": 0.03, "r0": 0.8, "r3": 0.6, "c0": 0.8, "c3": 0.6} | {
        one: 0.1 * random.standard_normal() for one in free
    }
    start = Assembler(docking.mechanism).assemble(at, 0.0)
    step = _Step(docking, start.q, start.v, 0.0, {})
    moved = step._of_body(docking.chaser, step._word("qdd"))
    turn = step._word(f"pose:{docking.chaser}")[:3, :3]
    spin = start.v[[layout.velocities.index(one) for one in ("cwx", "cwy", "cwz")]]
    center, inertia = np.array([0, 0, -2.0]), np.diag([2e4, 2e4, 9e3])
    lever = np.cross(moved[3:], center) + np.cross(spin, np.cross(spin, center))
    force = 8000 * (turn.T @ moved[:3] + lever)
    moment = inertia @ moved[3:] + np.cross(spin, inertia @ spin) + np.cross(center, force)
    return step._on_chaser(), np.concatenate([turn @ force, turn @ moment])


@pytest.mark.parametrize("name", ["docking-two-spacecraft", "docking-light-legs"])
def test_the_base_reaction_moves_the_chaser(name: str) -> None:
    """With the inertia of massive legs, and with the moment."""
    found, wanted = on_chaser(name)
    assert np.linalg.norm(wanted[:3]) > 20 and np.linalg.norm(wanted[3:]) > 5
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))


def test_cranks_have_angles() -> None:
    mixed = replace(docking_of(mechanism()), legs=(Leg("A", "q", "q'", "0", ("0", "0", "1"), turns=True),))
    step = _Step(mixed, np.array([0.0, 0.48, 0.495]), np.zeros(3), 0.0, {})
    assert [step._unit(per) for per in ("", "/s", "/s^2")] == ["rad", "rad/s", "rad/s^2"]
    strut = replace(mixed.legs[0], name="B", turns=False)
    step.docking = replace(mixed, legs=(*mixed.legs, strut))
    assert step._unit("/s") == "rad/s, m/s"


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
