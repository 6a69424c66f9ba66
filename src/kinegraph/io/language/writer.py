"""Write a mechanism in the model language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeGuard

from kinegraph.model.constraints import AnyLoop, Constraint, Contact, Coupling, Frame, Joint
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
from kinegraph.model.expressions import Expression, expression, text
from kinegraph.model.mechanism import (
    ZERO,
    Body,
    Coordinate,
    FirstOrderState,
    Impacts,
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
from kinegraph.model.robot_data import FORMS, Extra, Shape, ShapeRole, described, is_of_joints
from kinegraph.model.tables import Table


def name_statements(mechanism: Mechanism) -> Iterator[str]:
    """The statements of tables, named expressions, first-order states and unknown forces."""
    yield from (table_text(one) for one in mechanism.tables)
    yield from (f"define {one.name} = {text(one.value)};" for one in mechanism.definitions)
    yield from (f"quasivelocity {one.name} = {text(one.value)};" for one in mechanism.quasivelocities)
    yield from (f"state {one.name}' = {text(one.rate)};" for one in mechanism.states)
    if mechanism.unknowns:
        yield f"unknown {', '.join(one.name for one in mechanism.unknowns)};"


def table_text(table: Table) -> str:
    """The statement of a table, with its points."""
    numbers = [text(expression(value)) for value in table.values]
    if len(table.axes) == 1:
        points = zip((text(expression(x)) for x in table.axes[0]), numbers, strict=True)
        data = ", ".join(f"({x}, {y})" for x, y in points)
    else:
        width = len(table.axes[1])
        rows = (f"({', '.join(numbers[at : at + width])})" for at in range(0, len(numbers), width))
        axes = (
            f"{word}({', '.join(text(expression(e)) for e in axis)})"
            for word, axis in zip("xy", table.axes, strict=True)
        )
        data = f"{', '.join(axes)}, values({', '.join(rows)})"
    return f"table {table.name} | {data} | {table.interpolation.value}, {table.outside.value};"


def constraint_statements(mechanism: Mechanism, transform: Callable[[Transform], str]) -> Iterator[str]:
    """The statements of loops, constraints, rigid contacts and cuts; `transform` writes one transform."""
    yield from (loop_text(loop, transform) for loop in mechanism.loops)
    yield from (constraint_text(one) for one in mechanism.constraints)
    yield from (contact_text(contact) for contact in mechanism.contacts)
    if mechanism.impacts != Impacts():
        yield f"impacts {mechanism.impacts.law.value}, {mechanism.impacts.order.value};"
    if mechanism.cuts:
        yield f"cut {', '.join(cut.joint for cut in mechanism.cuts)};"


def loop_text(loop: AnyLoop, transform: Callable[[Transform], str]) -> str:
    """The statement of a loop."""
    return f"loop {loop.name} | {' | '.join(_sections(loop, transform))};"


def constraint_text(constraint: Constraint) -> str:
    """The statement of a constraint."""
    return f"constraint {constraint.name} | {text(constraint.left)} = {text(constraint.right)};"


def _sections(loop: AnyLoop, transform: Callable[[Transform], str]) -> tuple[str, str, str]:
    if isinstance(loop, Coupling):
        amounts = (loop.ratio,) if loop.offset == ZERO else (loop.ratio, loop.offset)
        return _called(loop.type.value, amounts), loop.first, loop.second
    return _joint(loop.joint), _frame(loop.first, transform), _frame(loop.second, transform)


def _joint(joint: Joint) -> str:
    if joint.length is not None:
        return _called(joint.type.value, (joint.length,))
    usual = joint.axes == joint.type.fixes.axes
    axes = "" if usual else f"({', '.join(axis.name.lower() for axis in joint.axes)})"
    return f"{joint.type.value}{axes}"


def _frame(frame: Frame, transform: Callable[[Transform], str]) -> str:
    transforms = ", ".join(transform(one) for one in frame.transforms)
    if frame.body is None:
        return transforms
    return f"{frame.body}: {transforms}" if transforms else frame.body


def contact_text(contact: Contact) -> str:
    """The statement of a rigid contact."""
    clauses = []
    if contact.restitution != ZERO:
        clauses.append(_called("restitution", (contact.restitution,)))
    if contact.friction != ZERO:
        clauses.append(_called("friction", (contact.friction,)))
    if contact.slip:
        clauses.append(_called("slip", contact.slip))
    return f"contact {contact.name} | {text(contact.gap)} >= 0{' | ' + ', '.join(clauses) if clauses else ''};"


def _called(word: str, arguments: tuple[Expression, ...]) -> str:
    return f"{word}({', '.join(text(item) for item in arguments)})"


def input_text(given: Input) -> str:
    """One entry of the `inputs` statement."""
    return given.name if given.value is None else f"{given.name} = {text(given.value)}"


def element_text(element: Element) -> str:
    """The statement of an element."""
    if isinstance(element, Potential):
        return f"potential {element.name} | {text(element.energy)};"
    if isinstance(element, CompliantContact):
        shapes = ", ".join(map(_contact_shape, element.shapes))
        return f"contact {element.name} | {shapes} | {', '.join(_compliant_contact(element))};"
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
            return "force", iter((f"at({_anchor(element.at)})", _vector(element.axes.value, element.components)))
        case Moment():
            return "moment", iter((f"at({element.on})", _vector(element.axes.value, element.components)))
        case Limit():
            return "limit", _limit(element)
    raise TypeError(f"{type(element).__name__} has no statement in the model language")


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


def _compliant_contact(contact: CompliantContact) -> Iterator[str]:
    yield _clause("stiffness", contact.stiffness)
    for word, usual in (("exponent", HERTZ), ("damping", ZERO), ("friction", ZERO), ("slip", DEFAULT_WIDTH)):
        if getattr(contact, word) != usual:
            yield _clause(word, getattr(contact, word))


def _contact_shape(shape: ContactShape) -> str:
    match shape:
        case Sphere(center, radius):
            return f"sphere({_anchor(center)}, {text(radius)})"
        case Capsule(first, second, radius):
            return f"capsule({_anchor(first)}, {_anchor(second)}, {text(radius)})"
        case Plane(point, normal):
            return f"plane({_anchor(point)}, {_vector('', normal)})"
        case Cone(apex, axis, half_angle, length):
            return f"cone({_anchor(apex)}, {_vector('', axis)}, {text(half_angle)}, {text(length)})"
        case Torus(center, normal, ring, radius):
            return f"torus({_anchor(center)}, {_vector('', normal)}, {text(ring)}, {text(radius)})"
        case Arc(center, normal, middle, ring, half, radius):
            sizes = ", ".join(map(text, (ring, half, radius)))
            return f"arc({_anchor(center)}, {_vector('', normal)}, {_vector('', middle)}, {sizes})"
        case Cylinder(first, second, radius):
            return f"cylinder({_anchor(first)}, {_anchor(second)}, {text(radius)})"


def _law(law: Linear | ForceLaw | EnergyLaw, linear: str) -> str:
    if isinstance(law, Linear):
        return _clause(linear, law.coefficient)
    return _clause("force", law.force) if isinstance(law, ForceLaw) else _clause("energy", law.energy)


def _target(target: Target) -> str:
    if isinstance(target, Span):
        return f"between({_anchor(target.first)}, {_anchor(target.second)})"
    return _clause("on", target)


def _anchor(anchor: Anchor) -> str:
    if anchor.of is not None and anchor.position == (ZERO, ZERO, ZERO):
        return anchor.of
    return f"{anchor.of or ''}({', '.join(text(item) for item in anchor.position)})"


def _clause(word: str, root: Expression) -> str:
    return f"{word}({text(root)})"


def _vector(word: str, components: Triple) -> str:
    return f"{word}({', '.join(text(item) for item in components)})"


_MOMENTS = (("m", "mass"), *((name, name) for name in ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")))


def write(mechanism: Mechanism) -> str:
    """The mechanism in the model language: `parse(write(m)) == m` for every valid mechanism without other extras.

    Extras of robot files (limits, friction, meshes, collision shapes) have no statements in the language. They are
    listed as comments, and so are the omissions in the report.
    """
    return "\n".join(_lines(mechanism)) + "\n"


def _lines(mechanism: Mechanism) -> Iterator[str]:
    yield f"model {mechanism.name};"
    if mechanism.parameters:
        yield f"parameters {_indented(_parameter(parameter) for parameter in mechanism.parameters)};"
    yield from (_coordinate(coordinate) for coordinate in mechanism.coordinates)
    if mechanism.gravity != (ZERO, ZERO, ZERO):
        yield f"gravity {_listed(mechanism.gravity)};"
    started = [*_velocities(mechanism.coordinates), *_states(mechanism.states)]
    if started:
        yield f"initial {_indented(started)};"
    armatures = list(_armatures(mechanism.coordinates))
    if armatures:
        yield f"armature {_indented(armatures)};"
    yield from (_body(body) for body in mechanism.bodies)
    yield from (f"accept inertia {body.name};" for body in mechanism.bodies if body.inertia.accepted)
    yield from (_output(point) for point in mechanism.points)
    if mechanism.inputs:
        yield f"inputs {_indented(input_text(given) for given in mechanism.inputs)};"
    yield from name_statements(mechanism)
    yield from (element_text(element) for element in mechanism.elements)
    yield from constraint_statements(mechanism, transform_text)
    yield from (_shape(extra) for extra in mechanism.extras if _has_words(extra))
    wordless = [extra for extra in mechanism.extras if not _has_words(extra)]
    if wordless:
        yield "# The model language has no statements for the following data; it is lost when this text is read again."
        yield from (f"# {described(extra)}" for extra in wordless)
    left_out = mechanism.report.of(FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD)
    missing = [finding for finding in left_out if not is_of_joints(finding)]
    if missing:
        yield "# The original file has more data, which is left out:"
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


def _states(states: Iterable[FirstOrderState]) -> Iterator[str]:
    return (f"{one.name} = {text(one.initial)}" for one in states if one.initial != ZERO)


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


def _output(point: Point) -> str:
    turns = ", ".join(transform_text(transform) for transform in point.orientation)
    place = f"{point.body + ' ' if point.body else ''}({_listed(point.position)})"
    return f"output {point.name} = {place}{' | ' + turns if turns else ''};"


def _has_words(extra: Extra) -> TypeGuard[Shape]:
    return isinstance(extra, Shape) and extra.kind in FORMS and extra.role is ShapeRole.BOTH


def _shape(shape: Shape) -> str:
    form = [f"{shape.kind.value}({_listed(shape.sizes)})"]
    if shape.color is not None:
        opaque = shape.color[3] == 1
        parts = shape.color[:3] if opaque else shape.color
        form.append(f"color({_listed(expression(part) for part in parts)})")
    place = ", ".join(transform_text(transform) for transform in shape.place)
    return f"shape {shape.body + ' ' if shape.body else ''}| {place} | {', '.join(form)};"
