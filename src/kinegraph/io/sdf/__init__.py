"""Read SDFormat, the model format of Gazebo and Drake. Numbers are exact, and files are untrusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.io.sdf.reader import load_sdf, parse_sdf

__all__ = ["load_sdf", "parse_sdf"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("load_sdf", "parse_sdf"), "kinegraph.io.sdf.reader"),
    },
)
