"""Plots and pages of solutions, mechanisms and studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.view.page.live_page import live_page as live_page
    from kinegraph.view.page.slider_page import model_page as model_page
    from kinegraph.view.page.solution_page import page as page
    from kinegraph.view.plot import plot as plot
    from kinegraph.view.widget import widget as widget


load_on_demand(
    __name__,
    {
        "live_page": "kinegraph.view.page.live_page",
        "model_page": "kinegraph.view.page.slider_page",
        "page": "kinegraph.view.page.solution_page",
        "plot": "kinegraph.view.plot",
        "widget": "kinegraph.view.widget",
    },
)
