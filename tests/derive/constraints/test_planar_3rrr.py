"""The planar 3-RRR platform against 50 digits in maximal coordinates (computed for this project, see the data)."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from tests.interpreted import interpreted

REFERENCE = json.loads((Path(__file__).parents[2] / "data" / "closed_loops" / "planar_3rrr.json").read_text())
LEGS = (1, 2, 3)
CASES = pytest.mark.parametrize(
    ("case", "gravity"),
    [(case, gravity) for case in REFERENCE["states"] for gravity in ("gravity_on", "gravity_off")],
    ids=lambda one: one if isinstance(one, str) else "",
)


@cache
def equations(gravity, *words):
    text = kg.write(kg.load("planar-3rrr"))
    return interpreted(kg.parse(text if gravity == "gravity_on" else text.replace("-9.81", "0")), words)


def state(case):
    q = [*case["proximal_angles"], *case["distal_angles"], *case["platform_point"], case["platform_angle"]]
    v = [*case["proximal_rates"], *case["distal_rates"], *case["platform_point_velocity"], case["platform_rate"]]
    return np.array(q), np.array(v)


@CASES
def test_accelerations_and_pins(case, gravity):
    words = ["qdd", *(f"reaction:pin{k}" for k in LEGS), *(f"reaction:Proximal{k}" for k in LEGS)]
    q, v = state(case)
    found = equations(gravity, *words)(q, v, np.array([*case["torques"], *np.zeros(6)]))
    wanted = case[gravity]
    accelerations = [
        *wanted["proximal_accelerations"], *wanted["distal_accelerations"], *wanted["platform_point_acceleration"],
        wanted["platform_angular_acceleration"],
    ]  # fmt: skip
    np.testing.assert_allclose(found["qdd"], accelerations, rtol=1e-9, atol=1e-9)
    for k, force, ground in zip(
        LEGS, wanted["force_distal_on_platform"], wanted["force_ground_on_proximal"], strict=True
    ):
        np.testing.assert_allclose(found[f"reaction:pin{k}"][:2], force, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found[f"reaction:Proximal{k}"][:2], ground, rtol=1e-9, atol=1e-9)


@CASES
def test_torques_for_a_motion(case, gravity):
    """The three drives are the independent coordinates, so tau gives their torques."""
    q, v = state(case)
    wanted = case[gravity]["inverse"]
    a = np.zeros(9)
    a[6:] = *wanted["platform_point_acceleration"], wanted["platform_angular_acceleration"]
    terms = equations(gravity, "constraint_jacobian", "d(constraint_rates)/d(q)")(q, v)
    rows = terms["constraint_jacobian"]
    bias = terms["d(constraint_rates)/d(q)"] @ v
    a[:6] = np.linalg.lstsq(rows[:, :6], -bias - rows[:, 6:] @ a[6:], rcond=1e-12)[0]
    tau = equations(gravity, "tau")(q, v, a)
    np.testing.assert_allclose(tau, [*wanted["torques"], *np.zeros(6)], rtol=1e-9, atol=1e-9)
