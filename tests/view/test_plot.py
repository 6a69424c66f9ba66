"""Pictures of solutions: what is written in them can be read."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import kinegraph as kg
from kinegraph.view.plot import figure


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
