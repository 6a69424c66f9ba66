"""The types of joints that close loops: which relative motions each one takes away, and in how many rows.

A joint ties a first frame to a second one. Let r be the position of the second frame's origin, seen from the first in
the first frame's axes. With n the joint's axis (the same axis of both frames) a joint takes away

* of the translation: nothing, r along n, r across n (two rows), all of r, or the change of its length;
* of the rotation: nothing, all but the turn about n (n stays parallel to itself, two rows), everything (the frames stay
  parallel, three rows), or the turn about the common normal of two axes, one of each frame, that stay at right angles.

Relations of two coordinates (gear, rack) tie no frames and have one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kinegraph.model.mechanism import Axis


class Translation(Enum):
    """Which part of the relative position a joint fixes."""

    FREE = "free"
    ALONG = "along the axis"
    ACROSS = "across the axis"
    ALL = "all"
    LENGTH = "length"


class Rotation(Enum):
    """Which part of the relative rotation a joint fixes."""

    FREE = "free"
    ACROSS = "across the axis"
    ALL = "all"
    NORMAL = "about the common normal of the axes"


@dataclass(frozen=True, slots=True)
class Fixes:
    """What a type of joint fixes: the parts of translation and rotation, or a relation of two coordinates."""

    translation: Translation = Translation.FREE
    rotation: Rotation = Rotation.FREE
    relation: bool = False
    axes: tuple[Axis, ...] = ()  # of the joint unless the model says others
    amounts: tuple[str, ...] = ()  # what else it is told: the first must be given, others may be


_Z = (Axis.Z,)


class JointType(Enum):
    """The types, by their words in the model language."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    CYLINDRICAL = "cylindrical"
    UNIVERSAL = "universal"
    SPHERICAL = "spherical"
    PLANAR = "planar"
    POINT_ON_LINE = "point_on_line"
    POINT_ON_PLANE = "point_on_plane"
    DISTANCE = "distance"
    GEAR = "gear"
    RACK = "rack"

    @property
    def fixes(self) -> Fixes:
        """Which relative motions it takes away."""
        return _FIXES[self]

    def row_names(self, axes: tuple[Axis, ...]) -> tuple[str, ...]:
        """A name for each row, translations first: `x`, `turn_y`; `axes` are those of the joint."""
        fixes = self.fixes
        if fixes.relation:
            return ("relation",)
        turns = (f"turn_{name}" for name in _directions(fixes.rotation, axes))
        return (*_directions(fixes.translation, axes), *turns)

    @property
    def rows(self) -> int:
        """How many relative motions it takes away."""
        return len(self.row_names(self.fixes.axes))

    @property
    def is_lower_pair(self) -> bool:
        """Whether coordinates of its own can describe all motion it leaves, so that it can stand in a tree."""
        return self not in _HIGHER


_FIXES = {
    JointType.FIXED: Fixes(Translation.ALL, Rotation.ALL),
    JointType.REVOLUTE: Fixes(Translation.ALL, Rotation.ACROSS, axes=_Z),
    JointType.PRISMATIC: Fixes(Translation.ACROSS, Rotation.ALL, axes=_Z),
    JointType.CYLINDRICAL: Fixes(Translation.ACROSS, Rotation.ACROSS, axes=_Z),
    JointType.UNIVERSAL: Fixes(Translation.ALL, Rotation.NORMAL, axes=(Axis.X, Axis.Y)),
    JointType.SPHERICAL: Fixes(Translation.ALL),
    JointType.PLANAR: Fixes(Translation.ALONG, Rotation.ACROSS, axes=_Z),
    JointType.POINT_ON_LINE: Fixes(Translation.ACROSS, axes=_Z),
    JointType.POINT_ON_PLANE: Fixes(Translation.ALONG, axes=_Z),
    JointType.DISTANCE: Fixes(Translation.LENGTH, amounts=("length",)),
    JointType.GEAR: Fixes(relation=True, amounts=("ratio", "offset")),
    JointType.RACK: Fixes(relation=True, amounts=("radius", "offset")),
}
_HIGHER = frozenset(
    {JointType.POINT_ON_LINE, JointType.POINT_ON_PLANE, JointType.DISTANCE, JointType.GEAR, JointType.RACK}
)

#: What other systems call the types.
SYNONYMS = {
    "weld": "fixed", "rigid": "fixed", "lock": "fixed", "hinge": "revolute", "pin": "revolute", "rotary": "revolute",
    "slider": "prismatic", "slide": "prismatic", "linear": "prismatic", "cardan": "universal", "hooke": "universal",
    "ball": "spherical", "connect": "spherical", "socket": "spherical", "rod": "distance", "link": "distance",
    "inplane": "point_on_plane", "inline": "point_on_line", "pinion": "rack", "gearbox": "gear",
}  # fmt: skip


def _directions(fixed: Translation | Rotation, axes: tuple[Axis, ...]) -> tuple[str, ...]:
    """The axes of the first frame along (or about) which nothing moves; a length and a normal are directions too."""
    match fixed:
        case Translation.ALL | Rotation.ALL:
            return ("x", "y", "z")
        case Translation.ALONG:
            return (axes[0].name.lower(),)
        case Translation.ACROSS | Rotation.ACROSS:
            return tuple(axis.name.lower() for axis in Axis if axis is not axes[0])
        case Translation.LENGTH:
            return ("length",)
        case Rotation.NORMAL:
            return ("normal",)
    return ()
