"""Fewer operations: each pass takes a graph and returns an equal one; `pipeline.reduce` runs and proves them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.passes.by_name import passes_text, read_passes
    from kinegraph.passes.pipeline import reduce

__all__ = ["passes_text", "read_passes", "reduce"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("passes_text", "read_passes"), "kinegraph.passes.by_name"),
        "reduce": "kinegraph.passes.pipeline",
    },
)
