"""What robot files say about joints beyond rigid bodies, made part of the equations of motion.

Damping, springs and rotor inertia are what MuJoCo calls passive: it always counts them in. Dry friction and ranges it
leaves to its solver of constraints; here they become smoothed friction and limits with a stiffness, on request only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from kinegraph.errors import ModelError
from kinegraph.model.elements import DEFAULT_WIDTH, Damper, Element, Friction, Limit, Linear, Spring
from kinegraph.model.expression import Expression, Name, Scalar, expression
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Inertia,
    Mechanism,
    QuaternionCoordinates,
    Rotation,
)
from kinegraph.model.robot.data import Extra, JointArmature, JointFriction, JointLimits, JointSpring
from kinegraph.model.validation.mechanism import validate

_ILLEGAL = re.compile(r"[^\w$]+")
_ROTOR = "rotor"
_LONGEST = 100  # letters of a joint's name in the name of an element


@dataclass(frozen=True)
class Taken:
    """Which records become part of the equations.

    passive: damping, springs and armature. dry: dry friction, smoothed over rates of the size of `width`.
    limit_stiffness, limit_damping: of stops at the ends of ranges; no stiffness, no stops.
    """

    passive: bool = True
    dry: bool = False
    width: Scalar = DEFAULT_WIDTH
    limit_stiffness: Scalar | None = None
    limit_damping: Scalar = 0


def with_elements(mechanism: Mechanism, taken: Taken | None = None) -> Mechanism:
    """The mechanism with its `extras` as elements and (armature) bodies; what was used is no longer an extra.

    Rotors are bodies of their own on the fixed frame that turn with their joint: they add to the inertia matrix and
    the kinetic energy exactly as MuJoCo's armature does. (The total momentum counts them, too, although it should not.)
    Springs, ranges and armature of ball joints stay extras: they need a law of the rotation vector, or a body that
    turns with another.
    """
    work = _Conversion(mechanism, taken or Taken())
    left = tuple(extra for extra in mechanism.extras if not work.take(extra))
    elements = (*mechanism.elements, *work.elements)
    full = replace(mechanism, bodies=(*mechanism.bodies, *work.bodies), elements=elements, extras=left)
    validate(full)
    return full


def without_rotors(mechanism: Mechanism) -> Mechanism:
    """The mechanism as it is seen: rotors have no place of their own."""
    return replace(mechanism, bodies=tuple(body for body in mechanism.bodies if not _is_rotor(body)))


def _is_rotor(body: Body) -> bool:
    return body.name.startswith(f"{_ROTOR}_") and body.base is None and body.inertia.mass == ZERO


@dataclass
class _Conversion:
    mechanism: Mechanism
    taken: Taken
    elements: list[Element] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)

    def take(self, extra: Extra) -> bool:
        """Add what stands for the record; False if it is to stay as it is."""
        taken = self.taken
        match extra:
            case JointFriction():
                return self._friction(extra)
            case JointSpring() if taken.passive and len(extra.displacement) == 1:
                name = self._name(extra.joint, "spring")
                self.elements.append(Spring(name, extra.displacement[0], Linear(extra.stiffness), extra.rest))
                return True
            case JointArmature() if taken.passive and len(extra.displacement) == 1:
                self.bodies.append(self._rotor(extra))
                return True
            case JointLimits() if taken.limit_stiffness is not None and len(extra.displacement) == 1:
                return self._limit(extra, taken.limit_stiffness)
        return False

    def _friction(self, extra: JointFriction) -> bool:
        damping = extra.damping if self.taken.passive else ZERO
        dry = extra.dry if self.taken.dry else ZERO
        for rate in self._rates(extra.displacement):
            if dry != ZERO:
                name = self._name(extra.joint, "friction")
                self.elements.append(Friction(name, rate, dry, damping, expression(self.taken.width)))
            elif damping != ZERO:
                self.elements.append(Damper(self._name(extra.joint, "damping"), rate, Linear(damping)))
        return (damping, dry) == (extra.damping, extra.dry)

    def _limit(self, extra: JointLimits, stiffness: Scalar) -> bool:
        if extra.lower is None and extra.upper is None:
            return False
        where, damping = extra.displacement[0], expression(self.taken.limit_damping)
        name = self._name(extra.joint, "limit")
        self.elements.append(Limit(name, where, expression(stiffness), extra.lower, extra.upper, damping))
        return False  # what the drive can do is still worth knowing

    def _rotor(self, extra: JointArmature) -> Body:
        inertia = Inertia(Jx=extra.inertia, Jy=extra.inertia, Jz=extra.inertia)
        return Body(self._name(extra.joint, _ROTOR), None, (Rotation(Axis.Z, extra.displacement[0]),), inertia)

    def _rates(self, displacement: tuple[Expression, ...]) -> Iterator[Expression]:
        """What friction works on: the displacement, or the three components of an angular velocity."""
        if len(displacement) == 1:
            yield displacement[0]
        else:
            yield from (Name(name) for name in self._quaternion(displacement).velocities)

    def _quaternion(self, displacement: tuple[Expression, ...]) -> QuaternionCoordinates:
        names = tuple(item.text for item in displacement if isinstance(item, Name))
        for coordinate in self.mechanism.coordinates:
            if isinstance(coordinate, QuaternionCoordinates) and coordinate.names == names:
                return coordinate
        raise ModelError(f"there is no quaternion ({', '.join(names)})")

    def _name(self, joint: str, what: str) -> str:
        wanted = f"{what}_{_ILLEGAL.sub('_', joint)[:_LONGEST]}"
        return _unused(wanted, [one.name for one in (*self.mechanism.bodies, *self.bodies, *self.elements)])


def _unused(wanted: str, used: Iterable[str]) -> str:
    taken = set(used)
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name
