"""Impossible loops and constraints: every error names joints and bodies, and says what to write instead."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import AssemblyError, DerivationError, KernelError, ModelError

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
    """The second row repeats the first for two seconds; its residual as a redundant row is reported."""
    parting = kg.parse(POINT + "constraint one | x' = 1; constraint two | x' = 1 + max(0, t - 2)^2;")
    run = kg.simulate(parting, 3, times=10, native=False)
    assert run.drift["velocity"] == pytest.approx(1, abs=1e-9)
    assert not all(check.passed for check in run.checks)


#: A planar four-bar with room for a motion of the coupler or of its pin.
FOUR_BAR = """coordinates a = 0.5, b = -1.8, c = -2.6; gravity 0, -9.81, 0; A | Rz(a) | Sx(1), m(1), Jz(0.1);
B~A | Sx(1), Rz(b)%s | Sx(0.5), m(1), Jz(0.1); C | Sx(2), Rz(c) | Sx(0.5), m(1), Jz(0.1);
loop pin | revolute | B: Sx(1)%s | C: Sx(1);%s"""
#: Motions that the loop cannot follow: of the body, of the frame, and further constraints. The row that opens.
OPENING = [
    (", Sz(0.1*t)", "", "", "pin.z"),
    ("", ", Sz(0.1*t)", "", "pin.z"),
    ("", ", Sz(0.1*t^2)", "", "pin.z"),
    ("", ", Sz(max(0, t - 0.2))", "", "pin.z"),
    ("", ", Rx(0.1*t)", "", "pin.turn_x"),
    ("", "", "loop again | spherical | B: Sx(1) | C: Sx(1 + 0.1*t^2);", "again"),
    ("", "", "constraint one | a = 0.5 + 0.1*t; constraint two | 2*a = 1 + 0.2*t + t^3;", "two"),
]


@pytest.mark.parametrize(("body", "frame", "more", "row"), OPENING)
def test_rows_that_time_opens_are_refused(body, frame, more, row):
    """A row that restricts nothing at t = 0 was left out, and accelerations of a loop that cannot close came out."""
    with pytest.raises(DerivationError, match=rf"{row}\S* cannot hold as time passes: .* at t = "):
        kg.compile(kg.parse(FOUR_BAR % (body, frame, more)), "qdd")


def test_recursion_refuses_rows_that_time_opens():
    with pytest.raises(DerivationError, match=r"pin\.z cannot hold as time passes"):
        kg.compile(kg.parse(FOUR_BAR % (", Sz(0.1*t)", "", "")), "qdd", loops=True)
    with pytest.raises(KernelError, match="frames of the loop pin that move with time"):
        kg.compile(kg.parse(FOUR_BAR % ("", ", Sx(0.1*t)", "")), "qdd", loops=True)


@pytest.mark.parametrize("body", ["", ", Sz(0.1*t), Sz(-0.1*t)"])
def test_motions_that_the_loop_follows_are_kept(body):
    mechanism = kg.parse(FOUR_BAR % (body, ", Sx(0.1*t^2)", "loop again | spherical | C: Sx(1) | B: Sx(1 + 0.1*t^2);"))
    run = kg.simulate(mechanism, 0.3, native=False)
    assert run.status.name == "FINISHED" and run.drift["position"] < 1e-12


TWICE = r"pin\.x, pin\.y, again\.x, again\.y are redundant or contradictory"


@pytest.mark.parametrize("loops", [False, True])
def test_a_point_at_two_places_is_no_failed_proof(loops):
    mechanism = kg.parse(FOUR_BAR % ("", "", "loop again | spherical | B: Sx(1) | C: Sx(1.1);"))
    with pytest.raises(DerivationError, match=TWICE):
        kg.compile(mechanism, "qdd", loops=loops)


def test_a_point_at_a_second_place_without_values():
    mechanism = kg.parse("parameters l; " + FOUR_BAR % ("", "", "loop again | spherical | B: Sx(1) | C: Sx(l);"))
    with pytest.raises(DerivationError, match=TWICE):
        kg.derive(mechanism, "qdd")


@pytest.mark.parametrize("joint", ["spherical", "revolute"])
def test_a_stretched_start_leaves_out_no_row(joint):
    """The row along the bars is empty in the only position of this chain, not elsewhere."""
    chain = kg.parse(
        "coordinates a, b, c; gravity 0, -9.81, 0; A | Rz(a) | Sx(0.5), m(1), Jz(0.1);"
        "B~A | Sx(1), Rz(b) | Sx(0.5), m(1), Jz(0.1); C~B | Sx(1), Rz(c) | Sx(0.5), m(1), Jz(0.1);"
        f"loop pin | {joint} | C: Sx(1) | Sx(3);"
    )
    kernel, none = kg.compile(chain, "qdd"), np.zeros(3)
    assert np.isnan(kernel(none, none, none)).all()
    beside = np.array([0.3, -0.5, 0.4])
    np.testing.assert_allclose(kernel(beside, none, none), kg.compile(chain, "qdd", loops=True)(beside, none, none))


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
