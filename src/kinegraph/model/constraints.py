"""Loops, constraints, contacts and unknown forces: joint types, records, kinds, and errors for what is not derived."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

from kinegraph.errors import DerivationError
from kinegraph.model.expressions import TIME, Expression, expressions, names
from kinegraph.model.mechanism import ZERO, Axis, Mechanism, Transform
from kinegraph.model.names import component

_log = logging.getLogger("kinegraph")

# Joint types. A joint connects a first frame to a second. r is the position of the second origin in the first frame,
# n the joint axis (the same axis of both frames). A joint constrains
#
# * the translation: nothing, r along n, r across n (two rows), all of r, or the length of r;
# * the rotation: nothing, all but the rotation about n (two rows), all of it (three rows), or the rotation about the
#   common normal of two axes, one of each frame, that stay perpendicular.
#
# A relation of two coordinates (gear, rack) has one row and no frames.


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
    """The parts of translation and rotation that a joint type fixes, or a relation of two coordinates."""

    translation: Translation = Translation.FREE
    rotation: Rotation = Rotation.FREE
    relation: bool = False
    axes: tuple[Axis, ...] = ()  # default axes of the joint
    amounts: tuple[str, ...] = ()  # further arguments: the first is required, the others are optional


_Z = (Axis.Z,)


class JointType(Enum):
    """The joint types; the values are their words in the model language."""

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
        """The relative motions that it constrains."""
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
        """The number of relative motions that it constrains."""
        return len(self.row_names(self.fixes.axes))

    @property
    def is_lower_pair(self) -> bool:
        """Whether coordinates can describe all motion that it allows, so that it can be part of a tree."""
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

#: Names of the joint types in other systems.
SYNONYMS = {
    "weld": "fixed", "rigid": "fixed", "lock": "fixed", "hinge": "revolute", "pin": "revolute", "rotary": "revolute",
    "slider": "prismatic", "slide": "prismatic", "linear": "prismatic", "cardan": "universal", "hooke": "universal",
    "ball": "spherical", "connect": "spherical", "socket": "spherical", "rod": "distance", "link": "distance",
    "inplane": "point_on_plane", "inline": "point_on_line", "pinion": "rack", "gearbox": "gear",
}  # fmt: skip


def _directions(fixed: Translation | Rotation, axes: tuple[Axis, ...]) -> tuple[str, ...]:
    """The axes of the first frame along (or about) which the motion is fixed; `length` and `normal` count as axes."""
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


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on a body (on the fixed frame if body is None), given by transforms from the body's frame."""

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
        """A name for each relative motion that it constrains: `x`, `turn_y`."""
        return self.type.row_names(self.axes)


@dataclass(frozen=True, slots=True)
class Loop:
    """`loop Name | joint | first frame | second frame;`: a joint between two frames that closes a loop."""

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
    """`loop Name | gear(ratio, offset) | q1 | q2;`: first = ratio * second + offset; the first of a rack translates."""

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
        """The expression that must be zero."""
        return self.left if self.right == ZERO else self.left - self.right


@dataclass(frozen=True, slots=True)
class Contact:
    """`contact Name | gap >= 0 | restitution(e), friction(mu), slip(vx, vy);`: the gap never becomes negative.

    slip: the one or two sliding velocities along the surface, which friction opposes.
    """

    name: str
    gap: Expression
    restitution: Expression = ZERO
    friction: Expression = ZERO
    slip: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """`unknown S;`: an unknown in the values of forces and moments, to be found from the motion."""

    name: str


@dataclass(frozen=True, slots=True)
class Cut:
    """`cut Name;`: cut the joint of this loop, or the joint of this body on its base."""

    joint: str


AnyLoop: TypeAlias = Loop | Coupling
AnyConstraint: TypeAlias = Loop | Coupling | Constraint | Contact


def row_names(constraint: Loop | Coupling | Constraint) -> tuple[str, ...]:
    """A name for each row of a loop or constraint, and for its multiplier: `pin.x`, or the name of the constraint."""
    if isinstance(constraint, Constraint):
        return (constraint.name,)
    rows = constraint.joint.row_names if isinstance(constraint, Loop) else constraint.type.row_names(())
    return tuple(f"{constraint.name}.{row}" for row in rows)


def row_group(name: str) -> tuple[str, bool]:
    """The loop of a row, and whether the row is a rotation; rotations and translations have different units."""
    loop, _, row = name.partition(".")
    return loop, row.startswith("turn")


def frames(loops: tuple[AnyLoop, ...]) -> Iterator[tuple[Loop, Frame]]:
    """Both frames of each loop, with the loop."""
    for loop in loops:
        if isinstance(loop, Loop):
            yield loop, loop.first
            yield loop, loop.second


def described(constraint: AnyConstraint) -> str:
    """In words: `the loop pin`."""
    match constraint:
        case Loop():
            return f"the loop {constraint.name}"
        case Coupling():
            return f"the {constraint.type.value} {constraint.name}"
        case Constraint():
            return f"the constraint {constraint.name}"
    return f"the contact {constraint.name}"


def all_constraints(mechanism: Mechanism) -> tuple[AnyConstraint, ...]:
    """All loops, constraints and contacts."""
    return (*mechanism.loops, *mechanism.constraints, *mechanism.contacts)


def is_constrained(mechanism: Mechanism) -> bool:
    """Whether the mechanism has loops or constraints."""
    return bool(mechanism.loops or mechanism.constraints)


class ConstraintKind(Enum):
    """The classical kinds of constraints."""

    HOLONOMIC = "holonomic"  # positions alone
    RHEONOMIC = "rheonomic"  # positions and time
    NONHOLONOMIC = "nonholonomic"  # linear in the velocities, perhaps with time


def constraint_kind(mechanism: Mechanism, constraint: AnyLoop | Constraint) -> ConstraintKind:
    """The kind of a loop or constraint, from its own expressions. If transforms of bodies depend on time, the equation
    does too, whatever its kind."""
    used = frozenset[str]().union(*(names(root) for root in expressions(constraint)))
    velocities = set(mechanism.layout.velocities)
    if any(name in velocities or ((found := component(name)) is not None and found.rate) for name in used):
        return ConstraintKind.NONHOLONOMIC
    prescribed = {given.name for given in mechanism.inputs if given.value is not None}
    return ConstraintKind.RHEONOMIC if used & {TIME, *prescribed} else ConstraintKind.HOLONOMIC


def tell_of_unknowns(mechanism: Mechanism, given: Iterable[str] = ()) -> None:
    """Say, once for each mechanism, which unknowns are taken as zero. given: those that have a value."""
    names = tuple(one.name for one in mechanism.unknowns if one.name not in given)
    if names:
        _tell_of_zeros(mechanism.name, names)


@lru_cache(maxsize=1024)
def _tell_of_zeros(model: str, names: tuple[str, ...]) -> None:
    first = names[0]
    _log.warning(
        "%s: %s %s taken as zero; give a value (--set %s=..., inputs={'%s': ...}), or find it with unknown_forces",
        model, "the unknown " + first if len(names) == 1 else "the unknowns " + ", ".join(names),
        "is" if len(names) == 1 else "are", first, first,
    )  # fmt: skip


def refuse_contact_forces(mechanism: Mechanism, what: str) -> None:
    """Raise a DerivationError if the mechanism has rigid contacts: their forces depend on which of them are closed."""
    if not mechanism.contacts:
        return
    names = ", ".join(one.name for one in mechanism.contacts[:5])
    raise DerivationError(
        f"{mechanism.name}: {what} depends on which rigid contacts are closed ({names})\n"
        "  use simulate, which finds the closed contacts; for equations and exported code, remove the contacts or\n"
        "  replace them by compliant contacts (with `stiffness(...)`), whose forces are formulas of the state"
    )


def refuse_states(mechanism: Mechanism, what: str) -> None:
    """Raise a DerivationError if the mechanism has first-order states, which `what` does not support."""
    if mechanism.states:
        name = mechanism.states[0].name
        raise DerivationError(
            f"{mechanism.name}: {what} does not support the first-order state {name}\n"
            f"  use simulate or linearize, or hold it: replace its `state` statement by `parameters {name} = ...;`"
        )


def refuse_constraints(mechanism: Mechanism, what: str) -> None:
    """Raise a DerivationError unless the mechanism is a tree; `what` is not supported for other mechanisms."""
    pending = [described(one) for one in all_constraints(mechanism)]
    if not pending:
        return
    names = ", ".join(pending[:5]) + (f" and {len(pending) - 5} more" if len(pending) > 5 else "")
    raise DerivationError(
        f"{mechanism.name}: {what} are not supported; the model has {names}\n"
        "  such a model can be read, checked, written and stored"
    )
