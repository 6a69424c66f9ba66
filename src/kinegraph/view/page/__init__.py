"""Solutions and mechanisms as self-contained HTML pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.view.page.pose import model_page as model_page
    from kinegraph.view.page.template import page_path as page_path
    from kinegraph.view.page.write import page as page


load_on_demand(
    __name__,
    {
        "model_page": "kinegraph.view.page.pose",
        "page_path": "kinegraph.view.page.template",
        "page": "kinegraph.view.page.write",
    },
)
