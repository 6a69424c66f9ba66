"""Reading and writing models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.io.records.load import load, parse
    from kinegraph.io.records.write import write

__all__ = ["load", "parse", "write"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("load", "parse"), "kinegraph.io.records.load"),
        "write": "kinegraph.io.records.write",
    },
)
