"""Parallel manipulators: legs in closed form, each reduced to a mass at its joint on the platform.

The six velocities of the platform are the only unknowns. The state of a leg follows from that of its joint on the
platform by square roots (`struts`, `cranks`). There are no angles, no multipliers, and no drift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.derive.platforms.platform_dynamics import put_back

__all__ = ["put_back"]

load_on_demand(__name__, {"put_back": "kinegraph.derive.platforms.platform_dynamics"})
