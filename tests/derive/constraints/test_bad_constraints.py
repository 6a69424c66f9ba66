"""Impossible loops and constraints: every error names joints and bodies, and says what to write instead."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import AssemblyError, DerivationError, ModelError

POINT = "coordinates x, y; A | Sx(x), Sy(y) | m(1); "

WRITTEN = {
    "loop rod | distance(0) | Sx(1) | A:;": r"the length of the loop rod is 0\n  write a positive length",
    "loop rod | distance(0-2) | Sx(1) | A:;": "the length of the loop rod is -2",
    "loop weld | fixed | A: Sx(1) | A: Sx(1);": "the loop weld connects A to itself",
    "constraint c | x'^2 + y'^2 = 1;": "the constraint c is not linear in the velocities",
    "constraint c | x'*y' = 1;": "the constraint c is not linear in the velocities",
    "constraint c | sin(x') = 1;": "the constraint c is not linear in the velocities",
    "constraint c | 1 = 2;": "the constraint c contains no coordinate",
}


@pytest.mark.parametrize(("text", "message"), WRITTEN.items())
def test_what_is_written_wrongly(text, message):
    with pytest.raises(ModelError, match=message):
        kg.parse(POINT + text)


def test_a_loop_that_cannot_close_says_by_how_much():
    bars = kg.parse(
        "coordinates a, b; A | Rz(a) | Sx(0.1), m(1), Jz(1); B~A | Sx(0.2), Rz(b) | m(1), Jz(1);"
        "loop pin | revolute | B: Sx(0.2) | Sx(5);"
    )
    with pytest.raises(AssemblyError, match=r"pin has a gap of 4\.6 between B and the fixed frame"):
        kg.simulate(bars, 1, native=False)


@pytest.mark.parametrize("run", [lambda m: kg.compile(m, "qdd"), lambda m: kg.simulate(m, 1, native=False)])
def test_contradicting_positions(run):
    message = r"redundant or contradictory|(one|two) has a gap of 0\.5"
    with pytest.raises((AssemblyError, DerivationError), match=message):
        run(kg.parse(POINT + "constraint one | x = 1; constraint two | x = 2;"))


def test_contradicting_velocities():
    contradicting = kg.parse(POINT + "constraint one | x' = 1; constraint two | x' + 0*y' = 2;")
    with pytest.raises(AssemblyError, match=r"no velocities satisfy all .*: (one|two) has the residual 0\.5"):
        kg.simulate(contradicting, 1, native=False)


def test_rows_that_agree_at_first_are_seen_to_part():
    """The second row repeats the first at the initial state only; its residual as a redundant row is reported."""
    parting = kg.parse(POINT + "constraint one | x' = 1; constraint two | x' = 1 + t^2;")
    run = kg.simulate(parting, 1, times=10, native=False)
    assert run.drift["velocity"] == pytest.approx(1, abs=1e-9)
    assert not all(check.passed for check in run.checks)


def test_a_cut_that_leaves_a_massless_body_free():
    text = (
        "coordinates a, b, c; A | Rz(a) | Sx(0.1), m(1), Jz(1); B~A | Sx(0.5), Rz(b) |; C~B | Sx(0.5), Rz(c) |;"
        "loop pin | spherical | C: Sx(0.5) | Sx(1);"
    )
    message = r"c' moves no mass;.*\n  C and the bodies beyond have no mass\n.*cut another"
    with pytest.raises(DerivationError, match=message):
        kg.compile(kg.parse(text), "qdd")


def test_what_cannot_move_rests():
    """A triangle of bars: no degree of freedom is left, nothing accelerates."""
    triangle = kg.parse(
        "coordinates a = -1, b = 2; gravity 0, -9.81, 0; A | Rz(a) | Sx(0.5), m(1), Jz(1);"
        "B~A | Sx(1), Rz(b) | Sx(0.5), m(1), Jz(1); loop pin | revolute | B: Sx(1) | Sx(1);"
    )
    place = kg.assemble(triangle)
    assert place.mobility == 0
    np.testing.assert_allclose(kg.compile(triangle, "qdd")(place.q, [0, 0], [0, 0]), 0, atol=1e-12)
