"""Which robots are measured, and the one file of each that every side reads.

Files of the `example-robot-data` wheel are first made unambiguous: shapes, friction and mimic tags go (no side may
disagree on them), joints named in `locked` become fixed, and rounded right angles (1.5708, 3.14159) are written to the
last digit, because Kinegraph takes them for exact and results are compared to 1e-9.
"""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

_ANGLE_TOLERANCE = 1e-4
_NOT_MECHANICS = ("visual", "collision", "dynamics", "mimic", "limit", "calibration", "safety_controller")
_ARRANGED = ("link", "joint")


@dataclass(frozen=True)
class RobotCase:
    """A robot of the bench. `large` robots are asked for smaller ratios and given more time."""

    name: str
    path: str
    floating: bool = False
    locked: tuple[str, ...] = ()
    large: bool = False

    @property
    def source(self) -> Path:
        """The file in the wheel."""
        return data_folder() / self.path


CASES = (
    RobotCase("double pendulum", "double_pendulum_description/urdf/double_pendulum.urdf"),
    RobotCase("UR5", "ur_description/urdf/ur5_robot.urdf"),
    RobotCase(
        "Panda", "panda_description/urdf/panda.urdf", locked=("panda_finger_joint1", "panda_finger_joint2")
    ),
    RobotCase("solo12", "solo_description/robots/solo12.urdf", floating=True),
    RobotCase("iCub", "icub_description/robots/icub.urdf", floating=True, large=True),
    RobotCase("Talos", "talos_data/robots/talos_full_v2.urdf", floating=True, large=True),
)  # fmt: skip


def data_folder() -> Path:
    """Where the wheel keeps its robots."""
    for entry in sys.path:
        folder = Path(entry) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    raise SystemExit("the robots are missing: pip install example-robot-data")


def prepare(case: RobotCase, folder: Path) -> Path:
    """Write the file all sides read, and return its path."""
    root = ElementTree.parse(case.source).getroot()
    for element in list(root):
        if element.tag not in _ARRANGED or (element.tag == "joint" and element.get("type") is None):
            root.remove(element)
    for element in root:
        for child in [one for one in element if one.tag in _NOT_MECHANICS]:
            element.remove(child)
        if element.tag == "joint":
            _settle_joint(element, case.locked)
    for origin in root.iter("origin"):
        if (angles := origin.get("rpy")) is not None:
            origin.set("rpy", " ".join(repr(exact_angle(float(word))) for word in angles.split()))
    path = folder / f"{case.name.replace(' ', '_')}.urdf"
    ElementTree.ElementTree(root).write(path)
    return path


def _settle_joint(joint: ElementTree.Element, locked: tuple[str, ...]) -> None:
    if joint.get("name") in locked:
        joint.set("type", "fixed")
    elif joint.get("type") in ("revolute", "continuous"):
        # Limits are gone, and Pinocchio turns a continuous joint's angle into two coordinates.
        joint.set("type", "revolute")
    if joint.get("type") in ("revolute", "prismatic"):
        joint.append(ElementTree.Element("limit", lower="-9", upper="9", effort="1000", velocity="1000"))


def exact_angle(angle: float) -> float:
    """The multiple of a right angle that was meant, or the angle itself."""
    quarter = round(angle / (math.pi / 2)) * (math.pi / 2)
    return quarter if abs(angle - quarter) <= _ANGLE_TOLERANCE else angle
