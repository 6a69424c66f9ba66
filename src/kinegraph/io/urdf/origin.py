"""<origin xyz="..." rpy="..."/> as transforms."""

from __future__ import annotations

from kinegraph.io.robot.attributes import vector
from kinegraph.io.robot.placement import Placing, shifts
from kinegraph.io.robot.xml import Element
from kinegraph.model.mechanism import Transform


def origin_of(element: Element, placing: Placing, what: str) -> tuple[Transform, ...]:
    """The transforms of the <origin> below an element; none if it says nothing."""
    origin = element.first("origin")
    if origin is None:
        return ()
    xyz = vector(origin, "xyz", 3)
    rpy = vector(origin, "rpy", 3)
    moved = shifts([item.value for item in xyz]) if xyz else ()
    turned = placing.roll_pitch_yaw(rpy, what, origin.place) if rpy else ()
    return (*moved, *turned)
