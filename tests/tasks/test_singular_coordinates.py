"""Singular coordinates of trees: told by name, apart from results, whichever way a mechanism is described."""

import json

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError, TaskError
from kinegraph.simulate.checks.singular_coordinates import singular_coordinates
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.recording import Status
from tests.cli.run import runner

BOB = "coordinates a, b; gravity 0, 0, -9.81; Bob | Rx(a), Ry(b), Sz(-1) | m(1);"
SPHERE = "coordinates b, a = 0.3; gravity 0, 0, -9.81; Bob | Rz(b), Ry(-a), Sz(-1) | m(1);"
TOP = (
    "coordinates psi, th = 0.3, phi; gravity 0, 0, -9.81;"
    "Top | Rz(psi), Rx(th), Rz(phi) | Sz(1), m(1), Jx(0.4), Jy(0.4), Jz(0.5);"
)
RIGHT = np.pi / 2


@pytest.fixture(scope="module")
def bob():
    return kg.parse(BOB)


def test_false_equilibria_are_listed_apart(bob):
    found = kg.equilibria(bob, starts=100)
    assert [(abs(round(one.q[0], 9)), abs(round(one.q[1], 9)), one.stable) for one in found] == [
        (0, 0, True), (0, 3.141592654, False), (3.141592654, 0, False), (3.141592654, 3.141592654, True),
    ]  # fmt: skip
    assert sorted(tuple(np.round(one.q / RIGHT, 9)) for one in found.singular) == [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    assert {one.coordinates for one in found.singular} == {("a",)}


def test_loops_elsewhere_change_nothing():
    """The same bob beside two sliders that a constraint ties."""
    tied = (
        BOB.replace("a, b;", "a, b, x, y;")
        + """
        P | Sx(x) | m(1); Q~P | Sx(y) | m(1); constraint c | x = 2*y; spring s | on(x), stiffness(1);
    """
    )
    model = kg.parse(tied)
    found = kg.equilibria(model, starts=60)
    assert len(found) == 4 and {one.coordinates for one in found.singular} == {("a",)}
    assert singular_coordinates(model, np.array([0.3, RIGHT, 0, 0])) == ("a",)
    assert singular_coordinates(model, np.array([0.3, 1.2, 0, 0])) == ()


def test_what_depends_on_contacts_is_not_judged():
    assert singular_coordinates(kg.load("bouncing-ball"), np.array([1.0])) == ()


def test_a_singular_hit_takes_no_result_away():
    """A bob on a circle: g = w^2 cos(a); hanging and standing are no regular positions of these coordinates."""
    model = kg.parse(SPHERE)
    found = kg.equilibria(model, {"b'": 4}, starts=100)
    assert [abs(np.cos(one.q[1])) for one in found] == pytest.approx([9.81 / 16] * len(found)) and len(found) == 2
    assert sorted(round(one.q[1], 9) for one in found.singular) == [0, 3.141592654]
    resting = kg.equilibria(model, starts=100)
    assert len(resting) == 0 and {one.coordinates for one in resting.singular} == {("b",)}


def test_a_top_spins_on_although_upright_it_is_singular():
    found = kg.equilibria(kg.parse(TOP), {"phi'": 20, "psi'": 1}, starts=60)
    assert [np.cos(one.q[1]) for one in found] == pytest.approx([0.19 / 0.9] * 2)
    assert {one.coordinates for one in found.singular} == {("psi", "phi")}
    with pytest.raises(TaskError, match="psi, phi do not move independently"):
        kg.modes(kg.parse(TOP), {"th": 0})


def test_branches_begin_at_regular_positions_alone():
    found = kg.continuation(kg.parse(SPHERE), "b'", 1, 6, {"b'": 1}, starts=50)
    for one in found:
        np.testing.assert_allclose(np.cos(one.q[:, 1]) * one.values**2, 9.81, atol=1e-8)


@pytest.mark.parametrize("state", ["a=pi/2,b=pi/2", "a=0,b=pi/2", "a=1,b=pi/2+1e-8"])
def test_eval_names_it(capsys, bob, state, tmp_path):
    (tmp_path / "bob.kg").write_text(BOB)
    shown = runner(capsys)(f"eval {tmp_path / 'bob.kg'} -q H,qdd --state {state} --json")
    assert shown.code == 1 and "a moves nothing" in shown.err
    printed = json.loads(shown.out)
    assert printed["qdd"] == [None, None] and printed["H"][1][1] == 1


def test_regular_positions_are_not_flagged(bob):
    near = np.array([1.0, RIGHT - 1e-3])
    assert singular_coordinates(bob, near) == ()
    assert singular_coordinates(kg.load("double-pendulum"), np.zeros(2)) == ()
    tiny = kg.parse("coordinates r = 1e-7, p; Bead | Rz(p), Sx(r) | m(1e-9);")
    assert singular_coordinates(tiny, np.array([1e-7, 0.3])) == ()
    assert singular_coordinates(tiny, np.array([0.0, 0.3])) == ("p",)


def test_other_coordinates_see_the_same_place(bob):
    """The bob sideways: singular where the second axis lies across, regular with the axes in another order."""
    assert singular_coordinates(bob, np.array([0.2, RIGHT])) == ("a",)
    turned = kg.parse("coordinates a, b; gravity 0, 0, -9.81; Bob | Ry(b), Rx(a), Sz(-1) | m(1);")
    assert singular_coordinates(turned, np.array([0.0, RIGHT])) == ()


def test_runs_name_a_gimbal_lock():
    with pytest.raises(SolveError, match=r"cannot start: .* a moves nothing"):
        kg.simulate(kg.parse(BOB), 1, state={"b": RIGHT, "a'": 1, "b'": 1})
    ended = kg.simulate(kg.parse(TOP), 1, state={"th": 0, "phi'": 100})
    assert ended.status is Status.SINGULAR_COORDINATES and ended.ending.component == "psi, phi"


def test_a_run_that_stalls_in_a_gimbal_lock_does_not_blame_forces():
    """Damping of the angle that moves nothing is endless: steps become too short beside the lock."""
    model = kg.parse(
        "coordinates a, b; initial b' = 2, a' = 1; Bob | Rx(a), Ry(b), Sz(-1) | m(1);"
        "spring s | on(b), stiffness(5), rest(pi/2); damper d | on(b), damping(1); damper e | on(a), damping(1);"
    )
    run = kg.simulate(model, 3, control=Adaptive(max_steps=2000))
    assert run.status is Status.SINGULAR_COORDINATES and "forces jump" not in str(run.ending)
