"""Reactions in a closed loop: all four pins of the Grashof four-bar."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.tasks.reactions import reactions
from tests.derive.constraints.test_four_bar import FOUR_BAR, NAMES, REFERENCE, state
from tests.effort import SOAK

PINS = {"Crank": "A_ground_on_crank", "Coupler": "B_crank_on_coupler", "Rocker": "D_ground_on_rocker"}


@pytest.mark.parametrize("case", REFERENCE["forward"])
@pytest.mark.parametrize(("body", "pin"), PINS.items())
def test_pins_of_a_four_bar(case, body, pin):
    q, v, tau = state(case)
    at = dict(zip(NAMES, q.tolist(), strict=True)) | {f"{n}'": x for n, x in zip(NAMES, v.tolist(), strict=True)}
    found = reactions(kg.parse(FOUR_BAR.format(gravity="-9.81")), body, at | {"tau:crank": float(tau[0])})
    np.testing.assert_allclose(found.force[:2], case["gravity_on"]["pin_forces"][pin], rtol=1e-11, atol=1e-10)


THREE_CRANKS = """
    coordinates q1 = 0.7, q2, q3 = 0.7, p;
    initial q1' = 3;
    gravity 0, -9.81, 0;
    C1 | Rz(q1)             | Sx(1/4), m(1), Jz(0.02);
    C2 | Sx(1), Rz(q2)      | Sx(1/4), m(1), Jz(0.02);
    C3 | Sx({apart}), Rz(q3) | Sx(1/4), m(1), Jz(0.02);
    Bar~C1 | Sx(1/2), Rz(p - q1) | Sx(1), m(2), Jz(0.3);
    loop pa | revolute | Bar: Sx(1) | C2: Sx(1/2);
    loop pb | revolute | Bar: Sx(2) | C3: Sx(1/2);
"""


@pytest.mark.parametrize("apart", [2, "2.000001", "1.9999995"] if SOAK else ["2.000001"])
def test_rounded_lengths_do_not_decide_how_three_cranks_share_the_load(apart):
    mechanism = kg.parse(THREE_CRANKS.format(apart=apart))
    for joint in ("C1", "C2", "C3", "Bar", "pa", "pb"):
        found = reactions(mechanism, joint)
        assert found.determinate == (False, False, False, False, False, True)
        assert np.isnan(found.force).all()
        assert found.moment[2] == pytest.approx(0, abs=1e-5)
