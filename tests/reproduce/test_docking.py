"""The document's algorithm of docking mechanisms against our closed forms, and against itself as it is printed."""

import numpy as np
import pytest

from kinegraph.model.platforms.leg_table import LegType
from kinegraph.reproduce.docking_step import Step, TwoSpacecraft, state_of, value, with_legs
from tests.effort import SOAK

_PLACES = {
    LegType.UPS: {"x": -1.45, "y": 0.1, "z": 1.05, "e1": 0.1, "e2": -0.05},
    LegType.RSU: {"x": 0.02, "y": 0.03, "z": 0.62, "e1": 0.1, "e2": -0.05},
}


@pytest.mark.parametrize("kind", _PLACES if SOAK else [LegType.UPS])
def test_the_document_s_algorithm_gives_our_numbers(kind: LegType) -> None:
    mechanism = with_legs(kind)
    state = state_of(mechanism, _PLACES[kind], (0.4, -0.3, 0.6, 0.9, -0.5, 0.7))
    step = Step(mechanism)
    found = step.numbers(state, u=step.ring_accelerations, p=step.rates(step.legs[1]), r=step.reaction(step.legs[1]))
    none = np.zeros(len(state.v))
    assert found["u"] == pytest.approx(value(mechanism, "platform_acceleration", state.q, state.v, none), abs=1e-9)
    assert found["r"] == pytest.approx(value(mechanism, "leg_reactions", state.q, state.v, none)[1], abs=1e-9)
    names = [f"{name}'" for name in step.legs[1].chain.names]
    assert found["p"] == pytest.approx(state.v[[mechanism.layout.velocities.index(name) for name in names]], abs=1e-12)


def test_the_printed_recursion_lacks_a_term() -> None:
    """With epsilon x r left out of w_j the accelerations are others: the misprint is real."""
    mechanism = with_legs(LegType.UPS)
    state = state_of(mechanism, _PLACES[LegType.UPS], (0.4, -0.3, 0.6, 0.9, -0.5, 0.7))
    whole, printed = Step(mechanism), Step(mechanism, complete=False)
    found = [one.numbers(state, h=one.leg(0).loop.h)["h"] for one in (whole, printed)]
    assert np.abs(found[0] - found[1]).max() > 1e-3


def test_one_step_on_two_spacecraft() -> None:
    """Pads touch, legs push: each line by a way of its own, and the contact is more than nothing."""
    points = {one.name.split(",")[0]: one for one in TwoSpacecraft().points()}
    assert np.linalg.norm(points["1. contact on the active ring"].found[:3]) > 100
    compared = [one for one in points.values() if one.wanted is not None]
    assert len(compared) == 7
    for one in compared:
        np.testing.assert_allclose(one.found, one.wanted, rtol=0, atol=1e-11 * np.abs(one.wanted).max())
