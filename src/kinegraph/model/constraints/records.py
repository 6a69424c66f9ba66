"""Records of what ties bodies beyond the tree: joints that close loops, constraints, contacts, unknown forces.

They say what the model says, nothing is derived here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import ZERO, Axis, Mechanism, Transform


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
Tie: TypeAlias = Loop | Coupling | Constraint | Contact


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


def described(tie: Tie) -> str:
    """In words: `the loop pin`."""
    match tie:
        case Loop():
            return f"the loop {tie.name}"
        case Coupling():
            return f"the {tie.type.value} {tie.name}"
        case Constraint():
            return f"the constraint {tie.name}"
    return f"the contact {tie.name}"


def ties(mechanism: Mechanism) -> tuple[Tie, ...]:
    """All that ties bodies beyond their records."""
    return (*mechanism.loops, *mechanism.constraints, *mechanism.contacts)


def is_constrained(mechanism: Mechanism) -> bool:
    """Whether loops or constraints take away some of the motion of the records."""
    return bool(mechanism.loops or mechanism.constraints)
