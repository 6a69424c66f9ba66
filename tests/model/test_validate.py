"""What makes a mechanism ill described: the message, the place, and what passes."""

import pytest

from kinegraph.errors import ModelError
from kinegraph.io import parse
from kinegraph.model import Body, Builder, Mechanism, Name, Q, Rx, Sx, inertia, validate
from kinegraph.model.expressions import Call

QUATERNION = "quaternion (a,b,c,d) velocity (x,y,z)"


@pytest.mark.parametrize(
    ("model", "place", "words"),
    [
        ("coordinates q; A~B | Rx(q) | m(1); Bb || m(1);", (1, 18), "unknown body 'B' as the base of 'A'"),
        ("coordinates q; Arm1 || m(1); A~Arm2 | Rx(q);", (1, 32), "did you mean `Arm1`"),
        ("A~B || m(1); B~C || m(1); C~A || m(1);", (1, 3), "cycle: A~B~C~A"),
        ("A~A || m(1);", (1, 3), "cycle"),
        ("A || m(1); A || m(2);", (1, 12), "two bodies have the name A"),
        ("parameters a = 1; coordinates a; A | Rx(a) | m(1);", (1, 31), "as parameter and as coordinate"),
        (f"parameters x; {QUATERNION}; A | Q(a,b,c,d) | m(1);", (1, 46), "as parameter and as velocity"),
        ("coordinates t; A | Rx(t) | m(1);", (1, 13), "is a reserved name"),
        ("parameters sin = 1; A || m(1);", (1, 12), "is a reserved name"),
        ("parameters theta = 1; A | Rx(tehta) | m(1);", (1, 30), "did you mean `theta`"),
        ("A | Rx(q) | m(1);", (1, 8), "declare it"),
        ("A | Rx(sni(1)) | m(1);", (1, 8), "did you mean `sin`"),
        ("A | Rx(atan2(1)) | m(1);", (1, 8), "takes 2 arguments, found 1"),
        ("A || m(-1);", (1, 6), "negative"),
        ("parameters k = -2; A || m(1), Jx(k);", (1, 31), "Jx of A is negative: -2"),
        ("A || m(1), Jx(1), Jy(1), Jz(3);", (1, 12), "accept inertia A"),
        ("A || m(1), Jx(1), Jy(1), Jz(1), Jxy(2);", (1, 12), "not positive"),
        ("coordinates q; A | Rx(q) | m(q);", (1, 30), "mass of A depends on the coordinate q"),
        ("A || Jx(t);", (1, 9), "depends on time t"),
        ("coordinates q; A | Rx(q) | Sx(q), m(1);", (1, 31), "central frame of A depends on"),
        ("coordinates q; gravity 0, 0, q; A | Rx(q) | m(1);", (1, 30), "gravity depends on the coordinate"),
        ("coordinates q; parameters k = q; A | Rx(q) | m(1);", (1, 31), "depends on the coordinate q"),
        ("coordinates q; A || m(1);", (1, 13), "the coordinate q is not used"),
        ("A | Q(0,0,0,0) | m(1);", (1, 5), "is zero"),
        (f"{QUATERNION} = (0,0,0,0); A | Q(a,b,c,d) | m(1);", (1, 1), "is zero"),
        (f"{QUATERNION}; A | Q(a,b,d,c) | m(1);", (1, 44), "in their order"),
        (f"{QUATERNION}; A | Q(a,b,c,0) | m(1);", (1, 44), "not a declared quaternion"),
        (f"{QUATERNION}; A | Rx(a) | m(1);", (1, 47), "quaternion coordinate a"),
        (f"{QUATERNION}; A | Rx(x) | m(1);", (1, 47), "the velocity x"),
        (f"{QUATERNION}; A || m(1);", (1, 1), "no body uses the quaternion"),
        (f"{QUATERNION}; A | Q(a,b,c,d) | m(1); B | Q(a,b,c,d) | m(1);", (1, 67), "two bodies use the quaternion"),
        (f"{QUATERNION}; A | Q(a,b,c,d), Q(a,b,c,d) | m(1);", (1, 56), "two bodies use the quaternion"),
        ("coordinates q; A | Q(q,0,0,0), Rx(q) | m(1);", (1, 22), "the four names of one quaternion"),
        ("parameters a = b, b = a; A || m(1);", (1, 12), "cycle"),
        ("parameters k = 1/(2-2); A || m(1);", (1, 12), "divides by zero"),
        ("parameters k = sqrt(-1); A || m(1);", (1, 12), "not defined"),
        ("A | Rx(1/0) | m(1);", (1, 5), "divides by zero"),
        ("A || m(1); output p = B (0,0,0);", (1, 23), "unknown body 'B' of the output 'p'"),
        ("A || m(1); output p = (0,0,0); output p = (0,0,0);", (1, 39), "two outputs"),
        ("A || m(1); output p = (0,0);", (1, 19), "3 components"),
    ],
)
def test_errors_name_the_place_and_the_remedy(model, place, words):
    with pytest.raises(ModelError) as caught:
        parse(model)
    assert words in str(caught.value)
    assert caught.value.place and (caught.value.place.line, caught.value.place.column) == place


@pytest.mark.parametrize(
    "model",
    [
        "A || Jz(5);",  # turns about z only: nothing is known of the others
        "A || m(1);",
        "A ||;",
        "A || m(1), Jx(1), Jy(2), Jz(3);",  # a thin plate meets the inequality with equality
        "A || Jx(0.1), Jy(0.2), Jz(0.3);",
        "A || m(1), Jx(1), Jy(1), Jz(3); accept inertia A;",
        "parameters m1; A || m1, Jx(-m1);",  # no value, no judgment
        "parameters a = 2*b, b = 1; A || m(a);",
        "gravity 0, 0, -9.81*sin(t); A || m(1);",
        "coordinates q; A | Rx(q + t) | m(1); B | Q(1, 0, 0, 1) | Q(1, 1, 0, 0), m(1);",
    ],
)
def test_what_is_allowed(model):
    parse(model)


def test_errors_without_a_file_have_no_place():
    with pytest.raises(ModelError, match="unknown body 'B'") as caught:
        validate(Mechanism("m", (Body("A", base="B"),)))
    assert caught.value.place is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (Body("model"), "is a keyword"),
        (Body("1a"), "is not a valid name"),
        (Body("A; B"), "is not a valid name"),
        (Body("A", transforms=(Rx(Name("2*a")),)), "unknown name"),
        (Body("A", transforms=(Rx(Call("eval", (Name("pi"),))),)), "unknown function 'eval'"),
        (Body("A", transforms=(Sx(10**2000),)), "1000 digits"),
        (Body("A", transforms=(Q(0, 0, 0, 0),)), "zero"),
        (Body("A", inertia=inertia(mass=-1)), "negative"),
    ],
)
def test_mechanisms_built_in_python_are_checked_as_well(body, words):
    with pytest.raises(ModelError, match=words):
        validate(Mechanism("m", (body,)))


def test_expressions_too_deep_or_too_large_to_write_are_refused():
    deep = Name("pi")
    for _ in range(300):
        deep = 1 - deep
    with pytest.raises(ModelError, match="deeper"):
        validate(Mechanism("m", (Body("A", transforms=(Rx(deep),)),)))
    shared = Name("pi")
    for _ in range(100):  # as a tree, 2^100 parts
        shared = shared + shared
    with pytest.raises(ModelError, match="limit"):
        validate(Mechanism("m", (Body("A", transforms=(Rx(shared),)),)))


def test_long_chains_are_checked_in_linear_time():
    builder = Builder("chain")
    base = None
    for i in range(5000):
        base = builder.body(f"b{i}", base, [Sx(1)], inertia(mass=1))
    assert len(builder.build().bodies) == 5000
