"""First integrals that runs with constraints list: those of every motion, not those of the one at hand alone."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.graph.node import Graph
from kinegraph.simulate import equations
from kinegraph.simulate import observation as momentum
from kinegraph.simulate.checks.first_integrals import states_beside
from kinegraph.simulate.equations import VelocityForm

ROD = """
    model rod; coordinates x1, y1, z1, x2 = 1, y2, z2; GRAVITY
    A | Sx(x1), Sy(y1), Sz(z1) | m(1); B | Sx(x2), Sy(y2), Sz(z2) | m(2);
    constraint c | (x1 - x2)^2 + (y1 - y2)^2 + (z1 - z2)^2 = 1;
"""
CART = """
    model cart; coordinates x, z = SIZE; gravity 0, 0, -9.81;
    A | Sx(x) | m(1); B | Sx(x), Sz(z) | m(2); constraint c | x^2 + z^2 = SIZE^2;
"""


def listed(run: kg.Solution) -> list[str]:
    return [one.name.removeprefix("momentum ") for one in run.checks if one.name.startswith(("momentum", "energy"))]


def test_a_bicycle_that_runs_straight_keeps_energy_alone() -> None:
    run = kg.simulate("bicycle", 0.3, native=False, times=30)
    assert np.ptp(run["px"]) < 1e-9 * run["px"].max()  # it does not change here
    assert listed(run) == ["energy"]


@pytest.mark.parametrize(
    ("gravity", "wanted"),
    [("", ["energy", "px", "py", "pz", "Lx", "Ly", "Lz"]), ("gravity 0, 0, -9.81;", ["energy", "px", "py", "Lz"])],
    ids=["without", "with gravity"],
)
def test_what_every_motion_keeps_is_listed(gravity: str, wanted: list[str]) -> None:
    """A free rod that moves along its axis, or does not move at all."""
    rod = kg.parse(ROD.replace("GRAVITY", gravity))
    for initial in ({}, {"x1'": 1.0, "x2'": 1.0}, {"y1'": 1.0, "z2'": 0.3}):
        assert listed(kg.simulate(rod, 0.3, native=False, times=30, state=initial)) == wanted


@pytest.mark.parametrize("size", ["1e-3", "1", "1e3"])
def test_states_beside_a_run_fit_whatever_its_size(size: str) -> None:
    model = kg.parse(CART.replace("SIZE", size))
    equations = VelocityForm(model, {}, NO_FORCES)
    q = np.tile([0.0, float(size)], (7, 1))
    times, beside, v = states_beside(equations, np.linspace(0, 1, 7), q, np.zeros((7, 2)))
    assert len(times) >= 4 and np.all(np.any(beside != q[: len(beside)], axis=1))
    np.testing.assert_allclose(np.sum(beside**2, axis=1), float(size) ** 2, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.sum(beside * v, axis=1), 0.0, atol=1e-8)


@pytest.fixture
def wrong_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first acceleration takes the place of the last one."""
    derived = equations.state_rate

    def wrong(mechanism: kg.Mechanism, motion: Graph, *further: object, **named: object) -> Graph:
        rate = derived(mechanism, motion, *further, **named)
        (found,) = rate.outputs
        first, count = len(mechanism.layout.positions), len(mechanism.layout.velocities)
        nodes = list(found.nodes)
        nodes[first + count - 1] = nodes[first]
        return Graph(rate.nodes, (found._replace(nodes=tuple(nodes)),))

    monkeypatch.setattr(equations, "state_rate", wrong)


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "n-four-bar-2"])
@pytest.mark.parametrize("method", ["dopri5", "rk4"])
@pytest.mark.usefixtures("wrong_equations")
def test_energy_is_checked_where_equations_are_wrong(name: str, method: str) -> None:
    """A check that is listed only where it holds says nothing."""
    step = {"step": 0.01} if method == "rk4" else {}
    run = kg.simulate(name, 1, method=method, native=False, times=20, progress=False, **step)
    (check,) = (one for one in run.checks if one.name.startswith("energy"))
    assert not check.passed and "ABOVE" in str(check)


#: Momenta that a model keeps by its structure. The cart swings: by rotation about its own axis, on a loop, or on a bar.
CARTS = {
    "tree": """
        coordinates x, q = 1; gravity 0, 0, -9.81; Cart | Sx(x) | m(2); Bob~Cart | Ry(q) | Sz(-1), m(1);
        spring s | on(q), stiffness(3); damper d | on(q), damping(1);
    """,
    "loop": """
        coordinates x, q1 = 0.5, q2 = 0.5, q3 = 1; gravity 0, 0, -9.81; Cart | Sx(x) | m(2);
        Crank~Cart | Ry(q1) | Sz(-0.5), m(1), Jy(0.1); Rod~Crank | Sz(-1), Ry(q2) | Sz(-0.5), m(1), Jy(0.1);
        Rocker~Cart | Sx(1.5), Ry(q3) | Sz(-0.5), m(1), Jy(0.1); loop pin | revolute(y) | Rod: Sz(-1) | Rocker: Sz(-1);
    """,
    "constraint": """
        coordinates x, z = -0.8, y = 0.6; gravity 0, 0, -9.81; Cart | Sx(x) | m(2);
        Bob~Cart | Sx(y), Sz(z) | m(1); constraint bar | y^2 + z^2 = 1;
    """,
}


@pytest.mark.parametrize("name", CARTS)
@pytest.mark.usefixtures("wrong_equations")
def test_momenta_are_checked_where_equations_are_wrong(name: str) -> None:
    run = kg.simulate(kg.parse(CARTS[name]), 0.3, method="rk4", step=0.01, native=False, times=10, progress=False)
    (check,) = (one for one in run.checks if one.name == "momentum px")
    assert not check.passed


OUTSIDE = {
    "nothing": ("", True),
    "damper on the ground": ("damper g | on(x), damping(0.1);", False),
    "spring to the ground": ("spring g | on(x), stiffness(1e-3);", False),
    "pulse": ("force g | on(x), value(sin(t));", False),
    "drive": ("constraint led | x = 0.1*t^2;", False),
    "rotor": ("armature x = 0.5;", False),
}


@pytest.mark.parametrize("name", CARTS)
@pytest.mark.parametrize("outside", OUTSIDE)
def test_structure_tells_which_momenta_are_kept(name: str, outside: str) -> None:
    added, kept = OUTSIDE[outside]
    cart = kg.parse(CARTS[name] + added)
    run = kg.simulate(cart, 0.1, method="rk4", step=0.01, native=False, times=5, progress=False)
    assert listed(run)[1:] == ["px"] * kept
    assert all(one.passed for one in run.checks)


@pytest.mark.parametrize(("step", "passed"), [(0.01, True), (0.1, False)])
def test_steps_that_are_too_long_are_seen_in_the_energy(step: float, passed: bool) -> None:
    start = {"q1'": 10.0}
    run = kg.simulate("double-pendulum", 5, method="rk4", step=step, state=start, native=False, progress=False)
    assert next(one for one in run.checks if one.name == "energy").passed is passed


@pytest.mark.parametrize("height", ["0", "1000", "1e6"])
@pytest.mark.parametrize(("step", "passed"), [(0.05, True), (0.2, False)])
def test_the_level_of_potential_energy_hides_no_error(height: str, step: float, passed: bool) -> None:
    text = "model high; coordinates q = 1; gravity 0, 0, -9.81; A | Sz(H), Ry(q) | Sz(-1), m(1);"
    run = kg.simulate(kg.parse(text.replace("H", height)), 20, method="rk4", step=step, native=False, progress=False)
    (check,) = (one for one in run.checks if one.name == "energy")
    assert check.passed is passed
    assert check.error == pytest.approx(np.ptp(run["energy"]) / run["kinetic"].max(), rel=0.1, abs=1e-6)


def test_rounding_of_a_high_level_is_no_error() -> None:
    """Nearly at rest, a kilometer up: all that energy changes by is rounding."""
    text = "model still; coordinates q = 1e-6; gravity 0, 0, -9.81; A | Sz(1000), Ry(q) | Sz(-1), m(1);"
    run = kg.simulate(kg.parse(text), 5, native=False, progress=False)
    assert all(one.passed for one in run.checks)


def test_first_integrals_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    search = momentum.combinations
    monkeypatch.setattr(momentum, "combinations", lambda *given: looked.append(1) or search(*given))
    momentum._further_integrals.cache_clear()
    text = "coordinates x, q = 1; Cart | Sx(x) | m(2); Bob~Cart | Ry(q) | Sz(-1), m(1); spring s | on(q), stiffness(3);"
    first, second = (kg.simulate(kg.parse(text), 0.2, native=False, times=5, progress=False) for _ in range(2))
    assert len(looked) == 1
    assert [str(one) for one in first.checks] == [str(one) for one in second.checks]
    other = kg.simulate(kg.parse(text.replace("m(2)", "m(3)")), 0.2, native=False, times=5, progress=False)
    assert len(looked) == 2 and len(other.checks) == len(first.checks)
