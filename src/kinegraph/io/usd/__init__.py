"""Read and write USD Physics, with the package usd-core (extra `usd`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.io.usd.reader import load_usd
    from kinegraph.io.usd.writer import write_usd

__all__ = ["load_usd", "write_usd"]

load_on_demand(
    __name__,
    {
        "load_usd": "kinegraph.io.usd.reader",
        "write_usd": "kinegraph.io.usd.writer",
    },
)
