"""From a graph to single assignments in the order they are computed: what every language prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.codegen.program.lowering import static_values

__all__ = ["static_values"]

load_on_demand(__name__, {"static_values": "kinegraph.codegen.program.lowering"})
