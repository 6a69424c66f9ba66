"""The regressor: the number of base parameters is the published one, and Y pi is tau, proved."""

from __future__ import annotations

import pytest

from kinegraph import library
from kinegraph.compiler.base_parameters import base_parameters
from kinegraph.compiler.compile import derive
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.graph.build import Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Output
from kinegraph.graph.proof import prove


@pytest.mark.parametrize(
    ("model", "size"),
    [
        # Khalil and Gautier; measured_operation_counts lists the generators' own numbers
        ("puma-full", 36),
        ("rx90", 36),
        ("stanford-full", 33),
        # a planar chain in gravity: moment and two first moments per link
        ("pendulum-5", 15),
        # a body turning about a fixed point: six second and three first moments
        ("heavy-top", 9),
    ],
)
def test_minimal_parameters_give_tau(model: str, size: int) -> None:
    derivation = Derivation(library.mechanism(model), {}, Plan())
    base = derivation.base_parameters
    assert base.minimal
    assert len(base.parameters) == size
    zero = derivation.zero
    products = [
        sum((entry * parameter.value for entry, parameter in zip(row, base.parameters, strict=True)), start=zero)
        for row in base.matrix
    ]
    direct = derivation.output(Quantity("tau"))
    product = Output("tau", direct.shape, tuple(item.index for item in products))
    prove(derivation.builder.graph([direct]), derivation.builder.graph([product])).require()


def test_columns_that_depend_on_each_other_are_merged() -> None:
    """Without gravity, only the moment about its axis is identifiable for a first link on a fixed axis."""
    mechanism = library.mechanism("pendulum-2")
    still = type(mechanism)(mechanism.name, mechanism.bodies, mechanism.coordinates)
    base = Derivation(still, bound_parameters(still, True, None), Plan()).base_parameters
    assert [parameter.name.partition(":")[0] for parameter in base.parameters] == ["Iyy", "Iyy", "mx", "mz"]
    assert all(isinstance(parameter.value, Scalar) for parameter in base.parameters)


def test_base_parameters_are_shown_as_formulas() -> None:
    """The regroupings of Khalil and Kleinfinger's PUMA: mass beyond the elbow moves to the shoulder."""
    found = base_parameters(library.mechanism("puma-full"))
    formulas = {parameter.name: parameter.formula for parameter in found.parameters}
    assert found.minimal and len(found) == 36
    assert formulas["Izz:L2"] == "(M3 + M4 + M5 + M6)*D3^2 + ZZ2"
    assert formulas["mx:L3"] == "(M4 + M5 + M6)*D4 + MX3"
    assert formulas["my:L5"] == "MY5 + MZ6"
    assert set(found.idle) == {"M1", "MX1", "MY1", "MZ1", "XX1", "XY1", "XZ1", "YY1", "YZ1", "M2", "MZ2"}


def test_formulas_have_the_values_of_the_base_parameters() -> None:
    mechanism = library.mechanism("stanford-full")
    values = {parameter.name: 0.3 + 0.01 * place for place, parameter in enumerate(mechanism.parameters)}
    graph = derive(mechanism, "base_parameters")
    direct = interpret(graph, values)["base_parameters"]
    read = [eval(p.formula.replace("^", "**"), {}, values) for p in base_parameters(mechanism).parameters]
    assert read == pytest.approx(list(direct), rel=1e-12)
