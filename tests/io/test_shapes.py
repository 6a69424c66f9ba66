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
shape Arm | Sz(-l/2)          | box(0.1, 0.2, l), color(0.2, 0.4, 1);
shape Arm |                   | sphere(0.1), color(1, 0, 0, 0.5);
shape     | Rx(pi/2), Sz(0.1) | cylinder(0.05, l);
"""


def test_shapes_are_read_and_written_back():
    mechanism = parse(MODEL)
    box, ball, post = mechanism.extras
    length = Name("l")
    sizes = (expression(0.1), expression(0.2), length)
    assert box == Shape(ShapeKind.BOX, "Arm", sizes, (Sz(-length / 2),), color=(0.2, 0.4, 1, 1))
    assert ball.color == (1, 0, 0, 0.5) and post.body is None
    assert parse(write(mechanism)) == mechanism


def test_the_builder_says_the_same():
    builder = Builder("mechanism")
    length = builder.parameter("l", 0.5)
    arm = builder.body("Arm", None, [kg.model.Ry(builder.coordinate("q"))], inertia(1, at=[Sz(-length / 2)]))
    builder.shape(arm, "box", (0.1, 0.2, length), [Sz(-length / 2)], (0.2, 0.4, 1))
    builder.shape(arm, "sphere", [0.1], color=(1, 0, 0, 0.5))
    builder.shape(None, ShapeKind.CYLINDER, (0.05, length), [Rx(expression("pi") / 2), Sz(0.1)])
    assert builder.build() == parse(MODEL)


def test_shapes_change_nothing_but_the_picture():
    bare = "".join(line for line in MODEL.splitlines(keepends=True) if not line.startswith("shape"))
    for quantity in ("tau", "qdd"):
        assert kg.derive(parse(MODEL), quantity) == kg.derive(parse(bare), quantity)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("shape Arn | | box(1, 1, 1);", "unknown body 'Arn' of a box\n.*did you mean `Arm`"),
        ("shape Arm | | bix(1, 1, 1);", "unknown shape 'bix'\n.*`box`"),
        ("shape Arm | | box(1, 1);", r"a box takes 3 sizes, found 2\n.*box\(x, y, z\)"),
        ("shape Arm | | color(1, 0, 0);", "one form of the shape, found 0"),
        ("shape Arm | | sphere(1), sphere(2);", "one form of the shape, found 2"),
        ("shape Arm | | sphere(1), color(1, 0);", "3 or 4 numbers"),
        ("shape Arm | | sphere(1), color(1, 0, 2);", "3 or 4 numbers from 0 to 1"),
        ("shape Arm | | sphere(1), color(l, 0, 0);", "made of numbers"),
        ("shape Arm | | sphere(q);", "q"),
        ("shape Arm | Sz(q) | sphere(1);", "q"),
        ("shape Arm | | sphere(-l);", "negative size"),
        ("shape Arm | m(1) | sphere(1);", "inertia `m` among the transforms"),
        ("shape~Arm | | sphere(1);", "is a keyword"),
    ],
)
def test_what_is_wrong_with_a_shape_is_said(statement, message):
    with pytest.raises(ModelError, match=message) as caught:
        parse(MODEL + statement)
    assert caught.value.place.line == 8
