"""Reactions: reference numbers in three kinds of axes, and Newton's law for whole chains with springs."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import DerivationError
from kinegraph.tasks.forces.axes import Axes
from kinegraph.tasks.forces.reactions import reactions
from tests.tasks.reference import reference

PENDULUM = """
    coordinates q1, q2;
    gravity 0, -9.81, 0;
    First        | Rz(q1)
                 | Sx(0.02), Sy(-0.45), Sz(0.03), m(2),
                   Jx(0.15), Jy(0.01), Jz(0.16), Jxy(-0.003), Jxz(-0.001), Jyz(0.002);
    Second~First | Sy(-0.9), Sz(0.08), Rz(q2)
                 | Sx(-0.01), Sy(-0.3), Sz(0.05), m(1.3),
                   Jx(0.04), Jy(0.005), Jz(0.042), Jxy(-0.001), Jxz(-0.0005), Jyz(-0.0007);
    accept inertia First;
"""


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize(("body", "joint"), [("First", "joint1"), ("Second", "joint2")])
@pytest.mark.parametrize("axes", Axes)
def test_double_pendulum(number, body, joint, axes):
    state = reference("reactions_double_pendulum")["states"][number]
    at = dict(zip(("q1", "q2", "q1'", "q2'", "tau:q1", "tau:q2"), state["q"] + state["qd"] + state["tau"], strict=True))
    found = reactions(kg.parse(PENDULUM), body, at, axes=axes)
    np.testing.assert_allclose(found.force, state["joints"][joint][f"force_{axes.value}"], atol=1e-12)
    np.testing.assert_allclose(found.moment, state["joints"][joint][f"moment_{axes.value}"], atol=1e-12)


def test_a_spring_between_bodies_loads_the_joints_it_bridges():
    """A massless rod of length one held up by a spring at its end: the pin carries what the spring pulls."""
    rod = kg.parse("""
        coordinates q;
        gravity 0, 0, -9.81;
        Rod | Ry(q) | Sx(1), m(1);
        spring hold | between(Rod(1, 0, 0), (1, 0, 2)) stiffness(9.81/2) rest(0);
    """)
    found = reactions(rod, "Rod", {"q": 0})  # the spring pulls up with 9.81 N: the mass rests, the pin carries nothing
    np.testing.assert_allclose(found.force, 0, atol=1e-12)
    found = reactions(rod, "Rod", {"q": 0, "tau:q": 3})
    np.testing.assert_allclose(found.moment, [0, 3, 0], atol=1e-12)


def test_a_body_without_joint_is_held_where_it_is_fixed():
    post = kg.parse("gravity 0, 0, -9.81; Post | Sx(2) | Sx(1), m(3);")
    found = reactions(post, "Post")
    np.testing.assert_allclose(found.force, [0, 0, 29.43], atol=1e-12)
    np.testing.assert_allclose(found.moment, [0, -29.43, 0], atol=1e-12)
    with pytest.raises(DerivationError, match="'Pos' names no joint"):
        reactions(post, "Pos")
