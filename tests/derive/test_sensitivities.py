"""Recursive derivatives agree with derivatives of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.dynamics.derivatives import displacement_seeds
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output
from kinegraph.model.mechanism import Mechanism
from tests.derive.random_elements import random_loaded_tree
from tests.effort import SOAK
from tests.mechanisms import random_state, random_tree

FEW = [0, 1, 3, 10, 24]  # trees with all kinds of joints but one


def _values(mechanism: Mechanism, seed: int) -> dict[str, float]:
    q, v, a, t = random_state(mechanism, seed)
    values = dict(zip(mechanism.layout.positions, q, strict=True)) | {"t": t}
    values |= dict(zip(mechanism.layout.velocities, v, strict=True)) | dict.fromkeys(mechanism.layout.inputs, 0.7)
    values |= dict(zip(mechanism.layout.forces, a[::-1], strict=True))
    return values | dict(zip(mechanism.layout.accelerations, a, strict=True))


def _differentiated(derivation: Derivation, name: str, by: str) -> Output:
    """d(name)/d(by) column by column, by differentiating the graph."""
    inner = derivation.output(Quantity(name))
    seeds = _seeds(derivation, by)
    ways = [ForwardDerivative(derivation.builder, one) for one in seeds]
    columns = [[way(root) for root in inner.nodes] for way in ways]
    entries = tuple(entry for row in zip(*columns, strict=True) for entry in row)
    return Output(f"{name} by {by}", (len(inner.nodes), len(seeds)), entries)


def _seeds(derivation: Derivation, by: str) -> Sequence[Mapping[int, int]]:
    """The derivatives of the symbols by each variable."""
    mechanism, builder = derivation.mechanism, derivation.builder
    kinds = {
        "q": (Kind.COORDINATE, mechanism.layout.positions),
        "v": (Kind.VELOCITY, mechanism.layout.velocities),
        "a": (Kind.ACCELERATION, mechanism.layout.accelerations),
        "tau": (Kind.INPUT, mechanism.layout.forces),
    }
    if by == "dq":
        return displacement_seeds(mechanism, builder)
    kind, names = kinds[by]
    if by == "q":
        return [_turned(derivation, name) for name in names]
    return [{builder.symbol(kind, name): builder.one} for name in names]


def _turned(derivation: Derivation, name: str) -> Mapping[int, int]:
    """The derivatives of positions by one of them; the components of a quaternion change together."""
    layout, builder = derivation.mechanism.layout, derivation.builder
    one = Scalar(builder, builder.symbol(Kind.COORDINATE, name))
    for first in layout.quaternions:
        four = layout.positions[first : first + 4]
        if name in four:
            components = [one.symbol(Kind.COORDINATE, other) for other in four]
            return {other.index: ((1 if other == one else 0) - one * other).index for other in components}
    return {one.index: builder.one}


def _check(mechanism: Mechanism, seed: int, words: tuple[tuple[str, str], ...]) -> None:
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), Plan())
    outputs = [derivation.output(Quantity(name, by=(by,))) for name, by in words]
    outputs += [_differentiated(derivation, name, by) for name, by in words]
    found = interpret(derivation.builder.graph(outputs), _values(mechanism, seed))
    for name, by in words:
        written, expected = found[f"d({name})/d({by})"], found[f"{name} by {by}"]
        scale = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(written / scale, expected / scale, rtol=0, atol=1e-10, err_msg=f"{name} by {by}")


@pytest.mark.parametrize("seed", range(60 if SOAK else 8))
def test_forces_of_random_trees(seed: int) -> None:
    _check(random_tree(seed, bodies=5), seed, (("tau", "dq"), ("tau", "v"), ("tau", "a")))


@pytest.mark.parametrize("seed", sorted({*FEW, *range(12)}) if SOAK else FEW)
def test_accelerations_of_random_trees(seed: int) -> None:
    _check(random_tree(seed, bodies=3), seed, (("qdd", "dq"), ("qdd", "v"), ("qdd", "tau")))


@pytest.mark.parametrize("seed", sorted({*FEW, *range(12)}) if SOAK else FEW)
def test_elements_take_part(seed: int) -> None:
    mechanism = random_loaded_tree(seed, bodies=3, count=3)
    _check(mechanism, seed, (("tau", "dq"), ("tau", "v")))


@pytest.mark.parametrize("seed", range(4 if SOAK else 2))
@pytest.mark.parametrize(
    "word", ["d(d(tau)/d(dq))/d(v)", "d(d(qdd)/d(v))/d(tau)", "d(d(H)/d(q))/d(q)", "d(d(d(energy)/d(v))/d(v))/d(v)"]
)
def test_derivatives_nest(seed: int, word: str) -> None:
    """Second derivatives: the graph derivative of the recursive one, against two graph derivatives."""
    mechanism = random_tree(seed, bodies=3)
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), Plan())
    quantity = Quantity.parse(word)
    nodes: tuple[int, ...] = derivation.output(quantity.undifferentiated).nodes
    for by in quantity.by:
        ways = [ForwardDerivative(derivation.builder, seeds) for seeds in _seeds(derivation, by)]
        nodes = tuple(way(root) for root in nodes for way in ways)
    asked = derivation.output(quantity)
    found = interpret(derivation.builder.graph([asked, Output("plain", asked.shape, nodes)]), _values(mechanism, seed))
    scale = max(1.0, float(np.max(np.abs(found["plain"]))))
    np.testing.assert_allclose(found[word] / scale, found["plain"] / scale, rtol=0, atol=1e-9)
