"""Misspelt statements and words are told the right one (fault 27)."""

import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import parse


@pytest.mark.parametrize(
    ("statement", "place", "meant"),
    [
        ("sprng S | on(q) stiffness(1);", (2, 1), "spring"),
        ("gravty 0, 0, -9.81;", (2, 1), "gravity"),
        ("cordinates p;", (2, 1), "coordinates"),
        ("Parameters a = 1;", (2, 1), "parameters"),
        ("inital q = 1;", (2, 1), "initial"),
        ("constrant c | q = 0;", (2, 1), "constraint"),
        ("defin a = q;", (2, 1), "define"),
        ("lop pin | revolute | A | ;", (2, 1), "loop"),
        ("spring S | on(q) stifness(1);", (2, 18), "stiffness"),
        ("loop pin | revolut | A | ;", (2, 12), "revolute"),
        ("loop pin | hinge | A | ;", (2, 12), "revolute"),
        ("loop pin | ball | A | ;", (2, 12), "spherical"),
        ("contact c | A.z >= 0 | restitutio(0.3);", (2, 24), "restitution"),
        ("loop pin | revolute | AA | ;", (2, 23), "A"),
    ],
)
def test_the_right_word_is_proposed(statement, place, meant):
    with pytest.raises(ModelError, match=f"did you mean `{meant}`") as caught:
        parse(f"coordinates q; A | Ry(q) | m(1), Jy(1);\n{statement}")
    assert (caught.value.place.line, caught.value.place.column) == place


def test_a_record_is_not_taken_for_a_statement():
    with pytest.raises(ModelError, match=r"expected `\|` or `~`"):
        parse("Elbow Ry(1) | m(1);")


def test_parameters_are_proposed():
    with pytest.raises(ModelError, match="did you mean `m1`"):
        kg.derive(parse("parameters m1 = 1; coordinates q; A | Ry(q) | m(m1);"), "H", parameters={"m_1": 2})


def test_negative_moments_name_the_way_out():
    with pytest.raises(ModelError, match="accept inertia A;"):
        parse("coordinates q; A | Ry(q) | m(1), Jy(-1);")


def test_a_mechanism_prints_shortly():
    assert str(kg.load("double-pendulum")) == "<Mechanism double-pendulum: 2 bodies, 2 coordinates, 5 parameters>"
