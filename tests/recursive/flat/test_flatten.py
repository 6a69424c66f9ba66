"""Linear forms, steps, and the choice of the method."""

import math

import numpy as np
import pytest

from kinegraph.errors import ModelError
from kinegraph.model.expressions import Call, Name, Operation, expression
from kinegraph.model.mechanism import ZERO, Axis, Body, Coordinate, Inertia, Mechanism, Quaternion, Rotation, Shift
from kinegraph.recursive.arrays import INERTIA, MASS, MOMENT, OFFSET, PARENT, PLACEMENT
from kinegraph.recursive.flatten import Numbers, affine, flatten
from kinegraph.recursive.forward import ForwardRecursion
from kinegraph.recursive.systems import RecursiveSystem
from tests.effort import calls
from tests.mechanisms import PLAIN_JOINTS, Joint, chain, random_state, random_tree

q, r, k, t = Name("q"), Name("r"), Name("k"), Name("t")
UNIT = Inertia(*(expression(1) for _ in range(4)))


@pytest.mark.parametrize(
    ("root", "constant", "slopes"),
    [
        (expression(0.5), 0.5, {}),
        (k / 4, 0.5, {}),
        (2 * q - r / k + 3 * t - 1, -1, {"q": 2, "r": -0.5, "t": 3}),
        (-(q + r) * k, 0, {"q": -2, "r": -2}),
        (q - q + r, 0, {"r": 1}),
        (q + Call("sqrt", (expression(4),)) ** 3, 8, {"q": 1}),
        (Call("cos", (Name("pi"),)) * q, 0, {"q": -1}),
    ],
)
def test_linear_forms(root, constant, slopes):
    form = affine(root, Numbers({"k": 2.0}), {"q", "r", "t"})
    assert form is not None
    assert form.constant == constant
    assert form.slopes == slopes


@pytest.mark.parametrize("root", [q * r, q / r, q**2, Call("sin", (q,)), 1 / q, k * Call("abs", (r,)), t * q])
def test_nonlinear_forms(root):
    assert affine(root, Numbers({"k": 2.0}), {"q", "r", "t"}) is None


def test_a_long_sum_takes_linear_time():
    form = affine(*long_sum(20_000))
    assert form is not None
    assert len(form.slopes) == 20_000
    short, long = (calls(lambda count=count: affine(*long_sum(count))) for count in (500, 1000))
    assert long < 2.2 * short


def long_sum(count):
    """q0 + q1 + ... as the arguments of `affine`."""
    names = [f"q{i}" for i in range(count)]
    return sum(map(Name, names), expression(0)), Numbers({}), set(names)


def test_constant_transforms_and_fixed_bodies_make_no_steps():
    half_turn = Rotation(Axis.Z, Name("pi"))
    bodies = (
        Body("Tip", "Arm", (Shift(Axis.X, expression(2)),), UNIT),
        Body("Arm", None, (Shift(Axis.X, expression(1)), half_turn, Rotation(Axis.Y, q)), UNIT),
        Body("Table", None, (Shift(Axis.Y, expression(3)),), UNIT),
    )
    tree = flatten(Mechanism("m", bodies, (Coordinate("q"),))).tree
    table, arm = tree.constant
    assert tree.link[:, PARENT].tolist() == [0, 0]
    assert (table[MASS], arm[MASS]) == (1, 2)
    np.testing.assert_allclose(arm[OFFSET:MOMENT], [1, 0, 0])
    np.testing.assert_allclose(arm[PLACEMENT:OFFSET], [-1, 0, 0, 0, -1, 0, 0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(arm[MOMENT:INERTIA], [2, 0, 0])
    np.testing.assert_allclose(arm[INERTIA:MASS], [2, 6, 6, 0, 0, 0])
    np.testing.assert_allclose(table[MOMENT:INERTIA], [0, 3, 0])


def test_products_of_inertia_enter_with_a_minus_sign():
    inertia = Inertia(expression(1), *(expression(x) for x in (3, 4, 5, 0.1, 0.2, 0.3)))
    tree = flatten(Mechanism("m", (Body("B", None, (Rotation(Axis.X, q),), inertia),), (Coordinate("q"),))).tree
    np.testing.assert_allclose(tree.constant[1, INERTIA:MASS], [3, 4, 5, -0.1, -0.2, -0.3])


def rewritten(root):
    """The same displacement, written so that it is not recognized as linear."""
    return root + 0 * Call("sin", (root,))


def test_interpreted_displacements_give_the_same_numbers():
    plain = random_tree(5, bodies=7, joints=(Joint.REVOLUTE, Joint.COUPLED, Joint.SCREW, Joint.DRIVEN, Joint.UNIVERSAL))
    bodies = tuple(
        Body(
            body.name,
            body.base,
            tuple(Rotation(s.axis, rewritten(s.angle)) if isinstance(s, Rotation) else s for s in body.transforms),
            body.inertia,
        )
        for body in plain.bodies
    )
    disguised = Mechanism("m", bodies, plain.coordinates, plain.parameters, plain.gravity)
    assert flatten(disguised).nonlinear is not None
    assert flatten(plain).nonlinear is None
    state = random_state(plain, 5)
    np.testing.assert_allclose(
        RecursiveSystem(disguised).tau(*state), RecursiveSystem(plain).tau(*state), rtol=1e-12, atol=1e-13
    )


def sliding(distance):
    bodies = (Body("B", None, (Shift(Axis.X, distance),), UNIT),)
    return RecursiveSystem(Mechanism("m", bodies, (Coordinate("q"),)))


@pytest.mark.parametrize(
    ("distance", "slope", "curvature"),
    [
        (Call("tan", (q,)), lambda x: 1 / np.cos(x) ** 2, lambda x: 2 * np.tan(x) / np.cos(x) ** 2),
        (Call("max", (q, q**3)), lambda x: 1, lambda x: 0),
        (Call("min", (q, q**3)), lambda x: 3 * x**2, lambda x: 6 * x),
        (Operation("^", (q, expression(1.5))), lambda x: 1.5 * x**0.5, lambda x: 0.75 * x**-0.5),
        (Operation("^", (q, expression(0.3))), lambda x: 0.3 * x**-0.7, lambda x: -0.21 * x**-1.7),
        (Operation("^", (expression(2), q)), lambda x: math.log(2) * 2**x, lambda x: math.log(2) ** 2 * 2**x),
        (1 / q, lambda x: -1 / x**2, lambda x: 2 / x**3),
    ],
)
def test_functions_of_one_coordinate(distance, slope, curvature):
    """A unit mass at x(q): tau = x' (x' a + x'' v^2)."""
    x, v, a = 0.6, 0.7, -0.4
    wanted = slope(x) * (slope(x) * a + curvature(x) * v**2)
    assert sliding(distance).tau([x], [v], [a])[0] == pytest.approx(wanted, rel=1e-13)


def test_methods_follow_the_structure():
    assert RecursiveSystem(chain(4)).method is ForwardRecursion.ARTICULATED
    assert RecursiveSystem(chain(4, absolute=True)).method is ForwardRecursion.INDEPENDENT
    screws = random_tree(1, bodies=5, joints=(Joint.SCREW, Joint.NONLINEAR, Joint.PRESCRIBED))
    assert RecursiveSystem(screws).method is ForwardRecursion.ARTICULATED
    assert RecursiveSystem(random_tree(1, bodies=5, joints=PLAIN_JOINTS)).method is ForwardRecursion.ARTICULATED
    assert (
        RecursiveSystem(random_tree(2, bodies=5, joints=(Joint.SCREW, Joint.GEARED))).method is ForwardRecursion.DENSE
    )


@pytest.mark.parametrize("base", ["Nobody", "B"])
def test_a_body_without_ground_is_an_error(base):
    bodies = (Body("A", None, (Rotation(Axis.X, q),), UNIT), Body("B", base, (), UNIT))
    with pytest.raises(ModelError, match=f"B stands on {base}, from which no way leads to the fixed frame"):
        flatten(Mechanism("m", bodies, (Coordinate("q"),)))


def test_a_zero_quaternion_is_an_error():
    nothing = Quaternion((ZERO, ZERO, ZERO, ZERO))
    with pytest.raises(ModelError, match="quaternion is zero"):
        flatten(Mechanism("m", (Body("A", None, (nothing, Rotation(Axis.X, q)), UNIT),), (Coordinate("q"),)))
