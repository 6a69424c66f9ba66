"""Fewer operations: each pass takes a graph and returns an equal one; `pipeline.reduce` runs and proves them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.passes.pipeline import passes_text, read_passes, reduce

__all__ = ["passes_text", "read_passes", "reduce"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("passes_text", "read_passes"), "kinegraph.passes.pipeline"),
        "reduce": "kinegraph.passes.pipeline",
    },
)
