"""The dissertation's steps: a case never ends above its start, and says where steps were taken back."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.graph.node import Graph
from kinegraph.graph.text import read
from kinegraph.passes import like_rackovic as module
from kinegraph.passes.analytic_expansion import Limits
from kinegraph.passes.like_rackovic import like_rackovic
from kinegraph.passes.rackovic import ExtractMonomials
from tests.graph.mechanics import newton_euler

#: Written out, eight terms of three factors.
PRODUCT = """\
%0 = input "a"
%1 = input "b"
%2 = input "c"
%3 = %0 + %1
%4 = %0 + %2
%5 = %1 - %2
%6 = %3 %4 %5
output "y" () = %6
"""


class Idle(ExtractMonomials):
    """As if the system were too large for it."""

    def apply(self, graph: Graph) -> Graph:
        return graph


def test_a_case_that_ends_above_an_earlier_step_goes_back_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a large model, where the outputs can be written out but not factored again."""
    monkeypatch.setattr(module, "_MONOMIALS", Idle())
    monkeypatch.setattr(module, "_PRODUCTS", Idle())
    graph = read(PRODUCT)
    cases = like_rackovic(graph)
    assert any(case.result.name.startswith("back to ") for case in cases)
    for case in cases:
        last = case.steps[-1]
        assert last.operations == kg.count(case.graph)
        assert last.operations.total <= case.steps[0].operations.total
        assert last.name.startswith("back to ") == (case.steps[-2].operations.total > last.operations.total)
        kg.prove(graph, case.graph).require()


def test_steps_that_are_too_large_leave_the_graph_and_say_so() -> None:
    for case in like_rackovic(newton_euler([2, 1]), Limits(terms=2, total=2, work=10)):
        assert case.result.operations.total <= case.steps[0].operations.total
        assert not all(step.changed for step in case.steps)
        # Writing out alone has limits: other steps that change nothing found nothing to change.
        assert {step.name.removeprefix("part: ") for step in case.steps if step.too_large} == {"analytic expressions"}
