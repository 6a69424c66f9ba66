"""Physical identities on random trees with every kind of transform."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from kinegraph.compiler.request import arguments_of, bound_parameters
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.graph import law
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Output
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.systems import RecursiveSystem
from tests.derive.rates import along_velocities
from tests.effort import SOAK
from tests.mechanisms import random_state, random_tree

QUANTITIES = ("tau", "H", "C", "coriolis", "gravity", "bias", "qdd", "energy", "momentum")
SEEDS = range(200 if SOAK else 12)


def _values(mechanism: Mechanism, seed: int) -> dict[str, float]:
    q, v, a, t = random_state(mechanism, seed)
    values = dict(zip(mechanism.layout.positions, q, strict=True)) | {"t": t}
    values |= dict(zip(mechanism.layout.velocities, v, strict=True))
    return values | dict(zip(mechanism.layout.accelerations, a, strict=True))


def _graph(mechanism: Mechanism, body: str):
    """All quantities, and the derivatives along v of H, the potential and a body's pose, in one graph."""
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), Plan())
    words = (*QUANTITIES, f"pose:{body}", f"jacobian:{body}")
    outputs = [derivation.output(Quantity.parse(word)) for word in words]
    rate = along_velocities(derivation)
    for output in (outputs[1], outputs[7], outputs[-2]):
        outputs.append(Output(f"rate of {output.name}", output.shape, tuple(rate(node) for node in output.nodes)))
    graph = derivation.builder.graph(outputs)
    law.check(graph)
    return graph


def _close(left: np.ndarray, right: np.ndarray, scale: float = 1.0, tolerance: float = 1e-12) -> None:
    size = max(1.0, scale, float(np.max(np.abs(right), initial=0)))
    np.testing.assert_allclose(left / size, right / size, rtol=0, atol=tolerance)


def _skew(w: np.ndarray) -> np.ndarray:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def _check_equations(values: Mapping[str, np.ndarray], v: np.ndarray, a: np.ndarray, rheonomic: bool) -> None:
    inertia, quadratic = values["H"], np.einsum("ikl,k,l", values["C"], v, v)
    scale = float(np.max(np.abs(values["tau"]), initial=0))
    _close(values["tau"], inertia @ a + values["bias"], scale)
    _close(inertia, inertia.T)
    assert np.all(np.linalg.eigvalsh(inertia) > 0)
    _close(values["C"], values["C"].transpose(0, 2, 1))
    _close(values["coriolis"] @ v, quadratic, scale)
    skew = values["rate of H"] - 2 * values["coriolis"]
    _close(skew, -skew.T, scale)
    _close(values["rate of energy"][1], values["gravity"] @ v, scale)
    if not rheonomic:
        _close(values["bias"], quadratic + values["gravity"], scale)
        _close(values["energy"][0], v @ inertia @ v / 2, scale)


def _check_kinematics(values: Mapping[str, np.ndarray], body: str, v: np.ndarray) -> None:
    pose, rate = values[f"pose:{body}"], values[f"rate of pose:{body}"]
    linear, angular = np.split(values[f"jacobian:{body}"] @ v, 2)
    _close(pose[:3, :3] @ pose[:3, :3].T, np.eye(3))
    _close(rate[:3, 3], linear)
    _close(rate[:3, :3], _skew(angular) @ pose[:3, :3])


@pytest.mark.parametrize("seed", SEEDS)
def test_identities(seed: int) -> None:
    mechanism = random_tree(seed, bodies=2 + seed % 4)
    body = mechanism.bodies[-1].name
    graph = _graph(mechanism, body)
    state = _values(mechanism, seed)
    v, a = (
        np.array([state[name] for name in names])
        for names in (mechanism.layout.velocities, mechanism.layout.accelerations)
    )
    forces = interpret(graph, state | dict.fromkeys(mechanism.layout.forces, 0.0))["tau"]
    state |= dict(zip(mechanism.layout.forces, forces, strict=True))
    values = interpret(graph, state)
    _check_equations(values, v, a, depends_on_time(mechanism))
    _check_kinematics(values, body, v)
    _close(values["qdd"], a, tolerance=1e-12 * np.linalg.cond(values["H"]))


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_looped_and_interpreted_agree(seed: int) -> None:
    mechanism = random_tree(seed, bodies=2 + seed % 4)
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), Plan())
    words = ("tau", "qdd", "energy")
    graph = derivation.builder.graph([derivation.output(Quantity.parse(word)) for word in words])
    q, v, a, t = random_state(mechanism, seed)
    looped = RecursiveSystem(mechanism)
    forces = looped.tau(q, v, a, t)
    arguments = arguments_of(mechanism, words)
    given = {"q": q, "v": v, "a": a, "tau": forces, "t": t}
    compiled = compile_graph(graph, arguments)(*(given[argument.name] for argument in arguments))
    state = _values(mechanism, seed) | dict(zip(mechanism.layout.forces, forces, strict=True))
    interpreted = interpret(graph, state)
    accuracy = 1e-12 * np.linalg.cond(looped.inertia(q, t))
    for word, tolerance in (("tau", 1e-12), ("energy", 1e-12), ("qdd", accuracy)):
        _close(compiled[word], interpreted[word], tolerance=tolerance)
    _close(forces, interpreted["tau"])
    _close(np.array(looped.energy(q, v, t)), interpreted["energy"])
    _close(looped.qdd(q, v, forces, t), interpreted["qdd"], tolerance=accuracy)
