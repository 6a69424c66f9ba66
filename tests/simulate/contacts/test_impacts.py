"""Impacts: published rods, rows of balls by both orders, momentum, energy, and a law that contradicts itself."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError, SolveError
from kinegraph.simulate import Status
from tests.simulate.contacts.models import ROD, row_of_balls
from tests.tasks.reference import reference

REFERENCE = reference("unilateral_rod_on_floor")


def rod(angle, height, before, restitution, mu, g):
    friction = f", friction({mu}), slip(A.x')" if mu else ""
    contact = f"contact floor | A.y >= 0 | restitution({restitution}){friction};"
    speeds = {name: before[name] for name in ("vx", "vy", "omega")}
    return kg.parse(ROD.format(angle=angle, height=height, g=g, **speeds) + contact)


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: f"{case['mode']}-{case['angle']}")
def test_a_rod_on_a_floor(case):
    height = f"0.5*sin({case['angle']})"
    model = rod(case["angle"], height, case["before"], case["restitution"], case["mu"], 0)
    found = kg.simulate(model, 1e-4, native=False, times=None)
    after = [found[name][0] for name in ("x'", "y'", "th'")]
    np.testing.assert_allclose(after, [case["after"][name] for name in ("vx", "vy", "omega")], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(found["kinetic"][0], case["energy_after"], rtol=1e-13)


def test_a_rod_that_falls():
    fall = REFERENCE["fall"]
    start, impact = fall["initial"], fall["impact"]
    model = rod(start["angle"], start["centre_height"], start, impact["restitution"], impact["mu"], 9.81)
    found = kg.simulate(model, 0.46, native=False, times=None)
    assert [event.name for event in found.events] == ["floor: impact"]
    assert abs(found.events[0].time - fall["time_of_touch"]) < 1e-12
    at = int(np.searchsorted(found.t, fall["time_of_touch"] - 1e-9))
    for row, state in ((at, impact["before"]), (at + 1, impact["after"])):
        names = zip(("x'", "y'", "th'"), ("vx", "vy", "omega"), strict=True)
        np.testing.assert_allclose([found[a][row] - state[b] for a, b in names], 0, atol=1e-11)


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize(
    ("count", "moving", "order", "after"),
    [
        (3, 1, "sequential", [0, 0, 1]),
        (5, 1, "sequential", [0, 0, 0, 0, 1]),
        (5, 2, "sequential", [0, 0, 0, 1, 1]),
        (3, 1, "simultaneous", [-1 / 3, 2 / 3, 2 / 3]),
        (5, 2, "simultaneous", [-0.2, -0.2, 0.8, 0.8, 0.8]),
    ],
)
def test_balls_in_a_row(law, count, moving, order, after):
    """Newton's cradle is sequential. At once, all balls that touch leave together; both keep energy and momentum."""
    found = kg.simulate(kg.parse(row_of_balls(count, moving, f"{law}, {order}")), 1, native=False, times=2)
    speeds = np.array([found[f"x{k}'"][-1] for k in range(count)])
    np.testing.assert_allclose(speeds, after, atol=1e-13)
    assert abs(np.sum(speeds) - moving) < 1e-13 and abs(np.sum(speeds**2) - moving) < 1e-13


def test_a_cradle_of_pendulums_swings():
    """Three pendulums side by side: the outer ones swing in turn, the middle one hangs; a period as a pendulum's."""
    bodies = " ".join(f"P{k} | Sx(0.1*{k}), Ry(q{k}) | Sz(-1), m(1);" for k in range(3))
    points = " ".join(f"output B{k} = P{k} (0, 0, -1);" for k in range(3))
    meet = " ".join(f"contact c{k} | B{k + 1}.x - B{k}.x - 0.1 >= 0 | restitution(1);" for k in range(2))
    text = f"model cradle; coordinates q0 = 0.02, q1 = 0, q2 = 0; gravity 0, 0, -9.81; {bodies} {points} {meet}"
    found = kg.simulate(kg.parse(text + " impacts newton, sequential;"), 4.2, native=False, times=40)
    assert found.status is Status.FINISHED
    assert np.max(np.abs(found["q1"])) < 1e-9
    np.testing.assert_allclose(found["energy"], found["energy"][0], rtol=1e-10)
    half = np.pi / np.sqrt(9.81) * (1 + 0.02**2 / 16)
    hits = [event.time for event in found.events if event.name == "c0: impact"]
    np.testing.assert_allclose(hits[:4], half * (0.5 + np.arange(4)), rtol=1e-7)


def test_momentum_is_kept_by_inner_impacts():
    """Balls of different masses on a line between no walls, restitution below one: momentum stays, energy falls."""
    text = "model line; coordinates a = 0, b = 1, c = 1.5; initial a' = 2, b' = 0.5, c' = -1; "
    text += "A | Sx(a) | m(1); B | Sx(b) | m(3); C | Sx(c) | m(0.5); "
    text += "contact ab | b - a >= 0 | restitution(0.6); contact bc | c - b >= 0 | restitution(0.3);"
    found = kg.simulate(kg.parse(text), 4, native=False, times=40)
    np.testing.assert_allclose(found["px"], 3.0, atol=1e-12)
    assert np.all(np.diff(found["energy"]) < 1e-12) and len(found.events) >= 2


def test_a_law_that_would_create_energy_ends_the_run():
    """Kane's paradox: Newton's restitution with friction that turns the slip around would give 22 % more energy."""
    before = {"vx": -0.464, "vy": -2.888, "omega": 4.435}
    model = rod(0.779, "0.5*sin(0.779)", before, 0.973, 1.098, 0)
    newton = kg.simulate(model, 1e-4, native=False, times=None)
    assert newton.status is Status.CONTACT and "floor: the impact would create energy" in str(newton.ending)
    poisson = kg.simulate(kg.parse(kg.write(model) + "impacts poisson;"), 1e-4, native=False, times=None)
    assert poisson.status is Status.FINISHED
    assert poisson["kinetic"][0] < 0.5 * 2.5 * (0.464**2 + 2.888**2) + 0.5 * 2.5 / 12 * 4.435**2


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("impacts hertz;", "takes no hertz"),
        ("impacts newton, poisson;", "names newton and poisson"),
        ("impacts newton; impacts poisson;", "given twice"),
    ],
)
def test_bad_statements(statement, message):
    with pytest.raises(ModelError, match=message):
        kg.parse(row_of_balls(3, 1, "newton, sequential").replace("impacts newton, sequential;", statement))


@pytest.mark.parametrize(("name", "value"), [("e", 1.5), ("mu", -1)])
def test_coefficients_of_a_run_stay_in_their_range(name, value):
    with pytest.raises(SolveError, match="of contact 'floor_a' is"):
        kg.simulate("rod-on-floor", 1, native=False, parameters={name: value})


def test_impacts_are_written_and_read_back():
    model = kg.parse(row_of_balls(3, 1, "poisson, sequential"))
    assert kg.parse(kg.write(model)) == model
