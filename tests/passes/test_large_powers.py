"""High powers, large multiples and deep nesting: written out nowhere, or refused at once with a clear error.

Nothing here has a time limit: what these expressions took before was hours and gigabytes.
"""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.errors import GraphError, NumberSizeError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.canonical import MOST_DIGITS
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import LARGEST_EXPONENT, Kind, Output
from kinegraph.graph.text import dump, read
from kinegraph.passes.analytic_expansion import without_square
from kinegraph.passes.common_subexpressions import FastExtract, Inline, Rebuild, ShareAngles
from kinegraph.passes.effort import Budget, Pass
from kinegraph.passes.expand import Analytic, Expand
from kinegraph.passes.rackovic import ExtractMonomials, FactorProducts, IdenticalExpressions
from kinegraph.passes.search import Search
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities

BRIEF = Budget(work=200)
PASSES: tuple[Pass, ...] = (
    Rebuild(), Inline(), FastExtract(), Search(BRIEF), Expand(), Analytic(BRIEF), ExtractMonomials(), FactorProducts(),
    ShareAngles(), TrigonometricIdentities(), IdenticalExpressions(),
)  # fmt: skip


def expressions() -> list[Scalar]:
    builder = GraphBuilder()
    q, r = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "qr")
    m = Scalar(builder, builder.symbol(Kind.PARAMETER, "m"))
    return [
        q**1000000,
        q**1000000 + q**999999 * r,
        (q + r) ** 1000,
        ((q**1000 + r) ** 1000 + q) ** 1000,
        q.sin() ** 1000000,
        (q**1000000).sin() * q,
        (100000 * q).sin() * q.cos(),
        (100000 * q + 99999 * r).cos() + (99999 * q).sin(),
        m**1000000 * q + (m + 2) ** 1000000 * r,
        (((q + r) ** 1000 + q) ** 1000).sin(),
        (q + r + 1) ** 60 + q,
    ]


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_pass_takes_high_powers(step: Pass) -> None:
    for scalar in expressions():
        graph = scalar.builder.graph([Output("y", (), (scalar.index,))])
        kg.prove(graph, step.apply(graph)).require()


def test_a_high_power_is_computed_by_squaring() -> None:
    power = expressions()[0]
    graph = kg.reduce(power.builder.graph([Output("y", (), (power.index,))]), kg.Effort.QUICK).graph
    assert kg.count(graph).mul <= 26  # 19 squarings, and six products where the exponent is odd


@pytest.mark.parametrize(
    "angle",
    ["100000*q", "q^1000000", "sin(q)^100000", "m^1000000*q", "((q^1000)^1000)^1000", "1e400*q", "(q + r)^64"],
)
def test_models_with_high_powers_are_reduced(angle: str) -> None:
    model = f"parameters m = 0.5; coordinates q, r; A | Rz(r + {angle}), Sx(q) | Sx(1), m(1), Jz(0.1);"
    assert kg.reduce(kg.derive(kg.parse(model), "tau"), kg.Effort.QUICK).proved


@pytest.mark.parametrize("number", ["3^10000000", "((((3^100)^100)^100)^100)", "2^(2^(2^(2^2)))", "(1/3)^9000"])
def test_numbers_of_thousands_of_digits_are_refused(number: str) -> None:
    model = kg.parse(f"coordinates q; A | Rz({number}*q) | Sx(1), m(1);")
    with pytest.raises(NumberSizeError, match=f"more than {MOST_DIGITS} digits"):
        kg.derive(model, "tau")


def test_two_hundred_functions_one_inside_the_other() -> None:
    for opening in ("sin(", "sqrt(1 + ", "exp(-"):
        model = f"coordinates q; A | Rz({opening * 198}q{')' * 198}) | Sx(1), m(1);"
        graph = kg.derive(kg.parse(model), "gravity,pose:A")
        assert kg.reduce(graph, kg.Effort.QUICK).proved


def test_numbers_that_grow_within_a_pass_leave_the_graph_as_it_is() -> None:
    """Written out, the outputs have numbers of 4500 digits: that variant is left out, the others are tried."""
    builder = GraphBuilder()
    q, r = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "qr")
    total = (q * (10**1500 + 1) + r) ** 3 + r
    graph = builder.graph([Output("y", (2,), (total.index, (total * q).index))])
    assert kg.reduce(graph, kg.Effort.QUICK).proved


def test_exponents_that_doubles_cannot_hold_are_refused() -> None:
    builder = GraphBuilder()
    q, m = Scalar(builder, builder.symbol(Kind.COORDINATE, "q")), Scalar(builder, builder.symbol(Kind.PARAMETER, "m"))
    for symbol in (q, m):
        largest = symbol**LARGEST_EXPONENT
        graph = builder.graph([Output("y", (), (largest.index,))])
        assert read(dump(graph)) == graph
        assert interpret(graph, {"q": 0.5, "m": 0.5})["y"] == 0
        for wrong in (lambda s=symbol: s ** (LARGEST_EXPONENT + 1), lambda s=symbol: s ** (10**400)):
            with pytest.raises(NumberSizeError, match="exponent of more than 2"):
                wrong()
    with pytest.raises(NumberSizeError):
        (m**LARGEST_EXPONENT) * m
    text = 'output "y" () = %1\n'
    for exponent in (str(2**53 + 1), "9" * 400, "9" * 5000):
        with pytest.raises(GraphError):
            read(f'%0 = coordinate "q"\n%1 = %0^{exponent}\n{text}')


def test_a_high_power_of_a_sine_is_written_out_by_the_binomial_theorem() -> None:
    """Squares replaced one at a time would double the terms at every step: 2^20 for sin(x)^40."""
    terms = {((0, 40), (1, 1)): 3}
    found = without_square(terms, 0, 1)
    assert len(found) == 21 and found[((1, 1),)] == 3 and found[((1, 41),)] == 3 and found[((1, 3),)] == -60
