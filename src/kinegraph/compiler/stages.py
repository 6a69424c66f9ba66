"""What makes the records of a chain. A process that finds them on disk imports none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.compiler.choose import chosen, finalists
    from kinegraph.compiler.derive import Derivations
    from kinegraph.compiler.reduce import reduced

__all__ = ["Derivations", "chosen", "finalists", "reduced"]

load_on_demand(
    __name__,
    {
        "Derivations": "kinegraph.compiler.derive",
        "chosen": "kinegraph.compiler.choose",
        "finalists": "kinegraph.compiler.choose",
        "reduced": "kinegraph.compiler.reduce",
    },
)
