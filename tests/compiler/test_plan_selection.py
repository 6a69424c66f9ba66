"""Plan selection: equal equations, the same by the same seed, ended early by an interrupt."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.compiler.plan_selection import NEARLY, PlanSelection, best_of_near_ties, plan_selection_of, seconds_left
from kinegraph.compiler.request import bound_parameters, quantities_of
from kinegraph.derive.quantities.plan_search import PlanSearch
from kinegraph.graph.proof import prove
from kinegraph.interrupt import Interrupt
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce
from tests.mechanisms import Joint, random_tree

BRIEF = PlanSelection(judged=4, work=100, finalists=2, final_work=200, derived_nodes=500)


def _plans() -> PlanSearch:
    mechanism = random_tree(3, bodies=2, joints=(Joint.REVOLUTE,))
    return PlanSearch(mechanism, quantities_of("tau"), bound_parameters(mechanism, False, None))


def test_the_winner_is_proved_and_the_same_by_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinegraph.compiler.plan_selection.can_be_written_out", lambda graph: False)
    plans = _plans()
    start = plans.best()
    winner = BRIEF.winner(plans, start, 1, Interrupt())
    prove(start.graph, winner.graph).require()
    again = BRIEF.winner(_plans(), _plans().best(), 1, Interrupt())
    assert again.plan == winner.plan


def test_an_interrupt_leaves_the_start() -> None:
    plans, interrupt = _plans(), Interrupt()
    interrupt.request()
    start = plans.best()
    assert BRIEF.winner(plans, start, 0, interrupt).graph == start.graph


def test_what_can_be_written_out_needs_no_selection() -> None:
    mechanism = kg.load("double-pendulum")
    plans = PlanSearch(mechanism, quantities_of("H"), bound_parameters(mechanism, True, None))
    start = plans.best()
    assert BRIEF.winner(plans, start, 0, Interrupt()) is start


def test_near_ties_are_judged_by_what_passes_leave() -> None:
    """The Stanford arm: one operation more as derived, one fewer once reduced, as before anything was carried over."""
    mechanism = kg.load("stanford")
    plans = PlanSearch(mechanism, quantities_of("qdd"), bound_parameters(mechanism, True, None))
    cheapest = plans.best()
    ties = plans.near(cheapest, NEARLY)
    assert ties[0] is cheapest and len({one.graph.nodes for one in ties}) == len(ties) > 1
    found = best_of_near_ties(plans, cheapest)
    assert found in ties and found.cost > cheapest.cost
    prove(cheapest.graph, found.graph).require()
    left = [kg.count(reduce(one.graph, Effort.QUICK, prove=False).graph).total for one in (cheapest, found)]
    assert left == [82, 81]


def test_large_graphs_are_not_judged_at_quick_effort() -> None:
    mechanism = kg.load("puma560")
    plans = PlanSearch(mechanism, quantities_of("qdd"), bound_parameters(mechanism, True, None))
    cheapest = plans.best()
    assert best_of_near_ties(plans, cheapest) is cheapest


def test_a_search_by_the_clock_has_its_seconds_shared() -> None:
    selection = plan_selection_of(Effort.SEARCH, 10.0)
    left = seconds_left(10.0)
    assert selection.seconds is not None and left is not None
    assert selection.seconds + left == 10.0
    assert plan_selection_of(Effort.NORMAL, None).seconds is None
    assert seconds_left(None) is None
