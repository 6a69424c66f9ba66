"""How robot files are read: what all formats share, and what only URDF leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from kinegraph.io.meshes import MeshFinder
from kinegraph.io.robot.findings import Base
from kinegraph.io.robot.right_angles import ANGLE_TOLERANCE, RightAngles
from kinegraph.model.expressions import Scalar

Gravity = tuple[Scalar, Scalar, Scalar]

#: What URDF leaves unsaid: gravity points down the z axis of the fixed frame.
GRAVITY: Gravity = (0, 0, -9.81)


@dataclass(frozen=True)
class RobotFileOptions:
    """How a robot file is read.

    package_roots: the folders in which `package://` references to meshes are looked for, and below which meshes and
    includes of an MJCF may lie beside those below its own folder.
    right_angles: take rounded right angles for exact ones if they are off by no more than `angle_tolerance` radians;
    each is listed in the report of the result.
    equalities: take the constraints that close loops (<equality> of MJCF, <loop_joint> of URDF, joints of SDF that
    close a loop); otherwise the report lists them as left out.
    """

    package_roots: tuple[str | PathLike[str], ...] = ()
    right_angles: bool = True
    angle_tolerance: float = ANGLE_TOLERANCE
    equalities: bool = True

    @property
    def rule(self) -> RightAngles:
        """Which angles are taken for right ones."""
        return RightAngles.within(self.angle_tolerance, self.right_angles)

    def meshes(self, folder: Path | None) -> MeshFinder:
        """What finds meshes from the folder of the file; None: the text of a file lies in no folder."""
        return MeshFinder(folder) if folder is None else MeshFinder(folder, tuple(map(Path, self.package_roots)))


@dataclass(frozen=True)
class UrdfOptions(RobotFileOptions):
    """How a URDF is read.

    base: whether the root link is fixed or floats with six degrees of freedom.
    mimic: joints that mimic another follow its coordinate; otherwise they move by themselves.
    """

    base: Base | str = Base.FIXED
    gravity: Gravity = GRAVITY
    mimic: bool = True


AS_WRITTEN = RobotFileOptions()
URDF_AS_WRITTEN = UrdfOptions()
