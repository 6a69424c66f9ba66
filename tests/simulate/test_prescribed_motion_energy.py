"""Runs with prescribed motions: energy is what forces, elements and prescribed motions supplied, impacts included."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.compile import derive
from kinegraph.errors import SolveError
from kinegraph.graph.interpret import interpret
from kinegraph.simulate.stabilization import Baumgarte

CART = "model cart; coordinates q = 0.3; gravity 0, 0, -9.81; Arm | Sx(0.1*sin(3*t)), Ry(q) | Sz(-1/2), m(1), Jy(1/12);"
#: Springs and potentials hang on a point that a prescribed motion moves.
HUNG = CART.replace("Ry(q)", "Ry(q + 0.2*sin(2*t))") + " output P = Arm (0.2, 0, -0.7); "
LIFT = "model lift; coordinates x = 0.1, z; gravity 0, 0, -9.81; A | Sx(x), Sz(z) | m(2); "
BARS = """
    model bars; inputs u = 0.6 + 0.2*sin(t); coordinates q1 = 0.6, q2 = 0.3, q3 = 1.2; gravity 0, 0, -9.81;
    A | Ry(q1) | Sx(1/4), m(1), Jy(1/12);
    B~A | Sx(0.5), Ry(q2) | Sx(1/2), m(1), Jy(1/12);
    C | Sx(1.2 PLACE), Ry(q3) | Sx(0.3), m(1), Jy(1/12);
    loop pin | revolute(y) | B: Sx(1) | C: Sx(0.6);
"""
LED_PIVOT = BARS.replace("PLACE", "+ 0.1*sin(2*t)")
CRANK = BARS.replace("PLACE", "")
LED_FRAME = """
    model frame; coordinates q1 = 0.6, q2 = 0.3; gravity 0, 0, -9.81;
    A | Ry(q1) | Sx(1/4), m(1), Jy(1/12);
    B~A | Sx(0.5), Ry(q2) | Sx(1/2), m(1), Jy(1/12);
    loop pin | revolute(y) | B: Sx(1) | Sx(1.2), Sz(0.1*sin(3*t));
"""

TABLE = """
    model table; coordinates z = 0.3; gravity 0, 0, -9.81; A | Sz(z) | m(2);
    contact c | z - 0.02*sin(20*t) >= 0 | restitution(1);
"""
LED_ARM = """
    model led; coordinates q = 0.5, z = 0.2; gravity 0, 0, -9.81; A | Sz(z), Ry(q) | Sx(0.5), m(1), Jy(1/12);
    constraint k | z = 0.2 + 0.1*sin(5*t) + 0.1*q; contact c | 0.7 - q >= 0 | restitution(1);
"""


def balance(run: kg.Solution) -> float:
    """By how much energy leaves what was supplied and dissipated, as the run's own check says."""
    (check,) = (one for one in run.checks if one.name.startswith("energy balance"))
    dissipated = run["dissipated"] if "dissipated" in run.columns else 0.0
    left = run["energy"] - run["supplied"] + dissipated
    assert np.ptp(run["energy"]) > 1e3 * np.ptp(left)  # what was supplied matters
    return check.error


@pytest.mark.parametrize(
    "text",
    [
        CART,
        CART.replace("0.1*sin(3*t)", "0").replace("gravity 0, 0,", "gravity sin(2*t), 0,"),
        CART + "damper d | on(q), damping(0.3);",
        LIFT + "constraint c | x = 0.1*cos(2*t) + z;",
        LIFT + "constraint c | x' = 0.5 + z';",
        LED_PIVOT,
        LED_FRAME,
        CRANK + "constraint turn | q1 = 0.6 + 2*t;",
        HUNG + "spring s | between(P, (2, 0, 1)), stiffness(20), rest(0.5);",
        HUNG + "potential s | 5*P.x^2;",
        HUNG + "define h = P.x; spring s | on(h - 2*P.z), stiffness(10);",
        HUNG + "contact b | sphere(P, 0.1), sphere((0.6, 0, -0.9), 0.2) | stiffness(1000);",
        CRANK + "constraint turn | q1 = u;",
    ],
    ids=[
        "drive",
        "gravity",
        "damped drive",
        "rheonomic",
        "velocity",
        "pivot",
        "frame",
        "crank",
        "spring of a led point",
        "potential of a led point",
        "definition of a led point",
        "compliant contact of a led point",
        "input",
    ],
)
def test_the_balance_of_energy_closes(text: str) -> None:
    run = kg.simulate(kg.parse(text), 0.5, native=False, rtol=1e-10, times=20)
    assert balance(run) < 1e-8


@pytest.mark.parametrize("method", ["ida", "bdf", "rk4", "baumgarte"])
def test_it_closes_by_every_method(method: str) -> None:
    how: dict[str, object] = {"method": method, "rtol": 1e-9}
    if method == "rk4":
        how = {"method": "rk4", "step": 0.002}
    elif method == "baumgarte":
        how = {"baumgarte": Baumgarte(50.0, 50.0), "rtol": 1e-10}
    assert balance(kg.simulate(kg.parse(LED_PIVOT), 0.5, native=False, times=20, **how)) < 1e-6


def test_all_closures_say_the_same() -> None:
    model, layout = kg.parse(LED_PIVOT), kg.parse(LED_PIVOT).layout
    run = kg.simulate(model, 0.5, native=False, rtol=1e-10, times=3)
    values = {name: run[name] for name in (*layout.positions, *layout.velocities)} | {"t": run["t"]}
    values |= dict.fromkeys(layout.forces, np.full(len(run["t"]), 0.3))
    closures = ("multipliers", "partition", "closed-form")
    first, *others = (
        interpret(derive(model, "prescribed_power", closure=one), values)["prescribed_power"] for one in closures
    )
    assert np.all(np.abs(first) > 1e-3)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-9)


def test_an_input_that_leads_a_constraint_may_be_given_another_law() -> None:
    model = kg.parse(CRANK + "constraint turn | q1 = u;")
    run = kg.simulate(model, 0.5, native=False, rtol=1e-10, times=20, inputs={"u": "0.6 + sin(3*t)"})
    np.testing.assert_allclose(run["q1"], 0.6 + np.sin(3 * run["t"]), rtol=0, atol=1e-12)
    assert balance(run) < 1e-8
    with pytest.raises(SolveError, match="'u' drives a constraint"):
        kg.simulate(model, 0.5, inputs={"u": ([0.0, 1.0], [0.6, 0.7])})


def test_a_frame_that_time_leads_refuses_methods_for_what_does_not() -> None:
    with pytest.raises(SolveError, match="time dependence"):
        kg.simulate(kg.parse(LED_FRAME), 0.5, method="symplectic", step=0.01)


@pytest.mark.parametrize("method", ["dop853", "bdf"])
@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        CART + "contact c | q + 0.1 >= 0 | restitution(1);",
        LED_ARM,
    ],
    ids=["table", "cart", "led"],
)
def test_lossless_impacts_on_what_moves_supply_what_energy_gains(text: str, method: str) -> None:
    run = kg.simulate(kg.parse(text), 0.8, native=False, rtol=1e-9, method=method, times=50)
    assert sum(event.name == "c: impact" for event in run.events) >= 1
    left = run["energy"] - run["supplied"]
    assert np.ptp(run["energy"]) > 0.1 and np.ptp(left) < 3e-7


def test_a_belt_supplies_what_friction_takes_and_what_moves() -> None:
    """A body of 2 kg dropped onto a belt of 1 m/s: 1 J of motion, and as much is lost."""
    belt = kg.parse(
        "model belt; coordinates x, z; gravity 0, 0, -9.81; A | Sx(x), Sz(z) | m(2); "
        "contact c | z >= 0 | friction(0.3), slip(x' - 1);"
    )
    run = kg.simulate(belt, 1, native=False, times=5)
    assert run["supplied"][-1] == pytest.approx(2.0, abs=1e-9)
    assert run["energy"][-1] == pytest.approx(1.0, abs=1e-9)
