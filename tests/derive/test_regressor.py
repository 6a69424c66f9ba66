"""The regressor: the number of base parameters is the published one, and Y pi is tau, proved."""

from __future__ import annotations

import pytest

from kinegraph import library
from kinegraph.compile import bound_parameters
from kinegraph.derive.derivation import Derivation, Plan
from kinegraph.derive.quantity import Quantity
from kinegraph.graph.node import Output
from kinegraph.graph.prove import prove
from kinegraph.graph.scalar import Scalar


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
    """Without gravity a first link on a fixed axis tells its moment about the axis only."""
    mechanism = library.mechanism("pendulum-2")
    still = type(mechanism)(mechanism.name, mechanism.bodies, mechanism.coordinates)
    base = Derivation(still, bound_parameters(still, True, None), Plan()).base_parameters
    assert [parameter.name.partition(":")[0] for parameter in base.parameters] == ["Iyy", "Iyy", "mx", "mz"]
    assert all(isinstance(parameter.value, Scalar) for parameter in base.parameters)
