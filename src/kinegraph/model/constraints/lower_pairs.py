"""Which joint a body's record describes, where it is one that a loop could be closed with.

`Sx(l), Rz(q), Rx(a)` is a revolute joint about z between the frame after `Sx(l)`, on the base, and the frame before
`Rx(a)`, on the body. Such a joint can be cut: its coordinates describe it and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinegraph.model.changes.rewrite import expressions
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import Frame, Joint
from kinegraph.model.expression import TIME, Expression, Name, Number, Operation, names
from kinegraph.model.mechanism import (
    Axis,
    Body,
    Coordinate,
    Mechanism,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
    amounts,
)


@dataclass(frozen=True, slots=True)
class LowerPair:
    """The joint of a body on its base, between a frame of the base and one of the body, and its own coordinates."""

    joint: Joint
    first: Frame
    second: Frame
    coordinates: tuple[str, ...]


def lower_pairs(mechanism: Mechanism) -> dict[str, LowerPair]:
    """The joints, by body, whose coordinates are used nowhere else in the mechanism."""
    owners = _owners(mechanism)
    roots = expressions(_tied(mechanism))
    uses = Counter(name for root in roots for name in {owners[used] for used in names(root) & owners.keys()})
    found = {}
    for body in mechanism.bodies:
        pair = lower_pair(body, mechanism)
        if pair is not None and all(uses[name] == 1 for name in _own(pair, owners)):
            found[body.name] = pair
    return found


def _own(pair: LowerPair, owners: Mapping[str, str]) -> set[str]:
    return {owners[name] for name in pair.coordinates}


def _tied(mechanism: Mechanism) -> tuple[object, ...]:
    """Everything that may use a coordinate."""
    transforms = tuple(amounts(one)[0] for body in mechanism.bodies for one in body.transforms)
    coupled = tuple(Name(end) for one in mechanism.loops for end in (one.first, one.second) if isinstance(end, str))
    laws = (mechanism.elements, mechanism.constraints, mechanism.contacts)
    return transforms, coupled, laws, mechanism.quasivelocities, mechanism.definitions


def _owners(mechanism: Mechanism) -> dict[str, str]:
    """The coordinate that every position and velocity belongs to; a quaternion goes by its first component."""
    found: dict[str, str] = {}
    for one in mechanism.coordinates:
        if isinstance(one, Coordinate):
            found |= {one.name: one.name, one.name + "'": one.name}
        else:
            found |= dict.fromkeys((*one.names, *one.velocities), one.names[0])
    return found


def lower_pair(body: Body, mechanism: Mechanism) -> LowerPair | None:
    """The joint of a body's record; None if its motion is of another kind."""
    moving = [place for place, one in enumerate(body.transforms) if _moves(one, mechanism)]
    if not moving:
        return LowerPair(Joint(JointType.FIXED), Frame(body.base, body.transforms), Frame(body.name), ())
    start, stop = moving[0], moving[-1] + 1
    middle = body.transforms[start:stop]
    joint = _joint(middle)
    coordinates = _coordinates(middle, mechanism)
    if joint is None or coordinates is None:
        return None
    first = Frame(body.base, body.transforms[:start])
    return LowerPair(joint, first, Frame(body.name, inverse(body.transforms[stop:])), coordinates)


def _moves(transform: Transform, mechanism: Mechanism) -> bool:
    still = {parameter.name for parameter in mechanism.parameters}
    return any(names(amount) - still - {"pi"} for amount in amounts(transform))


def _coordinates(transforms: Sequence[Transform], mechanism: Mechanism) -> tuple[str, ...] | None:
    """The coordinates if every transform moves by one of its own (or one quaternion); None otherwise."""
    found: list[str] = []
    for transform in transforms:
        used = tuple(part.text for part in amounts(transform) if isinstance(part, Name))
        single_names = len(used) == len(amounts(transform)) and TIME not in used
        if not single_names or (isinstance(transform, Quaternion) and not _is_quaternion(used, mechanism)):
            return None
        found.extend(used)
    return tuple(found) if len(set(found)) == len(found) else None


def _is_quaternion(names_used: tuple[str, ...], mechanism: Mechanism) -> bool:
    return any(isinstance(c, QuaternionCoordinates) and c.names == names_used for c in mechanism.coordinates)


def _joint(moving: Sequence[Transform]) -> Joint | None:
    """The type by the pattern of rotations and shifts."""
    turns = [one.axis for one in moving if isinstance(one, Rotation)]
    shifts = [one.axis for one in moving if isinstance(one, Shift)]
    match (len(turns), len(shifts), len(moving)):
        case (1, 0, 1):
            return Joint(JointType.REVOLUTE, (turns[0],))
        case (0, 1, 1):
            return Joint(JointType.PRISMATIC, (shifts[0],))
        case (0, 0, 1):
            return Joint(JointType.SPHERICAL)
        case (1, 1, 2) if turns == shifts:
            return Joint(JointType.CYLINDRICAL, (turns[0],))
        case (2, 0, 2) if turns[0] is not turns[1]:
            return Joint(JointType.UNIVERSAL, (turns[0], turns[1]))
        case (1, 2, 3) if {*turns, *shifts} == set(Axis) and isinstance(moving[2], Rotation):
            return Joint(JointType.PLANAR, (turns[0],))
    return None


def inverse(transforms: Sequence[Transform]) -> tuple[Transform, ...]:
    """The transforms that lead back."""
    return tuple(_inverse(transform) for transform in reversed(transforms))


def _inverse(transform: Transform) -> Transform:
    if isinstance(transform, Rotation):
        return Rotation(transform.axis, _negative(transform.angle))
    if isinstance(transform, Shift):
        return Shift(transform.axis, _negative(transform.distance))
    e0, e1, e2, e3 = transform.components
    return Quaternion((e0, _negative(e1), _negative(e2), _negative(e3)))


def _negative(root: Expression) -> Expression:
    if isinstance(root, Number):
        return Number(-root.value)
    if isinstance(root, Operation) and root.operator == "neg":
        return root.operands[0]
    return -root
