"""Parallel manipulators: a ring on legs of a few known types, as a table of legs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.model.platforms.expand import with_legs
    from kinegraph.model.platforms.start import fitted

__all__ = ["fitted", "with_legs"]

load_on_demand(__name__, {"fitted": "kinegraph.model.platforms.start", "with_legs": "kinegraph.model.platforms.expand"})
