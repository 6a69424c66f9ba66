"""Pictures of solutions: what is written in them can be read."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import kinegraph as kg
from kinegraph.view.plot import figure, save_figure, styled, widen
from kinegraph.view.task_figures import panels_of, unit_of


@pytest.mark.parametrize("model", ["double-pendulum", "free-body", "kidym-biped-new"])
def test_titles_and_legends_do_not_overlap(model: str) -> None:
    """Few names or many, short or long: all words of a panel have a place of their own, inside the picture."""
    picture = figure(kg.simulate(model, 0.05, native=False, method="rk4", step=0.01))
    canvas = FigureCanvasAgg(picture)
    canvas.draw()
    for panel in picture.axes:
        words = [panel.title, panel._left_title, panel.xaxis.label, panel.yaxis.label, panel.get_legend()]
        boxes = [word.get_window_extent() for word in words if word is not None]
        boxes = [box for box in boxes if box.width > 0 and box.height > 0]
        assert len(boxes) >= 3
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2)), panel.get_title(loc="left")
        assert all(box.x0 >= 0 and box.x1 <= picture.bbox.width for box in boxes)


def test_no_two_curves_look_the_same() -> None:
    picture = figure(kg.simulate("kidym-biped-new", 0.05, native=False, method="rk4", step=0.01))
    looks = [(line.get_color(), line.get_linestyle()) for line in picture.axes[0].lines]
    assert len(looks) == 12 == len(set(looks))


def small_figure(heights: list[float]) -> Figure:
    with styled():
        page = Figure(figsize=(2, 2))
        panel = page.subplots()
        panel.plot([0.0, 1.0], heights)
        widen(panel)
    return page


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_a_figure_gives_the_same_bytes_at_any_time(kind: str, tmp_path, monkeypatch) -> None:
    first = save_figure(small_figure([0, 1]), tmp_path / f"first.{kind}")
    monkeypatch.setattr(time, "time", lambda: 1e9)  # of another year
    second = save_figure(small_figure([0, 1]), tmp_path / f"second.{kind}")
    assert first.read_bytes() == second.read_bytes()


def test_rounding_is_drawn_as_a_straight_line() -> None:
    low, high = small_figure([10.0, 10.000001]).axes[0].get_ylim()
    assert high - low > 1e-4
    low, high = small_figure([10.0, 10.01]).axes[0].get_ylim()
    assert high - low < 0.02


def test_curves_of_different_units_have_panels_of_their_own() -> None:
    units = {"turn": "rad", "slide": "m", "turn'": "rad/s"}
    assert [unit_of(name, units) for name in ("turn'", "turn''", "slide''", "tau:turn", "tau:slide", "energy^2")] == [
        "rad/s", "rad/s²", "m/s²", "N m", "N", "",
    ]  # fmt: skip
    panels = panels_of(dict.fromkeys(("turn", "energy^2", "slide", "tau:turn"), np.zeros(2)), units)
    assert [(one.unit, list(one.curves)) for one in panels] == [
        ("rad", ["turn"]), ("energy^2", ["energy^2"]), ("m", ["slide"]), ("N m", ["tau:turn"]),
    ]  # fmt: skip
