"""Tables of vectors give the mechanisms that were written by hand from the same tables."""

import re
from math import pi
from pathlib import Path

import numpy as np
import pytest
from tests.interpreted import interpreted

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io.vectors import load_vectors, read_vectors, zero_pose
from kinegraph.model.poses import rational_quaternion

HERE = Path(__file__).parent


@pytest.mark.parametrize("model", ["rackovic-6r", "rackovic-14r"])
def test_the_tables_of_the_dissertation(model: str) -> None:
    """The library's models were written by hand, with the zero pose worked out on paper."""
    read, written = kg.load(HERE / f"{model}.toml"), kg.load(model)
    kernels = [interpreted(one, "H,gravity,bias") for one in (read, written)]
    random = np.random.default_rng(5)
    for _ in range(3):
        q, v = random.uniform(-2, 2, (2, len(read.coordinates)))
        found, expected = (kernel(q, v) for kernel in kernels)
        for name in ("H", "gravity", "bias"):
            np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-12)


def test_symbols_keep_the_values_of_the_table() -> None:
    arm = load_vectors(HERE / "rackovic-6r.toml", symbolic=True)
    assert {"m4", "J4x", "r4_4y", "r4_5y"} <= {one.name for one in arm.parameters}
    q = [0.1, 0.2, -0.4, 1.1, 0.7, -0.3]
    np.testing.assert_allclose(kg.compile(arm, "H")(q), kg.compile(kg.load("rackovic-6r"), "H")(q), atol=1e-13)


def test_an_oblique_axis_turns_about_itself() -> None:
    text = "[[link]]\naxis = [1, 2, 2]\nr = { 1 = [0.3, 0, 0] }\nmass = 2\nmoments = [0.1, 0.2, 0.3]"
    arm = read_vectors(text)
    n, r, moments = np.array([1, 2, 2]) / 3, np.array([0.3, 0, 0]), np.array([0.1, 0.2, 0.3])
    expected = n @ (moments * n) + 2 * np.sum(np.cross(n, r) ** 2)
    assert kg.compile(arm, "H")([0.7])[0, 0] == pytest.approx(expected, abs=1e-14)


def test_the_zero_pose_continues_the_way_to_the_joint() -> None:
    """Both links along x, the axis along z: the center of the second lies beyond the joint, so nothing is turned."""
    assert zero_pose((0, 0, 1), (1, 0, 0), (0, 0, 1), (-1, 0, 0)) == ()


def test_the_zero_pose_of_centers_on_an_axis_along_the_diagonal() -> None:
    """Both centers lie on the axis; any direction across it does, and the components exchanged are none."""
    assert zero_pose((1, 1, 1), (2, 2, 2), (1, 1, 1), (-1, -1, -1))


def test_quaternions_of_rotations_by_half_turns() -> None:
    for k in range(3):
        turn = [[(1 if i == k else -1) if i == j else 0 for j in range(3)] for i in range(3)]
        assert [abs(item) for item in rational_quaternion(turn)] == [0, *(int(i == k) for i in range(3))]


LINK = "[[link]]\naxis = [0, 0, 1]\nr = { 1 = [1, 0, 0] }\nmass = 1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[link]\n", "not a table of vectors"),
        ("name = 'x'", "no links"),
        ("name = " + "[" * 5000, "not a table of vectors"),
        ("[[link]]\naxis = [0, 0, 0]\nr = { 1 = [1, 0, 0] }", "axis of link 1 is zero"),
        ("[[link]]\naxis = [0, 0]\nr = { 1 = [1, 0, 0] }", "three numbers"),
        ("[[link]]\naxis = [0, 0, 1]\nr = { 2 = [1, 0, 0] }", "no r of its joint 1"),
        ("[[link]]\naxis = [0, 0, 1]\nr = { " + "1" * 5000 + " = [1, 0, 0] }", "is not a table of joints"),
        ("[[link]]\naxis = [0, 0, 1]", "link 1 has no r"),
        (LINK + "inertia = [1, 1, 1]", "moments"),
        (LINK.replace("r = {", "r = { 3 = [1, 0, 0],"), "joint 3"),
        (LINK.replace("mass = 1", "mass = 'heavy'"), "mass of link 1 is 'heavy'"),
        (LINK.replace("mass = 1", "mass = -1"), "mass"),
        (LINK.replace("[1, 0, 0]", "[nan, 0, 0]"), "not a table of vectors"),
        (
            LINK.replace("}", ", 2 = [-1, 0, 0] }") + LINK.replace("1 = [1, 0, 0]", "2 = [0, 0, 0]"),
            "r of link 2, joint 2",
        ),
        (LINK.replace("}", ", 2 = [0, 0, 0] }") + LINK.replace("1 = [1", "2 = [1"), "r of link 1, joint 2 is zero"),
        (LINK.replace("[1, 0, 0]", "[1e99999999, 0, 0]"), "r of link 1, joint 1 is 1e\\+99999999"),
        (LINK.replace("[0, 0, 1]", "[1e-160, 1e-160, 0]"), "axis of link 1 is 1e-160.*\n.*at most 1e50"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read_vectors(text)


_CLOSING = """
[[closing]]
link = 8
r = [0, 0, 0]
at = [0.2, 0.27, 0.0302]
axes = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
"""


def test_a_closed_series_is_the_walker_in_double_support() -> None:
    """The table with its closing axes against the library's loop: the same rows, along other axes."""
    table = (HERE / "rackovic-14r.toml").read_text(encoding="utf-8")
    q = np.linspace(-0.4, 0.5, 14)
    found, wanted = (
        np.asarray(interpreted(one, "constraint_jacobian")(q))
        for one in (read_vectors(table + _CLOSING), kg.load("rackovic-14r-double"))
    )
    np.testing.assert_allclose(found[:3], wanted[[1, 2, 0]], atol=1e-12)
    assert np.abs(found[:3]).max() > 0.1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("link = 9", "the link 9"),
        ("link = 1\naxes = [[1, 0, 0], [1, 1, 0], [0, 0, 1]]", "not perpendicular"),
        ("link = 1\naxes = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]", "not perpendicular"),
        ("link = 1\naxis = [0, 0, 1]", "unknown row 'axis'"),
    ],
)
def test_closings_that_mean_nothing_are_refused(row: str, said: str) -> None:
    table = "[[link]]\naxis = [0, 0, 1]\nr = { 1 = [1, 0, 0] }\nmass = 1\nmoments = [1, 1, 1]\n"
    with pytest.raises(ModelError, match=said):
        read_vectors(f"{table}[[closing]]\n{row}\n")


ONE = """
name = "one"
[[link]]
axis = [0, 0, 1]
r = { 1 = [0.5, 0, 0] }
mass = 2
moments = [0.1, 0.1, 0.1]
"""
HELD = """
[[closing]]
link = 1
r = [0.5, 0, 0]
at = [0, 1, 0]
end_axes = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
"""


def test_the_axes_of_the_end_coincide_with_those_of_the_ground() -> None:
    rows = kg.compile(read_vectors(ONE + HELD), "constraints")
    assert rows([pi / 2]) == pytest.approx([0] * 6, abs=1e-12)
    assert abs(rows([0.0])).max() > 0.5


def test_the_first_joint_has_a_place_and_an_axis_in_fixed_axes() -> None:
    """r_01 leads from the joint to the origin, e_1 is its axis there."""
    text = ONE.replace("axis =", "axis_before = [0, 1, 0]\naxis =") + "[ground]\nr = { 1 = [0, -2, -3] }\n"
    mechanism = read_vectors(text)
    for q in (0.0, 0.7):
        assert kg.compile(mechanism, "axis:q1")([q]) == pytest.approx([0, 1, 0], abs=1e-12)
        pose = kg.compile(mechanism, "pose:L1")([q])
        assert np.linalg.norm(pose[:3, 3] - [0, 2, 3]) == pytest.approx(0.5)
    # The zero pose continues the way from the origin to the joint, seen along the axis: along z here.
    assert kg.compile(mechanism, "pose:L1")([0.0])[:3, 3] == pytest.approx([0, 2, 3.5], abs=1e-12)


def test_basic_joints_come_first() -> None:
    two = ONE.replace("1 = [0.5, 0, 0]", "1 = [0.5, 0, 0], 2 = [-0.5, 0, 0]")
    two += "[[link]]\naxis = [0, 0, 1]\nr = { 2 = [0.3, 0, 0] }\nmass = 1\nmoments = [0.1, 0.1, 0.1]\n"
    two += "[[closing]]\nlink = 2\n"
    assert read_vectors(two).layout.positions == ("q1", "q2")
    assert read_vectors(two + "basic = [2]\n").layout.positions == ("q2", "q1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE + "[ground]\nr = { 2 = [0, 0, 1] }\n", "the ground has an r of joint 2"),
        (ONE + "[ground]\nrr = 3\n", "unknown row 'rr' of the ground"),
        (ONE + "[ground]\nr = 3\n", "r of ground is not a table of joints"),
        ("ground = 3\n" + ONE, "ground is not a table"),
        (ONE + HELD + "basic = [2]\n", "basic of closing 1"),
        (ONE + HELD + "basic = true\n", "basic of closing 1"),
        (ONE + HELD.replace("[0, 0, 1]", "[0, 0, -1]"), "the end_axes of closing 1 are not perpendicular"),
        (ONE + HELD.replace("[[0, -1", "[[0, 0, 1], [0, -1"), "end_axes of closing 1 are"),
    ],
)
def test_inputs_of_algorithm_1_3_that_mean_nothing_are_refused(text: str, said: str) -> None:
    with pytest.raises(ModelError, match=re.escape(said)):
        read_vectors(text)
