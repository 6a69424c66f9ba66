"""Read MJCF, the model format of MuJoCo. Numbers are exact, and files are untrusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.io.mjcf.reader import load_mjcf, parse_mjcf

__all__ = ["load_mjcf", "parse_mjcf"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("load_mjcf", "parse_mjcf"), "kinegraph.io.mjcf.reader"),
    },
)
