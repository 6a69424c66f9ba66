"""Read URDF, the robot description of ROS. Numbers are exact, and files are untrusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.io.urdf.reader import load_urdf, parse_urdf

__all__ = ["load_urdf", "parse_urdf"]

load_on_demand(
    __name__,
    {
        **dict.fromkeys(("load_urdf", "parse_urdf"), "kinegraph.io.urdf.reader"),
    },
)
