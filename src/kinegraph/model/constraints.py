"""Loops, constraints, contacts and unknown forces: joint types, records, kinds, and refusals where equations do not
cover them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kinegraph.errors import DerivationError
from kinegraph.model.expressions import TIME, Expression, expressions, names
from kinegraph.model.mechanism import ZERO, Axis, Mechanism, Transform
from kinegraph.model.names import component

# The types of joints that close loops: which relative motions each one takes away, and in how many rows.
#
# A joint ties a first frame to a second one. Let r be the position of the second frame's origin, seen from the first in
# the first frame's axes. With n the joint's axis (the same axis of both frames) a joint takes away
#
# * of the translation: nothing, r along n, r across n (two rows), all of r, or the change of its length; * of the
# rotation: nothing, all but the turn about n (n stays parallel to itself, two rows), everything (the frames stay
# parallel, three rows), or the turn about the common normal of two axes, one of each frame, that stay at right angles.
#
# Relations of two coordinates (gear, rack) tie no frames and have one row.


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


# Records of what ties bodies beyond the tree: joints that close loops, constraints, contacts, unknown forces.
#
# They say what the model says, nothing is derived here.


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on a body (on the fixed frame if body is None); the transforms lead from the body's frame to it."""

    body: str | None
    transforms: tuple[Transform, ...] = ()

    def __str__(self) -> str:
        return self.body or "the fixed frame"


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between two frames: its type, its axes (two for a universal joint), the length of a `distance`."""

    type: JointType
    axes: tuple[Axis, ...] = ()
    length: Expression | None = None

    @property
    def row_names(self) -> tuple[str, ...]:
        """A name for each relative motion it takes away: `x`, `turn_y`."""
        return self.type.row_names(self.axes)


@dataclass(frozen=True, slots=True)
class Loop:
    """`loop Name | joint | first frame | second frame;`: the joint ties the two frames together."""

    name: str
    joint: Joint
    first: Frame
    second: Frame

    @property
    def type(self) -> JointType:
        """The type of its joint."""
        return self.joint.type


@dataclass(frozen=True, slots=True)
class Coupling:
    """`loop Name | gear(ratio, offset) | q1 | q2;`: first = ratio * second + offset; in a rack the first travels."""

    name: str
    type: JointType
    first: str
    second: str
    ratio: Expression
    offset: Expression = ZERO


@dataclass(frozen=True, slots=True)
class Constraint:
    """`constraint Name | left = right;`, of positions, points and time, or linear in the velocities."""

    name: str
    left: Expression
    right: Expression = ZERO

    @property
    def residual(self) -> Expression:
        """What has to vanish."""
        return self.left if self.right == ZERO else self.left - self.right


@dataclass(frozen=True, slots=True)
class Contact:
    """`contact Name | gap >= 0 | restitution(e), friction(mu), slip(vx, vy);`: the gap never becomes negative.

    slip: the one or two velocities, along the surface, that friction works against.
    """

    name: str
    gap: Expression
    restitution: Expression = ZERO
    friction: Expression = ZERO
    slip: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """`unknown S;`: a name in the values of forces and moments that is to be found from the motion."""

    name: str


@dataclass(frozen=True, slots=True)
class Cut:
    """`cut Name;`: the joint of this name, a loop's or a body's on its base, is to be cut."""

    joint: str


AnyLoop: TypeAlias = Loop | Coupling
AnyConstraint: TypeAlias = Loop | Coupling | Constraint | Contact


def row_names(tie: Loop | Coupling | Constraint) -> tuple[str, ...]:
    """A name for each row of a loop or constraint, and so for its multiplier: `pin.x`, or the constraint's own."""
    if isinstance(tie, Constraint):
        return (tie.name,)
    rows = tie.joint.row_names if isinstance(tie, Loop) else tie.type.row_names(())
    return tuple(f"{tie.name}.{row}" for row in rows)


def row_group(name: str) -> tuple[str, bool]:
    """The loop of a row, and whether it is about turns: those have another unit than translations."""
    loop, _, row = name.partition(".")
    return loop, row.startswith("turn")


def frames(loops: tuple[AnyLoop, ...]) -> Iterator[tuple[Loop, Frame]]:
    """Every frame that a loop ties, with the loop."""
    for loop in loops:
        if isinstance(loop, Loop):
            yield loop, loop.first
            yield loop, loop.second


def described(tie: AnyConstraint) -> str:
    """In words: `the loop pin`."""
    match tie:
        case Loop():
            return f"the loop {tie.name}"
        case Coupling():
            return f"the {tie.type.value} {tie.name}"
        case Constraint():
            return f"the constraint {tie.name}"
    return f"the contact {tie.name}"


def all_constraints(mechanism: Mechanism) -> tuple[AnyConstraint, ...]:
    """All that ties bodies beyond their records."""
    return (*mechanism.loops, *mechanism.constraints, *mechanism.contacts)


def is_constrained(mechanism: Mechanism) -> bool:
    """Whether loops or constraints take away some of the motion of the records."""
    return bool(mechanism.loops or mechanism.constraints)


# Of what kind a constraint is: of positions, of positions and time, or of velocities.


class ConstraintKind(Enum):
    """The classical kinds."""

    HOLONOMIC = "holonomic"  # positions alone
    RHEONOMIC = "rheonomic"  # positions and time
    NONHOLONOMIC = "nonholonomic"  # linear in the velocities, perhaps with time


def constraint_kind(mechanism: Mechanism, tie: AnyLoop | Constraint) -> ConstraintKind:
    """The kind of a loop or constraint by what is written in it. Where transforms of bodies depend on time, so does
    the equation, whatever its kind."""
    used = frozenset[str]().union(*(names(root) for root in expressions(tie)))
    velocities = set(mechanism.layout.velocities)
    if any(name in velocities or ((found := component(name)) is not None and found.rate) for name in used):
        return ConstraintKind.NONHOLONOMIC
    prescribed = {given.name for given in mechanism.inputs if given.value is not None}
    return ConstraintKind.RHEONOMIC if used & {TIME, *prescribed} else ConstraintKind.HOLONOMIC


# What can be described but not derived yet. Nothing is ignored: whoever derives equations asks here first.


def refuse_unknowns(mechanism: Mechanism) -> None:
    """DerivationError for a mechanism with unknown forces, naming them."""
    _refuse(mechanism, _unknowns(mechanism), "equations with unknown forces")


def refuse_contact_forces(mechanism: Mechanism, what: str) -> None:
    """DerivationError for what follows from forces: those of contacts depend on which of them are closed."""
    if not mechanism.contacts:
        return
    names = ", ".join(one.name for one in mechanism.contacts[:5])
    raise DerivationError(
        f"{mechanism.name}: {what} depends on which contacts are closed ({names})\n"
        "  simulate finds that out and computes it; for equations and exported code remove them from the model, or\n"
        "  write a compliant contact (with `stiffness(...)`), whose force is a formula of the state"
    )


def refuse_constraints(mechanism: Mechanism, what: str) -> None:
    """DerivationError for a mechanism with anything beyond a tree; `what` cannot be done for it yet."""
    _refuse(mechanism, [*(described(tie) for tie in all_constraints(mechanism)), *_unknowns(mechanism)], what)


def _unknowns(mechanism: Mechanism) -> list[str]:
    return [f"the unknown {one.name}" for one in mechanism.unknowns]


def _refuse(mechanism: Mechanism, pending: list[str], what: str) -> None:
    if not pending:
        return
    names = ", ".join(pending[:5]) + (f" and {len(pending) - 5} more" if len(pending) > 5 else "")
    raise DerivationError(
        f"{mechanism.name}: {what} are not derived yet; found {names}\n"
        "  such a model can be read, checked, written and kept"
    )
