"""<origin xyz="..." rpy="..."/>, or quat_xyzw="...", as transforms."""

from __future__ import annotations

from kinegraph.errors import ModelError
from kinegraph.io.robot.attributes import vector
from kinegraph.io.robot.placement import AngleReader, shifts
from kinegraph.io.robot.xml import Element
from kinegraph.model.mechanism import Transform


def origin_of(element: Element, angle_reader: AngleReader, what: str) -> tuple[Transform, ...]:
    """The transforms of the <origin> below an element; none if it says nothing."""
    origin = element.first("origin")
    if origin is None:
        return ()
    return placed(origin, angle_reader, what)


def placed(origin: Element, angle_reader: AngleReader, what: str) -> tuple[Transform, ...]:
    """The transforms that an element with xyz and rpy says itself."""
    xyz = vector(origin, "xyz", 3)
    moved = shifts([item.value for item in xyz]) if xyz else ()
    return (*moved, *_turned(origin, angle_reader, what))


def _turned(origin: Element, angle_reader: AngleReader, what: str) -> tuple[Transform, ...]:
    rpy, quaternion = vector(origin, "rpy", 3), vector(origin, "quat_xyzw", 4)
    if rpy and quaternion:
        message = f"the origin of {what} is turned by rpy and by quat_xyzw"
        raise ModelError(message, origin.place, "write one of them")
    if quaternion:
        x, y, z, scalar = quaternion
        return angle_reader.quaternion((scalar, x, y, z), what, origin.place, "0 0 0 1")
    return angle_reader.roll_pitch_yaw(rpy, what, origin.place) if rpy else ()
