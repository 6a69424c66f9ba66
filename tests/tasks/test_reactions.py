"""Reactions: reference numbers in three kinds of axes, and Newton's law for whole chains with springs."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import DerivationError, TaskError
from kinegraph.model.axes import Axes
from kinegraph.tasks.reactions import reactions
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
    with pytest.raises(DerivationError, match="'Pos' is not a joint"):
        reactions(post, "Pos")


BLOCK = """
    coordinates s = 2;
    gravity 0, 0, -10;
    Block | Sx(s) | m(3);
    spring hold | on(s), stiffness(5);
"""


@pytest.mark.parametrize(
    ("asked", "force", "moment"),
    [
        ({}, (-10, 0, 30), (0, 0, 0)),
        ({"point": "parent"}, (-10, 0, 30), (0, -60, 0)),
        ({"point": (2, 0, 1)}, (-10, 0, 30), (0, 10, 0)),
        ({"point": "Block", "axes": "body"}, (-10, 0, 30), (0, 0, 0)),
        ({"drives": False}, (0, 0, 30), (0, 0, 0)),
        ({"drives": False, "point": "parent"}, (0, 0, 30), (0, -60, 0)),
    ],
)
def test_moments_are_about_the_point_that_is_said(asked, force, moment):
    """A block that slides: its weight turns nothing at the block, and much where the rail begins."""
    found = reactions(kg.parse(BLOCK), "Block", **asked)
    statics = kg.statics(kg.parse(BLOCK), joints=["Block"], unknown=["tau:s"], **asked).reactions[0]
    np.testing.assert_allclose(found.force, force, atol=1e-12)
    np.testing.assert_allclose(found.moment, moment, atol=1e-12)
    if not found.view.drives:  # at rest the drive holds what the spring pulls
        np.testing.assert_allclose(statics.force, force, atol=1e-12)
        np.testing.assert_allclose(statics.moment, moment, atol=1e-12)


def test_what_a_bearing_carries_does_no_work_on_its_joint():
    """A body on a turntable that slides and turns, driven and sprung: without drives no power is left."""
    arm = """
        coordinates q = 0.4, s = 0.7, p = -0.3;
        gravity 1, 2, -9.81;
        Arm | Sz(0.2), Rz(q), Sy(0.1), Sx(s), Ry(p) | Sx(0.3), m(2), Jx(0.1), Jy(0.2), Jz(0.3);
        {drives}
    """
    state = {"q'": 1.5, "s'": -0.4, "p'": 2}
    free, driven = (kg.parse(arm.format(drives=text)) for text in ("", "spring a | on(s), stiffness(30);"))
    bearing = reactions(free, "Arm", state, drives=False)
    total = reactions(free, "Arm", state)
    np.testing.assert_allclose(total.force, bearing.force, atol=1e-11)  # nothing drives it
    np.testing.assert_allclose(total.moment, bearing.moment, atol=1e-11)
    pushed = reactions(driven, "Arm", state | {"tau:q": 5, "tau:p": -3}, drives=False)
    slide = np.array([np.cos(0.4), np.sin(0.4), 0])
    turn = np.array([-np.sin(0.4), np.cos(0.4), 0])
    assert pushed.force @ slide == pytest.approx(0, abs=1e-11)
    assert pushed.moment @ turn == pytest.approx(0, abs=1e-11)
    about_axis = reactions(driven, "Arm", state | {"tau:q": 5, "tau:p": -3}, drives=False, point="parent")
    assert about_axis.moment[2] == pytest.approx(0, abs=1e-11)


DOOR = """
    coordinates q;
    gravity 0, 0, -9.81;
    Door | Rz(q) | Sx(0.5), Sz(1), m(20), Jz(2);
    loop upper | revolute | Door: Sz(2) | Sz(2);
"""


@pytest.mark.parametrize("joint", ["Door", "upper"])
def test_what_two_hinges_share_is_open_in_reactions_and_statics_alike(joint):
    door = kg.parse(DOOR)
    moving = reactions(door, joint)
    (resting,) = kg.statics(door, joints=[joint]).reactions
    assert moving.determinate == resting.determinate == (False, False, False, False, False, True)
    for one in (moving, resting):
        assert np.isnan(one.force).all() and np.isnan(one.moment[:2]).all() and abs(one.moment[2]) < 1e-12
        assert "at least" in str(one) and "Fx, Fy, Fz, Mx, My not determined" in str(one)


def test_axes_are_words_and_one_enum():
    door = kg.parse(DOOR)
    for axes in Axes:
        assert reactions(door, "Door", axes=axes.value).axes is axes
    with pytest.raises(TaskError, match="choose from world, parent, body"):
        reactions(door, "Door", axes="ground")
    with pytest.raises(TaskError, match="unknown body or output 'Doo'"):
        reactions(door, "Door", point="Doo")
    with pytest.raises(TaskError, match="three numbers"):
        reactions(door, "Door", point=(1, 2))


def test_moments_about_any_point_of_a_body():
    """A point of a body is an output at the same place, on its own body and on another one."""
    model = kg.parse(kg.library.text("four-bar") + "output middle = Coupler (b/2, 0.1, 0);")
    state = {"crank": 1.1, "crank'": 3}
    for joint in ("Coupler", "Rocker", "pin"):
        named = kg.reactions(model, joint, state, point="middle")
        free = kg.reactions(model, joint, state, point="Coupler(b/2, 0.1, 0)")
        np.testing.assert_allclose(free.moment, named.moment, rtol=1e-12)
        np.testing.assert_allclose(free.about, named.about, rtol=1e-12)
    for point, message in (("Couple(0, 0, 0)", "unknown body 'Couple'"), ("Coupler(0, 0)", "three coordinates")):
        with pytest.raises(TaskError, match=message):
            kg.reactions(model, "Rocker", state, point=point)
