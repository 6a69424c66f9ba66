"""Rounded right angles: which are recognised, what becomes of them, and how to switch that off."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.io.robot.attributes import Written
from kinegraph.io.robot.report import FindingKind
from kinegraph.io.robot.right_angles import PI_VALUE, Likeness, RightAngles, pi_multiple
from kinegraph.io.urdf import parse_urdf
from kinegraph.model.expression import text
from tests.io.test_urdf import joint, robot

RULE = RightAngles()


def written(number: str) -> Written:
    return Written(Fraction(number), len(number.partition(".")[2]))


@pytest.mark.parametrize(
    ("number", "likeness", "turns"),
    [
        ("1.5708", Likeness.SAME, 1),
        ("1.5707", Likeness.SAME, 1),
        ("-1.57079632679", Likeness.SAME, -1),
        ("3.14159", Likeness.SAME, 2),
        ("3.1416", Likeness.SAME, 2),
        ("4.71238898038", Likeness.SAME, 3),
        ("1.5707963705062866", Likeness.SAME, 1),  # the nearest single precision number
        ("0.0000000298", Likeness.SAME, 0),
        ("1.571", Likeness.NEAR, 1),
        ("3.14", Likeness.NEAR, 2),
        ("1.57075", Likeness.OTHER, 1),  # a calibrated angle
        ("1.5709", Likeness.OTHER, 1),
        ("0.0001", Likeness.OTHER, 0),
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


@given(st.integers(-8, 8).filter(bool), st.integers(4, 20))
def test_every_rounding_to_four_or_more_decimals_is_recognised(turns: int, decimals: int) -> None:
    rounded = Fraction(round(turns * PI_VALUE / 2 * 10**decimals), 10**decimals)
    assert RULE.judge(Written(rounded, decimals)) == (Likeness.SAME, turns)


def test_they_become_exact_and_are_listed() -> None:
    origin = '<origin xyz="1 0 0" rpy="-1.5708 3.14 3.14159"/>'
    found = parse_urdf(robot(joint(origin)))
    assert [text(t.angle) for t in found.mechanism.body("b").transforms[1:4]] == ["pi", "3.14", "-pi/2"]
    same = found.report.of(FindingKind.RIGHT_ANGLE)
    assert [finding.message for finding in same] == [
        "3.14159 of the joint j is pi",
        "-1.5708 of the joint j is -pi/2",
    ]
    (near,) = found.report.of(FindingKind.NEAR_RIGHT_ANGLE)
    assert "3.14 of the joint j is near pi" in near.message


def test_the_tolerance_and_the_switch() -> None:
    given = robot(joint('<origin rpy="3.14 0 1.5708"/>'))

    def angles(**options: float) -> list[str]:
        return [text(t.angle) for t in parse_urdf(given, **options).mechanism.body("b").transforms[:2]]

    assert angles() == ["pi/2", "3.14"]
    assert angles(angle_tolerance=2e-3) == ["pi/2", "pi"]
    assert angles(right_angles=False) == ["1.5708", "3.14"]


@pytest.mark.parametrize(
    ("factor", "expected"), [("1", "pi"), ("-1/2", "-pi/2"), ("3/2", "3*pi/2"), ("-3/4", "-3*pi/4"), ("0", "0")]
)
def test_multiples_of_pi(factor: str, expected: str) -> None:
    assert text(pi_multiple(Fraction(factor))) == expected
