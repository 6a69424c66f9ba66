"""What robot files say about joints beyond rigid bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
    from kinegraph.model.robot.elements import JointModel, with_elements

__all__ = ["JointModel", "with_elements"]

load_on_demand(__name__, dict.fromkeys(("JointModel", "with_elements"), "kinegraph.model.robot.elements"))
