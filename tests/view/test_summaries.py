"""What is printed of large objects is short: nobody reads thousands of characters (fault 26)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.base_parameters import BaseParameter, BaseParameters, base_parameters
from kinegraph.graph.node import Graph
from kinegraph.solve.solution import Solution


def large_graph() -> Graph:
    return kg.derive(kg.load("rackovic-14r"), "H,gravity")


def long_run() -> Solution:
    return kg.simulate(kg.load("pendulum-20"), 0.1, progress=False)


LARGE: dict[str, Callable[[], object]] = {
    "graph": large_graph,
    "reduction": lambda: kg.reduce(kg.derive(kg.load("five-link-tree"), "tau"), kg.Effort.QUICK, prove=False),
    "solution": long_run,
    "sweep": lambda: kg.sweep(kg.load("double-pendulum"), 0.1, over={"q1": np.linspace(0, 1, 200)}, progress=False),
    "base parameters": lambda: base_parameters(kg.load("puma560")),
    "kernel": lambda: kg.compile(kg.load("double-pendulum"), "tau"),
}


@pytest.mark.parametrize("what", LARGE)
def test_what_is_printed_is_short(what: str) -> None:
    found = LARGE[what]()
    assert repr(found).startswith("<") and len(repr(found)) < 1000
    if what != "base parameters":  # formulas are what they are printed for
        assert len(str(found)) < 1500


def test_a_graph_says_what_it_computes_and_what_that_costs() -> None:
    graph = kg.derive(kg.load("double-pendulum"), "H,gravity")
    assert repr(graph).startswith("<Graph H[2, 2], gravity[2]: ")
    assert str(kg.count(graph)) in repr(graph)
    assert f"{len(graph)} nodes" in repr(graph)


def test_a_solution_says_how_it_went_and_what_it_holds() -> None:
    run = kg.simulate(kg.load("double-pendulum"), 0.1, times=10, progress=False)
    assert "the end time was reached" in repr(run) and "11 rows of t, q1, q2" in repr(run)
    assert "array(" not in repr(run)


def test_base_parameters_are_a_table_in_notebooks() -> None:
    found = base_parameters(kg.load("double-pendulum"))
    shown = found._repr_html_()
    assert shown is not None and f"<td>{found.parameters[0].name}</td>" in shown
    many = BaseParameters(tuple(BaseParameter("m", f"<b>{k}", "x") for k in range(100)), ("<i>",), False)
    shown = many._repr_html_()
    assert shown is not None and "60 more" in shown and "smaller set" in shown
    assert "<b>" not in shown and "no effect: &lt;i&gt;" in shown
