"""Every pass: proved equal, lawful, never costlier, idempotent where it claims to be, no output lost."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, given, settings

from kinegraph.errors import ProofError
from kinegraph.graph import law
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.proof import prove
from kinegraph.interrupt import Interrupt
from kinegraph.passes import pipeline
from kinegraph.passes.analytic_expansion import Limits
from kinegraph.passes.by_parts import ByParts, Series
from kinegraph.passes.common_subexpressions import DeadCode, FastExtract, Inline, Rebuild, ShareAngles
from kinegraph.passes.compiled_search.anneal import RUN, Engine
from kinegraph.passes.effort import Budget, Effort, Pass, rank, running_time
from kinegraph.passes.expand import Analytic, Expand
from kinegraph.passes.pipeline import reduce
from kinegraph.passes.rackovic import ExtractMonomials, FactorProducts, IdenticalExpressions
from kinegraph.passes.search import Search
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities
from tests.effort import SOAK
from tests.passes.machines import arm_6r
from tests.passes.systems import graphs, odd_graphs

SMALL = Limits(terms=60, total=200)
BRIEF = Budget(work=300)

PASSES: tuple[Pass, ...] = (
    Rebuild(), DeadCode(), Inline(), FastExtract(), Search(BRIEF), Analytic(BRIEF, limits=SMALL, forms=2),
    ExtractMonomials(), FactorProducts(), ShareAngles(), TrigonometricIdentities(),
    TrigonometricIdentities(double_sines=False), IdenticalExpressions(),
    ByParts((TrigonometricIdentities(), ExtractMonomials(), FactorProducts())), Series((ExtractMonomials(),)), Series(),
)  # fmt: skip
IDEMPOTENT: tuple[Pass, ...] = (
    Rebuild(), DeadCode(), Inline(), FastExtract(), ShareAngles(), TrigonometricIdentities(), IdenticalExpressions(),
)  # fmt: skip

few = settings(max_examples=250 if SOAK else 12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
@given(graph=graphs())
@few
def test_pass_keeps_what_is_computed(step: Pass, graph: Graph) -> None:
    result = step.apply(graph)
    law.check(result)
    prove(graph, result).require()
    assert [(o.name, o.shape) for o in result.outputs] == [(o.name, o.shape) for o in graph.outputs]


@pytest.mark.parametrize(
    "step", [s for s in PASSES if s.name not in ("analytic", "inline")], ids=lambda step: step.name
)
@given(graph=graphs())
@few
def test_pass_never_raises_the_count(step: Pass, graph: Graph) -> None:
    assert count(step.apply(graph)).total <= count(graph).total


@given(graph=graphs())
@few
def test_expanding_keeps_what_is_computed(graph: Graph) -> None:
    result = Expand(SMALL).apply(graph)
    law.check(result)
    prove(graph, result).require()


@pytest.mark.parametrize("step", [*PASSES, Expand(SMALL), Expand(SMALL, forms=0)], ids=lambda step: step.name)
@given(graph=odd_graphs())
@few
def test_pass_takes_every_angle_and_function(step: Pass, graph: Graph) -> None:
    result = step.apply(graph)
    law.check(result)
    prove(graph, result).require()


@pytest.mark.soak
@given(graph=odd_graphs())
@settings(max_examples=3000 if SOAK else 20)
def test_reduce_takes_every_angle_and_function(graph: Graph) -> None:
    reduction = reduce(graph, Effort.QUICK)
    assert rank(count(reduction.graph)) <= rank(count(graph))


def test_a_cosine_that_is_shown_and_used_keeps_its_angle() -> None:
    """The smallest of 36 random systems that ended in a KeyError: another way to write y[1] needs a sine."""
    builder = GraphBuilder()
    q, m = (Scalar(builder, builder.symbol(k, n)) for k, n in ((Kind.COORDINATE, "q"), (Kind.PARAMETER, "m")))
    c = (q * m).cos()
    graph = builder.graph([Output("y", (2,), (c.index, (1 + c**3).index))])
    assert reduce(graph, Effort.QUICK).proved


@pytest.mark.parametrize("step", IDEMPOTENT, ids=lambda step: step.name)
@given(graph=graphs())
@few
def test_twice_is_once(step: Pass, graph: Graph) -> None:
    once = step.apply(graph)
    assert count(step.apply(once)) == count(once)


@given(graph=graphs())
@few
def test_reduce_never_raises_any_count_and_proves(graph: Graph) -> None:
    reduction = reduce(graph, Effort.QUICK)
    assert reduction.proved
    law.check(reduction.graph)
    assert rank(count(reduction.graph)) <= rank(count(graph))
    assert running_time(count(reduction.graph)) <= running_time(count(graph))


def test_quick_effort_reaches_its_target_on_the_arm() -> None:
    graph = arm_6r()
    reduction = reduce(graph, Effort.QUICK)
    assert count(reduction.graph).mul <= 81
    assert count(reduction.graph).add <= 58


def test_the_same_seed_gives_the_same_graph() -> None:
    graph = arm_6r()
    step = Analytic(Budget(work=20_000), seed=7, forms=4)
    assert step.apply(graph) == step.apply(graph)


def test_a_wrong_pass_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = GraphBuilder()
    x = builder.symbol(Kind.INPUT, "x")
    graph = builder.graph([Output("y", (), (builder.add(builder.multiply(x, x), x),))])
    wrong = builder.graph([Output("y", (), (x,))])
    monkeypatch.setattr(FastExtract, "apply", lambda self, graph: wrong)
    with pytest.raises(ProofError):
        reduce(graph, Effort.QUICK)


def test_interrupting_returns_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the midst of a search: it keeps its best, and no pass follows."""
    graph = arm_6r()
    runs: list[int] = []
    do = Engine._do

    def interrupted(self: Engine, command: int, first: int = 0, second: int = 0) -> int:
        runs.extend([1] if command == RUN else [])
        if len(runs) == 40:
            os.kill(os.getpid(), signal.SIGINT)
        return do(self, command, first, second)

    monkeypatch.setattr(Engine, "_do", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    reduction = reduce(graph, Effort.SEARCH, seconds=3600)
    assert signal.getsignal(signal.SIGINT) is handler
    assert reduction.proved
    assert reduction.reports[-1].name == "search"
    assert len(runs) < 50
    assert count(reduction.graph).total < count(graph).total


def test_a_token_ends_a_reduction_from_elsewhere() -> None:
    graph = arm_6r()
    interrupt = Interrupt()
    names: list[str] = []

    def note(report: pipeline.PassReport) -> None:
        names.append(report.name)
        if report.name == "fast_extract":
            interrupt.request()

    reduction = reduce(graph, Effort.NORMAL, on_pass=note, interrupt=interrupt)
    assert names == ["rebuild", "dead_code", "fast_extract"]
    assert reduction.proved
    assert count(reduction.graph).total < count(graph).total


def test_a_token_requested_before_leaves_the_graph() -> None:
    interrupt = Interrupt()
    interrupt.request()
    graph = arm_6r()
    assert reduce(graph, interrupt=interrupt).graph is graph
