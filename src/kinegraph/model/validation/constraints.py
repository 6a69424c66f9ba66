"""Validate loops, constraints, contacts, definitions, quasi-velocities and unknown forces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kinegraph.errors import ModelError, Place
from kinegraph.model.constraints import (
    AnyLoop,
    Constraint,
    Contact,
    Coupling,
    Frame,
    Loop,
    all_constraints,
    described,
    frames,
)
from kinegraph.model.elements import Element, Force, Moment, PointForce, expressions
from kinegraph.model.evaluate import Value, known_parameter_values, number
from kinegraph.model.expressions import PI, Expression, names
from kinegraph.model.mechanism import ZERO, Body, Coordinate, Mechanism, Quaternion, amounts
from kinegraph.model.names import did_you_mean, name_fault
from kinegraph.model.report import Places
from kinegraph.model.topology import SpanningTree, edges, is_massless, spanning_tree, tree_of_records
from kinegraph.model.validation.expressions import (
    ANYTHING,
    GIVEN,
    MOVING,
    PARAMETERS,
    POSITIONS,
    RATES,
    UNKNOWN,
    VELOCITIES,
    Scope,
    Site,
    degree,
)

#: Words by which users call the fixed frame.
_FIXED_NAMES = frozenset({"ground", "world", "base", "fixed", "frame", "origin"})


# Names


def constraint_sites(mechanism: Mechanism, places: Places) -> Iterator[Site]:
    """All expressions of loops, constraints and contacts, with the kinds of names that are allowed."""
    for owner, frame in frames(mechanism.loops):
        for transform in frame.transforms:
            allowed = PARAMETERS if isinstance(transform, Quaternion) else GIVEN
            place = places.of(transform) or places.of(owner)
            for amount in amounts(transform):
                yield Site(amount, f"a frame of {described(owner)}", allowed, place)
    for loop in mechanism.loops:
        what = f"`{loop.type.value}` of {described(loop)}"
        for amount in _amounts(loop):
            yield Site(amount, what, GIVEN, places.of(loop, "joint"))
    for constraint in mechanism.constraints:
        for side in (constraint.left, constraint.right):
            yield Site(side, described(constraint), RATES, places.of(constraint))
    for contact in mechanism.contacts:
        yield from _contact_sites(contact, places)


def _amounts(loop: AnyLoop) -> tuple[Expression, ...]:
    if isinstance(loop, Coupling):
        return loop.ratio, loop.offset
    return () if loop.joint.length is None else (loop.joint.length,)


def _contact_sites(contact: Contact, places: Places) -> Iterator[Site]:
    what = described(contact)
    yield Site(contact.gap, f"the gap of {what}", POSITIONS, places.of(contact))
    for word in ("restitution", "friction"):
        yield Site(getattr(contact, word), f"`{word}` of {what}", PARAMETERS, places.of(contact, word))
    for item in contact.slip:
        yield Site(item, f"`slip` of {what}", RATES, places.of(contact, "slip"))


# Connections


def check_constraints(mechanism: Mechanism, scope: Scope, places: Places) -> None:
    """Raise a ModelError unless every loop, constraint and contact is valid and acts on something that moves."""
    if not all_constraints(mechanism) and not mechanism.cuts:
        return
    values = known_parameter_values(mechanism)
    _check_names(mechanism, places)
    for loop in mechanism.loops:
        if isinstance(loop, Loop):
            _check_frames(loop, mechanism, places)
            _check_length(loop, values, places)
        else:
            _check_coupling(loop, mechanism, values, places)
    _check_loops_move(mechanism, scope, places)
    for constraint in mechanism.constraints:
        _check_constraint(constraint, scope, places)
    for contact in mechanism.contacts:
        _check_contact(contact, scope, values, places)
    _check_cuts(mechanism, places)


def _check_names(mechanism: Mechanism, places: Places) -> None:
    bodies = {body.name for body in mechanism.bodies}
    seen: dict[str, str] = {}
    for constraint in all_constraints(mechanism):
        what, place = described(constraint), places.of(constraint)
        if fault := name_fault(constraint.name):
            raise ModelError(f"{what} {fault}", place, "choose another name")
        if constraint.name in bodies:
            message = f"{what} has the same name as a body, whose joint already has this name"
            raise ModelError(message, place, f"rename it, e.g. `{constraint.name}_1`")
        if constraint.name in seen:
            message = f"{what} has the same name as {seen[constraint.name]}"
            raise ModelError(message, place, "loops, constraints and contacts share one set of names; rename one")
        seen[constraint.name] = what


def _check_frames(loop: Loop, mechanism: Mechanism, places: Places) -> None:
    bodies = {body.name for body in mechanism.bodies}
    for frame in (loop.first, loop.second):
        if frame.body is not None and frame.body not in bodies:
            place = places.of(frame) or places.of(loop)
            message = f"unknown body '{frame.body}' in {described(loop)}"
            raise ModelError(message, place, _frame_remedy(frame, bodies))
    if loop.first.body == loop.second.body:
        message = f"{described(loop)} connects {loop.first} to itself"
        raise ModelError(message, places.of(loop), "connect two bodies, or a body and the fixed frame")


def _frame_remedy(frame: Frame, bodies: set[str]) -> str:
    if str(frame.body).casefold() in _FIXED_NAMES:
        return "the fixed frame has no name: write only its transforms, `loop pin | revolute | Arm: Sx(l) | Sx(d);`"
    return did_you_mean(str(frame.body), bodies)


def _check_length(loop: Loop, values: Mapping[str, Value], places: Places) -> None:
    length = _known(loop.joint.length, values, f"the length of {described(loop)}", places.of(loop, "joint"))
    if length is not None and length <= 0:
        message = f"the length of {described(loop)} is {length:g}"
        remedy = "write a positive length, or `spherical` for two points that coincide"
        raise ModelError(message, places.of(loop, "joint"), remedy)


def _check_coupling(loop: Coupling, mechanism: Mechanism, values: Mapping[str, Value], places: Places) -> None:
    known = [one.name for one in mechanism.coordinates if isinstance(one, Coordinate)]
    for name in (loop.first, loop.second):
        if name not in known:
            message = f"unknown coordinate '{name}' in {described(loop)}"
            raise ModelError(message, places.of(loop), did_you_mean(name, known))
    if loop.first == loop.second:
        raise ModelError(f"{described(loop)} connects {loop.first} to itself", places.of(loop), "name two coordinates")
    ratio = _known(loop.ratio, values, f"the ratio of {described(loop)}", places.of(loop, "joint"))
    if ratio == 0:
        remedy = "write a ratio other than zero; `kg.lock` locks a coordinate"
        raise ModelError(f"the ratio of {described(loop)} is zero", places.of(loop, "joint"), remedy)


def _check_loops_move(mechanism: Mechanism, scope: Scope, places: Places) -> None:
    """Each loop has a coordinate that moves; otherwise it is redundant or contradictory."""
    tree = tree_of_records(mechanism)
    by_name = mechanism.body_by_name
    loops = {loop.name: loop for loop in mechanism.loops}
    for chains in tree.loops:
        bodies = (*chains.first, *chains.second)
        if not any(_moves(by_name[body], scope) for body in bodies):
            loop = loops[chains.joint]
            around = ", ".join(body or "the fixed frame" for body in chains.bodies)
            message = f"no coordinate moves in {described(loop)}, which contains {around}"
            raise ModelError(message, places.of(loop), "remove the loop, or give one of its bodies a joint")


def _moves(body: Body, scope: Scope) -> bool:
    roots = (amount for transform in body.transforms for amount in amounts(transform))
    return any(scope.kind(name) in MOVING for root in roots for name in names(root))


def _check_constraint(constraint: Constraint, scope: Scope, places: Places) -> None:
    what, place = described(constraint), places.of(constraint)
    residual = constraint.residual
    if not any(scope.kind(name) in MOVING for name in names(residual)):
        message = f"{what} contains no coordinate, velocity or point that moves"
        raise ModelError(message, place, "write an expression of coordinates, points or velocities")
    if degree(residual, _is_velocity(scope)) > 1:
        message = f"{what} is not linear in the velocities"
        remedy = "write an equation of positions and time, or one that is linear in the velocities"
        raise ModelError(message, place, remedy)


def _is_velocity(scope: Scope) -> Callable[[str], bool]:
    return lambda name: scope.kind(name) in VELOCITIES


def _check_contact(contact: Contact, scope: Scope, values: Mapping[str, Value], places: Places) -> None:
    what = described(contact)
    if not any(scope.kind(name) in MOVING for name in names(contact.gap)):
        raise ModelError(
            f"the gap of {what} does not depend on the motion", places.of(contact), "write e.g. `tip.z >= 0`"
        )
    for item in contact.slip:
        if degree(item, _is_velocity(scope)) != 1:
            message = f"`slip` of {what} is not linear in the velocities"
            raise ModelError(message, places.of(contact, "slip"), "write the velocities along the surface: tip.x'")
    if bool(contact.slip) != (contact.friction != ZERO):
        missing = "`slip(...)` is missing" if contact.friction != ZERO else "`friction(...)` is missing or zero"
        message = f"friction of {what} needs a coefficient and the sliding velocities: {missing}"
        raise ModelError(message, places.of(contact), "write `friction(0.3), slip(tip.x')`, or neither of them")
    restitution = _known(contact.restitution, values, f"`restitution` of {what}", places.of(contact, "restitution"))
    if restitution is not None and not 0 <= restitution <= 1:
        message = f"the restitution of {what} is {restitution:g}"
        raise ModelError(message, places.of(contact, "restitution"), "write a number from 0 to 1")
    friction = _known(contact.friction, values, f"`friction` of {what}", places.of(contact, "friction"))
    if friction is not None and friction < 0:
        message = f"the friction of {what} is negative: {friction:g}"
        raise ModelError(message, places.of(contact, "friction"), "write a coefficient that is zero or positive")


# Cuts


def _check_cuts(mechanism: Mechanism, places: Places) -> None:
    if not mechanism.cuts:
        return
    known = {edge.joint: edge for edge in edges(mechanism)}
    for cut in mechanism.cuts:
        edge = known.get(cut.joint)
        if edge is None:
            message = f"cannot cut '{cut.joint}': there is no such joint"
            raise ModelError(message, places.of(cut), did_you_mean(cut.joint, known))
        if not edge.may_be_cut:
            message = f"the joint of {cut.joint} cannot be cut"
            remedy = (
                "only a revolute, prismatic, cylindrical, universal, spherical or planar joint can be cut, and only if "
                "no element, constraint or other body uses its coordinates"
            )
            raise ModelError(message, places.of(cut), remedy)
    tree = spanning_tree(mechanism)
    _check_all_reached(mechanism, tree, places)
    _check_ends_have_mass(mechanism, tree, places)


def _check_ends_have_mass(mechanism: Mechanism, tree: SpanningTree, places: Places) -> None:
    """The free end of a cut chain must have mass."""
    cuts = {cut.joint: cut for cut in mechanism.cuts}
    by_name = mechanism.body_by_name
    for edge in tree.cut:
        for end in (edge.first, edge.second):
            if edge.joint in cuts and end is not None and tree.is_end(end) and is_massless(by_name[end]):
                message = f"cutting {edge.joint} leaves the massless body {end} at the free end of a chain"
                remedy = "cut another joint of this loop, or remove the `cut` statement"
                raise ModelError(message, places.of(cuts[edge.joint]), remedy)


def _check_all_reached(mechanism: Mechanism, tree: SpanningTree, places: Places) -> None:
    lost = [body.name for body in mechanism.bodies if body.name not in tree.inward]
    if lost:
        cuts = ", ".join(cut.joint for cut in mechanism.cuts)
        message = f"cutting {cuts} disconnects {', '.join(lost[:5])} from the fixed frame"
        remedy = "cut one joint of each loop, and no joint outside the loops"
        raise ModelError(message, places.of(mechanism.cuts[0]), remedy)


def _known(root: Expression | None, values: Mapping[str, Value], what: str, place: Place | None) -> float | None:
    """The value of an expression; None if a parameter in it has no value."""
    if root is None or not names(root) <= values.keys() | {PI}:
        return None
    try:
        return number(root, values)
    except ModelError as error:
        raise ModelError(f"{what}: {error}", place) from None


# Definitions, quasi-velocities and unknown forces

_OWN_RATES = RATES - {"point", "point velocity"}


def definition_sites(mechanism: Mechanism, places: Places) -> Iterator[Site]:
    """All expressions of definitions and quasi-velocities."""
    for definition in mechanism.definitions:
        what = f"the definition of {definition.name}"
        yield Site(definition.value, what, ANYTHING | UNKNOWN, places.of(definition))
    for quasivelocity in mechanism.quasivelocities:
        what = f"the quasi-velocity {quasivelocity.name}"
        yield Site(quasivelocity.value, what, _OWN_RATES, places.of(quasivelocity))


def check_definitions(mechanism: Mechanism, scope: Scope, places: Places) -> None:
    """Raise a ModelError unless quasi-velocities are linear in the velocities, and forces in the unknowns."""
    for quasivelocity in mechanism.quasivelocities:
        found = degree(quasivelocity.value, lambda name: scope.kind(name) in VELOCITIES)
        if found != 1:
            fault = "contains no velocity" if not found else "is not linear in the velocities"
            remedy = f"write a linear form of velocities, e.g. `quasivelocity {quasivelocity.name} = q1' + q2';`"
            raise ModelError(f"the quasi-velocity {quasivelocity.name} {fault}", places.of(quasivelocity), remedy)
    if mechanism.unknowns:
        _check_unknowns(mechanism, places)


def _check_unknowns(mechanism: Mechanism, places: Places) -> None:
    """Each unknown occurs in a force or moment, linearly."""
    unknowns = {unknown.name for unknown in mechanism.unknowns}
    used: set[str] = set()
    for element in mechanism.elements:
        for root in expressions(element):
            own = names(root) & unknowns
            used |= own
            if own and degree(root, lambda name: name in unknowns) > 1:
                message = f"{element.name} is not linear in the unknown {', '.join(sorted(own))}"
                remedy = "write the unknown as a factor: `value(-S*cos(theta))`"
                raise ModelError(message, places.of(element, _clause(element, root)), remedy)
    for unknown in mechanism.unknowns:
        if unknown.name not in used:
            message = f"no force or moment depends on the unknown {unknown.name}"
            remedy = f"write e.g. `force P | value({unknown.name}), on(q1);`, or remove it"
            raise ModelError(message, places.of(unknown), remedy)


def _clause(element: Element, root: Expression) -> str:
    """The clause of a force or moment that contains an expression."""
    if isinstance(element, PointForce | Moment):
        return element.axes.value
    return "value" if isinstance(element, Force) and root is element.value else ""
