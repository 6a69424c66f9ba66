"""Coordinates held in their places: the equations are those of the mechanism without them."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import parse, write

ARMS = """
    parameters k = 3;
    coordinates q1 = 0.3, q2 = 0.7, q3;
    gravity 0, 0, -9.81;
    define sum = q1 + q2;
    quasivelocity w = q1' + q2', v2 = 2*q2';
    A | Ry(q1) | Sz(-0.5), m(1), Jy(0.1);
    B~A | Sz(-1), Ry(q2) | Sz(-0.4), m(2), Jy(0.2);
    C~B | Sz(-1), Ry(q3) | Sz(-0.3), m(1.5), Jy(0.1);
    spring one | on(q2), stiffness(k);
    spring two | on(sum), stiffness(k);
    damper rate | on(q2' + q3'), damping(0.1);
"""
HELD = """
    parameters k = 3;
    coordinates q1 = 0.3, q3;
    gravity 0, 0, -9.81;
    A | Ry(q1) | Sz(-0.5), m(1), Jy(0.1);
    B~A | Sz(-1), Ry(0.25) | Sz(-0.4), m(2), Jy(0.2);
    C~B | Sz(-1), Ry(q3) | Sz(-0.3), m(1.5), Jy(0.1);
    spring two | on(q1 + 0.25), stiffness(k);
    damper rate | on(q3'), damping(0.1);
"""


def test_equations_are_those_of_the_smaller_mechanism():
    locked = kg.lock(parse(ARMS), q2=0.25)
    assert locked.layout.positions == ("q1", "q3")
    wanted = "tau,H,qdd,energy,power"
    kg.prove(kg.derive(locked, wanted, numeric=True), kg.derive(parse(HELD), wanted, numeric=True))
    assert parse(write(locked)) == locked


def test_the_held_position_is_a_parameter():
    locked = kg.lock(parse(ARMS), "q2")
    assert locked.parameters[-1].name == "q2"
    other = kg.lock(parse(ARMS), q2=0.25)
    same = kg.derive(locked, "H", numeric=True, parameters={"q2": 0.25})
    assert same == kg.derive(other, "H", numeric=True)
    start, moved = kg.simulate(locked, 0.3, native=False), kg.simulate(other, 0.3, native=False)
    assert start.final["q1"] != moved.final["q1"]


def test_what_worked_on_held_coordinates_alone_is_left_out():
    locked = kg.lock(parse(ARMS), {"q2": 0})
    assert [element.name for element in locked.elements] == ["two", "rate"]
    assert [one.name for one in locked.quasivelocities] == ["w"]
    assert [one.name for one in locked.definitions] == ["sum", "v2"]


def test_a_quaternion_is_held_as_a_whole():
    free = kg.load("wing-nut")
    names = next(c.names for c in free.coordinates if hasattr(c, "names"))
    with pytest.raises(ModelError, match="as a whole"):
        kg.lock(free, **{names[0]: 1})
    held = kg.lock(free, *names)
    assert not set(names) & set(held.layout.positions)


def test_ties_of_held_coordinates_must_be_met():
    model = "coordinates q1, q2; A | Rz(q1) | m(1), Jz(1); B | Rz(q2) | m(1), Jz(1);"
    geared = parse(model + "loop teeth | gear(-2, 0.1) | q1 | q2;")
    (relation,) = kg.lock(geared, q2=0.2).constraints
    assert relation.name == "teeth"
    with pytest.raises(
        ModelError,
        match=r"the constraint teeth depends only on locked coordinates and is violated",
    ):
        kg.lock(geared, q1=0, q2=0.2)
    assert not kg.lock(geared, q1=-0.3, q2=0.2).constraints
    floor = parse(model + "contact floor | q1 >= 0.1 | restitution(0.2);")
    assert kg.lock(floor, q1=0.5).contacts == ()
    with pytest.raises(ModelError, match="the contact floor"):
        kg.lock(floor, q1=-0.5)


def test_unknown_coordinates_are_proposed():
    with pytest.raises(ModelError, match="did you mean `q2`"):
        kg.lock(parse(ARMS), q_2=0)
    assert kg.lock(parse(ARMS)) == parse(ARMS)


def test_locking_one_after_another_is_locking_at_once():
    once, twice = kg.lock(parse(ARMS), q2=0.1, q3=0.2), kg.lock(kg.lock(parse(ARMS), q2=0.1), q3=0.2)
    assert once == twice
    q, v = np.array([0.4]), np.array([0.5])
    kernel = kg.compile(once, "bias")
    assert kernel(q, v).shape == (1,)
