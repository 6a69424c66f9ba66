"""Elements back into the model language."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.model.elements import (
    DEFAULT_WIDTH,
    HERTZ,
    Anchor,
    Arc,
    Bumper,
    Capsule,
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
from kinegraph.model.expression import Expression
from kinegraph.model.expression_text import text
from kinegraph.model.mechanism import ZERO


def input_text(given: Input) -> str:
    """One entry of the `inputs` statement."""
    return given.name if given.value is None else f"{given.name} = {text(given.value)}"


def element_text(element: Element) -> str:
    """The statement of an element."""
    if isinstance(element, Potential):
        return f"potential {element.name} | {text(element.energy)};"
    keyword, clauses = _statement(element)
    return f"{keyword} {element.name} | {', '.join(clauses)};"


def _statement(element: Element) -> tuple[str, Iterator[str]]:
    match element:
        case Spring():
            return "spring", _spring(element)
        case Damper():
            return "damper", iter((_target(element.on), _law(element.law, "damping")))
        case Friction():
            return "friction", _friction(element)
        case Force():
            return "force", iter((_clause("value", element.value), _target(element.on)))
        case PointForce():
            return "force", iter((f"at({_point(element.at)})", _vector(element.axes.value, element.components)))
        case Moment():
            return "moment", iter((f"at({element.on})", _vector(element.axes.value, element.components)))
        case Limit():
            return "limit", _limit(element)
        case Bumper():
            return "bumper", _bumper(element)
    raise TypeError(f"{type(element).__name__} is no element")


def _spring(spring: Spring) -> Iterator[str]:
    yield _target(spring.on)
    yield _law(spring.law, "stiffness")
    if spring.rest != ZERO:
        yield _clause("rest", spring.rest)


def _friction(friction: Friction) -> Iterator[str]:
    yield _target(friction.on)
    yield _clause("coulomb", friction.coulomb)
    if friction.viscous != ZERO:
        yield _clause("viscous", friction.viscous)
    if friction.width != DEFAULT_WIDTH:
        yield _clause("width", friction.width)


def _limit(limit: Limit) -> Iterator[str]:
    yield _target(limit.on)
    for word, bound in (("lower", limit.lower), ("upper", limit.upper)):
        if bound is not None:
            yield _clause(word, bound)
    yield _clause("stiffness", limit.stiffness)
    if limit.damping != ZERO:
        yield _clause("damping", limit.damping)


def _bumper(bumper: Bumper) -> Iterator[str]:
    yield from map(_shape, bumper.shapes)
    yield _clause("stiffness", bumper.stiffness)
    for word, usual in (("exponent", HERTZ), ("damping", ZERO), ("friction", ZERO), ("slip", DEFAULT_WIDTH)):
        if getattr(bumper, word) != usual:
            yield _clause(word, getattr(bumper, word))


def _shape(shape: ContactShape) -> str:
    match shape:
        case Sphere(centre, radius):
            return f"sphere({_point(centre)}, {text(radius)})"
        case Capsule(first, second, radius):
            return f"capsule({_point(first)}, {_point(second)}, {text(radius)})"
        case Plane(point, normal):
            return f"plane({_point(point)}, {_vector('', normal)})"
        case Torus(centre, normal, ring, radius):
            return f"torus({_point(centre)}, {_vector('', normal)}, {text(ring)}, {text(radius)})"
        case Arc(centre, normal, middle, ring, half, radius):
            sizes = ", ".join(map(text, (ring, half, radius)))
            return f"arc({_point(centre)}, {_vector('', normal)}, {_vector('', middle)}, {sizes})"
        case Cylinder(first, second, radius):
            return f"cylinder({_point(first)}, {_point(second)}, {text(radius)})"


def _law(law: Linear | ForceLaw | EnergyLaw, linear: str) -> str:
    if isinstance(law, Linear):
        return _clause(linear, law.coefficient)
    return _clause("force", law.force) if isinstance(law, ForceLaw) else _clause("energy", law.energy)


def _target(target: Target) -> str:
    if isinstance(target, Span):
        return f"between({_point(target.first)}, {_point(target.second)})"
    return _clause("on", target)


def _point(anchor: Anchor) -> str:
    if anchor.of is not None and anchor.position == (ZERO, ZERO, ZERO):
        return anchor.of
    return f"{anchor.of or ''}({', '.join(text(item) for item in anchor.position)})"


def _clause(word: str, root: Expression) -> str:
    return f"{word}({text(root)})"


def _vector(word: str, components: Triple) -> str:
    return f"{word}({', '.join(text(item) for item in components)})"
