"""Dampers and friction in joints as URDF's <dynamics> has them: a damping and a dry force for each coordinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kinegraph.errors import ModelError
from kinegraph.io.urdf.writing.affine import Affine, affine, located
from kinegraph.io.urdf.writing.joint_names import Stated, spelt
from kinegraph.model.elements import Damper, Element, Friction, Linear, Span
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expression import Expression, Name, expression, names
from kinegraph.model.mechanism import ZERO, Coordinate, Mechanism
from kinegraph.model.robot.data import JointFriction


@dataclass(frozen=True)
class Dynamics:
    """What is stated about joints, friction of elements included, and what a user should know about it."""

    stated: tuple[Stated, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Brake:
    """What resists the rate of a coordinate: damping times the rate, and a dry force."""

    coordinate: str
    damping: float
    dry: float


def with_friction(mechanism: Mechanism, values: Mapping[str, Value], stated: Sequence[Stated]) -> Dynamics:
    """Elements that resist the motion of one coordinate, added to what is stated about its joint.

    ModelError names an element that URDF has no words for.
    """
    found = list(stated)
    notes: list[str] = []
    for element in mechanism.elements:
        _add(found, _brake(element, mechanism, values))
        if isinstance(element, Friction):
            notes.append(f"friction {element.name} is dry in URDF: the width over which it is smoothed is left out")
    return Dynamics(tuple(found), tuple(notes))


def _brake(element: Element, mechanism: Mechanism, values: Mapping[str, Value]) -> _Brake:
    if not isinstance(element, Damper | Friction):
        raise _refused(element, "URDF describes bodies, joints, and damping and friction in joints")
    damping, dry = (_number(item, values, element) for item in _strength(element))
    moved = _moved(element, mechanism, values)
    if moved.coordinate is None:
        raise _refused(element, "it moves with no coordinate")
    factor = float(moved.factor)
    return _Brake(moved.coordinate, damping * factor**2, dry * abs(factor))


def _strength(element: Damper | Friction) -> tuple[Expression, Expression]:
    """The damping and the dry force on what an element works on."""
    if isinstance(element, Friction):
        return element.viscous, element.coulomb
    if isinstance(element.law, Linear):
        return element.law.coefficient, ZERO
    raise _refused(element, "damping of URDF is proportional to the rate")


def _moved(element: Damper | Friction, mechanism: Mechanism, values: Mapping[str, Value]) -> Affine:
    """What an element works on in terms of one coordinate, be it given as a rate or not."""
    if isinstance(element.on, Span):
        raise _refused(element, "URDF has damping and friction in joints only, not between points")
    coordinates = {one.name: one.name for one in mechanism.coordinates if isinstance(one, Coordinate)}
    rates = {f"{name}'": name for name in coordinates}
    try:
        moved = affine(element.on, coordinates | rates, values)
    except ModelError as error:
        raise located(error, f"{_kind(element)} {element.name}") from None
    if moved.coordinate in rates and moved.offset:
        raise _refused(element, "friction of URDF is against the motion of a joint alone, not against a given rate")
    return moved._replace(coordinate=(coordinates | rates).get(moved.coordinate or ""))


def _number(item: Expression, values: Mapping[str, Value], element: Element) -> float:
    unknown = sorted(names(item) - values.keys())
    if unknown:
        remedy = "<dynamics> of URDF holds numbers: export to records or fmu"
        raise ModelError(f"{_kind(element)} {element.name} changes with {', '.join(unknown)}", remedy=remedy)
    return number(item, values)


def _add(stated: list[Stated], brake: _Brake) -> None:
    """Add a brake to the joint that moves by a coordinate itself."""
    itself = Affine(brake.coordinate, 1, 0)
    named = (one.joint for moved, one in stated if moved == itself and spelt(one.joint) == brake.coordinate)
    joint = next(named, brake.coordinate)
    for place, (moved, one) in enumerate(stated):
        if moved == itself and isinstance(one, JointFriction) and one.joint == joint:
            more = replace(one, damping=one.damping + brake.damping, dry=one.dry + brake.dry)
            stated[place] = moved, more
            return
    friction = JointFriction(joint, (Name(brake.coordinate),), expression(brake.damping), expression(brake.dry))
    stated.append((itself, friction))


def _refused(element: Element, why: str) -> ModelError:
    remedy = f"{why}: remove it, or export to records or fmu"
    return ModelError(f"{_kind(element)} {element.name} acts on the bodies", remedy=remedy)


def _kind(element: Element) -> str:
    return type(element).__name__.lower()
