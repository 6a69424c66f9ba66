"""Rounded right angles: which are recognized, what becomes of them, and how to switch that off."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.errors import ModelError
from kinegraph.io import write
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.io.options import RobotFileOptions, UrdfOptions
from kinegraph.io.robot.right_angles import PI_VALUE, Likeness, RightAngles, pi_multiple
from kinegraph.io.robot.xml import Written
from kinegraph.io.urdf import parse_urdf
from kinegraph.model.expressions import text
from kinegraph.model.report import FindingKind
from tests.io.test_urdf import joint, robot

RULE = RightAngles()


def written(number: str) -> Written:
    return Written(Fraction(number), len(number.partition(".")[2]))


@pytest.mark.parametrize(
    ("number", "likeness", "turns"),
    [
        ("-1.57079632679", Likeness.SAME, -1),
        ("4.71238898038", Likeness.SAME, 3),
        ("3.1415927", Likeness.SAME, 2),
        ("1.5707963705062866", Likeness.SAME, 1),  # the nearest single precision number
        ("0.0000000298", Likeness.SAME, 0),
        ("1.5708", Likeness.NEAR, 1),
        ("1.570796", Likeness.NEAR, 1),  # 3.3e-7 off
        ("1.5707", Likeness.NEAR, 1),
        ("3.14159", Likeness.NEAR, 2),
        ("3.1416", Likeness.NEAR, 2),
        ("1.571", Likeness.NEAR, 1),
        ("3.14", Likeness.NEAR, 2),
        ("1.57075", Likeness.OTHER, 1),  # a calibrated angle
        ("1.5709", Likeness.OTHER, 1),
        ("0.0001", Likeness.OTHER, 0),
        ("0.0000003", Likeness.OTHER, 0),
        ("0", Likeness.OTHER, 0),
        ("0.7854", Likeness.OTHER, 0),
        ("2", Likeness.OTHER, 1),
    ],
)
def test_which_decimals_are_right_angles(number: str, likeness: Likeness, turns: int) -> None:
    found, multiple = RULE.judge(written(number))
    assert found is likeness
    if likeness is not Likeness.OTHER:
        assert multiple == turns


@given(st.integers(-8, 8).filter(bool), st.integers(1, 20))
def test_a_rounding_is_recognized_where_it_is_within_the_tolerance(turns: int, decimals: int) -> None:
    rounded = Fraction(round(turns * PI_VALUE / 2 * 10**decimals), 10**decimals)
    off = abs(rounded - turns * PI_VALUE / 2)
    for tolerance in (1e-7, 1e-5, 1e-3):
        likeness, found = RightAngles.within(tolerance).judge(Written(rounded, decimals))
        assert found == turns and (likeness is Likeness.SAME) == (off <= Fraction(str(tolerance)))


@given(st.integers(1, 4), st.floats(-1e-2, 1e-2))
def test_no_angle_is_moved_by_more_than_the_tolerance(turns: int, off: float) -> None:
    angle = turns * PI_VALUE / 2 + Fraction(off)
    if RULE.judge(Written(angle, 60))[0] is Likeness.SAME:
        assert abs(off) <= 1.0000001e-7


def test_they_become_exact_and_are_listed() -> None:
    origin = '<origin xyz="1 0 0" rpy="-1.57079633 3.14 3.141592653589793"/>'
    found = parse_urdf(robot(joint(origin)))
    assert [text(t.angle) for t in found.mechanism.body("b").transforms[1:4]] == ["pi", "3.14", "-pi/2"]
    (rounded,) = found.report.of(FindingKind.RIGHT_ANGLE)
    assert rounded.message == "-1.57079633 of the joint j is read as -pi/2 (difference 3.2e-09)"
    (double,) = found.report.of(FindingKind.DOUBLE_ANGLE)
    assert double.message.startswith("3.141592653589793 of the joint j is read as pi (difference ")
    (near,) = found.report.of(FindingKind.NEAR_RIGHT_ANGLE)
    assert near.message == "3.14 of the joint j differs from pi by 1.6e-03; tolerance 1e-2 rounds it"
    assert "right angles rounded" in found.report.summary()


def test_the_tolerance_and_the_switch() -> None:
    given = robot(joint('<origin rpy="3.14 0 1.5708"/>'))

    def angles(**options: float) -> list[str]:
        return [
            text(t.angle) for t in parse_urdf(given, options=UrdfOptions(**options)).mechanism.body("b").transforms[:2]
        ]

    assert angles() == ["1.5708", "3.14"]
    assert angles(angle_tolerance=1e-5) == ["pi/2", "3.14"]
    assert angles(angle_tolerance=2e-3) == ["pi/2", "pi"]
    assert angles(right_angles=False) == ["1.5708", "3.14"]
    for wrong in (-1, 0.2, float("nan"), float("inf")):
        with pytest.raises(ModelError, match="the angle tolerance"):
            angles(angle_tolerance=wrong)


@pytest.mark.parametrize(
    ("quat", "tolerance", "expected", "kind"),
    [
        ("0.707107 0 0.707107 0", 1e-7, "Ry(pi/2)", None),
        ("2 0 0 0", 1e-7, "", None),
        ("0.5 -0.5 0.5 0.5", 1e-7, "Q(1, -1, 1, 1)", None),
        ("0.70710678 0 0.70710677 0", 1e-7, "Ry(pi/2)", FindingKind.RIGHT_ANGLE),
        ("0.7071068 0 0.7071067 0", 1e-7, "Q(0.7071068, 0, 0.7071067, 0)", FindingKind.NEAR_RIGHT_ANGLE),
        ("0.7071068 0 0.7071067 0", 1e-6, "Ry(pi/2)", FindingKind.RIGHT_ANGLE),
        ("0.7071 0 0.7072 0", 1e-3, "Ry(pi/2)", FindingKind.RIGHT_ANGLE),
        ("0.7071 0.00001 0.7072 0", 1e-3, "Ry(pi/2)", FindingKind.RIGHT_ANGLE),
        ("0.70714 0 0.70707 0", 1e-3, "Q(0.70714, 0, 0.70707, 0)", None),  # its digits say otherwise
        ("1 0 0 0.00000001", 1e-7, "", FindingKind.RIGHT_ANGLE),
        ("0.9 0.1 0 0", 1e-3, "Q(0.9, 0.1, 0, 0)", None),
        ("1 1 1 0", 1e-3, "Q(1, 1, 1, 0)", None),
    ],
)
def test_quaternions(quat: str, tolerance: float, expected: str, kind: FindingKind | None) -> None:
    model = f'<mujoco><worldbody><body name="b" quat="{quat}"/></worldbody></mujoco>'
    found = parse_mjcf(model, options=RobotFileOptions(angle_tolerance=tolerance))
    record = next(line for line in write(found.mechanism).splitlines() if line.startswith("b "))
    assert record.partition("|")[2].strip(" ;|") == expected
    assert [finding.kind for finding in found.report.findings] == ([] if kind is None else [kind])


@pytest.mark.parametrize(
    ("factor", "expected"), [("1", "pi"), ("-1/2", "-pi/2"), ("3/2", "3*pi/2"), ("-3/4", "-3*pi/4"), ("0", "0")]
)
def test_multiples_of_pi(factor: str, expected: str) -> None:
    assert text(pi_multiple(Fraction(factor))) == expected
