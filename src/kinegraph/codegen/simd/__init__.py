"""Programs that compute limbs of one shape side by side, in the lanes of vectors.

Nodes that go over into each other when limbs are exchanged (`orbits.py`) are one value with as many lanes: the
formula of the first with the numbers of each. Lane k of a value holds what the first becomes by k exchanges, so the
operands of a vector are vectors themselves, or the same for all lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.codegen.simd.lowering import lower_side_by_side
    from kinegraph.codegen.simd.orbits import Exchanged

__all__ = ["Exchanged", "lower_side_by_side"]

load_on_demand(
    __name__,
    {
        "lower_side_by_side": "kinegraph.codegen.simd.lowering",
        "Exchanged": "kinegraph.codegen.simd.orbits",
    },
)
