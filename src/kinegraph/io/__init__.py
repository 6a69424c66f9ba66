"""Read and write models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.io.language.reader import load, parse
    from kinegraph.io.language.writer import write

__all__ = ["load", "parse", "write"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("load", "parse"), "kinegraph.io.language.reader"),
        "write": "kinegraph.io.language.writer",
    },
)
