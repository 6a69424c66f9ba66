"""Work of prescribed motion: the energy changes by the supply of forces, elements and prescribed motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.dynamics.state_rate import (
    Forces,
    along_motion,
    balance_names,
    has_prescribed_contacts,
    has_prescribed_motion,
    state_rate,
)
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.graph.interpret import interpret
from kinegraph.model.expressions import Name
from kinegraph.model.mechanism import Mechanism
from tests.derive.random_elements import random_loaded_tree
from tests.mechanisms import Joint, random_state, random_tree

DRIVEN = """
    model driven; coordinates q = 0.3, x = 0.1, z = 0.2;
    gravity sin(t), 0, -9.81;
    Cart | Sx(x), Sy(0.1*sin(3*t)) | m(2), Jx(0.1), Jy(0.2), Jz(0.1);
    Arm~Cart | Sz(z), Ry(q + 0.2*cos(t)) | Sz(-1/2), m(1), Jx(1/12), Jy(1/12);
"""


def _energy_rate_and_supply(mechanism: Mechanism, state: dict[str, float]) -> tuple[float, float, float]:
    """d/dt of the energy by differentiation along the motion, by the balances, and the scale of both."""
    bound = bound_parameters(mechanism, True, None)
    forces = Forces({}, (*mechanism.layout.forces, *mechanism.layout.inputs))
    derivation = Derivation(mechanism, bound, Plan())
    outputs = [derivation.output(Quantity(word)) for word in ("qdd", "power", "prescribed_power", "energy")]
    motion, energies = derivation.builder.graph(outputs[:3]), derivation.builder.graph(outputs[3:])
    rate = state_rate(mechanism, motion, bound, forces, balances=())
    energy = along_motion(mechanism, rate, energies)
    change = float(np.sum(interpret(energy, state)["energy"]))
    powers = interpret(motion, state)
    dissipated, supplied = powers["power"]
    work = sum(state[f] * state[v] for f, v in zip(mechanism.layout.forces, mechanism.layout.velocities, strict=True))
    parts = [work, supplied, -dissipated, float(powers["prescribed_power"][0])]
    return change, float(np.sum(parts)), float(np.abs(parts).max())


def _state(mechanism: Mechanism, seed: int) -> dict[str, float]:
    q, v, _, t = random_state(mechanism, seed)
    layout = mechanism.layout
    state = dict(zip(layout.positions, q, strict=True)) | dict(zip(layout.velocities, v, strict=True)) | {"t": t}
    given = (*layout.forces, *layout.inputs)
    return state | dict(zip(given, np.random.default_rng(seed).uniform(-1, 1, len(given)), strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_energy_changes_by_what_is_supplied_on_random_driven_trees(seed: int) -> None:
    joints = (Joint.PRESCRIBED, Joint.DRIVEN, *Joint)
    mechanism = random_tree(seed, bodies=1 + seed % 4, joints=joints if seed % 3 else joints[:2])
    if seed % 2:
        x, y, z = mechanism.gravity
        mechanism = replace(mechanism, gravity=(x + Name("t"), y * Name("t"), z - Name("t") ** 2))
    change, supply, size = _energy_rate_and_supply(mechanism, _state(mechanism, seed))
    assert change == pytest.approx(supply, abs=1e-10 * max(size, abs(change), 1.0))


@pytest.mark.parametrize("seed", range(6))
def test_energy_changes_by_what_is_supplied_with_elements_on_driven_trees(seed: int) -> None:
    mechanism = random_loaded_tree(seed, bodies=3)
    change, supply, size = _energy_rate_and_supply(mechanism, _state(mechanism, seed))
    assert change == pytest.approx(supply, abs=1e-9 * max(size, abs(change), 1.0))


@pytest.mark.parametrize(
    ("statement", "moves"),
    [
        ("constraint c | x = 0.1*sin(t) + z;", True),
        ("constraint c | x' = 2*z' + 0.3;", True),
        ("constraint c | x' = 2*z' + cos(q)*q';", False),
        ("constraint c | x = 2*z;", False),
        ("inputs u = sin(t); constraint c | x = u;", True),
        ("inputs u = 2; constraint c | x = u;", False),
        ("define f = sin(t); constraint c | x = f;", True),
        ("loop L | spherical | Arm: Sz(-1) | Sx(0.1*t);", True),
    ],
)
def test_what_laws_of_time_move_is_known(statement: str, moves: bool) -> None:
    text = DRIVEN.replace("sin(t)", "0").replace("sin(3*t)", "1").replace("cos(t)", "1")
    mechanism = kg.parse(text + statement)
    assert has_prescribed_motion(mechanism) is moves
    assert ("supplied" in balance_names(mechanism)) is moves


def test_surfaces_that_move_are_known() -> None:
    ball = "model b; coordinates x, z = 1; Ball | Sx(x), Sz(z) | m(1); "
    still, belt, lift = (
        kg.parse(ball + one)
        for one in (
            "contact c | z >= 0 | friction(0.3), slip(x');",
            "contact c | z >= 0 | friction(0.3), slip(x' - 1);",
            "contact c | z >= 0.1*sin(t);",
        )
    )
    assert [has_prescribed_contacts(one) for one in (still, belt, lift)] == [False, True, True]
    assert [has_prescribed_motion(one) for one in (still, belt, lift)] == [False] * 3
