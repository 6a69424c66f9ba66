"""Mechanisms back into the model language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeGuard

from kinegraph.io.records.write_constraints import constraint_statements, name_statements
from kinegraph.io.records.write_elements import element_text, input_text
from kinegraph.model.expression import Expression, expression
from kinegraph.model.expression_text import text
from kinegraph.model.mechanism import (
    ZERO,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Parameter,
    Point,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
)
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import FORMS, Extra, Shape, ShapeRole, described
from kinegraph.model.robot.unused import is_of_joints

_MOMENTS = (("m", "mass"), *((name, name) for name in ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")))


def write(mechanism: Mechanism) -> str:
    """The mechanism in the model language: `parse(write(m)) == m` for every valid mechanism without other extras.

    Extras of robot files (limits, friction, meshes, shapes for contact alone) have no words in the language; they are
    listed as comments, and so is what the report says is left out.
    """
    return "\n".join(_lines(mechanism)) + "\n"


def _lines(mechanism: Mechanism) -> Iterator[str]:
    yield f"model {mechanism.name};"
    if mechanism.parameters:
        yield f"parameters {_indented(_parameter(parameter) for parameter in mechanism.parameters)};"
    yield from (_coordinate(coordinate) for coordinate in mechanism.coordinates)
    if mechanism.gravity != (ZERO, ZERO, ZERO):
        yield f"gravity {_listed(mechanism.gravity)};"
    velocities = list(_velocities(mechanism.coordinates))
    if velocities:
        yield f"initial {_indented(velocities)};"
    armatures = list(_armatures(mechanism.coordinates))
    if armatures:
        yield f"armature {_indented(armatures)};"
    yield from (_body(body) for body in mechanism.bodies)
    yield from (f"accept inertia {body.name};" for body in mechanism.bodies if body.inertia.accepted)
    yield from (_point(point) for point in mechanism.points)
    if mechanism.inputs:
        yield f"inputs {_indented(input_text(given) for given in mechanism.inputs)};"
    yield from name_statements(mechanism)
    yield from (element_text(element) for element in mechanism.elements)
    yield from constraint_statements(mechanism, transform_text)
    yield from (_shape(extra) for extra in mechanism.extras if _has_words(extra))
    wordless = [extra for extra in mechanism.extras if not _has_words(extra)]
    if wordless:
        yield "# The model language has no words for the following; reading this text again leaves it out."
        yield from (f"# {described(extra)}" for extra in wordless)
    left_out = mechanism.report.of(FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD)
    missing = [finding for finding in left_out if not is_of_joints(finding)]
    if missing:
        yield "# The file this was read from says more, which is left out:"
        yield from (f"# {finding}" for finding in missing)


def _listed(expressions: Iterable[Expression]) -> str:
    return ", ".join(text(expression) for expression in expressions)


def _indented(entries: Iterable[str]) -> str:
    return ",\n    ".join(entries)


def _parameter(parameter: Parameter) -> str:
    return parameter.name if parameter.value is None else f"{parameter.name} = {text(parameter.value)}"


def _coordinate(coordinate: Coordinate | QuaternionCoordinates) -> str:
    if isinstance(coordinate, Coordinate):
        start = f" = {text(coordinate.position)}" if coordinate.name in coordinate.declared else ""
        return f"coordinates {coordinate.name}{start};"
    head = f"quaternion ({', '.join(coordinate.names)}) velocity ({', '.join(coordinate.velocities)})"
    declared = coordinate.names[0] in coordinate.declared
    return f"{head} = ({_listed(coordinate.position)});" if declared else f"{head};"


def _velocities(coordinates: Iterable[Coordinate | QuaternionCoordinates]) -> Iterator[str]:
    for coordinate in coordinates:
        if isinstance(coordinate, Coordinate):
            pairs = [(coordinate.name + "'", coordinate.velocity)]
        else:
            pairs = list(zip(coordinate.velocities, coordinate.velocity, strict=True))
        yield from (f"{name} = {text(velocity)}" for name, velocity in pairs if name in coordinate.declared)


def _armatures(coordinates: Iterable[Coordinate | QuaternionCoordinates]) -> Iterator[str]:
    for coordinate in coordinates:
        if coordinate.armature != ZERO:
            owner = coordinate.name if isinstance(coordinate, Coordinate) else f"({', '.join(coordinate.velocities)})"
            yield f"{owner} = {text(coordinate.armature)}"


def _body(body: Body) -> str:
    name = body.name if body.base is None else f"{body.name}~{body.base}"
    sections = [name, ", ".join(transform_text(transform) for transform in body.transforms)]
    if inertia := ", ".join(_inertia(body.inertia)):
        sections.append(inertia)
    return " | ".join(sections) + ";"


def transform_text(transform: Transform) -> str:
    """A transform in the model language: `Rz(q1)`."""
    if isinstance(transform, Rotation):
        return f"R{transform.axis.name.lower()}({text(transform.angle)})"
    if isinstance(transform, Shift):
        return f"S{transform.axis.name.lower()}({text(transform.distance)})"
    return f"Q({_listed(transform.components)})"


def _inertia(inertia: Inertia) -> Iterator[str]:
    yield from (transform_text(transform) for transform in inertia.central)
    for word, field in _MOMENTS:
        stated: Expression = getattr(inertia, field)
        if stated != ZERO:
            yield f"{word}({text(stated)})"


def _point(point: Point) -> str:
    turns = ", ".join(transform_text(transform) for transform in point.orientation)
    place = f"{point.body + ' ' if point.body else ''}({_listed(point.position)})"
    return f"output {point.name} = {place}{' | ' + turns if turns else ''};"


def _has_words(extra: Extra) -> TypeGuard[Shape]:
    return isinstance(extra, Shape) and extra.kind in FORMS and extra.role is ShapeRole.BOTH


def _shape(shape: Shape) -> str:
    form = [f"{shape.kind.value}({_listed(shape.sizes)})"]
    if shape.colour is not None:
        opaque = shape.colour[3] == 1
        parts = shape.colour[:3] if opaque else shape.colour
        form.append(f"colour({_listed(expression(part) for part in parts)})")
    place = ", ".join(transform_text(transform) for transform in shape.place)
    return f"shape {shape.body + ' ' if shape.body else ''}| {place} | {', '.join(form)};"
