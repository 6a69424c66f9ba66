"""Denavit-Hartenberg tables, from CSV and from Python, against the matrices of the textbook."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.io.dh import Convention, denavit_hartenberg, load_denavit_hartenberg
from kinegraph.model.report import FindingKind
from tests.io.robot_numbers import Own

ROWS = [(0.3, 0.5, 0.2, 0.1), (-1.1, 0.4, 0.0, -0.2, "p"), (0.7, 0.0, 0.6, 0.4)]


def step(alpha: float, a: float, d: float, theta: float, convention: Convention) -> np.ndarray:
    """One row as Craig (modified) and Paul (standard) write it."""
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    if convention is Convention.STANDARD:
        rows = [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d]]
    else:
        rows = [[ct, -st, 0, a], [st * ca, ct * ca, -sa, -sa * d], [st * sa, ct * sa, ca, ca * d]]
    return np.array([*rows, [0, 0, 0, 1]])


@pytest.mark.parametrize("convention", Convention)
def test_poses_are_the_products_of_the_textbook(convention: Convention) -> None:
    mechanism = denavit_hartenberg(ROWS, convention=convention).mechanism
    q = [0.3, 0.25, -0.7]
    expected = np.eye(4)
    for (alpha, a, d, theta, *kind), x in zip(ROWS, q, strict=True):
        expected = expected @ step(alpha, a, d + x * bool(kind), theta + x * (not kind), convention)
    assert np.allclose(Own(mechanism, ["pose:link3"]).at({"q": q})["pose:link3"], expected, rtol=0, atol=1e-14)


def test_csv_with_symbols_inertia_and_units(tmp_path: Path) -> None:
    table = tmp_path / "arm.csv"
    table.write_text("alpha,a,d,theta,kind,name,m,x,Jz\n-90,a1,,q1+180,,,m1,-a1/2,0.1\n0,0.3,d2,,prismatic,slide,,,\n")
    mechanism = load_denavit_hartenberg(table, angles="degrees").mechanism
    lines = write(mechanism).splitlines()
    assert "link1 | Rz(q1 + 180), Sx(a1), Rx(-pi/2) | Sx(-a1/2), m(m1), Jz(0.1);" in lines
    assert "link2~link1 | Sz(slide + d2), Sx(0.3);" in lines
    assert [parameter.name for parameter in mechanism.parameters] == ["a1", "m1", "d2"]
    assert mechanism.name == "arm"
    assert parse(write(mechanism)) == mechanism


def test_rounded_right_angles_are_recognized() -> None:
    found = denavit_hartenberg([("1.5708", 0, 0, -1.5708)], angle_tolerance=1e-5)
    assert write(found.mechanism).splitlines()[-1] == "link1 | Rz(q1 - pi/2), Rx(pi/2);"
    assert len(found.report.of(FindingKind.RIGHT_ANGLE)) == 2
    kept = denavit_hartenberg([("1.5708", 0, 0, 0)])
    assert "Rx(1.5708)" in write(kept.mechanism)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alpha,a,d,thetta\n0,0,0,0\n", "the column 'thetta' is unknown"),
        ("alpha,a,d,theta\n0,0,0,0,0\n", "line 2, column 1: the row has 5 cells"),
        ("alpha,a,d,theta\n0,0,0,0); Evil | Rx(1\n", "is not a valid expression"),
        ("alpha,a,d,theta\n0,__import__('os'),0,0\n", "is not a valid expression"),
        ("alpha,a,d,theta,kind\n0,0,0,0,spherical\n", "unknown kind of joint 'spherical'"),
        ("alpha,a,d,theta\n", "the table has 0 rows"),
        ("kind\nr\n", "none of the columns"),
        ("", "none of the columns"),
        ('alpha,a,d,theta\n0,0,0,0\n0,"0,0,0\n', "line 3, column 1: the table is not valid CSV"),
        ('alpha,"a,d,theta\n', "line 1, column 1: the table is not valid CSV"),
        ('alpha,a,d,theta\n0,"a"b,0,0\n', "line 2, column 1: the table is not valid CSV"),
        ("alpha,a,d,theta\n0," + "9" * 5000 + ",0,0\n", "line 2, column 1: .*more than .* digits"),
        ("alpha,a,d,theta\n0," + "0" * 200_000 + ",0,0\n", "line 2, column 1: "),
    ],
)
def test_errors(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "arm.csv"
    table.write_text(text)
    with pytest.raises(ModelError, match=message.replace("(", r"\(")):
        load_denavit_hartenberg(table)
