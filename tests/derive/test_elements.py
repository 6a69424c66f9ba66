"""Elements: physical identities on random trees, formulas by hand, and the special cases of every element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinegraph.compiler.compile import compile
from kinegraph.compiler.request import arguments_of, bound_parameters
from kinegraph.derive.plan import ForwardMethod, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import ModelError
from kinegraph.graph import law
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.io import parse, write
from kinegraph.model import Mechanism
from tests.derive.random_elements import random_loaded_tree
from tests.derive.rates import along_velocities
from tests.effort import SOAK
from tests.mechanisms import random_state

SEEDS = range(60 if SOAK else 6)
FEW_SEEDS = range(12 if SOAK else 4)
QUANTITIES = ("tau", "bias", "qdd", "H", "energy", "forces", "power")


def _derivation(mechanism: Mechanism, plan: Plan | None = None) -> Derivation:
    return Derivation(mechanism, bound_parameters(mechanism, True, None), plan or Plan())


def _total(derivation: Derivation) -> ForwardDerivative:
    """The derivative along the motion: q' from v, v' the symbols of acceleration, t' = 1."""
    builder = derivation.builder
    seeds = dict(along_velocities(derivation)._known)
    mechanism = derivation.mechanism
    for velocity, acceleration in zip(mechanism.layout.velocities, mechanism.layout.accelerations, strict=True):
        seeds[builder.symbol(Kind.VELOCITY, velocity)] = builder.symbol(Kind.ACCELERATION, acceleration)
    return ForwardDerivative(builder, seeds | {builder.symbol(Kind.TIME, "t"): builder.one})


def _graph(mechanism: Mechanism, words: tuple[str, ...] = QUANTITIES, plan: Plan | None = None) -> Graph:
    """The quantities, and the time derivative of the energy."""
    derivation = _derivation(mechanism, plan)
    outputs = [derivation.output(Quantity.parse(word)) for word in words]
    energy = derivation.output(Quantity("energy"))
    total = _total(derivation)
    outputs.append(Output("rate of energy", (2,), tuple(total(node) for node in energy.nodes)))
    graph = derivation.builder.graph(outputs)
    law.check(graph)
    return graph


def _state(mechanism: Mechanism, seed: int) -> dict[str, float]:
    q, v, a, t = random_state(mechanism, seed)
    values = dict(zip(mechanism.layout.positions, q, strict=True)) | {"t": t, "u1": 0.7}
    values |= dict(zip(mechanism.layout.velocities, v, strict=True))
    values |= dict(zip(mechanism.layout.accelerations, a, strict=True))
    return values | dict.fromkeys(mechanism.layout.forces, 0.0)


def _vector(state: dict[str, float], names: tuple[str, ...]) -> np.ndarray:
    return np.array([state[name] for name in names])


def _close(left, right, scale: float = 1.0, tolerance: float = 1e-12) -> None:
    size = max(1.0, scale, float(np.max(np.abs(right), initial=0)))
    np.testing.assert_allclose(np.asarray(left) / size, np.asarray(right) / size, rtol=0, atol=tolerance)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_balance_and_forward_after_inverse(seed: int) -> None:
    mechanism = random_loaded_tree(seed, bodies=2 + seed % 3)
    bare = replace(mechanism, elements=())
    graph, state = _graph(mechanism), _state(mechanism, seed)
    loaded, unloaded = interpret(graph, state), interpret(_graph(bare), state)
    v, a = (_vector(state, names) for names in (mechanism.layout.velocities, mechanism.layout.accelerations))
    scale = float(np.max(np.abs([*unloaded["tau"], *loaded["forces"], *loaded["energy"]])))
    _close(loaded["tau"], unloaded["tau"] - loaded["forces"], scale)
    _close(loaded["bias"], unloaded["bias"] - loaded["forces"], scale)
    dissipated, supplied = loaded["power"]
    moving_it = unloaded["rate of energy"].sum() - v @ unloaded["tau"]  # what moves transforms and gravity in time
    _close(loaded["rate of energy"].sum(), supplied - dissipated + v @ loaded["tau"] + moving_it, scale)
    again = interpret(graph, state | dict(zip(mechanism.layout.forces, loaded["tau"], strict=True)))
    _close(again["qdd"], a, tolerance=1e-12 * np.linalg.cond(loaded["H"]) * max(1.0, scale / 10))


@pytest.mark.parametrize("seed", range(20 if SOAK else 10))
def test_conservative_forces_are_the_slope_of_the_potential(seed: int) -> None:
    mechanism = random_loaded_tree(seed, bodies=3, kinds=("spring", "potential"))
    derivation = _derivation(mechanism)
    along = along_velocities(derivation)
    potential = derivation.elements.potential()
    graph = derivation.builder.graph(
        [derivation.output(Quantity("forces")), Output("slope", (), (along(potential.index),))]
    )
    state = _state(mechanism, seed)
    found = interpret(graph, state)
    v = _vector(state, mechanism.layout.velocities)
    _close(-found["forces"] @ v, found["slope"], float(np.max(np.abs(found["forces"]))))


@pytest.mark.parametrize("seed", FEW_SEEDS)
def test_both_ways_of_forward_dynamics_agree(seed: int) -> None:
    mechanism = random_loaded_tree(seed, bodies=3)
    state = _state(mechanism, seed) | dict.fromkeys(mechanism.layout.forces, 0.3)
    plans = [Plan(), Plan(forward=ForwardMethod.ARTICULATED), Plan(in_parent_frame=frozenset(), regroup=False)]
    found = [interpret(_graph(mechanism, ("qdd", "H"), plan), state) for plan in plans]
    for other in found[1:]:
        _close(other["qdd"], found[0]["qdd"], tolerance=1e-12 * np.linalg.cond(found[0]["H"]))


@pytest.mark.parametrize("seed", FEW_SEEDS)
def test_point_forces_and_moments_work_through_the_jacobian(seed: int) -> None:
    bare = replace(random_loaded_tree(seed, bodies=3, count=0), inputs=())
    body = bare.bodies[0].name
    words = ("pose:tip", "jacobian:tip", f"pose:{body}", f"jacobian:{body}")
    state = _state(bare, seed)
    known = interpret(_graph(bare, words), state)
    vector = np.array([1.5, -2.0, 0.7])
    linear, angular = known["jacobian:tip"][:3], known[f"jacobian:{body}"][3:]
    tip_axes, body_axes = known["pose:tip"][:3, :3], known[f"pose:{body}"][:3, :3]
    expected = {
        "force F | at(tip) world(1.5, -2, 0.7);": linear.T @ vector,
        "force F | at(tip) body(1.5, -2, 0.7);": linear.T @ tip_axes @ vector,
        f"moment M | at({body}) world(1.5, -2, 0.7);": angular.T @ vector,
        f"moment M | at({body}) body(1.5, -2, 0.7);": angular.T @ body_axes @ vector,
        "force F | value(1.5) on(tip.y);": 1.5 * linear[1],
        "force F | value(1.5) on(2*tip.y');": 3.0 * linear[1],
    }
    for statement, forces in expected.items():
        _close(interpret(_graph(_with(bare, statement), ("forces",)), state)["forces"], forces)


def _with(mechanism: Mechanism, statements: str) -> Mechanism:
    """The mechanism with the elements and inputs of some statements."""
    return parse(write(mechanism) + statements)


ARMS = """parameters k = 30, c = 2, l0 = 0.4; coordinates q1, q2; gravity 0, 0, -9.81;
A | Ry(q1) | Sz(-0.5), m(1), Jy(0.1); B~A | Sz(-1), Ry(q2) | Sz(-0.4), m(2), Jy(0.2);
output tip = B (0, 0, -0.8); output wall = (1, 0.2, -0.5);"""
ARMS_STATE = {"q1": 0.3, "q2": -0.8, "q1'": 1.1, "q2'": -0.6, "q1''": 0.0, "q2''": 0.0, "t": 0.5}


def _arms(statements: str, word: str = "forces", **state: float) -> np.ndarray:
    return interpret(_graph(parse(ARMS + statements), (word,)), ARMS_STATE | state)[word]


def _tip(q1: float, q2: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and Jacobian of the tip by hand."""
    sines, cosines = np.sin([q1, q1 + q2]), np.cos([q1, q1 + q2])
    place = np.array([-sines[0] - 0.8 * sines[1], 0, -cosines[0] - 0.8 * cosines[1]])
    second = np.array([-0.8 * cosines[1], 0, 0.8 * sines[1]])
    return place, np.column_stack([np.array([-cosines[0], 0, sines[0]]) + second, second])


def test_a_spring_and_a_damper_between_two_points_by_hand() -> None:
    place, jacobian = _tip(0.3, -0.8)
    line = np.array([1, 0.2, -0.5]) - place
    length = np.linalg.norm(line)
    row = -(line / length) @ jacobian
    _close(_arms("spring S | between(tip, wall) stiffness(k) rest(l0);"), -30 * (length - 0.4) * row)
    _close(_arms("spring S | between(wall, tip) stiffness(k);"), -30 * length * row)
    rate = row @ np.array([1.1, -0.6])
    _close(_arms("damper D | between(tip, (1, 0.2, -0.5)) damping(c);"), -2 * rate * row)
    _close(_arms("force F | value(7) between(tip, wall);"), 7 * row)
    _close(_arms("spring S | between(tip, wall) stiffness(k) rest(l0);", "energy")[1]
           - _arms("", "energy")[1], 15 * (length - 0.4) ** 2)  # fmt: skip


def test_points_joined_by_a_spring_without_rest_length_may_meet() -> None:
    _close(_arms("spring S | between(tip, B(0, 0, -0.8)) stiffness(k);"), np.zeros(2))


def test_an_oscillator_has_its_frequency() -> None:
    mechanism = parse("parameters m1 = 2, k = 8; coordinates x; M | Sx(x) | m1; spring S | on(x) stiffness(k) rest(1);")
    state = {"x": 1.5, "x'": 0.0, "tau:x": 0.0}
    assert interpret(_graph(mechanism, ("qdd",)), state | {"x''": 0})["qdd"] == pytest.approx([-(2.0**2) * 0.5])


def test_one_unknown_in_two_components_of_a_force() -> None:
    """K2's crane: R = (-S cos th, S sin th), so A = -x_C' cos th + y_C' sin th, primes d/ds."""
    crane = parse("""parameters th = 0.4; coordinates s; inputs S;
        Boom | Rz(s/2) | m(1), Jz(1); output C = Boom (3, 1, 0);
        force Px | value(-S*cos(th)) on(C.x); force Py | value(S*sin(th)) on(C.y);""")
    derivation = _derivation(crane)
    graph = derivation.builder.graph([derivation.output(Quantity.parse("d(tau)/d(u)"))])
    s = 1.1
    slope = 0.5 * np.array([-3 * np.sin(s / 2) - np.cos(s / 2), 3 * np.cos(s / 2) - np.sin(s / 2)])
    found = interpret(graph, {"s": s, "s'": 0.2, "s''": 0.1, "S": 5.0})["d(tau)/d(u)"]
    _close(found, [[-(slope @ [-np.cos(0.4), np.sin(0.4)])]])


FREE = """parameters k = 4; coordinates x, y, z; quaternion (e0,e1,e2,e3) velocity (wx,wy,wz); gravity 0, 0, -9.81;
Body | Sx(x), Sy(y), Sz(z), Q(e0,e1,e2,e3) | m(2), Jx(1), Jy(2), Jz(2.5);
spring S | between(Body(0.3, 0.1, -0.2), (0, 0, 2)) stiffness(k) rest(0.5); potential V | k*e1*e2 + sin(Body.x);"""


def test_a_quaternion_body_on_a_spring_keeps_its_energy() -> None:
    mechanism = parse(FREE)
    graph = _graph(mechanism)
    for seed in range(5):
        state = _state(mechanism, seed)
        qdd = interpret(graph, state)["qdd"]
        found = interpret(graph, state | dict(zip(mechanism.layout.accelerations, qdd, strict=True)))
        _close(found["rate of energy"].sum(), 0.0, float(np.max(np.abs(found["rate of energy"]))))
        assert np.max(np.abs(found["rate of energy"])) > 0.1


def test_laws_of_force_and_of_energy_agree() -> None:
    by_energy = _arms("spring S | on(tip.x) energy(k*stretch^2/2 + stretch^4/4 - stretch) rest(0.1);")
    _close(_arms("spring S | on(tip.x) force(k*stretch + stretch^3 - 1) rest(0.1);"), by_energy)
    _close(_arms("spring S | on(tip.x) force(stretch*(k + stretch^2) - 1) rest(0.1);"), by_energy)
    laws = "spring S | on(q1) force(k*sinh(stretch));", "spring S | on(q1) energy(k*cosh(stretch));"
    _close(_arms(laws[0]), _arms(laws[1]))


def test_a_law_without_a_known_energy_counts_as_supplied() -> None:
    bare = _arms("", "energy")
    _close(_arms("spring S | on(q1) force(k*sinh(stretch));", "energy"), bare)
    _close(_arms("spring S | on(q1) force(k*sinh(stretch));", "power"), [0, -30 * np.sinh(0.3) * 1.1])
    steered = "inputs u1; spring S | on(q1) stiffness(k) rest(u1);"
    _close(_arms(steered, "energy", u1=0.1), bare)
    _close(_arms(steered, "power", u1=0.1), [0, -30 * (0.3 - 0.1) * 1.1])
    given = "inputs u1 = t/5; spring S | on(q1) stiffness(k) rest(u1);"
    _close(_arms(given, "energy"), [bare[0], bare[1] + 15 * 0.2**2])
    _close(_arms(given, "power"), [0, 30 * (0.3 - 0.1) * -0.2])


@pytest.mark.parametrize(
    ("statements", "conservative"),
    [
        ("spring S | on(q1) force(k*stretch^3); limit L | on(q2) upper(1) stiffness(k); potential V | tip.x;", True),
        ("limit L | on(q2) upper(1) stiffness(k) damping(c);", False),
        ("spring S | on(q1) stiffness(k) rest(t);", False),
        ("force F | value(1) on(q1);", False),
        ("moment M | at(B) world(0, 1, 0);", False),
    ],
)
def test_what_has_a_potential_is_known(statements: str, conservative: bool) -> None:
    assert _derivation(parse(ARMS + statements)).elements.conservative is conservative


def test_friction_is_dry_when_fast_and_viscous_beside() -> None:
    _close(_arms("friction F | on(q1) coulomb(3) viscous(c) width(0.001);"), [-3 - 2 * 1.1, 0])
    _close(_arms("friction F | on(q1) coulomb(3);", **{"q1'": -1.1}), [3, 0])
    _close(_arms("friction F | on(q2') coulomb(3) width(0.5);"), [0, 3 * np.tanh(0.6 / 0.5)])
    _close(_arms("friction F | on(q1) coulomb(3) viscous(c) width(0.001);", "power"), [3 * 1.1 + 2 * 1.1**2, 0])


LIMIT = "limit L | on(q1) lower(-1) upper(0.5) stiffness(100) damping(20);"


def test_limits_push_back_and_never_pull() -> None:
    def force(q: float, rate: float) -> float:
        return float(_arms(LIMIT, q1=q, **{"q1'": rate})[0])

    assert force(0.2, 3.0) == 0 and force(0.5, 3.0) == 0 and force(-1.0, -3.0) == 0
    assert force(0.6, 0.0) == pytest.approx(-10) and force(-1.1, 0.0) == pytest.approx(10)
    assert force(0.6, 2.0) == pytest.approx(-0.1 * (100 + 40)) and force(-1.1, -2.0) == pytest.approx(14)
    assert force(0.6, -50.0) == pytest.approx(0) and force(-1.1, 50.0) == pytest.approx(0)


@pytest.mark.parametrize("bound", [-1.0, 0.5])
@pytest.mark.parametrize("rate", [-8.0, -5.0, 0.0, 6.0])
def test_the_force_of_a_limit_is_continuous(bound: float, rate: float) -> None:
    graph = _graph(parse(ARMS + LIMIT), ("forces", "power"))
    near = [interpret(graph, ARMS_STATE | {"q1": bound + step, "q1'": rate + 3 * step}) for step in (-1e-9, 0.0, 1e-9)]
    for found in near:
        _close(found["forces"], near[1]["forces"], tolerance=1e-6)
        assert found["power"][0] >= 0


def test_prescribed_inputs_are_the_same_as_inputs_with_that_value() -> None:
    statement = "force F | value(u1*q2) on(q1);"
    given = _arms("inputs u1 = sin(3*t);" + statement)
    _close(given, _arms("inputs u1;" + statement, u1=np.sin(1.5)))
    assert given[0] != 0


def test_compiled_code_takes_inputs_as_its_argument_u() -> None:
    mechanism = parse(
        ARMS
        + LIMIT
        + """inputs u1, u2, ramp = 2*t; friction F | on(q2) coulomb(3);
        force M1 | value(u1 + ramp) on(q1); moment M2 | at(B) body(0, u2, 0); spring S | on(q1) stiffness(k);"""
    )
    words = "tau,qdd,energy,forces,power"
    assert [argument.name for argument in arguments_of(mechanism, words)] == ["q", "v", "a", "tau", "u", "t"]
    assert [argument.name for argument in arguments_of(mechanism, "energy")] == ["q", "v", "t"]
    compiled = compile(mechanism, words)(
        q=[0.3, -0.8], v=[1.1, -0.6], a=[0.2, 0.4], tau=[1.0, 2.0], u=[0.5, -0.7], t=0.5
    )
    state = ARMS_STATE | {"q1''": 0.2, "q2''": 0.4, "u1": 0.5, "u2": -0.7, "tau:q1": 1.0, "tau:q2": 2.0}
    interpreted = interpret(_graph(mechanism, tuple(words.split(","))), state)
    for word in words.split(","):
        _close(compiled[word], interpreted[word])


def test_loops_over_bodies_refuse_elements() -> None:
    with pytest.raises(ModelError, match=r"elements \(L, \.\.\.\).*\n.*loops=False"):
        compile(parse(ARMS + LIMIT), "tau", loops=True)


def test_without_elements_nothing_is_added() -> None:
    found = interpret(_graph(parse(ARMS), ("forces", "power")), ARMS_STATE)
    assert not np.any(found["forces"]) and not np.any(found["power"])
