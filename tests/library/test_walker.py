"""The walker in single and double support: what the ground exerts, and which of it the motion determines."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.graph.interpret import interpret
from kinegraph.tasks.reactions import reactions
from tests.interpreted import interpreted

TORQUES = 3 * np.sin(np.arange(14.0))


@pytest.mark.parametrize("model", ["rackovic-14r", "rackovic-14r-double"])
def test_the_ground_carries_what_the_center_of_mass_needs(model):
    """Newton's law for the whole walker; in double support both feet together."""
    walker = kg.load(model)
    feet = ["reaction:L1", "reaction:support"][: 1 + len(walker.loops)]
    start = kg.assemble(walker, {"q2": 0.3, "q2'": 0.5, "q9'": -0.4, "q11'": 1})
    words = ["qdd", "d(momentum)/d(q)", "d(momentum)/d(v)", *feet]
    layout = walker.layout
    names = (*layout.positions, *layout.velocities, *layout.forces)
    state = dict(zip(names, [*start.q, *start.v, *TORQUES], strict=True))
    found = interpret(kg.derive(walker, words, numeric=True), state)
    change = found["d(momentum)/d(q)"] @ start.v + found["d(momentum)/d(v)"] @ found["qdd"]
    carried = sum(found[foot][:3] for foot in feet)
    np.testing.assert_allclose(carried, change[:3] + 70.53 * np.array([0, 0, 9.81]), atol=1e-8)


def test_the_second_foot_takes_four_degrees_of_freedom():
    """All joints of the legs but the first are parallel: four rows act, sigma has four components that are known."""
    assert kg.assemble(kg.load("rackovic-14r-double")).mobility == 10
    found = reactions("rackovic-14r-double", "support")
    assert found.determinate == (True, False, True, False, True, False)


def test_b_acts_on_the_joints_between_both_feet():
    """P = H a + B^T sigma + ...: rows along and about the axes of the ground, columns of leg joints alone."""
    walker = kg.load("rackovic-14r-double")
    start = kg.assemble(walker)
    found = interpreted(walker, "A:support,B:support,constraint_jacobian,jacobian:L8")(start.q)
    whole = found["A:support"] - found["B:support"]
    np.testing.assert_allclose(whole, found["jacobian:L8"], atol=1e-12)
    acts = np.any(np.abs(found["B:support"]) > 1e-12, axis=0)
    assert acts.tolist() == [1 <= k <= 4 for k in range(14)]  # q1 has to stay, q6 to q8 follow
