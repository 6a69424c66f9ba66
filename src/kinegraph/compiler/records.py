"""The records between the stages: Derived, Reduced, Chosen. Frozen, printable, with the key of their request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.compiler.bind import Chosen, Means
    from kinegraph.compiler.derive import Derived
    from kinegraph.compiler.reduce import Reduced

__all__ = ["Chosen", "Derived", "Means", "Reduced"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("Chosen", "Means"), "kinegraph.compiler.bind"),
        "Derived": "kinegraph.compiler.derive",
        "Reduced": "kinegraph.compiler.reduce",
    },
)
