"""Long chains: what is written out straight takes a time that grows with the bodies, and what cannot be is refused."""

from __future__ import annotations

import logging

import pytest

import kinegraph as kg
from kinegraph.compiler.request import request_of
from kinegraph.derive.plan import ForwardMethod
from kinegraph.derive.quantities.plan_search import PlanSearch
from kinegraph.derive.quantities.quantity import MANY, entries, parse_list
from kinegraph.errors import DerivationError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.passes.factoring.convert import to_system
from kinegraph.passes.factoring.extract import factored


def chain(bodies: int) -> Graph:
    """The sum over bodies of squares of sums along the chain, as energies are."""
    builder = GraphBuilder()
    total = velocity = Scalar(builder, builder.zero)
    for k in range(bodies):
        angle, rate = (Scalar(builder, builder.symbol(kind, f"x{k}")) for kind in (Kind.COORDINATE, Kind.VELOCITY))
        velocity = velocity + rate * angle
        total = total + velocity * velocity
    return builder.graph([Output("total", (), (total.index,)), Output("velocity", (), (velocity.index,))])


def test_sharing_takes_a_time_that_grows_with_the_bodies() -> None:
    """By the work that is counted, not by a clock: twice the bodies took eight times the work."""
    work = [factored(lambda size=size: to_system(chain(size))).system.work for size in (80, 160)]  # type: ignore[misc]
    assert work[1] < 3.5 * work[0]


def test_long_chains_are_never_factorized() -> None:
    for bodies, wanted in ((20, ForwardMethod.FACTORIZE), (80, ForwardMethod.ARTICULATED)):
        search = PlanSearch(kg.load(f"pendulum-{bodies}"), parse_list("qdd"), {})
        assert search._first_plan.forward is wanted


def test_what_has_too_many_entries_is_refused_and_large_ones_are_announced(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(DerivationError, match=r"C of pendulum-300 has 27,000,000 entries"):
        kg.compile("pendulum-300", "C")
    with pytest.raises(DerivationError, match=r"d\(H\)/d\(q\) of pendulum-300"):
        kg.derive("pendulum-300", "d(H)/d(q)")
    mechanism = kg.load("pendulum-200")
    inertia, jacobian = parse_list("H,jacobian:rod200")
    assert entries(mechanism, inertia) == 40_000 > MANY > entries(mechanism, jacobian) == 1200
    with caplog.at_level(logging.WARNING, "kinegraph"):
        request_of(mechanism, "H,tau")
    assert "H of pendulum-200 has 40,000 entries" in caplog.text and "tau of" not in caplog.text
