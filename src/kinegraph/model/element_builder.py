"""Methods of the builder that add elements: springs, dampers, friction, forces, limits, compliant contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from kinegraph.errors import ModelError
from kinegraph.model.axes import Axes
from kinegraph.model.elements import (
    DEFAULT_WIDTH,
    HERTZ,
    Anchor,
    Arc,
    Capsule,
    CompliantContact,
    Cone,
    ContactShape,
    Cylinder,
    Damper,
    Element,
    EnergyLaw,
    Force,
    ForceLaw,
    Friction,
    Input,
    Limit,
    Linear,
    Moment,
    Plane,
    PointForce,
    Potential,
    Span,
    Sphere,
    Spring,
    Target,
    Torus,
    Triple,
)
from kinegraph.model.expressions import Expression, Name, Scalar, expression
from kinegraph.model.mechanism import Body, Point

_LAWS: dict[str, type[Linear | ForceLaw | EnergyLaw]] = {
    "stiffness": Linear,
    "force": ForceLaw,
    "energy": EnergyLaw,
}

E = TypeVar("E", bound=Element)

#: A point in Python: an output or body, given as itself or by name, `at(body, position)`, or three fixed coordinates.
PointLike: TypeAlias = Anchor | Point | Body | str | Sequence[Scalar]


def at(body: Body | str | None, position: Sequence[Scalar] = (0, 0, 0)) -> Anchor:
    """A point of a body, in its frame (of the fixed frame if body is None)."""
    return Anchor(body.name if isinstance(body, Body) else body, _triple(position, "a point"))


def sphere(center: PointLike, radius: Scalar) -> Sphere:
    """A sphere, as the shape of a compliant contact."""
    return Sphere(_anchor(center), expression(radius))


def capsule(first: PointLike, second: PointLike, radius: Scalar) -> Capsule:
    """A capsule (a cylinder with round ends) between two points of one body."""
    return Capsule(_anchor(first), _anchor(second), expression(radius))


def plane(point: PointLike, normal: Sequence[Scalar]) -> Plane:
    """A half-space; the normal, in the axes of the point's body, points out of the solid."""
    return Plane(_anchor(point), _triple(normal, "a normal"))


def torus(center: PointLike, normal: Sequence[Scalar], ring: Scalar, radius: Scalar) -> Torus:
    """A torus: all points within `radius` of a circle of radius `ring`."""
    return Torus(_anchor(center), _triple(normal, "a normal"), expression(ring), expression(radius))


def arc(
    center: PointLike,
    normal: Sequence[Scalar],
    middle: Sequence[Scalar],
    ring: Scalar,
    half_angle: Scalar,
    radius: Scalar,
) -> Arc:
    """A part of a torus with round ends, `half_angle` to both sides of its middle."""
    sizes = expression(ring), expression(half_angle), expression(radius)
    return Arc(_anchor(center), _triple(normal, "a normal"), _triple(middle, "a direction"), *sizes)


def cylinder(first: PointLike, second: PointLike, radius: Scalar) -> Cylinder:
    """A solid cylinder with flat ends, between two points of one body."""
    return Cylinder(_anchor(first), _anchor(second), expression(radius))


def cone(apex: PointLike, axis: Sequence[Scalar], half_angle: Scalar, length: Scalar) -> Cone:
    """The inner wall of a hollow cone that opens along `axis`; `length` is measured along the wall."""
    return Cone(_anchor(apex), _triple(axis, "an axis"), expression(half_angle), expression(length))


class ElementBuilder:
    """Collects inputs and elements. Elements with `on` and `between` take exactly one of the two."""

    def __init__(self) -> None:
        self._inputs: list[Input] = []
        self._elements: list[Element] = []

    def input(self, name: str, value: Scalar | None = None) -> Name:
        """Declare an input. Without an expression of time, its value is an argument of the compiled code."""
        self._inputs.append(Input(name, None if value is None else expression(value)))
        return Name(name)

    def spring(
        self,
        name: str,
        on: Scalar | None = None,
        *,
        between: Sequence[PointLike] | None = None,
        stiffness: Scalar | None = None,
        force: Scalar | None = None,
        energy: Scalar | None = None,
        rest: Scalar = 0,
    ) -> Spring:
        """A spring: linear with `stiffness`, or any function of STRETCH as `force` or `energy`."""
        given = {"stiffness": stiffness, "force": force, "energy": energy}
        word, formula = _one_of(given, f"the spring {name}")
        return self._add(Spring(name, _target(name, on, between), _LAWS[word](formula), expression(rest)))

    def damper(
        self,
        name: str,
        on: Scalar | None = None,
        *,
        between: Sequence[PointLike] | None = None,
        damping: Scalar | None = None,
        force: Scalar | None = None,
    ) -> Damper:
        """A damper: linear with `damping`, or any function of RATE as `force`."""
        word, formula = _one_of({"damping": damping, "force": force}, f"the damper {name}")
        law = Linear(formula) if word == "damping" else ForceLaw(formula)
        return self._add(Damper(name, _target(name, on, between), law))

    def friction(
        self,
        name: str,
        on: Scalar | None = None,
        *,
        between: Sequence[PointLike] | None = None,
        coulomb: Scalar = 0,
        viscous: Scalar = 0,
        width: Scalar = DEFAULT_WIDTH,
    ) -> Friction:
        """Dry friction of magnitude `coulomb`, smoothed over rates of about `width`, and viscous friction."""
        amounts = (expression(coulomb), expression(viscous), expression(width))
        return self._add(Friction(name, _target(name, on, between), *amounts))

    def force(
        self, name: str, value: Scalar, on: Scalar | None = None, *, between: Sequence[PointLike] | None = None
    ) -> Force:
        """A generalized force on an expression, or on the distance between two points."""
        return self._add(Force(name, expression(value), _target(name, on, between)))

    def point_force(
        self, name: str, at: PointLike, components: Sequence[Scalar], axes: Axes = Axes.WORLD
    ) -> PointForce:
        """A force at a point."""
        return self._add(PointForce(name, _anchor(at), _triple(components, f"the force {name}"), axes))

    def moment(self, name: str, on: Body | str, components: Sequence[Scalar], axes: Axes = Axes.WORLD) -> Moment:
        """A moment on a body."""
        body = on.name if isinstance(on, Body) else on
        return self._add(Moment(name, body, _triple(components, f"the moment {name}"), axes))

    def potential(self, name: str, energy: Scalar) -> Potential:
        """Any potential energy."""
        return self._add(Potential(name, expression(energy)))

    def limit(
        self,
        name: str,
        on: Scalar | None = None,
        *,
        between: Sequence[PointLike] | None = None,
        stiffness: Scalar,
        lower: Scalar | None = None,
        upper: Scalar | None = None,
        damping: Scalar = 0,
    ) -> Limit:
        """One-sided springs below `lower` and above `upper`."""
        bounds = [None if bound is None else expression(bound) for bound in (lower, upper)]
        target = _target(name, on, between)
        return self._add(Limit(name, target, expression(stiffness), bounds[0], bounds[1], expression(damping)))

    def compliant_contact(
        self,
        name: str,
        first: ContactShape,
        second: ContactShape,
        *,
        stiffness: Scalar,
        exponent: Scalar = HERTZ,
        damping: Scalar = 0,
        friction: Scalar = 0,
        slip: Scalar = DEFAULT_WIDTH,
    ) -> CompliantContact:
        """A compliant contact of two shapes, such as `sphere(ball, r)` and `capsule(a, b, r)`."""
        amounts = (expression(one) for one in (stiffness, exponent, damping, friction, slip))
        return self._add(CompliantContact(name, (first, second), *amounts))

    def _add(self, element: E) -> E:
        self._elements.append(element)
        return element


def _target(name: str, on: Scalar | None, between: Sequence[PointLike] | None) -> Target:
    if (on is None) == (between is None):
        raise ModelError(f"{name} needs exactly one target", remedy="give either `on` or `between`")
    if on is not None:
        return expression(on)
    assert between is not None
    if len(between) != 2:
        raise ModelError(f"`between` of {name} takes 2 points, found {len(between)}", remedy="write between=(a, b)")
    return Span(_anchor(between[0]), _anchor(between[1]))


def _anchor(point: PointLike) -> Anchor:
    if isinstance(point, Anchor):
        return point
    if isinstance(point, Point | Body):
        return Anchor(point.name)
    return Anchor(point) if isinstance(point, str) else at(None, point)


def _one_of(given: dict[str, Scalar | None], what: str) -> tuple[str, Expression]:
    stated = [(word, value) for word, value in given.items() if value is not None]
    if len(stated) != 1:
        raise ModelError(f"{what} needs exactly one of {', '.join(given)}, found {len(stated)}")
    word, value = stated[0]
    return word, expression(value)


def _triple(values: Sequence[Scalar], what: str) -> Triple:
    if len(values) != 3:
        raise ModelError(f"{what}: expected 3 entries, found {len(values)}")
    x, y, z = (expression(value) for value in values)
    return x, y, z
