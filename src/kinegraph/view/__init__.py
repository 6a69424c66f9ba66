"""Things to look at: plots and pages of solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.view.page.pose import model_page as model_page
    from kinegraph.view.page.write import page as page
    from kinegraph.view.plot import plot as plot


load_on_demand(
    __name__,
    {
        "model_page": "kinegraph.view.page.pose",
        "page": "kinegraph.view.page.write",
        "plot": "kinegraph.view.plot",
    },
)
