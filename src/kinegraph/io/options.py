"""Options of the readers of robot files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from kinegraph.io.meshes import MeshFinder
from kinegraph.io.robot.findings import Base
from kinegraph.io.robot.right_angles import ANGLE_TOLERANCE, RightAngles
from kinegraph.model.expressions import Scalar

Gravity = tuple[Scalar, Scalar, Scalar]

#: Default gravity of URDF, along the negative z axis of the fixed frame.
GRAVITY: Gravity = (0, 0, -9.81)


@dataclass(frozen=True)
class RobotFileOptions:
    """Options of a robot file reader.

    package_roots: folders in which `package://` references are searched, and below which meshes and includes of MJCF
    are allowed, besides the folder of the model.
    right_angles: make rounded right angles exact if they differ by no more than `angle_tolerance` radians; each is
    listed in the report.
    equalities: read the constraints that close loops (<equality> of MJCF, <loop_joint> of URDF, joints of SDF that
    close a loop); otherwise the report lists them as left out.
    actuators: read the actuators of MJCF, whose controls become inputs of the mechanism.
    mocap: prescribed motions of the mocap bodies of MJCF, by their names in the file: x, y, z in the fixed frame, and
    optionally three angles about the x, y and z axes of the body, one after the other; expressions of time and
    parameters. Without a motion, a mocap body stays where the file puts it.
    """

    package_roots: tuple[str | PathLike[str], ...] = ()
    right_angles: bool = True
    angle_tolerance: float = ANGLE_TOLERANCE
    equalities: bool = True
    actuators: bool = True
    mocap: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)

    @property
    def rule(self) -> RightAngles:
        """The rule for right angles."""
        return RightAngles.within(self.angle_tolerance, self.right_angles)

    def meshes(self, folder: Path | None) -> MeshFinder:
        """The mesh finder for a model in a folder; None if the model was not read from a file."""
        return MeshFinder(folder) if folder is None else MeshFinder(folder, tuple(map(Path, self.package_roots)))


@dataclass(frozen=True)
class UrdfOptions(RobotFileOptions):
    """Options of the URDF reader.

    base: whether the root link is fixed, or floating with six degrees of freedom.
    mimic: joints with <mimic> follow the coordinate of another joint; otherwise they are independent.
    """

    base: Base | str = Base.FIXED
    gravity: Gravity = GRAVITY
    mimic: bool = True


AS_WRITTEN = RobotFileOptions()
URDF_AS_WRITTEN = UrdfOptions()
