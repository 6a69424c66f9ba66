"""Lock coordinates, release joints, set parameters and the initial state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kinegraph.errors import ModelError
from kinegraph.model.constraints import AnyLoop, Constraint, Contact, Coupling
from kinegraph.model.definitions import Definition, replaced, resolved
from kinegraph.model.elements import Element, Input, mentions
from kinegraph.model.evaluate import known_parameter_values, number
from kinegraph.model.expressions import PI, TIME, Expression, Name, Scalar, expression, names
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Mechanism,
    Parameter,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
)
from kinegraph.model.names import component, did_you_mean
from kinegraph.model.robot_data import JointData
from kinegraph.model.validation.mechanism import validate


def lock(mechanism: Mechanism, *coordinates: str | Mapping[str, Scalar], **values: Scalar) -> Mechanism:
    """The mechanism with locked coordinates: `lock(robot, q4=0)`, or `lock(robot, "q4")` for its initial position.

    A value is a number or an expression of parameters. The coordinate becomes a parameter of the same name, so its
    value can still be set. All four components of a quaternion are locked together. Springs, dampers, forces and
    limits that act only on locked coordinates are removed, with unknowns that no other force has. A constraint on
    locked coordinates only must be satisfied.
    """
    wanted: dict[str, Scalar | None] = {}
    for one in coordinates:
        wanted |= {one: None} if isinstance(one, str) else dict(one)
    wanted |= values
    held = _held(mechanism, wanted)
    if not held:
        return mechanism
    return _Locked(mechanism, held).mechanism()


def _held(mechanism: Mechanism, wanted: Mapping[str, Scalar | None]) -> dict[str, Expression]:
    """The value of each locked position."""
    layout = mechanism.layout
    for name in wanted:
        if name not in layout.positions:
            remedy = did_you_mean(name, layout.positions)
            raise ModelError(f"cannot lock {name!r}: {mechanism.name} has no such coordinate", remedy=remedy)
    held: dict[str, Expression] = {}
    for coordinate in mechanism.coordinates:
        own = (coordinate.name,) if isinstance(coordinate, Coordinate) else coordinate.names
        start = (coordinate.position,) if isinstance(coordinate, Coordinate) else coordinate.position
        given = [name for name in own if name in wanted]
        if given and len(given) < len(own):
            remedy = f"give all of {', '.join(own)}"
            raise ModelError(f"the quaternion ({', '.join(own)}) can only be locked as a whole", remedy=remedy)
        for name, initial in zip(own, start, strict=True):
            if name in wanted:
                value = wanted[name]
                held[name] = initial if value is None else expression(value, name)
    return held


class _Locked:
    """Removes locked coordinates from a mechanism."""

    def __init__(self, mechanism: Mechanism, held: Mapping[str, Expression]) -> None:
        self.held = held
        still = [one for one in mechanism.coordinates if not self._is_held(one)]
        gone = [one for one in mechanism.coordinates if self._is_held(one)]
        rates = [r for one in gone for r in ((one.name + "'",) if isinstance(one, Coordinate) else one.velocities)]
        parameters = tuple(Parameter(name, value) for name, value in held.items())
        moved = replace(mechanism, coordinates=tuple(still), parameters=(*mechanism.parameters, *parameters))
        self.free = replaced(moved, dict.fromkeys(rates, ZERO))
        layout = self.free.layout
        self.moving = {*layout.positions, *layout.velocities}

    def _is_held(self, coordinate: Coordinate | QuaternionCoordinates) -> bool:
        return (coordinate.name if isinstance(coordinate, Coordinate) else coordinate.names[0]) in self.held

    def mechanism(self) -> Mechanism:
        free = self.free
        constraints = [*free.constraints, *(self._relation(loop) for loop in free.loops if self._is_broken(loop))]
        quasi = [one for one in free.quasivelocities if self._moves(one.value)]
        still = tuple(Definition(one.name, one.value) for one in free.quasivelocities if one not in quasi)
        elements = tuple(element for element in free.elements if self._works(element))
        locked = replace(
            free,
            elements=elements,
            unknowns=tuple(one for one in free.unknowns if any(mentions(element, one.name) for element in elements)),
            loops=tuple(loop for loop in free.loops if not self._is_broken(loop)),
            constraints=tuple(one for one in constraints if not self._is_satisfied(one)),
            contacts=tuple(self._with_slip(contact) for contact in free.contacts if not self._is_open(contact)),
            quasivelocities=tuple(quasi),
            definitions=(*free.definitions, *still),
            extras=tuple(
                one for one in free.extras if not isinstance(one, JointData) or self._moves(*one.displacement)
            ),
        )
        locked = resolved(locked)
        validate(locked)
        return locked

    def _moves(self, *roots: Expression) -> bool:
        return any(name in self.moving or component(name) for root in roots for name in names(root))

    def _works(self, element: Element) -> bool:
        target = getattr(element, "on", None)
        return not isinstance(target, Expression) or self._moves(target)

    # couplings, constraints and contacts of locked coordinates

    def _is_broken(self, loop: AnyLoop) -> bool:
        return isinstance(loop, Coupling) and bool({loop.first, loop.second} & self.held.keys())

    def _relation(self, loop: AnyLoop) -> Constraint:
        assert isinstance(loop, Coupling)
        return Constraint(loop.name, Name(loop.first), loop.ratio * Name(loop.second) + loop.offset)

    def _is_satisfied(self, constraint: Constraint) -> bool:
        """Whether a constraint depends only on locked coordinates; then it must be satisfied."""
        if self._moves(constraint.residual):
            return False
        self._require(constraint.residual, lambda value: abs(value) <= 1e-9, f"the constraint {constraint.name}")
        return True

    def _is_open(self, contact: Contact) -> bool:
        if self._moves(contact.gap):
            return False
        self._require(contact.gap, lambda value: value >= -1e-9, f"the contact {contact.name}")
        return True

    def _require(self, root: Expression, holds: Callable[[float], bool], what: str) -> None:
        known = known_parameter_values(self.free)
        found = number(root, known) if names(root) <= known.keys() | {PI} else None
        if found is None or not holds(found):
            residual = "changes with time or has no value" if found is None else f"is {found:g}"
            remedy = "lock other coordinates, or lock them at values that satisfy it"
            raise ModelError(
                f"{what} depends only on locked coordinates and is violated: its residual {residual}", None, remedy
            )

    def _with_slip(self, contact: Contact) -> Contact:
        slip = tuple(item for item in contact.slip if self._moves(item))
        return replace(contact, slip=slip, friction=contact.friction if slip else ZERO)


# Joint reactions by release: six coordinates that stay zero are inserted at the joint's point on the body's side, after
# the last shift of its motion (the pin of a revolute joint; it moves with the slider of a prismatic joint). The
# generalized forces of these coordinates are the force and moment that the joint transmits.

_FORCES = tuple(f"release {axis}" for axis in "xyz")
_MOMENTS = tuple(f"release about {axis}" for axis in "xyz")
#: The coordinates that stay zero, forces before moments.
RELEASED = (*_FORCES, *_MOMENTS)
#: The frame at the joint's point.
JOINT = "release frame"


@dataclass(frozen=True)
class Released:
    """The mechanism with one joint released; the six forces are in the axes of the frame `joint`."""

    mechanism: Mechanism
    body: str
    base: str | None
    joint: str = JOINT


def released(mechanism: Mechanism, body: str) -> Released:
    """Release the joint of a body. Its six coordinates are the last entries of q, v and tau."""
    if body not in mechanism.body_by_name:
        raise ModelError(f"unknown body {body!r}", remedy=did_you_mean(body, mechanism.body_by_name))
    body_of = mechanism.body(body)
    before, after = _split(mechanism, body_of)
    carrier = Body(JOINT, body_of.base, before)
    freed = replace(body_of, base=JOINT, transforms=(*_free_transforms(), *after))
    bodies = tuple(item for one in mechanism.bodies for item in ((carrier, freed) if one.name == body else (one,)))
    coordinates = (*mechanism.coordinates, *(Coordinate(name) for name in RELEASED))
    return Released(replace(mechanism, bodies=bodies, coordinates=coordinates), body, body_of.base)


def _split(mechanism: Mechanism, body: Body) -> tuple[tuple[Transform, ...], tuple[Transform, ...]]:
    """The transforms before the joint's point, and the rest; for a fixed body, all and none."""
    place = joint_point(mechanism, body)
    return body.transforms[:place], body.transforms[place:]


def joint_motion(mechanism: Mechanism, body: Body) -> tuple[int, ...]:
    """The indices of the transforms of a body that move."""
    moving = {*mechanism.layout.positions, TIME}
    return tuple(k for k, transform in enumerate(body.transforms) if _names(transform) & moving)


def joint_point(mechanism: Mechanism, body: Body) -> int:
    """The number of transforms up to the joint's point on the body's side; for a fixed body, all."""
    motion = joint_motion(mechanism, body)
    if not motion:
        return len(body.transforms)
    shifts = [k + 1 for k in range(motion[0], motion[-1] + 1) if isinstance(body.transforms[k], Shift)]
    return shifts[-1] if shifts else motion[0]


def _names(transform: Transform) -> frozenset[str]:
    if isinstance(transform, Quaternion):
        return frozenset().union(*(names(item) for item in transform.components))
    return frozenset(names(transform.angle if isinstance(transform, Rotation) else transform.distance))


def _free_transforms() -> list[Transform]:
    shifts = [Shift(axis, Name(name)) for axis, name in zip(Axis, _FORCES, strict=True)]
    return [*shifts, *(Rotation(axis, Name(name)) for axis, name in zip(Axis, _MOMENTS, strict=True))]


def with_parameters(mechanism: Mechanism, values: Mapping[str, Scalar]) -> Mechanism:
    """The mechanism with these parameter values: numbers, or expressions of other parameters."""
    known = {parameter.name for parameter in mechanism.parameters}
    for name in values:
        if name not in known:
            raise ModelError(f"unknown parameter {name!r} of {mechanism.name}", remedy=did_you_mean(name, known))
    given = {name: expression(value, name) for name, value in values.items()}
    changed = replace(
        mechanism,
        parameters=tuple(replace(one, value=given.get(one.name, one.value)) for one in mechanism.parameters),
    )
    validate(changed)
    return changed


def with_known(mechanism: Mechanism, values: Mapping[str, Scalar]) -> Mechanism:
    """The mechanism with values for some of its unknowns, which become inputs: numbers, or formulas of time."""
    unknowns = [one.name for one in mechanism.unknowns]
    allowed = {TIME, PI, *(parameter.name for parameter in mechanism.parameters)}
    found = []
    for name, value in values.items():
        if name not in unknowns:
            raise ModelError(f"{mechanism.name} has no unknown {name!r}", remedy=did_you_mean(name, unknowns))
        found.append(Input(name, expression(value, name)))
        if others := sorted(names(found[-1].value or ZERO) - allowed):
            raise ModelError(f"the value of {name} depends on {others[0]!r}", remedy="use parameters and t only")
    rest = tuple(one for one in mechanism.unknowns if one.name not in values)
    return replace(mechanism, inputs=(*mechanism.inputs, *found), unknowns=rest)


def with_unknown_parameters(mechanism: Mechanism, names: Iterable[str]) -> Mechanism:
    """The mechanism with those of its unknowns that are among the names as parameters, zero, so that they can vary."""
    chosen = {*names}
    turned = tuple(Parameter(one.name, ZERO) for one in mechanism.unknowns if one.name in chosen)
    rest = tuple(one for one in mechanism.unknowns if one.name not in chosen)
    return replace(mechanism, parameters=(*mechanism.parameters, *turned), unknowns=rest) if turned else mechanism


def with_start(mechanism: Mechanism, q: Sequence[float]) -> Mechanism:
    """The mechanism with other initial positions, in the order of its layout."""
    values = [expression(float(value)) for value in q]
    coordinates: list[Coordinate | QuaternionCoordinates] = []
    for one in mechanism.coordinates:
        if isinstance(one, Coordinate):
            coordinates.append(replace(one, position=values.pop(0)))
        else:
            four = values.pop(0), values.pop(0), values.pop(0), values.pop(0)
            coordinates.append(replace(one, position=four))
    return replace(mechanism, coordinates=tuple(coordinates))
