"""Assembly of mechanisms with constraints: consistent positions and velocities, mobility, redundant rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.assembly.assemble import Assembler

__all__ = ["Assembler"]

load_on_demand(__name__, {"Assembler": "kinegraph.assembly.assemble"})
