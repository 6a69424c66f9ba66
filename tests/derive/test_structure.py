"""Structure matrices of elements: W^T times the efforts of an element are its generalized forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.graph.interpret import interpret
from kinegraph.model.elements import Element, Force, Moment, PointForce, Potential
from kinegraph.model.expressions import expression
from kinegraph.model.mechanism import Mechanism
from tests.derive.random_elements import _MAKERS, random_loaded_tree
from tests.effort import SOAK
from tests.mechanisms import Floats, random_state

ONE, ZERO = expression(1), expression(0)


def _values(mechanism: Mechanism, words: list[str], seed: int) -> dict[str, Floats]:
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), Plan())
    graph = derivation.builder.graph([derivation.output(Quantity.parse(word)) for word in words])
    q, v, _, t = random_state(mechanism, seed)
    state = dict(zip(mechanism.layout.positions, q, strict=True)) | dict(
        zip(mechanism.layout.velocities, v, strict=True)
    )
    return interpret(graph, state | {"t": t} | dict.fromkeys(mechanism.layout.inputs, 0.7))


def _acting_with_one(element: Element, component: int) -> Element:
    """An element of value one with the target of the given element."""
    units = (expression(int(component == 0)), expression(int(component == 1)), expression(int(component == 2)))
    if isinstance(element, PointForce | Moment):
        return replace(element, components=units)
    if isinstance(element, Potential):
        return element
    return Force(element.name, ONE, element.on)


@pytest.mark.parametrize("kind", sorted(_MAKERS))
@pytest.mark.parametrize("seed", range(5 if SOAK else 2))
def test_every_kind_of_element_has_one(kind: str, seed: int) -> None:
    mechanism = random_loaded_tree(seed, bodies=4, count=1, kinds=(kind,))
    (element,) = mechanism.elements
    word = f"structure:{element.name}"
    matrix = _values(mechanism, [word], seed)[word]
    rows = 3 if isinstance(element, PointForce | Moment) else 1
    assert matrix.shape == (rows, len(mechanism.layout.velocities))
    sign = -1 if isinstance(element, Potential) else 1
    for component, row in enumerate(matrix):
        unit = replace(mechanism, elements=(_acting_with_one(element, component),))
        np.testing.assert_allclose(sign * row, _values(unit, ["forces"], seed)["forces"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", sorted(_MAKERS))
@pytest.mark.parametrize("seed", range(3 if SOAK else 2))
def test_forces_are_the_structure_matrix_times_the_effort(kind: str, seed: int) -> None:
    mechanism = random_loaded_tree(seed, bodies=3, count=1, kinds=(kind,))
    name = mechanism.elements[0].name
    found = _values(mechanism, ["forces", f"structure:{name}", f"effort:{name}"], seed)
    expected = found[f"structure:{name}"].T @ np.atleast_1d(found[f"effort:{name}"])
    np.testing.assert_allclose(found["forces"], expected, rtol=1e-9, atol=1e-9)


def test_dampers_and_springs_on_one_target_have_the_same_matrix() -> None:
    """d beta/dq' = d gamma/dq where beta is the rate of gamma."""
    text = """coordinates q1, q2; A | Rz(q1) | Sx(1), m(1); B~A | Sx(2), Rz(q2) | Sx(1), m(1);
    spring S | on(q1*sin(q2)) stiffness(1); damper D | on(q1*sin(q2)) damping(1);"""
    found = kg.derive(kg.parse(text), "structure:S,structure:D")
    assert found.outputs[0].nodes == found.outputs[1].nodes
    assert kg.formula(found).count("sin(q2)") == 1
