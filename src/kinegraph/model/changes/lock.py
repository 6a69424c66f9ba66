"""Coordinates held in their places: they become parameters, and what they alone moved no longer moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from kinegraph.errors import ModelError
from kinegraph.model.constraints.records import AnyLoop, Constraint, Contact, Coupling
from kinegraph.model.definitions import Definition, replaced, resolved
from kinegraph.model.elements import Element
from kinegraph.model.evaluate import known_parameter_values, number
from kinegraph.model.expression import PI, Expression, Name, Scalar, expression, names
from kinegraph.model.mechanism import ZERO, Coordinate, Mechanism, Parameter, QuaternionCoordinates
from kinegraph.model.names import component, did_you_mean
from kinegraph.model.robot.data import Shape
from kinegraph.model.validation.mechanism import validate


def lock(mechanism: Mechanism, *coordinates: str | Mapping[str, Scalar], **values: Scalar) -> Mechanism:
    """The mechanism with coordinates held: `lock(robot, q4=0)`, or `lock(robot, "q4")` for its initial position.

    A value is a number or an expression of parameters. The coordinate becomes a parameter of the same name, so that its
    value can still be set. Of a quaternion all four components are held. Springs, dampers, forces and limits that work
    on held coordinates alone do nothing and are left out; a constraint of held coordinates alone must be met.
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
    """The value of every position that is held."""
    layout = mechanism.layout
    for name in wanted:
        if name not in layout.positions:
            remedy = did_you_mean(name, layout.positions)
            raise ModelError(f"{mechanism.name} has no coordinate {name!r} to lock", remedy=remedy)
    held: dict[str, Expression] = {}
    for coordinate in mechanism.coordinates:
        own = (coordinate.name,) if isinstance(coordinate, Coordinate) else coordinate.names
        start = (coordinate.position,) if isinstance(coordinate, Coordinate) else coordinate.position
        given = [name for name in own if name in wanted]
        if given and len(given) < len(own):
            remedy = f"give all of {', '.join(own)}"
            raise ModelError(f"the quaternion ({', '.join(own)}) is locked as a whole", remedy=remedy)
        for name, initial in zip(own, start, strict=True):
            if name in wanted:
                value = wanted[name]
                held[name] = initial if value is None else expression(value, name)
    return held


class _Locked:
    """A mechanism from which coordinates are being removed."""

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
        locked = replace(
            free,
            elements=tuple(element for element in free.elements if self._works(element)),
            loops=tuple(loop for loop in free.loops if not self._is_broken(loop)),
            constraints=tuple(one for one in constraints if not self._is_settled(one)),
            contacts=tuple(self._with_slip(contact) for contact in free.contacts if not self._is_apart(contact)),
            quasivelocities=tuple(quasi),
            definitions=(*free.definitions, *still),
            extras=tuple(one for one in free.extras if isinstance(one, Shape) or self._moves(*one.displacement)),
        )
        locked = resolved(locked)
        validate(locked)
        return locked

    def _moves(self, *roots: Expression) -> bool:
        return any(name in self.moving or component(name) for root in roots for name in names(root))

    def _works(self, element: Element) -> bool:
        target = getattr(element, "on", None)
        return not isinstance(target, Expression) or self._moves(target)

    # what tied held coordinates

    def _is_broken(self, loop: AnyLoop) -> bool:
        return isinstance(loop, Coupling) and bool({loop.first, loop.second} & self.held.keys())

    def _relation(self, loop: AnyLoop) -> Constraint:
        assert isinstance(loop, Coupling)
        return Constraint(loop.name, Name(loop.first), loop.ratio * Name(loop.second) + loop.offset)

    def _is_settled(self, constraint: Constraint) -> bool:
        """Whether nothing moves in a constraint any more: then it must hold."""
        if self._moves(constraint.residual):
            return False
        self._require(constraint.residual, lambda value: abs(value) <= 1e-9, f"the constraint {constraint.name}")
        return True

    def _is_apart(self, contact: Contact) -> bool:
        if self._moves(contact.gap):
            return False
        self._require(contact.gap, lambda value: value >= -1e-9, f"the contact {contact.name}")
        return True

    def _require(self, root: Expression, holds: Callable[[float], bool], what: str) -> None:
        known = known_parameter_values(self.free)
        found = number(root, known) if names(root) <= known.keys() | {PI} else None
        if found is None or not holds(found):
            missed = "changes with time or has no value" if found is None else f"is {found:g}"
            remedy = "lock other coordinates, or lock them where the model allows it"
            raise ModelError(
                f"nothing moves any more in {what}, which {missed} where coordinates are locked", None, remedy
            )

    def _with_slip(self, contact: Contact) -> Contact:
        slip = tuple(item for item in contact.slip if self._moves(item))
        return replace(contact, slip=slip, friction=contact.friction if slip else ZERO)
