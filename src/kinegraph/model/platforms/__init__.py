"""Parallel manipulators: a platform on legs of known types, as a table of legs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.model.platforms.initial_pose import fitted
    from kinegraph.model.platforms.leg_table import with_legs

__all__ = ["fitted", "with_legs"]

load_on_demand(
    __name__, {"fitted": "kinegraph.model.platforms.initial_pose", "with_legs": "kinegraph.model.platforms.leg_table"}
)
