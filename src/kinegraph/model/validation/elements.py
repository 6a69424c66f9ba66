"""Validate the elements of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kinegraph.errors import ModelError, Place
from kinegraph.model.axes import Axes
from kinegraph.model.elements import (
    RATE,
    STRETCH,
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
    anchors_of,
)
from kinegraph.model.evaluate import Value, known_parameter_values, number
from kinegraph.model.expressions import PI, Expression, names
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.model.names import did_you_mean, name_fault
from kinegraph.model.report import Places
from kinegraph.model.validation.expressions import (
    ANYTHING,
    GIVEN,
    MOVING,
    PARAMETERS,
    POSITIONS,
    RATES,
    STEERED,
    UNKNOWN,
    VELOCITIES,
    Scope,
    Site,
    degree,
)

_LOADS = ANYTHING | UNKNOWN

_WORDS: dict[type, str] = {Spring: "spring", Damper: "damper", Friction: "friction", Force: "force",
                           PointForce: "force", Moment: "moment", Potential: "potential", Limit: "limit",
                           CompliantContact: "contact"}  # fmt: skip

_Part = tuple[str, Expression, frozenset[str], str]  # clause, expression, kinds it may use, local name


def described(element: Element) -> str:
    """An element in words: `the spring S`."""
    return f"the {_WORDS[type(element)]} {element.name}"


# Names


def element_sites(mechanism: Mechanism, places: Places) -> Iterator[Site]:
    """All expressions of the elements, with the kinds of names that are allowed."""
    for element in mechanism.elements:
        what = described(element)
        for clause, root, allowed, local in _parts(element):
            yield Site(root, f"`{clause}` of {what}", allowed, places.of(element, clause), local)
        for clause, anchor in _anchors(element):
            for item in anchor.position:
                yield Site(item, f"`{clause}` of {what}", GIVEN, places.of(anchor) or places.of(element, clause))


def _parts(element: Element) -> Iterator[_Part]:
    match element:
        case Spring(on=on, law=law, rest=rest):
            yield from _target(on, POSITIONS)
            steering = GIVEN if isinstance(law, EnergyLaw) else STEERED  # a stored energy must not depend on inputs
            yield "rest", rest, steering, ""
            yield _law(law, "stiffness", steering, STRETCH.text)
        case Damper(on=on, law=law):
            yield from _target(on, RATES)
            yield _law(law, "damping", ANYTHING, RATE.text)
        case Friction(on=on, coulomb=coulomb, viscous=viscous, width=width):
            yield from _target(on, RATES)
            yield "coulomb", coulomb, ANYTHING, ""
            yield "viscous", viscous, ANYTHING, ""
            yield "width", width, PARAMETERS, ""
        case Force(value=value, on=on):
            yield from _target(on, RATES)
            yield "value", value, _LOADS, ""
        case PointForce(components=components, axes=axes) | Moment(components=components, axes=axes):
            yield from ((axes.value, item, _LOADS, "") for item in components)
        case Potential(energy=energy):
            yield "potential", energy, POSITIONS, ""
        case Limit(on=on, lower=lower, upper=upper, stiffness=stiffness, damping=damping):
            yield from _target(on, POSITIONS)
            bounds = (("lower", lower), ("upper", upper))
            yield from ((clause, bound, GIVEN, "") for clause, bound in bounds if bound is not None)
            yield "stiffness", stiffness, PARAMETERS, ""
            yield "damping", damping, PARAMETERS, ""
        case CompliantContact():
            for clause in ("stiffness", "exponent", "damping", "friction", "slip"):
                yield clause, getattr(element, clause), PARAMETERS, ""
            for shape in element.shapes:
                yield from ((word_of(shape), item, PARAMETERS, "") for item in _sizes(shape))


def word_of(shape: ContactShape) -> str:
    """The clause of a shape."""
    return type(shape).__name__.lower()


def _sizes(shape: ContactShape) -> tuple[Expression, ...]:
    match shape:
        case Plane():
            return shape.normal
        case Torus():
            return (*shape.normal, shape.ring, shape.radius)
        case Arc():
            return (*shape.normal, *shape.middle, shape.ring, shape.half_angle, shape.radius)
        case Cone():
            return (*shape.axis, shape.half_angle, shape.length)
        case Sphere() | Capsule() | Cylinder():
            return (shape.radius,)


def _target(target: Target, allowed: frozenset[str]) -> Iterator[_Part]:
    if isinstance(target, Expression):
        yield "on", target, allowed, ""


def _law(law: Linear | ForceLaw | EnergyLaw, linear: str, allowed: frozenset[str], local: str) -> _Part:
    if isinstance(law, Linear):
        return linear, law.coefficient, allowed, ""
    if isinstance(law, ForceLaw):
        return "force", law.force, allowed, local
    return "energy", law.energy, allowed, local


def _anchors(element: Element) -> tuple[tuple[str, Anchor], ...]:
    if isinstance(element, PointForce):
        return (("at", element.at),)
    if isinstance(element, CompliantContact):
        return tuple((word_of(shape), anchor) for shape in element.shapes for anchor in anchors_of(shape))
    target = getattr(element, "on", None)
    return (("between", target.first), ("between", target.second)) if isinstance(target, Span) else ()


# Targets


def check_elements(mechanism: Mechanism, scope: Scope, places: Places) -> None:
    """Raise a ModelError unless each element has a unique name and acts on something that moves."""
    if not mechanism.elements:
        return
    seen: set[str] = set()
    values = known_parameter_values(mechanism)
    body_of = {point.name: point.body for point in mechanism.points} | {b.name: b.name for b in mechanism.bodies}
    bodies = frozenset(body.name for body in mechanism.bodies)
    for element in mechanism.elements:
        _check_name(element, seen, places)
        for clause, anchor in _anchors(element):
            where = places.of(anchor) or places.of(element, clause)
            _check_anchor(anchor, f"`{clause}` of {described(element)}", body_of, bodies, where)
        _check_target(element, scope, body_of, places)
        if isinstance(element, PointForce | Moment) and element.axes is Axes.PARENT:
            message = f"{described(element)} has components in the axes of the parent"
            raise ModelError(message, places.of(element, "at"), "give them in world or body axes")
        if isinstance(element, Moment):
            _check_moment(element, body_of, places)
        _check_numbers(element, values, places)


def _check_name(element: Element, seen: set[str], places: Places) -> None:
    if fault := name_fault(element.name):
        raise ModelError(f"{described(element)} {fault}", places.of(element), "choose another name")
    if element.name in seen:
        message = f"two elements have the name {element.name}"
        raise ModelError(message, places.of(element), "rename one of them: elements share one set of names")
    seen.add(element.name)


def _check_anchor(
    anchor: Anchor, what: str, body_of: Mapping[str, str | None], bodies: frozenset[str], place: Place | None
) -> None:
    if anchor.of is None:
        return
    if anchor.of not in body_of:
        message = f"unknown output or body '{anchor.of}' in {what}"
        raise ModelError(message, place, did_you_mean(anchor.of, body_of))
    if anchor.of not in bodies and anchor.position != (ZERO, ZERO, ZERO):
        message = f"{what}: {anchor.of} is an output, so it takes no coordinates"
        remedy = f"write `{anchor.of}`, or a point of a body as `Body(x, y, z)`"
        raise ModelError(message, place, remedy)


def _check_target(element: Element, scope: Scope, body_of: Mapping[str, str | None], places: Places) -> None:
    """At least one end must move, and expressions of velocities must be linear in them."""
    what = described(element)
    for clause, ends in _ends(element):
        if all(body_of.get(end) is None if end is not None else True for end in ends):
            message = f"{what} acts only on the fixed frame, so it moves nothing"
            raise ModelError(message, places.of(element, clause), "choose a point of a body")
    target = getattr(element, "on", None)
    if not isinstance(target, Expression):
        return
    if not any(scope.kind(name) in MOVING for name in names(target)):
        message = f"{what} acts on an expression that does not depend on the motion"
        raise ModelError(message, places.of(element, "on"), "write an expression of coordinates or points in `on(...)`")
    if degree(target, lambda name: scope.kind(name) in VELOCITIES) > 1:
        message = f"{what} acts on an expression that is not linear in the velocities"
        remedy = "write positions or a linear form of velocities in `on(...)`; put powers into the force formula"
        raise ModelError(message, places.of(element, "on"), remedy)


def _ends(element: Element) -> Iterable[tuple[str, tuple[str | None, ...]]]:
    if isinstance(element, PointForce):
        return (("at", (element.at.of,)),)
    if isinstance(element, CompliantContact):
        return (("stiffness", tuple(anchor.of for shape in element.shapes for anchor in anchors_of(shape))),)
    target = getattr(element, "on", None)
    return (("between", (target.first.of, target.second.of)),) if isinstance(target, Span) else ()


def _check_moment(element: Moment, body_of: Mapping[str, str | None], places: Places) -> None:
    place = places.of(element, "at")
    if element.on not in body_of:
        message = f"unknown body or output '{element.on}' in {described(element)}"
        raise ModelError(message, place, did_you_mean(element.on, body_of))
    if body_of[element.on] is None:
        message = f"{described(element)} acts on {element.on}, a point of the fixed frame"
        raise ModelError(message, place, "choose a body")


# Numbers


def _check_numbers(element: Element, values: Mapping[str, Value], places: Places) -> None:
    """Negative stiffness and damping are allowed, except where they make an element meaningless."""
    if isinstance(element, Friction):
        width = _known("width", element.width, element, values, places)
        if width is not None and width <= 0:
            message = f"the width of {described(element)} is {width:g}"
            remedy = "write the positive rate over which dry friction is smoothed"
            raise ModelError(message, places.of(element, "width"), remedy)
    if isinstance(element, Limit):
        _check_limit(element, values, places)
    if isinstance(element, CompliantContact):
        _check_compliant_contact(element, values, places)


#: Pairs of shapes, without spheres, whose distance has a closed form.
_DISTANCES = (
    frozenset({Capsule}), frozenset({Capsule, Plane}), frozenset({Cylinder, Plane}), frozenset({Torus, Plane}),
)  # fmt: skip


def _check_compliant_contact(element: CompliantContact, values: Mapping[str, Value], places: Places) -> None:
    what = described(element)
    kinds = frozenset(type(shape) for shape in element.shapes)
    if Sphere not in kinds and kinds not in _DISTANCES:
        words = " and ".join(map(word_of, element.shapes))
        remedy = "write a sphere against anything, a plane against a capsule, cylinder or torus, or two capsules"
        raise ModelError(f"{what}: the distance between {words} is not supported", places.of(element), remedy)
    for shape in element.shapes:
        if isinstance(shape, Capsule | Cylinder) and shape.first.of != shape.second.of:
            word = word_of(shape)
            message = f"the {word} of {what} has its ends on two bodies, {shape.first.of} and {shape.second.of}"
            raise ModelError(message, places.of(element, word), "give two points of one body")
    first, second = (anchors_of(shape)[0].of for shape in element.shapes)
    if first == second:
        message = f"both shapes of {what} are on {first or 'the fixed frame'}, so it moves nothing"
        raise ModelError(message, places.of(element), "put the shapes on two bodies")
    for clause in ("stiffness", "damping", "friction", "slip", "exponent"):
        found = _known(clause, getattr(element, clause), element, values, places)
        if found is not None and (found < 0 or (found == 0 and clause in ("slip", "exponent"))):
            message = f"the {clause} of {what} is {found:g}"
            raise ModelError(message, places.of(element, clause), "write a positive number")
    exponent = _known("exponent", element.exponent, element, values, places)
    if exponent is None or exponent < 1 or 2 * exponent != int(2 * exponent) or exponent > 10:
        message = f"the exponent of {what} is {'a symbol' if exponent is None else f'{exponent:g}'}"
        raise ModelError(message, places.of(element, "exponent"), "write 1, 3/2, 2, ... up to 10")


def _check_limit(element: Limit, values: Mapping[str, Value], places: Places) -> None:
    what = described(element)
    if element.lower is None and element.upper is None:
        raise ModelError(f"{what} has no bound", places.of(element), "write `lower(...)`, `upper(...)` or both")
    for clause, root in (("stiffness", element.stiffness), ("damping", element.damping)):
        found = _known(clause, root, element, values, places)
        if found is not None and found < 0:
            message = f"the {clause} of {what} is negative: {found:g}"
            raise ModelError(message, places.of(element, clause), "write a number that is zero or positive")
    lower = _known("lower", element.lower, element, values, places)
    upper = _known("upper", element.upper, element, values, places)
    if lower is not None and upper is not None and lower > upper:
        message = f"the lower bound of {what} is above the upper bound: {lower:g} > {upper:g}"
        raise ModelError(message, places.of(element, "lower"), "swap the two")


def _known(
    clause: str, root: Expression | None, element: Element, values: Mapping[str, Value], places: Places
) -> float | None:
    """The value of an expression; None if a parameter in it has no value."""
    if root is None or not names(root) <= values.keys() | {PI}:
        return None
    try:
        return number(root, values)
    except ModelError as error:
        raise ModelError(f"{clause} of {described(element)}: {error}", places.of(element, clause)) from None
