"""Platforms beside an independent solution in maximal coordinates (tests/data/parallel), to 1e-9 and better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.model.platforms.recognition import platform_of
from tests.derive.platforms.evaluate import evaluated
from tests.derive.platforms.reference import Case, case, data

NAMES = ("platform_UPS", "platform_UCU", "platform_RUS")
CLOSE = 1e-12


def _miss(found: Any, wanted: Any) -> float:
    return float(np.max(np.abs(np.asarray(found) - wanted)) / max(1.0, np.max(np.abs(wanted))))


def _state(one: Case, state: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    q = one.q(state["ring_position"], state["ring_quaternion_unnormalised"])
    return q, one.v(state["ring_velocity"], state["ring_angular_velocity_body"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gravity", ["gravity_on", "gravity_off", "gravity_on_damped"])
def test_forward_dynamics_and_reactions(name: str, gravity: str) -> None:
    reference = data(name)
    damping = reference["model"]["damping"] if gravity.endswith("damped") else 0
    one = case(name, gravity != "gravity_off", damping)
    run = evaluated(one.mechanism, "qdd,platform_acceleration,leg_reactions,base_reaction")
    for state in reference["states"]:
        wanted = state["forward"][gravity]
        qdd, ring, legs, base = run(*_state(one, state), one.forces(state["actuator_efforts"]))
        six = [*wanted["ring_acceleration"], *wanted["ring_angular_acceleration_body"]]
        assert _miss(qdd[6:12], six) < CLOSE and np.array_equal(ring, qdd[6:12])
        assert _miss(one.leg_part(qdd), one.in_legs(wanted["joint_accelerations"])) < CLOSE
        assert _miss(legs[:, :3], wanted["leg_force_on_base"]) < CLOSE
        assert _miss(legs[:, 3:], wanted["leg_moment_on_base_about_base_origin"]) < CLOSE
        total = [*wanted["total_force_on_base"], *wanted["total_moment_on_base_about_base_origin"]]
        assert _miss(base, total) < CLOSE


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gravity", ["gravity_on", "gravity_off", "gravity_on_damped"])
def test_inverse_dynamics(name: str, gravity: str) -> None:
    reference = data(name)
    damping = reference["model"]["damping"] if gravity.endswith("damped") else 0
    one = case(name, gravity != "gravity_off", damping)
    run = evaluated(one.mechanism, "tau")
    for state in reference["states"]:
        given = state["inverse"]
        a = one.v(given["ring_acceleration"], given["ring_angular_acceleration_body"])
        (tau,) = run(*_state(one, state), a)
        assert _miss(tau[:6], given[gravity]["actuator_efforts"]) < CLOSE
        assert not np.any(tau[6:])


@pytest.mark.parametrize("name", NAMES)
def test_legs_follow_from_the_ring(name: str) -> None:
    one, reference = case(name), data(name)
    run = evaluated(one.mechanism, "leg_positions,leg_velocities")
    for state in reference["states"]:
        positions, velocities = run(*_state(one, state))
        assert _miss(positions, one.in_legs(state["joint_positions"])) < CLOSE
        assert _miss(velocities, one.in_legs(state["joint_rates"])) < CLOSE


def test_tsai() -> None:
    """Forces of the drives along Tsai's translation, to 1e-12."""
    mechanism = kg.load("stewart")
    assert platform_of(mechanism) is not None
    run = evaluated(mechanism, "tau")
    layout = mechanism.layout
    for t, *wanted in data("stewart_platforms")["tsai2000"]["forces_t_f1_to_f6"]["translation"]:
        away = 0.2 * np.sin(3 * t)
        q = np.zeros(len(layout.positions))
        q[6:10] = [-1.5 + away, away, 1 + away, 1]
        v, a = np.zeros(len(layout.velocities)), np.zeros(len(layout.velocities))
        v[6:9], a[6:9] = 0.6 * np.cos(3 * t), -1.8 * np.sin(3 * t)
        (tau,) = run(q, v, a)
        assert _miss(tau[:6], wanted) < CLOSE


@pytest.mark.parametrize("name", NAMES)
def test_kernels_with_legs_side_by_side(name: str) -> None:
    """The machine code of the closed forms, legs in the lanes of vectors, gives the reference too."""
    one, reference = case(name), data(name)
    kernel = kg.compile(one.mechanism, "platform_acceleration")
    for state in reference["states"]:
        wanted = state["forward"]["gravity_on"]
        found = kernel(*_state(one, state), one.forces(state["actuator_efforts"]))
        assert _miss(found, [*wanted["ring_acceleration"], *wanted["ring_angular_acceleration_body"]]) < CLOSE
