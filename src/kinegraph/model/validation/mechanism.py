"""Validate a mechanism: declarations, bodies, inertia, shapes, values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.errors import ModelError, Place
from kinegraph.model.definitions import named_expressions
from kinegraph.model.evaluate import Value, known_parameter_values, number
from kinegraph.model.expressions import PI, TIME, Expression, Name, names, text
from kinegraph.model.mechanism import (
    ZERO,
    Body,
    Coordinate,
    Mechanism,
    Quaternion,
    QuaternionCoordinates,
    Transform,
    amounts,
)
from kinegraph.model.names import STATEMENTS, did_you_mean, model_name_fault, name_fault
from kinegraph.model.report import Places
from kinegraph.model.robot_data import FORMS, Shape
from kinegraph.model.tables import Table, checked
from kinegraph.model.validation.constraints import (
    check_constraints,
    check_definitions,
    constraint_sites,
    definition_sites,
)
from kinegraph.model.validation.elements import check_elements, element_sites
from kinegraph.model.validation.expressions import ANYTHING, PARAMETERS, TABLE, Scope, Site, check_expression

MOMENTS = ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")

_ROUNDING = 1e-9  # relative; a thin plate has exactly Jz = Jx + Jy


def check_inertia(body: Body, values: Mapping[str, Value], places: Places) -> None:
    """Raise a ModelError for a negative mass, or an inertia tensor that no real body has.

    Only known values are checked. The triangle inequality is checked only if all three moments are given: a wheel that
    turns about z needs only Jz. If the inertia is `accepted`, only the mass is checked.
    """
    stated = {letter for letter in ("mass", *MOMENTS) if getattr(body.inertia, letter) != ZERO}
    found = {}
    for letter in stated:
        written = getattr(body.inertia, letter)
        if names(written) <= values.keys() | {PI}:
            found[letter] = _amount(body, letter, written, values, places)
    for letter in ("mass",) if body.inertia.accepted else ("mass", "Jx", "Jy", "Jz"):
        if found.get(letter, 0.0) < 0:
            message = f"the {letter} of {body.name} is negative: {found[letter]:g}"
            remedy = "write a value that is zero or positive"
            if letter != "mass":
                remedy += f"; write `accept inertia {body.name};` to use the moments as given"
            raise ModelError(message, places.of(body, letter), remedy)
    if found.keys() == stated and not body.inertia.accepted:
        _check_tensor(body, {letter: found.get(letter, 0.0) for letter in MOMENTS}, stated, places)


def _amount(body: Body, letter: str, written: Expression, values: Mapping[str, Value], places: Places) -> float:
    try:
        return number(written, values)
    except ModelError as error:
        raise ModelError(f"the {letter} of {body.name}: {error}", places.of(body, letter)) from None


def _check_tensor(body: Body, J: dict[str, float], stated: set[str], places: Places) -> None:
    tensor = np.array([
        [J["Jx"], -J["Jxy"], -J["Jxz"]],
        [-J["Jxy"], J["Jy"], -J["Jyz"]],
        [-J["Jxz"], -J["Jyz"], J["Jz"]],
    ])  # fmt: skip
    slack = _ROUNDING * float(np.abs(tensor).max())
    principal = sorted(np.linalg.eigvalsh(tensor)) if any(J[p] for p in MOMENTS[3:]) else sorted(tensor.diagonal())
    moments_text = ", ".join(f"{moment:g}" for moment in principal)
    if principal[0] < -slack:
        message = f"the inertia of {body.name} is not positive semidefinite: its principal moments are {moments_text}"
        remedy = f"reduce the products of inertia, or write `accept inertia {body.name};` to use them as given"
        raise ModelError(message, places.of(body, "Jx"), remedy)
    broken = principal[2] > principal[0] + principal[1] + slack
    if broken and {"Jx", "Jy", "Jz"} <= stated:
        message = f"the inertia of {body.name} is physically impossible: of its principal moments {moments_text}"
        remedy = f"correct the moments, or write `accept inertia {body.name};` to use them as given"
        raise ModelError(f"{message}, one exceeds the sum of the others", places.of(body, "Jx"), remedy)


def shape_sites(mechanism: Mechanism, places: Places) -> Iterator[Site]:
    """All expressions of the shapes; only parameters and numbers are allowed."""
    for shape in _shapes(mechanism):
        what = f"a {shape.kind.value} on {shape.body or 'the fixed frame'}"
        placed = (amount for transform in shape.place for amount in amounts(transform))
        for item in (*shape.sizes, *placed):
            yield Site(item, what, PARAMETERS, places.of(shape))


def check_shapes(mechanism: Mechanism, places: Places) -> None:
    """Raise a ModelError for a shape on an unknown body or with a negative size."""
    known = {body.name for body in mechanism.bodies}
    values = known_parameter_values(mechanism, places)
    for shape in _shapes(mechanism):
        if shape.body is not None and shape.body not in known:
            message = f"unknown body '{shape.body}' of a {shape.kind.value}"
            raise ModelError(message, places.of(shape), did_you_mean(shape.body, known))
        for size in shape.sizes if shape.kind in FORMS else ():
            if names(size) <= values.keys() | {PI} and number(size, values) < 0:
                message = f"a {shape.kind.value} on {shape.body or 'the fixed frame'} has a negative size"
                raise ModelError(message, places.of(shape), "write sizes that are zero or positive")


def _shapes(mechanism: Mechanism) -> Iterator[Shape]:
    return (extra for extra in mechanism.extras if isinstance(extra, Shape))


_AND_TIME = frozenset({"parameter", "time"})
_NAME_IT = "; for an expression of the motion write a definition: `define f = -2*q';`"
_AND_MOTION = frozenset({"parameter", "time", "coordinate"})
_FOR_QUATERNION = frozenset({"parameter", "quaternion coordinate"})


def validate(mechanism: Mechanism, places: Places | None = None) -> None:
    """Raise a ModelError, with its place if `places` knows it, unless the mechanism is valid.

    Checks of numbers (signs of masses, inertia, zero quaternions) apply to expressions whose parameters have values.
    """
    where = places or Places()
    if fault := model_name_fault(mechanism.name):
        raise ModelError(f"`{mechanism.name}` {fault}")
    scope = _declare(mechanism, where)
    _check_bodies(mechanism, where)
    _check_points(mechanism, where)
    for site in _sites(mechanism, where):
        check_expression(site, scope, where)
    _check_quaternions(mechanism, scope, where)
    _check_coordinates_used(mechanism, where)
    _check_numbers(mechanism, where)
    check_elements(mechanism, scope, where)
    check_definitions(mechanism, scope, where)
    check_constraints(mechanism, scope, where)
    check_shapes(mechanism, where)


@dataclass(frozen=True, slots=True)
class _Declared:
    name: str
    kind: str
    place: Place | None


def _declarations(mechanism: Mechanism, places: Places) -> Iterator[_Declared]:
    for parameter in mechanism.parameters:
        yield _Declared(parameter.name, "parameter", places.of(parameter))
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            yield _Declared(coordinate.name, "coordinate", places.of(coordinate))
        else:
            for name in coordinate.names:
                yield _Declared(name, "quaternion coordinate", places.of(coordinate, name))
            for name in coordinate.velocities:
                yield _Declared(name, "velocity", places.of(coordinate, name))
    for given in mechanism.inputs:
        yield _Declared(given.name, "input" if given.value is None else "prescribed input", places.of(given))
    for state in mechanism.states:
        yield _Declared(state.name, "state", places.of(state))
    for unknown in mechanism.unknowns:
        yield _Declared(unknown.name, "unknown", places.of(unknown))
    for table in mechanism.tables:
        yield _Declared(table.name, TABLE, places.of(table))
    for definition in mechanism.definitions:
        yield _Declared(definition.name, "definition", places.of(definition))
    for quasivelocity in mechanism.quasivelocities:
        yield _Declared(quasivelocity.name, "quasi-velocity", places.of(quasivelocity))


def _declare(mechanism: Mechanism, places: Places) -> Scope:
    """The kind of every name, after checking that each is legal and declared once."""
    kinds = {TIME: "time", PI: "constant"}
    for declared in _declarations(mechanism, places):
        _check_name(declared.name, f"the {declared.kind}", declared.place)
        if declared.name in kinds:
            message = f"{declared.name} is declared twice: as {kinds[declared.name]} and as {declared.kind}"
            kinds_of_names = "parameters, coordinates, velocities, states, inputs, unknowns, definitions and tables"
            remedy = f"rename one: {kinds_of_names} share names"
            raise ModelError(message, declared.place, remedy)
        kinds[declared.name] = declared.kind
    kinds |= dict.fromkeys(mechanism.layout.velocities, "velocity")
    points = {point.name for point in mechanism.points} | {body.name for body in mechanism.bodies}
    meanings = {one.name: one.value for one in named_expressions(mechanism)}
    return Scope(kinds, frozenset(points), meanings, _checked_tables(mechanism, places))


def _checked_tables(mechanism: Mechanism, places: Places) -> dict[str, Table]:
    for table in mechanism.tables:
        try:
            checked(table)
        except ModelError as error:
            raise error.at(places.of(table)) from None
    return {table.name: table for table in mechanism.tables}


def _check_name(name: str, what: str, place: Place | None) -> None:
    if fault := name_fault(name):
        shortened = name if len(name) <= 60 else name[:57] + "..."
        raise ModelError(f"{what} `{shortened}` {fault}", place, "choose another name")


def _check_bodies(mechanism: Mechanism, places: Places) -> None:
    if not mechanism.bodies:
        remedy = "write at least one record, e.g. `Arm | Ry(q) | Sz(-0.5), m(1);`"
        raise ModelError("the model has no bodies", remedy=remedy)
    bodies: dict[str, Body] = {}
    for body in mechanism.bodies:
        _check_name(body.name, "the body", places.of(body))
        if body.name in STATEMENTS:
            message = f"a body cannot have the name `{body.name}`, which is a keyword of the model language"
            raise ModelError(message, places.of(body), f"rename it, e.g. `{body.name}_1`")
        if body.name in bodies:
            message = f"two bodies have the name {body.name}"
            raise ModelError(message, places.of(body), "rename one of them")
        bodies[body.name] = body
    for body in mechanism.bodies:
        if body.base is not None and body.base not in bodies:
            remedy = did_you_mean(body.base, bodies.keys() - {body.name})
            message = f"unknown body '{body.base}' as the base of '{body.name}'"
            raise ModelError(message, places.of(body, "base"), remedy)
    _check_no_circle(bodies, places)


def _check_no_circle(bodies: dict[str, Body], places: Places) -> None:
    grounded: set[str] = set()
    for body in bodies.values():
        path: dict[str, None] = {}
        here: str | None = body.name
        while here is not None and here not in grounded:
            if here in path:
                circle = [*list(path)[list(path).index(here) :], here]
                shortened = "~".join(circle[:8]) + ("~..." if len(circle) > 8 else "")
                remedy = "put one of these bodies on the fixed frame: omit `~Base`"
                raise ModelError(f"the bases form a cycle: {shortened}", places.of(bodies[here], "base"), remedy)
            path[here] = None
            here = bodies[here].base
        grounded.update(path)


def _check_points(mechanism: Mechanism, places: Places) -> None:
    known = {body.name for body in mechanism.bodies}
    seen: set[str] = set()
    for point in mechanism.points:
        _check_name(point.name, "the output", places.of(point))
        if point.name in seen:
            raise ModelError(f"two outputs have the name {point.name}", places.of(point), "rename one of them")
        seen.add(point.name)
        if point.body is not None and point.body not in known:
            message = f"unknown body '{point.body}' of the output '{point.name}'"
            raise ModelError(message, places.of(point, "body"), did_you_mean(point.body, known))


def _sites(mechanism: Mechanism, places: Places) -> Iterator[Site]:
    """All expressions of the mechanism."""
    for parameter in mechanism.parameters:
        if parameter.value is not None:
            what = f"the value of the parameter {parameter.name}"
            yield Site(parameter.value, what, PARAMETERS, places.of(parameter))
    for coordinate in mechanism.coordinates:
        for name, initial in _initial_values(coordinate):
            yield Site(initial, f"the initial value of {name}", PARAMETERS, places.of(coordinate))
        what = f"the armature of {_label(coordinate)}"
        yield Site(coordinate.armature, what, PARAMETERS, places.of(coordinate, "armature"))
    for component in mechanism.gravity:
        yield Site(component, "gravity", _AND_TIME, places.of(mechanism.gravity))
    for point in mechanism.points:
        for component in point.position:
            yield Site(component, f"the position of the output {point.name}", PARAMETERS, places.of(point))
        for transform in point.orientation:
            for amount in amounts(transform):
                yield Site(amount, f"a rotation of the output {point.name}", PARAMETERS, places.of(transform))
    for body in mechanism.bodies:
        yield from _body_sites(body, places)
    for given in mechanism.inputs:
        if given.value is not None:
            yield Site(given.value, f"the input {given.name}", _AND_TIME, places.of(given), aside=_NAME_IT)
    for state in mechanism.states:
        yield Site(state.rate, f"the rate of the state {state.name}", ANYTHING, places.of(state))
        yield Site(state.initial, f"the initial value of {state.name}", PARAMETERS, places.of(state))
    yield from definition_sites(mechanism, places)
    yield from element_sites(mechanism, places)
    yield from constraint_sites(mechanism, places)
    yield from shape_sites(mechanism, places)


def _initial_values(coordinate: Coordinate | QuaternionCoordinates) -> Iterable[tuple[str, Expression]]:
    if isinstance(coordinate, Coordinate):
        return (coordinate.name, coordinate.position), (coordinate.name + "'", coordinate.velocity)
    own = (*coordinate.names, *coordinate.velocities)
    return zip(own, (*coordinate.position, *coordinate.velocity), strict=True)


def _label(coordinate: Coordinate | QuaternionCoordinates) -> str:
    if isinstance(coordinate, Coordinate):
        return coordinate.name
    return f"({', '.join(coordinate.velocities)})"


def _body_sites(body: Body, places: Places) -> Iterator[Site]:
    for transform in body.transforms:
        allowed = _FOR_QUATERNION if isinstance(transform, Quaternion) else _AND_MOTION
        for amount in amounts(transform):
            yield Site(amount, f"a transform of {body.name}", allowed, places.of(transform))
    for transform in body.inertia.central:
        for amount in amounts(transform):
            what = f"a transform to the central frame of {body.name}"
            yield Site(amount, what, PARAMETERS, places.of(transform))
    for letter in ("mass", *MOMENTS):
        stated: Expression = getattr(body.inertia, letter)
        if stated is not ZERO:
            yield Site(stated, f"the {letter} of {body.name}", PARAMETERS, places.of(body, letter))


def _check_quaternions(mechanism: Mechanism, scope: Scope, places: Places) -> None:
    groups = {c.names: c for c in mechanism.coordinates if isinstance(c, QuaternionCoordinates)}
    user: dict[tuple[str, ...], str] = {}
    for body in mechanism.bodies:
        for quaternion in _quaternions(body.transforms):
            own = tuple(c.text if isinstance(c, Name) else "" for c in quaternion.components)
            if own not in groups:
                _check_constant_quaternion(quaternion, body, scope, places)
            elif own in user:
                message = f"two bodies use the quaternion ({', '.join(own)}): {user[own]} and {body.name}"
                remedy = "declare a separate quaternion for each body"
                raise ModelError(message, places.of(quaternion), remedy)
            else:
                user[own] = body.name
    for own, group in groups.items():
        if own not in user:
            remedy = f"write `Q({', '.join(own)})` in the record of a body, or remove the quaternion"
            raise ModelError(f"no body uses the quaternion ({', '.join(own)})", places.of(group), remedy)


def _quaternions(transforms: Iterable[Transform]) -> Iterator[Quaternion]:
    return (transform for transform in transforms if isinstance(transform, Quaternion))


def _check_constant_quaternion(quaternion: Quaternion, body: Body, scope: Scope, places: Places) -> None:
    used = frozenset[str]().union(*(names(component) for component in quaternion.components))
    moving = sorted(name for name in used if scope.kinds.get(name) == "quaternion coordinate")
    if moving:
        written = ", ".join(text(component) for component in quaternion.components)
        message = f"Q({written}) of {body.name} uses {', '.join(moving)}, but is not a declared quaternion"
        remedy = "write the four names of one `quaternion (...)` in their order, or four constant expressions"
        raise ModelError(message, places.of(quaternion), remedy)


def _check_coordinates_used(mechanism: Mechanism, places: Places) -> None:
    used: set[str] = set()
    for body in mechanism.bodies:
        for transform in body.transforms:
            used.update(*(names(amount) for amount in amounts(transform)))
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate) and coordinate.name not in used:
            message = f"the coordinate {coordinate.name} is not used: no transform depends on it"
            remedy = "use it in the transforms of a body, or declare it as a parameter"
            raise ModelError(message, places.of(coordinate), remedy)


def _check_numbers(mechanism: Mechanism, places: Places) -> None:
    values = known_parameter_values(mechanism, places)
    for coordinate in mechanism.coordinates:
        _check_armature(coordinate, values, places)
        if isinstance(coordinate, QuaternionCoordinates):
            what = f"the initial quaternion ({', '.join(coordinate.names)})"
            _check_not_zero(coordinate.position, values, what, places.of(coordinate))
    for body in mechanism.bodies:
        for quaternion in _quaternions((*body.transforms, *body.inertia.central)):
            _check_not_zero(quaternion.components, values, f"a quaternion of {body.name}", places.of(quaternion))
        check_inertia(body, values, places)
    for point in mechanism.points:
        for quaternion in _quaternions(point.orientation):
            what = f"the quaternion of the output {point.name}"
            _check_not_zero(quaternion.components, values, what, places.of(quaternion))


def check_values(mechanism: Mechanism, values: Mapping[str, Value]) -> None:
    """Raise a ModelError if these parameter values give an inertia that no real body has."""
    for coordinate in mechanism.coordinates:
        _check_armature(coordinate, values, Places())
    for body in mechanism.bodies:
        check_inertia(body, values, Places())


def _check_armature(
    coordinate: Coordinate | QuaternionCoordinates, values: Mapping[str, Value], places: Places
) -> None:
    """Raise a ModelError if the armature is known and negative."""
    if not names(coordinate.armature) <= values.keys() | {PI}:
        return
    what, place = f"the armature of {_label(coordinate)}", places.of(coordinate, "armature")
    try:
        found = number(coordinate.armature, values)
    except ModelError as error:
        raise ModelError(f"{what} cannot be evaluated: {error}", place) from None
    if found < 0:
        raise ModelError(f"{what} is negative: {found:g}", place, "write a value that is zero or positive")


def _check_not_zero(
    components: tuple[Expression, ...], values: dict[str, Value], what: str, place: Place | None
) -> None:
    if not all(names(component) <= values.keys() | {PI} for component in components):
        return
    try:
        zero = not any(number(component, values) for component in components)
    except ModelError as error:
        raise ModelError(f"{what} cannot be evaluated: {error}", place) from None
    if zero:
        raise ModelError(f"{what} is zero", place, "write e.g. (1, 0, 0, 0) for no rotation")
