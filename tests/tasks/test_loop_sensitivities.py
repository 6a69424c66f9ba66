"""Derivatives of runs with loops, and backwards in time: against trees, forward derivatives and differences."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.simulate.sensitivities import (
    at_knots,
    motion_signals,
    node_times,
    reversed_signals,
    together,
    unresolved,
)
from kinegraph.solve.problem import Sampled, signals

TREE = """
    parameters l = 0.9, m = 1.3, k = 2;
    coordinates q1 = 0.5, q2 = 0.3; gravity 0, -9.81, 0;
    Upper       | Rz(q1)         | Sy(-0.4), m(m), Jz(0.11);
    Lower~Upper | Sy(-l), Rz(q2) | Sy(-0.3), m(0.7), Jz(0.05);
    spring coil | on(q2), stiffness(k); damper oil | on(q1), damping(0.2);
"""
#: The same with each body on its own, in absolute coordinates that do not fit at first, and two pins.
MAXIMAL = """
    parameters l = 0.9, m = 1.3, k = 2;
    coordinates q1 = 0.5, q2 = 0.3, x1 = 0.2, y1 = -0.35, x2 = 0.6, y2 = -1; gravity 0, -9.81, 0;
    Upper | Sx(x1), Sy(y1), Rz(q1)      | m(m), Jz(0.11);
    Lower | Sx(x2), Sy(y2), Rz(q1 + q2) | m(0.7), Jz(0.05);
    loop top   | revolute | Upper: Sy(0.4)     |;
    loop elbow | revolute | Upper: Sy(0.4 - l) | Lower: Sy(0.3);
    spring coil | on(q2), stiffness(k); damper oil | on(q1), damping(0.2);
"""
BY = ["l", "q1(0)", "m", "k", "q2'(0)"]
RUN = {"outputs": ["q1", "q2'", "cost", "energy"], "integrals": {"cost": "q1^2*m"}, "native": False, "progress": False}
START = {"q1": 0.5, "q2": 0.3, "q1'": 0, "q2'": 0.2}


@pytest.fixture(scope="module")
def tree():
    return kg.sensitivities(kg.parse(TREE), 1, BY, times=3, state=START, **RUN)


def test_pins_instead_of_a_tree(tree):
    maximal = kg.sensitivities(kg.parse(MAXIMAL), 1, BY, times=3, state=START, **RUN)
    np.testing.assert_allclose(maximal.values[:, :3], tree.values[:, :3], atol=1e-9)
    np.testing.assert_allclose(maximal.derivatives[:, :3], tree.derivatives[:, :3], atol=2e-9)


@pytest.mark.parametrize("model", [TREE, MAXIMAL], ids=["tree", "loops"])
def test_backwards_is_forwards(tree, model):
    found = kg.gradient(kg.parse(model), 1, BY, state=START, **RUN)
    places = slice(None) if model is TREE else slice(0, 3)  # the level of the potential differs
    np.testing.assert_allclose(found.values[places], tree.values[-1][places], atol=1e-9)
    np.testing.assert_allclose(found.derivatives[places], tree.final[places], rtol=1e-8, atol=1e-8)


def test_backwards_through_five_seconds_and_a_sampled_input():
    times = np.linspace(0, 5, 11)
    wind = Sampled(times, np.sin(times), smooth=True)
    arguments = {"outputs": ["tip.x", "q2"], "native": False, "progress": False, "inputs": {"q1": wind}}
    by = ["m1", "m2", "l1", "l2", "q1(0)", "q2(0)", "q1'(0)", "q2'(0)"]
    forward = kg.sensitivities("double-pendulum", 5, by, times=1, **arguments)
    backward = kg.gradient("double-pendulum", 5, by, **arguments)
    size = np.abs(forward.final).max()
    np.testing.assert_allclose(backward.derivatives / size, forward.final / size, atol=1e-8)


FRICTION = """
    parameters l = 0.5, fc = 0.5; coordinates q = 1.2; gravity 0, 0, -9.81;
    Bob | Ry(q), Sz(-l) | m(1); friction dry | on(q), coulomb(fc);
"""
STIFF = """
    parameters k = 1e4, c = 300; coordinates x = 0.1, y; Mass | Sx(x) | m(1); Load~Mass | Sx(y) | m(0.1);
    spring s | on(x), stiffness(k); damper d | on(x), damping(c);
    damper e | on(y), damping(2); spring f | on(y), stiffness(5);
"""
DISSIPATIVE = {
    "dry friction": (FRICTION, 8, ["l", "fc"], ["q"], "dop853"),
    "stiff, explicit": (STIFF, 1, ["k", "c", "x(0)"], ["x", "y"], "dop853"),
    "stiff, bdf": (STIFF, 1, ["k", "c", "x(0)"], ["x", "y"], "bdf"),
    "damped": (TREE, 10, ["l", "m", "q1(0)"], ["q1", "q2'"], "adams"),
    "damped loops": (MAXIMAL, 5, ["l", "m", "q1(0)"], ["q1", "q2'"], "dop853"),
}


@pytest.mark.parametrize("case", DISSIPATIVE)
def test_backwards_is_forwards_where_energy_is_lost(case):
    """A motion that is integrated back from its end gains what damping took: its rounding grows without bound."""
    text, duration, by, results, method = DISSIPATIVE[case]
    arguments = {"outputs": results, "method": method, "native": False, "progress": False}
    forward = kg.sensitivities(kg.parse(text), duration, by, times=1, **arguments)
    backward = kg.gradient(kg.parse(text), duration, by, **arguments)
    size = np.abs(forward.final).max(axis=1, keepdims=True)
    np.testing.assert_allclose(backward.derivatives / size, forward.final / size, atol=2e-6)
    if text is FRICTION:
        np.testing.assert_allclose(backward.derivatives[0], [-0.8506, 0.8299], atol=1e-4)


def test_tolerances_by_name_are_those_of_the_motion():
    arguments = {"outputs": ["tip.x"], "native": False, "progress": False, "atol": {"q1": 1e-11}}
    forward = kg.sensitivities("double-pendulum", 0.3, ["m1", "q2(0)"], times=1, **arguments)
    backward = kg.gradient("double-pendulum", 0.3, ["m1", "q2(0)"], **arguments)
    np.testing.assert_allclose(backward.derivatives, forward.final, atol=1e-9)


def test_a_motion_as_signals():
    """Polynomials of degree seven between knots, and inputs that have knots of their own."""
    wind = signals([Sampled([0, 1, 3], [1, 4, 2])])
    knots = np.array([-0.5, 0, 0.4, 1, 2, 3, 3.5])
    states = np.column_stack([np.cos(3 * node_times(knots)), node_times(knots) ** 7])
    both = together(at_knots(wind, knots), motion_signals(knots, states))
    times = np.linspace(-0.5, 3.5, 41)
    u, x, y, *high, share = both.values(times).T
    np.testing.assert_allclose(u, wind.values(times)[:, 0], atol=1e-13)
    np.testing.assert_allclose(y + share**4 * high[1], times**7, atol=1e-8)
    np.testing.assert_allclose(x + share**4 * high[0], np.cos(3 * times), atol=5e-6)
    assert unresolved(states, np.array([1e-6, 1e9])).tolist() == [False, False, True, True, True, False]


def test_a_four_bar_against_differences_of_runs():
    by = ["a", "b", "crank(0)"]
    found = kg.sensitivities("four-bar", 0.4, by, outputs=["crank", "tip.x"], times=1, native=False, progress=False)

    def results(a=0.5, b=1.2, crank=0.3):
        run = kg.simulate(
            "four-bar", 0.4, parameters={"a": a, "b": b}, state={"crank": crank, "crank'": 0}, rtol=1e-12, times=1,
            native=False, progress=False,
        )  # fmt: skip
        return np.array([run["crank"][-1], run["tip.x"][-1]])

    h = 1e-5
    for number, (name, value) in enumerate({"a": 0.5, "b": 1.2, "crank": 0.3}.items()):
        slope = (results(**{name: value + h}) - results(**{name: value - h})) / (2 * h)
        np.testing.assert_allclose(found.final[:, number], slope, rtol=1e-6, atol=1e-7)


def test_rolling_keeps_its_derivatives_on_the_constraints():
    """The derivative of J v = 0 by any variable vanishes along the run."""
    sleigh = kg.parse("""
        parameters a = 0.2;
        coordinates x, y, th; initial x' = 1, th' = 0.5;
        Sleigh | Sx(x), Sy(y), Rz(th) | Sx(a), m(2), Jz(0.3);
        constraint blade | y'*cos(th) - x'*sin(th) = 0;
    """)
    found = kg.sensitivities(
        sleigh, 2, ["a", "th'(0)"], outputs=["y'*cos(th) - x'*sin(th)"], times=4, native=False, progress=False
    )
    np.testing.assert_allclose(found.derivatives, 0, atol=1e-11)


def test_a_length_of_a_four_bar_is_found_from_its_motion():
    start = {"state": {"crank": 0.3, "crank'": 0}, "native": False}
    run = kg.simulate("four-bar", 0.3, parameters={"b": 1.25}, times=10, progress=False, **start)
    motion = {"t": run.t, "crank": run["crank"], "rocker": run["rocker"]}
    assert kg.fit("four-bar", motion, ["b"], **start)["b"] == pytest.approx(1.25, abs=1e-7)


def test_signals_backwards():
    there = signals([Sampled([0, 1, 3], [1, 4, 2]), Sampled([0.5, 2, 2.5], [0, 1, -1], smooth=True)])
    times = np.linspace(-0.5, 3.5, 41)
    np.testing.assert_allclose(reversed_signals(there).values(-times), there.values(times), atol=1e-13)


def test_mistakes_are_named():
    with pytest.raises(TaskError, match="checkpoints is 0"):
        kg.gradient("double-pendulum", 1, "m1", checkpoints=0)
    free = kg.load("free-body")
    tied = kg.parse(kg.write(free) + "\nconstraint level | z - 1 = 0;")
    with pytest.raises(TaskError, match="free rotations"):
        kg.sensitivities(tied, 0.1, [f"{tied.layout.positions[0]}(0)"])


def test_derivatives_by_values_that_follow_are_those_of_runs_in_which_they_are_set():
    """The nominal run is that of `simulate`, also if a variable is a coordinate whose declared value is a guess."""
    options = {"native": False, "progress": False, "rtol": 1e-9, "times": 1}
    first = kg.simulate("four-bar", 0.2, **options)

    def end(change):
        return kg.simulate("four-bar", 0.2, state={"coupler": first["coupler"][0] + change}, **options)["crank"][-1]

    found = kg.sensitivities("four-bar", 0.2, ["coupler(0)"], outputs=["crank"], **options)
    assert found["crank"][-1] == pytest.approx(first["crank"][-1], abs=1e-8)
    assert found.final[0, 0] == pytest.approx((end(1e-4) - end(-1e-4)) / 2e-4, rel=1e-4)
    with pytest.raises(TaskError, match=r"coupler\(0\) is not independent: the loops determine it from crank"):
        kg.sensitivities("four-bar", 0.2, ["crank(0)", "coupler(0)"], **options)


def test_runs_that_start_later_are_assembled_at_their_start():
    """A driven cart is elsewhere at t = 1.3: results, derivatives both ways and fits are those of runs from there."""
    model = kg.parse(
        "parameters l = 1; coordinates x, q = 0.5; gravity 0, -9.81, 0; Cart | Sx(x) | m(2);"
        "Bob~Cart | Rz(q) | Sy(-l), m(1); constraint drive | x = 0.3*sin(2*t);"
    )
    options = {"t0": 1.3, "native": False, "progress": False, "rtol": 1e-9}

    def end(length):
        return kg.simulate(model, 2, times=1, parameters={"l": length}, **options)["q"][-1]

    slope = (end(1.001) - end(0.999)) / 0.002
    ahead = kg.sensitivities(model, 2, ["l"], outputs=["q"], times=4, **options)
    back = kg.gradient(model, 2, ["l"], outputs=["q"], **options)
    assert [ahead["q"][-1], back.values[0]] == pytest.approx([end(1)] * 2, abs=1e-7)
    assert [ahead.derivatives[-1, 0, 0], back.derivatives[0, 0]] == pytest.approx([slope] * 2, abs=1e-5)
    data = {"t": ahead.times, "q": ahead["q"]}
    found = kg.fit(model, data, ["l"], parameters={"l": 1.1}, t0=1.3, native=False)
    assert found["l"] == pytest.approx(1, abs=1e-6)


def test_near_a_dead_point_derivatives_are_those_of_the_run():
    """The rocker is almost at its end, so the crank has a second place close by; the run starts at the declared one."""
    bars = kg.parse("""
        coordinates crank = 0.3, coupler = 0.4, rocker = 1.2;
        initial crank' = 5;
        Crank         | Rz(crank)                  | Sx(1/4), m(1), Jz(1/48);
        Coupler~Crank | Sx(0.5), Rz(coupler-crank) | Sx(0.6), m(2.4), Jz(0.288);
        Rocker        | Sx(1), Rz(rocker)          | Sx(0.4), m(1.6), Jz(0.085);
        loop pin | revolute | Coupler: Sx(1.2) | Rocker: Sx(0.8);
    """)
    names = ["crank", "rocker", "crank'", "rocker'"]
    run = kg.simulate(bars, 0.05, native=False, progress=False, times=1)
    found = kg.sensitivities(
        bars, 0.05, ["rocker(0)", "crank'(0)"], outputs=names, times=1, native=False, progress=False
    )
    np.testing.assert_allclose(found.values, run.array(*names), atol=1e-7)
    aside = kg.simulate(bars, 0.05, state={"crank'": 5.001}, native=False, progress=False, times=1)
    np.testing.assert_allclose(
        found.derivative("crank", "crank'(0)")[-1], (aside["crank"][-1] - run["crank"][-1]) / 0.001, rtol=1e-2
    )
