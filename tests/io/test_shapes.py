"""Shapes in the model language: read, written, built in Python, refused."""

import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.model import Builder, Rx, Sz, inertia
from kinegraph.model.expressions import Name, expression
from kinegraph.model.robot_data import Shape, ShapeKind

MODEL = """
parameters l = 0.5;
coordinates q;
Arm | Ry(q) | Sz(-l/2), m(1);
shape Arm | Sz(-l/2)          | box(0.1, 0.2, l), colour(0.2, 0.4, 1);
shape Arm |                   | sphere(0.1), colour(1, 0, 0, 0.5);
shape     | Rx(pi/2), Sz(0.1) | cylinder(0.05, l);
"""


def test_shapes_are_read_and_written_back():
    mechanism = parse(MODEL)
    box, ball, post = mechanism.extras
    length = Name("l")
    sizes = (expression(0.1), expression(0.2), length)
    assert box == Shape(ShapeKind.BOX, "Arm", sizes, (Sz(-length / 2),), colour=(0.2, 0.4, 1, 1))
    assert ball.colour == (1, 0, 0, 0.5) and post.body is None
    assert parse(write(mechanism)) == mechanism


def test_the_builder_says_the_same():
    builder = Builder("mechanism")
    length = builder.parameter("l", 0.5)
    arm = builder.body("Arm", None, [kg.model.Ry(builder.coordinate("q"))], inertia(1, at=[Sz(-length / 2)]))
    builder.shape(arm, "box", (0.1, 0.2, length), [Sz(-length / 2)], (0.2, 0.4, 1))
    builder.shape(arm, "sphere", [0.1], colour=(1, 0, 0, 0.5))
    builder.shape(None, ShapeKind.CYLINDER, (0.05, length), [Rx(expression("pi") / 2), Sz(0.1)])
    assert builder.build() == parse(MODEL)


def test_shapes_change_nothing_but_the_picture():
    bare = "".join(line for line in MODEL.splitlines(keepends=True) if not line.startswith("shape"))
    for quantity in ("tau", "qdd"):
        assert kg.derive(parse(MODEL), quantity) == kg.derive(parse(bare), quantity)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("shape Arn | | box(1, 1, 1);", "Arn, which is no body\n.*did you mean `Arm`"),
        ("shape Arm | | bix(1, 1, 1);", "bix is neither a form nor a colour\n.*`box`"),
        ("shape Arm | | box(1, 1);", r"a box takes 3 sizes, found 2\n.*box\(x, y, z\)"),
        ("shape Arm | | colour(1, 0, 0);", "one form, found 0"),
        ("shape Arm | | sphere(1), sphere(2);", "one form, found 2"),
        ("shape Arm | | sphere(1), colour(1, 0);", "3 or 4 numbers"),
        ("shape Arm | | sphere(1), colour(1, 0, 2);", "3 or 4 numbers from 0 to 1"),
        ("shape Arm | | sphere(1), colour(l, 0, 0);", "made of numbers"),
        ("shape Arm | | sphere(q);", "q"),
        ("shape Arm | Sz(q) | sphere(1);", "q"),
        ("shape Arm | | sphere(-l);", "negative size"),
        ("shape Arm | m(1) | sphere(1);", "m among the transforms"),
        ("shape~Arm | | sphere(1);", "no body can be called that"),
    ],
)
def test_what_is_wrong_with_a_shape_is_said(statement, message):
    with pytest.raises(ModelError, match=message) as caught:
        parse(MODEL + statement)
    assert caught.value.place.line == 8
