"""What a notebook shows: tables, formulas, plots; and nothing a model says becomes markup."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate import Status, Sweep, simulate
from kinegraph.view.plot import figure
from tests.solve.problems import PENDULUM

#: XML that every table must be part of to be read.
PAGE = "<page>{}</page>"


def cells(html: str) -> list[str]:
    root = ElementTree.fromstring(PAGE.format(html))
    return [cell.text or "" for cell in root.iter() if cell.tag in ("td", "th")]


def test_a_mechanism_is_shown_as_its_records() -> None:
    html = kg.load("double-pendulum")._repr_html_()
    assert html is not None
    assert "2 bodies" in html and "Lower~Upper" in html
    long = kg.load("pendulum-60")._repr_html_()
    assert long is not None and long.rstrip("</pre>").endswith("...")


def test_equations_are_typeset_while_they_can_be_read() -> None:
    small = kg.derive(kg.load("double-pendulum"), "H")
    formulas = small._repr_latex_()
    assert formulas is not None and r"\begin{align*}" in formulas and "%" not in formulas
    assert small._repr_html_() is None
    large = kg.derive(kg.load("rackovic-14r"), "H,C")
    assert large._repr_latex_() is None
    table = large._repr_html_()
    assert table is not None and str(kg.count(large).mul) in cells(table)


def test_counts_and_reductions_are_tables() -> None:
    reduction = kg.reduce(kg.derive(kg.load("double-pendulum"), "tau"), effort=kg.Effort.QUICK)
    counts = kg.count(reduction.graph)
    table = counts._repr_html_()
    assert table is not None
    assert cells(table)[:2] == ["mul", "add"] and cells(table)[7:9] == [str(counts.mul), str(counts.add)]
    steps = reduction._repr_html_()
    assert steps is not None and "proved equal" in steps and reduction.reports[0].name in cells(steps)


def test_a_solution_is_shown_with_its_plot() -> None:
    run = simulate(kg.load("double-pendulum"), 1, times=20)
    html = run._repr_html_()
    assert html is not None
    root = ElementTree.fromstring(PAGE.format(html))
    assert [child.tag for child in root][::2] == ["pre", "table"]
    assert root[1].tag.endswith("svg")
    table = cells(html)
    row = table.index("q1")
    assert float(table[row + 2]) == pytest.approx(run["q1"][-1], rel=1e-5)
    assert run._repr_latex_() is None


def test_a_sweep_is_shown_by_its_ends() -> None:
    ends = np.array([[[1.0, 4.0]], [[2.0, 5.0]], [[6.0, 9.0]]])
    over, steps = {"q": np.zeros(3)}, np.ones(3, dtype=np.int64)
    sweep = Sweep("<b>", over, ("q", "q'"), np.ones(1), ends, (Status.FINISHED,) * 3, steps, 0.1)
    shown = sweep._repr_html_()
    assert shown is not None and "<b>" not in shown
    assert cells(shown)[3:9] == ["least", "1", "4", "median", "2", "5"]


@pytest.mark.soak
def test_names_are_escaped() -> None:
    """Names of a model are letters, digits, _ and $; whoever builds objects by hand gets no further."""
    evil = "<script>alert(1)</script>"
    run = simulate(kg.load("double-pendulum"), 0.1, times=2)
    renamed = replace(run, model=evil, columns={evil if name == "q2" else name: c for name, c in run.columns.items()})
    renamed = replace(renamed, positions=("q1", evil))
    html = renamed._repr_html_()
    assert html is not None and "<script" not in html
    mechanism = replace(kg.load("double-pendulum"), name=evil)
    shown = mechanism._repr_html_()
    assert shown is not None and "<script" not in shown


def test_dollars_in_names_are_no_formulas() -> None:
    run = replace(simulate(kg.load("double-pendulum"), 0.1, times=2), model=r"a$\frac{$b")
    figure(run).canvas.draw()


def test_energies_are_drawn_from_the_start_of_a_far_potential() -> None:
    """A pendulum a kilometer up: without this all curves are flat lines."""
    high = kg.parse("model high; coordinates q = 1; gravity 0,0,-9.81; A | Sz(1000), Ry(q) | Sz(-1), m(1);")
    panel = figure(simulate(high, 1, times=50)).axes[2]
    assert "potential relative to" in panel.get_ylabel()
    heights = [np.ptp(line.get_ydata()) for line in panel.lines]
    bottom, top = panel.get_ylim()
    assert heights[0] > 0.3 * (top - bottom)
    low = figure(simulate(kg.parse(PENDULUM), 1, times=50)).axes[2]
    assert low.get_ylabel() == "J"
