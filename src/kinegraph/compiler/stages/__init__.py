"""What makes the records of a chain. A process that finds them on disk imports none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.compiler.stages.choose import chosen
    from kinegraph.compiler.stages.derivations import Derivations
    from kinegraph.compiler.stages.fastest_closure import finalists
    from kinegraph.compiler.stages.reduce import reduced

__all__ = ["Derivations", "chosen", "finalists", "reduced"]

load_on_demand(
    __name__,
    {
        "Derivations": "kinegraph.compiler.stages.derivations",
        "chosen": "kinegraph.compiler.stages.choose",
        "finalists": "kinegraph.compiler.stages.fastest_closure",
        "reduced": "kinegraph.compiler.stages.reduce",
    },
)
