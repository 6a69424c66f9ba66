"""Reactions in a closed loop: all four pins of the Grashof four-bar."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.tasks.forces.reactions import reactions
from tests.derive.constraints.test_four_bar import FOUR_BAR, NAMES, REFERENCE, state

PINS = {"Crank": "A_ground_on_crank", "Coupler": "B_crank_on_coupler", "Rocker": "D_ground_on_rocker"}


@pytest.mark.parametrize("case", REFERENCE["forward"])
@pytest.mark.parametrize(("body", "pin"), PINS.items())
def test_pins_of_a_four_bar(case, body, pin):
    q, v, tau = state(case)
    at = dict(zip(NAMES, q.tolist(), strict=True)) | {f"{n}'": x for n, x in zip(NAMES, v.tolist(), strict=True)}
    found = reactions(kg.parse(FOUR_BAR.format(gravity="-9.81")), body, at | {"tau:crank": float(tau[0])})
    np.testing.assert_allclose(found.force[:2], case["gravity_on"]["pin_forces"][pin], rtol=1e-11, atol=1e-10)
