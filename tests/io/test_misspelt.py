"""Misspelt statements and words are told the right one (fault 27)."""

import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import parse
from kinegraph.io.language.syntax_errors import FORMS
from kinegraph.model.names import STATEMENTS


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


@pytest.mark.parametrize("word", STATEMENTS)
def test_a_broken_statement_shows_its_form(word):
    with pytest.raises(ModelError) as caught:
        parse(f"coordinates q; A | Ry(q) | m(1), Jy(1);\n{word} ) ;")
    assert FORMS[word] in caught.value.remedy
    assert caught.value.place.line == 2


def test_a_broken_record_shows_its_form():
    with pytest.raises(ModelError, match=r"expected `\|`; the form of a body is `Name~Base"):
        parse("coordinates q; A | Ry(q) | m(1); B ~ A, Ry(q), m(1);")


_AROUND = """
parameters k = 1, c = 1, f = 1, l = 1, a = -1, b = 1, x = 1, y = 1, z = 1, r = 1;
parameters fx = 1, fy = 1, fz = 1, mx = 1, my = 1, mz = 1;
coordinates q, q1, q2;
Body | Rz(q), Sx(q1) | m(1), Jz(1); Other | Sy(q2) | m(1); Ball | Sz(q2) | m(1);
"""  # what the forms speak of, declared by no statement that has a form of the same names


@pytest.mark.parametrize(
    "form",
    [
        form
        for word, forms in FORMS.items()
        if word not in ("parameters", "coordinates", "unknown", "cut", "quaternion", "platform", "shape")
        for form in forms.split("`")[1::2]
    ],
)
def test_forms_can_be_copied(form):
    tip = "" if form.startswith("output tip") else "output tip = Body (0, 0, 1);"
    assert parse(f"{_AROUND}{tip}\n{form}").bodies


@pytest.mark.parametrize("name", ["double-pendulum", "arm.kg", "/tmp/some/arm.urdf", r"C:\models\arm.kg"])
def test_a_name_given_as_text_is_told_of_load(name):
    with pytest.raises(ModelError, match=r"use `kinegraph.load` for a file"):
        parse(name)


BODY = "coordinates q{}; A | Ry(q) | m(1{}), Jy(1); force f | value({}), on(q);"


@pytest.mark.parametrize(
    ("model", "remedy", "mended"),
    [
        (BODY.format(" = 45*deg", "", "1"), "write `45 deg`", BODY.format(" = 45 deg", "", "1")),
        (BODY.format(" = deg", "", "1"), "write `1 deg`", BODY.format(" = 1 deg", "", "1")),
        (BODY.format(" = 45 degrees", "", "1"), "did you mean `deg`", BODY.format(" = 45 deg", "", "1")),
        (BODY.format("", "*kg", "1"), "write `1 kg`", BODY.format("", " kg", "1")),
        (BODY.format("", " [kilo]", "1"), "the units are deg, rpm", None),
        (BODY.format("", " kg*m", "1"), "write `1 [kg*m]` for the unit, or `(1 kg)*m`", None),
        (f"parameters g = 2; {BODY.format('', ' g', '1')}", "write `1*g` for the product, or `1 [g]`", None),
        (BODY.format("", "", "-qdot"), "write the velocity as `q'`", BODY.format("", "", "-q'")),
        (BODY.format("", "", "-dq"), "write the velocity as `q'`", None),
        (BODY.format("", "", "q > 0 ? 1 : 0"), "`select(c, a, b)`", BODY.format("", "", "select(q, 1, 0)")),
        (BODY.format("", "", "q < 0"), "`select(c, a, b)`", None),
        (BODY.format("", "", "q == 0"), "`select(c, a, b)`", None),
        (BODY.format("", "", "if(q, 1, 0)"), "`select(c, a, b)`", None),
    ],
)
def test_what_other_languages_write_is_told_in_the_words_of_this_one(model, remedy, mended):
    """The advice must not lead to the next error."""
    with pytest.raises(ModelError) as caught:
        parse(model)
    assert remedy in str(caught.value)
    if mended:
        parse(mended)


def test_velocities_are_named_where_they_cannot_be_used_too():
    with pytest.raises(ModelError, match=r"`q'`, which cannot be used here"):
        parse("coordinates q; A | Ry(q + qdot) | m(1), Jy(1);")
    with pytest.raises(kg.KinegraphError, match="the velocity is written q'"):
        kg.simulate(parse("coordinates q; A | Ry(q) | m(1), Jy(1);"), 1, inputs={"q": "-qdot"})
