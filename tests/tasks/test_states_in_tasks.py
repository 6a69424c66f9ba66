"""First-order states in equilibria, continuation, statics, unknown forces, joint loads and first integrals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kinegraph as kg
from kinegraph.errors import TaskError

ARM = """model arm;
parameters m = 1, l = 0.5, g = 9.81, k = 0.1, R = 2, L = 0.01, d = 0.05;
inputs U;
coordinates q;
state i' = (U - R*i - k*q')/L;
gravity 0, 0, -g;
Arm | Ry(q) | Sz(-l), m(m);
force motor | on(q), value(k*i);
damper bearing | on(q), damping(d);
"""
#: Watt's governor with a throttle that follows the sleeve with a lag.
GOVERNOR = """model governor;
parameters J = 4, m = 1.5, l = 0.3, c = 1, steam = 100, work = 70, g = 9.81, lag = 0.2;
coordinates shaft, arm = 0.7;
initial shaft' = 7, valve = 0.7;
state valve' = (cos(arm) - valve)/lag;
gravity 0, 0, -g;
Shaft       | Rz(shaft)        | Jz(J);
Right~Shaft | Ry(-arm)         | Sz(-l), m(m);
Left~Shaft  | Rz(pi), Ry(-arm) | Sz(-l), m(m);
force engine | value(steam*valve - work), on(shaft);
damper dashpot | on(arm), damping(c);
"""


def test_rest_of_an_arm_on_a_motor() -> None:
    """The current is U/R, and its torque balances the weight at two angles."""
    found = kg.equilibria(kg.parse(ARM), {"U": 20}, starts=40)
    angle = np.arcsin(0.1 * 10 / (9.81 * 0.5))
    assert found.states == ("i",)
    np.testing.assert_allclose([one.q[0] for one in found], [angle, np.pi - angle], atol=1e-12)
    np.testing.assert_allclose([one.z[0] for one in found], [10, 10], rtol=1e-12)
    assert [one.stable for one in found] == [True, False]
    stiffness = 9.81 * 0.5 * np.cos(angle)
    system = np.array([[0, 1, 0], [-stiffness / 0.25, -0.2, 0.4], [0, -10, -200]])
    np.testing.assert_allclose(np.sort(found[0].eigenvalues), np.sort(np.linalg.eigvals(system)), rtol=1e-9)
    assert found.to_dict()["equilibria"][0]["states"] == {"i": pytest.approx(10)}  # type: ignore[index]


def test_fold_of_an_arm_on_a_motor() -> None:
    """Above U = R m g l/k the weight cannot hold the torque."""
    found = kg.continuation(kg.parse(ARM), "U", 0, 150, starts=20)
    (fold,) = found.special
    assert str(fold.kind) == "fold"
    assert fold.value == pytest.approx(2 * 9.81 * 0.5 / 0.1, rel=1e-9)
    assert fold.z[0] == pytest.approx(9.81 * 0.5 / 0.1, rel=1e-6)


def test_governor_hunts_where_hurwitz_says() -> None:
    """The quartic of the speed, the arm and the throttle, linearized by hand, against the Hopf point."""
    found = kg.continuation(
        kg.parse(GOVERNOR), "c", 0.5, 6, {"shaft'": 7}, unknown="shaft'", bounds={"arm": (0.1, 1.5)}, starts=6
    )
    inertia, length, lag, steam = 4.0, 0.3, 0.2, 100.0
    cosine = 0.7
    sine = np.sqrt(1 - cosine**2)
    speed = np.sqrt(9.81 / (length * cosine))
    balls = 2 * 1.5 * length**2
    whole = inertia + balls * sine**2
    coupled = 2 * balls * sine * cosine * speed

    def quartic(c: float) -> np.ndarray:
        arm = np.polymul([balls, c, balls * sine**2 * speed**2], [whole, 0])
        motion = np.polyadd(arm, [coupled**2, 0])
        return np.polyadd(np.polymul(motion, [lag, 1]), [coupled * steam * sine])

    def hurwitz(c: float) -> float:
        a4, a3, a2, a1, a0 = quartic(c)
        return float(a3 * a2 * a1 - a4 * a1**2 - a3**2 * a0)

    critical = brentq(hurwitz, 0.5, 6, xtol=1e-14)
    (hopf,) = [one for one in found.special if one.v[0] > 0 and one.q[1] > 0]
    assert str(hopf.kind) == "Hopf"
    assert hopf.value == pytest.approx(critical, rel=1e-9)
    _, a3, _, a1, _ = quartic(critical)
    assert hopf.frequency == pytest.approx(np.sqrt(a1 / a3), rel=1e-7)
    assert hopf.z[0] == pytest.approx(cosine, abs=1e-9)


def test_closed_valves_hold_the_excavator_anywhere() -> None:
    """Three directions of rest; the pressures carry the load: one of them is the model's own position."""
    found = kg.equilibria("excavator", starts=3)
    assert not found.equilibria
    assert {one.dimension for one in found.continua} == {3}
    model = kg.load("excavator")
    initial = [float(one.initial.value) for one in model.states[3:]]  # type: ignore[attr-defined]
    own = [one.example for one in found.continua if np.allclose(one.example.q, np.deg2rad([35, -75, -60]))]
    np.testing.assert_allclose(own[0].z[3:], initial, rtol=1e-8)


def test_a_leak_lets_the_valves_choose() -> None:
    """With leaks the pressures are gain x/leak, whatever the position."""
    commands = {"u1": 0.05, "u2": -0.01, "u3": 0.004}
    found = kg.equilibria("excavator", commands, parameters={"leak": 1e-11}, starts=12)
    assert found.equilibria
    for one in found:
        np.testing.assert_allclose(one.z, [0.05, -0.01, 0.004, 1e7, -2e6, 8e5], rtol=1e-9)


def test_states_have_several_values_of_rest() -> None:
    """A bistable state: three values, of which the middle one is unstable; bounds give starts."""
    source = "model latch; coordinates x; state z' = z - z^3; Body | Sx(x) | m(1); force s | on(x), value(4*(z - x));"
    source += " damper d | on(x), damping(1);"
    found = kg.equilibria(kg.parse(source), bounds={"z": (-2, 2)}, starts=30)
    np.testing.assert_allclose([one.z[0] for one in found], [-1, 0, 1], atol=1e-10)
    assert [one.stable for one in found] == [True, False, True]


def test_heat_may_grow_forever() -> None:
    """A state on which nothing depends need not rest."""
    source = ARM.replace("state i'", "state heat' = R*i^2;\nstate i'")
    found = kg.equilibria(kg.parse(source), {"U": 20}, starts=10)
    assert len(found) == 2
    np.testing.assert_allclose(found[0].z, [0, 10], atol=1e-12)
    with pytest.raises(TaskError, match="nothing depends on the state heat"):
        kg.equilibria(kg.parse(source), {"U": 20}, bounds={"heat": (0, 1)})


def test_statics_holds_states() -> None:
    """The motor's torque at a given current counts; its current may be found instead."""
    weight = 9.81 * 0.5 * np.sin(0.4)
    held = kg.statics(kg.parse(ARM), {"q": 0.4, "i": 2}, inputs={"U": 5})
    assert held["tau:q"] == pytest.approx(weight - 0.2)
    assert held.rates == pytest.approx([(5 - 4) / 0.01])
    assert "i' = 100" in str(held)
    found = kg.statics(kg.parse(ARM), {"q": 0.4}, inputs={"U": 5}, unknown=["i"], joints=["Arm"])
    assert found["i"] == pytest.approx(weight / 0.1)
    assert found.reactions[0].force == pytest.approx([0, 0, 9.81])


def test_pressures_that_hold_the_excavator() -> None:
    """By the virtual work of the cylinders, the initial pressures of the model, which hold it."""
    commands = dict.fromkeys(("u1", "u2", "u3"), 0)
    found = kg.statics("excavator", unknown=["p1", "p2", "p3"], inputs=commands)
    np.testing.assert_allclose(found.values, [4.81981427602396e6, -1.86028263049423e6, 0.63581625088048e6], rtol=1e-9)


def test_forces_along_a_motion_with_a_current() -> None:
    """The torque beside the motor's, whose current is integrated; or the current that makes the motion."""
    model, times = kg.parse(ARM), np.linspace(0, 2, 6)
    q, v, a = 0.3 * np.sin(2 * times), 0.6 * np.cos(2 * times), -1.2 * np.sin(2 * times)
    needed = 0.25 * a + 0.05 * v + 9.81 * 0.5 * np.sin(q)
    motion = {"q": "0.3*sin(2*t)"}
    current = kg.unknown_forces(model, motion, times, unknown=["i"], inputs={"U": 0})
    np.testing.assert_allclose(current["i"], needed / 0.1, rtol=1e-12)
    other = kg.unknown_forces(model, motion, times, unknown=["tau:q"], inputs={"U": "5*t"}, state={"i": 1})
    rate = lambda t, i: (5 * t - 2 * i - 0.1 * 0.6 * np.cos(2 * t)) / 0.01  # noqa: E731
    exact = solve_ivp(rate, (0, 2), [1.0], "Radau", t_eval=times, rtol=1e-11, atol=1e-13).y[0]
    np.testing.assert_allclose(other["tau:q"], needed - 0.1 * exact, atol=1e-9)
    between = other.between(np.array([1.7, 0.4]))
    np.testing.assert_allclose(between.motion.z[0], np.interp(1.7, times, exact), atol=0.1)  # type: ignore[index]
    assert kg.joint_loads(other).searched == 1
    with pytest.raises(TaskError, match="contain the unknown U"):
        kg.unknown_forces(model, motion, times, unknown=["U"])
    with pytest.raises(TaskError, match="not a first-order state"):
        kg.unknown_forces(model, motion, times, unknown=["i"], inputs={"U": 0}, state={"q": 1})


def test_states_along_a_sampled_motion() -> None:
    """Along a path found by inverse kinematics, interpolated between its times."""
    model, times = kg.parse(ARM + "output tip = Arm(0, 0, -l);"), np.linspace(0, 1, 41)
    path = kg.follow(model, {"tip.x": "-0.3*sin(t)"}, times)
    found = kg.unknown_forces(model, path.motion, unknown=["tau:q"], inputs={"U": 1})
    angle = np.arcsin(0.6 * np.sin(times))
    rate = lambda t, i: (1 - 2 * i - 0.1 * 0.6 * np.cos(t) / np.sqrt(1 - (0.6 * np.sin(t)) ** 2)) / 0.01  # noqa: E731
    exact = solve_ivp(rate, (0, 1), [0.0], "Radau", t_eval=times, rtol=1e-11, atol=1e-13).y[0]
    np.testing.assert_allclose(path.motion.q[:, 0], angle, atol=1e-12)
    np.testing.assert_allclose(found.motion.z[:, 0], exact, atol=1e-8)  # type: ignore[index]


def test_loads_of_a_run_with_a_motor() -> None:
    """The couple about the axis is that of motor and damper; peaks lie between the rows."""
    model = kg.parse(ARM)
    run = kg.simulate(model, 1, state={"q": 0.5, "i": 1}, inputs={"U": 3}, times=20)
    loads = kg.joint_loads(run)
    torque = 0.1 * run["i"] - 0.05 * run["q'"]
    np.testing.assert_allclose(loads["Arm"].moment[:, 1], torque, atol=1e-10)
    assert loads.searched == 1
    dense = kg.simulate(model, 1, state={"q": 0.5, "i": 1}, inputs={"U": 3}, times=4000)
    assert loads.range("Arm", "My").high == pytest.approx(np.max(0.1 * dense["i"] - 0.05 * dense["q'"]), rel=1e-5)
    assert np.all(np.diff(loads.times) > 0)


def test_integrals_with_states() -> None:
    """Without resistance and losses the energy of the coil and the flux are kept; with them the heat as well."""
    lossless = ARM.replace("R = 2", "R = 0").replace("d = 0.05", "d = 0").replace("inputs U;", "parameters U = 0;")
    found = kg.first_integrals(kg.parse(lossless))
    assert [one.combination for one in found.integrals] == ["energy + 1/200 i^2", "i + 10 q"]
    warm = ARM.replace("inputs U;", "parameters U = 0;").replace("state i'", "state heat' = R*i^2 + d*q'^2;\nstate i'")
    found = kg.first_integrals(kg.parse(warm))
    assert [one.combination for one in found.integrals] == ["energy + heat + 1/200 i^2"]
    assert not kg.first_integrals(kg.parse(ARM.replace("inputs U;", "parameters U = 0;"))).integrals


def test_integrals_with_states_and_loops() -> None:
    """A bead on a line by a constraint: the motor's flux and the whole energy."""
    source = """model bead; parameters k = 1/2, L = 1/4; coordinates x, y; state i' = -k*x'/L;
    Bead | Sx(x), Sy(y) | m(2); constraint line | y = x; force motor | on(x), value(k*i);"""
    found = kg.first_integrals(kg.parse(source))
    combinations = [one.combination for one in found.integrals]
    assert "energy + 1/8 i^2" in combinations
    assert any("i + 2 x" in one or "i + 2 y" in one for one in combinations)


def test_states_in_kinematic_tasks() -> None:
    """States do not matter to paths and tolerances of positions."""
    model = kg.parse(ARM + "output tip = Arm(0, 0, -l);")
    found = kg.tolerances(model, "tip.x", {"l": 0.01}, state={"q": 0.5}, samples=0)
    assert found["tip.x"].nominal == pytest.approx(-0.5 * np.sin(0.5))


def test_active_bearing_under_unbalance() -> None:
    """A Laval rotor in a bearing whose force follows with a lag: the transfer function by hand."""
    source = """model rotor; parameters m = 2, k = 800, lag = 0.01, ecc = 0; coordinates x, y, turn; initial turn' = 20;
    state fx' = (-k*x - fx)/lag, fy' = (-k*y - fy)/lag;
    Disc | Sx(x), Sy(y), Rz(turn) | Sx(ecc), m(m), Jz(0.1);
    force bx | on(x), value(fx); force by | on(y), value(fy);
    damper dx | on(x), damping(30); damper dy | on(y), damping(30);"""
    found = kg.unbalance_response(kg.parse(source), "turn'", {"ecc": 1e-3}, 5, 40, times=7)
    for speed, row in zip(found.speeds, found.transfer, strict=True):
        s = 1j * speed
        exact = 2 * 1e-3 * speed**2 / (2 * s**2 + 30 * s + 800 / (0.01 * s + 1))
        np.testing.assert_allclose(np.abs(row[:2]), abs(exact), rtol=1e-8)
    assert all(a < b for a, b in pairwise(found.speeds))
