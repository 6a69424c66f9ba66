"""Joint data of robot files (damping, springs, friction, limits, armature) as elements of the equations of motion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from kinegraph.errors import ModelError
from kinegraph.model.elements import (
    DEFAULT_WIDTH,
    RATE,
    STRETCH,
    Damper,
    Element,
    EnergyLaw,
    ForceLaw,
    Friction,
    Limit,
    Linear,
    Spring,
)
from kinegraph.model.expressions import Call, Expression, Name, Number, Operation, Scalar, expression
from kinegraph.model.mechanism import ZERO, Coordinate, Mechanism, QuaternionCoordinates
from kinegraph.model.robot_data import (
    Extra,
    JointArmature,
    JointFriction,
    JointLimits,
    JointSpring,
    PassiveElement,
    full_report,
    tells_of_joints,
)
from kinegraph.model.validation.mechanism import validate

#: Added to a squared length under the square root. It vanishes by rounding for any nonzero length. At zero length it
#: makes the derivatives of the root zero, so a spring at rest has no direction.
_VANISHING = Number(Fraction(1, 10**200))

_NO_ROTATION = (1, 0, 0, 0)


def length(components: Sequence[Scalar]) -> Expression:
    """The length of a vector, with derivatives that are finite where it is zero."""
    squares = [Operation("^", (expression(item), expression(2))) for item in components]
    return Call("sqrt", (sum(squares[1:], start=squares[0]) + _VANISHING,))


def rotation_angle(quaternion: Sequence[Scalar], reference: Sequence[Scalar] = _NO_ROTATION) -> Expression:
    """The angle, from 0 to pi, of the rotation from the orientation `reference` to that of `quaternion`.

    Both have the scalar part first; the reference may have any length. A spring on this angle acts along the shortest
    rotation back. At zero the derivatives are finite; at pi the direction of the shortest rotation jumps.
    """
    e0, *e = (expression(item) for item in quaternion)
    r0, *r = (expression(item) for item in reference)
    scalar = _combined([(r0, e0), *zip(r, e, strict=True)], (1, 1, 1, 1))
    turned = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        turned.append(_combined([(r0, e[i]), (r[k], e[j]), (r[i], e0), (r[j], e[k])], (1, 1, -1, -1)))
    return 2 * Call("atan2", (length(turned), Call("abs", (scalar,))))


_ZERO, _ONE = Number(Fraction(0)), Number(Fraction(1))


def _combined(terms: Sequence[tuple[Expression, Expression]], sign: Sequence[int]) -> Expression:
    """The sum of signed products, without products by zero."""
    total: Expression = _ZERO
    for (factor, item), direction in zip(terms, sign, strict=True):
        if factor == _ZERO:
            continue
        product = item if factor == _ONE else factor * item
        if total == _ZERO:
            total = product if direction > 0 else -product
        else:
            total = total + product if direction > 0 else total - product
    return total


# Damping, springs and armature are passive forces in MuJoCo, which always applies them. Dry friction and joint ranges
# belong to its constraint solver; here they become smoothed friction and limits with a stiffness, on request only.

_ILLEGAL = re.compile(r"[^\w$]+")
_LONGEST = 100  # characters of a joint's name in the name of an element


@dataclass(frozen=True)
class JointModel:
    """Which joint data of robot files becomes part of the equations.

    passive: damping, springs and armature. dry_friction: smoothed over rates of about `friction_width`.
    limit_stiffness, limit_damping: of the stops at joint limits; without a stiffness there are no stops.
    """

    passive: bool = True
    dry_friction: bool = False
    friction_width: Scalar = DEFAULT_WIDTH
    limit_stiffness: Scalar | None = None
    limit_damping: Scalar = 0


def with_elements(mechanism: Mechanism, joints: JointModel | None = None) -> Mechanism:
    """The mechanism with its `extras` as elements and armature of coordinates; converted records are removed."""
    work = _Conversion(mechanism, joints or JointModel())
    left = tuple(extra for extra in mechanism.extras if not work.converted(extra))
    coordinates = tuple(work.with_armature(coordinate) for coordinate in mechanism.coordinates)
    elements = (*mechanism.elements, *work.elements)
    full = replace(mechanism, coordinates=coordinates, elements=elements, extras=left)
    validate(full)
    return replace(full, report=full_report(full)) if tells_of_joints(mechanism.report) else full


@dataclass
class _Conversion:
    mechanism: Mechanism
    joints: JointModel
    elements: list[Element] = field(default_factory=list)
    armature: dict[tuple[str, ...], Expression] = field(default_factory=dict)

    def converted(self, extra: Extra) -> bool:
        """Add the elements of a record; False if the record remains an extra."""
        joints = self.joints
        match extra:
            case JointFriction():
                return self._friction(extra)
            case JointSpring() if joints.passive:
                self.elements.extend(self._springs(extra))
                return True
            case JointArmature() if joints.passive:
                own = _names(extra.displacement)
                self.armature[own] = self.armature[own] + extra.inertia if own in self.armature else extra.inertia
                return True
            case PassiveElement() if joints.passive:
                word = extra.topic.replace(" ", "_")
                self.elements.append(replace(extra.element, name=self._name(extra.owner, word)))
                return True
            case JointLimits() if joints.limit_stiffness is not None:
                return self._limit(extra, joints.limit_stiffness)
        return False

    def with_armature(self, coordinate: Coordinate | QuaternionCoordinates) -> Coordinate | QuaternionCoordinates:
        """The coordinate with its armature from the records."""
        own = (coordinate.name,) if isinstance(coordinate, Coordinate) else coordinate.names
        return replace(coordinate, armature=self.armature[own]) if own in self.armature else coordinate

    def _springs(self, extra: JointSpring) -> Iterator[Spring]:
        """One spring; with a linear law, one for each length."""
        law = _spring_law(extra)
        if len(extra.displacement) == 4:
            yield Spring(self._name(extra.joint, "spring"), rotation_angle(extra.displacement, extra.rest), law)
        elif len(extra.displacement) > 1 and not isinstance(law, Linear):
            steps = [item - rest for item, rest in zip(extra.displacement, extra.rest, strict=True)]
            yield Spring(self._name(extra.joint, "spring"), length(steps), law)
        else:
            for item, rest in zip(extra.displacement, extra.rest, strict=True):
                yield Spring(self._name(extra.joint, "spring"), item, law, rest)

    def _friction(self, extra: JointFriction) -> bool:
        damping = extra.damping if self.joints.passive else ZERO
        dry = extra.dry if self.joints.dry_friction else ZERO
        higher = extra.higher if self.joints.passive else ()
        width = expression(self.joints.friction_width)
        for rate in self._rates(extra.displacement):
            if dry != ZERO:
                viscous = ZERO if higher else damping
                self.elements.append(Friction(self._name(extra.joint, "friction"), rate, dry, viscous, width))
            if higher or (damping != ZERO and dry == ZERO):
                law = _damper_law(damping, higher)
                self.elements.append(Damper(self._name(extra.joint, "damping"), rate, law))
        return (damping, dry, higher) == (extra.damping, extra.dry, extra.higher)

    def _limit(self, extra: JointLimits, stiffness: Scalar) -> bool:
        if extra.lower is None and extra.upper is None:
            return False
        ball = len(extra.displacement) == 4  # its angle has no lower limit
        where = rotation_angle(extra.displacement) if ball else extra.displacement[0]
        bounds = (None if ball else extra.lower), extra.upper
        damping = expression(self.joints.limit_damping)
        self.elements.append(Limit(self._name(extra.joint, "limit"), where, expression(stiffness), *bounds, damping))
        return False  # the limits of velocity and effort remain in the record

    def _rates(self, displacement: tuple[Expression, ...]) -> Iterator[Expression]:
        """The targets of friction: the displacement, or the three components of an angular velocity."""
        if len(displacement) == 1:
            yield displacement[0]
        else:
            yield from (Name(name) for name in self._quaternion(displacement).velocities)

    def _quaternion(self, displacement: tuple[Expression, ...]) -> QuaternionCoordinates:
        names = _names(displacement)
        for coordinate in self.mechanism.coordinates:
            if isinstance(coordinate, QuaternionCoordinates) and coordinate.names == names:
                return coordinate
        raise ModelError(f"unknown quaternion ({', '.join(names)})")

    def _name(self, joint: str, what: str) -> str:
        """A new name for the element of a joint."""
        wanted = f"{what}_{_ILLEGAL.sub('_', joint)[:_LONGEST]}"
        name, number = wanted, 2
        while name in self._used:
            name, number = f"{wanted}{number}", number + 1
        self._used.add(name)
        return name

    @cached_property
    def _used(self) -> set[str]:
        return {one.name for one in (*self.mechanism.bodies, *self.mechanism.elements)}


def _spring_law(extra: JointSpring) -> Linear | EnergyLaw:
    """The spring law of a polynomial, as its energy."""
    if not extra.higher:
        return Linear(extra.stiffness)
    terms = [
        expression(Fraction(1, power)) * factor * Operation("^", (STRETCH, expression(power)))
        for power, factor in enumerate((extra.stiffness, *extra.higher), start=2)
    ]
    return EnergyLaw(sum(terms[1:], start=terms[0]))


def _damper_law(damping: Expression, higher: Sequence[Expression]) -> Linear | ForceLaw:
    """The damper law of a polynomial; even powers have the sign of the rate."""
    if not higher:
        return Linear(damping)
    size = Call("abs", (RATE,))
    terms = [factor * RATE * Operation("^", (size, expression(power))) for power, factor in enumerate(higher, start=1)]
    return ForceLaw(sum(terms, start=damping * RATE))


def _names(displacement: tuple[Expression, ...]) -> tuple[str, ...]:
    return tuple(item.text for item in displacement if isinstance(item, Name))
