"""Derivatives written out against the derivative of the graph of what they are the derivative of."""

from __future__ import annotations

import numpy as np
import pytest

from kinegraph.compiler.compile import bound_parameters
from kinegraph.derive.derivatives.forces_and_accelerations import displacement_seeds
from kinegraph.derive.quantities.derivation import Derivation, Plan
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output
from kinegraph.model.mechanism import Mechanism
from tests.derive.random_elements import random_loaded_tree
from tests.mechanisms import random_state, random_tree


def _values(mechanism: Mechanism, seed: int) -> dict[str, float]:
    q, v, a, t = random_state(mechanism, seed)
    values = dict(zip(mechanism.layout.positions, q, strict=True)) | {"t": t}
    values |= dict(zip(mechanism.layout.velocities, v, strict=True)) | dict.fromkeys(mechanism.layout.inputs, 0.7)
    values |= dict(zip(mechanism.layout.forces, a[::-1], strict=True))
    return values | dict(zip(mechanism.layout.accelerations, a, strict=True))


def _differentiated(derivation: Derivation, name: str, by: str) -> Output:
    """d(name)/d(by) column by column from the graph, which knows nothing of mechanics."""
    mechanism, builder = derivation.mechanism, derivation.builder
    kinds = {
        "v": (Kind.VELOCITY, mechanism.layout.velocities),
        "a": (Kind.ACCELERATION, mechanism.layout.accelerations),
        "tau": (Kind.INPUT, mechanism.layout.forces),
    }
    if by == "dq":
        seeds = displacement_seeds(mechanism, builder)
    else:
        seeds = [{builder.symbol(kinds[by][0], symbol): builder.one} for symbol in kinds[by][1]]
    inner = derivation.output(Quantity(name))
    columns = [[way(root) for root in inner.nodes] for way in (ForwardDerivative(builder, one) for one in seeds)]
    entries = tuple(entry for row in zip(*columns, strict=True) for entry in row)
    return Output(f"{name} by {by}", (len(inner.nodes), len(seeds)), entries)


def _check(mechanism: Mechanism, seed: int, words: tuple[tuple[str, str], ...]) -> None:
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), Plan())
    outputs = [derivation.output(Quantity(name, by=by)) for name, by in words]
    outputs += [_differentiated(derivation, name, by) for name, by in words]
    found = interpret(derivation.builder.graph(outputs), _values(mechanism, seed))
    for name, by in words:
        written, expected = found[f"d({name})/d({by})"], found[f"{name} by {by}"]
        scale = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(written / scale, expected / scale, rtol=0, atol=1e-10, err_msg=f"{name} by {by}")


@pytest.mark.parametrize("seed", range(60))
def test_forces_of_random_trees(seed: int) -> None:
    _check(random_tree(seed, bodies=5), seed, (("tau", "dq"), ("tau", "v"), ("tau", "a")))


@pytest.mark.parametrize("seed", range(12))
def test_accelerations_of_random_trees(seed: int) -> None:
    _check(random_tree(seed, bodies=3), seed, (("qdd", "dq"), ("qdd", "v"), ("qdd", "tau")))


@pytest.mark.parametrize("seed", range(12))
def test_elements_take_part(seed: int) -> None:
    mechanism = random_loaded_tree(seed, bodies=3, count=3)
    _check(mechanism, seed, (("tau", "dq"), ("tau", "v")))
