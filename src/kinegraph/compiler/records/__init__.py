"""The records between the stages: Derived, Reduced, Chosen. Frozen, printable, with the key of their request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.compiler.records.chosen import Chosen, Means
    from kinegraph.compiler.records.derived import Derived
    from kinegraph.compiler.records.reduced import Reduced

__all__ = ["Chosen", "Derived", "Means", "Reduced"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("Chosen", "Means"), "kinegraph.compiler.records.chosen"),
        "Derived": "kinegraph.compiler.records.derived",
        "Reduced": "kinegraph.compiler.records.reduced",
    },
)
