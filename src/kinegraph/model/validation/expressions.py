"""Validate a single expression: names, kinds of names, size, nesting, degree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf

from kinegraph.errors import ModelError, Place
from kinegraph.model.expressions import (
    FUNCTIONS,
    Call,
    Compound,
    Defined,
    Expression,
    Name,
    Number,
    Operation,
    as_written,
    expression,
    names,
    nesting,
    postorder,
    size,
    text,
)
from kinegraph.model.names import CHOICE_REMEDY, CHOICES, component, did_you_mean, velocity_meant
from kinegraph.model.report import Places
from kinegraph.model.tables import Lookup, Table
from kinegraph.model.units import is_unit

#: Limits that no real model reaches. Beyond them, an error is better than a long wait.
MAX_NESTING = 200
MAX_SIZE = 150_000
MAX_DIGITS = 1000

_BOUND = 10**MAX_DIGITS
_ZERO = expression(0)
_OPERATORS = {"+": 2, "-": 2, "*": 2, "/": 2, "^": 2, "neg": 1}
_KIND_WORDS = {
    "coordinate": "the coordinate",
    "quaternion coordinate": "the quaternion coordinate",
    "velocity": "the velocity",
    "time": "time",
    "input": "the input",
    "prescribed input": "the input",
    "point": "the position",
    "point velocity": "the velocity",
    "unknown": "the unknown force",
    "state": "the state",
}

#: Kinds of names that are defined by expressions.
DEFINED = ("definition", "quasi-velocity")
#: The kind of the name of a table.
TABLE = "table"


@dataclass(frozen=True, slots=True)
class Scope:
    """The kind of each declared or reserved name, and the points whose components can be used."""

    kinds: dict[str, str]
    points: frozenset[str] = frozenset()
    meanings: Mapping[str, Expression] = field(default_factory=dict)  # of defined names
    tables: Mapping[str, Table] = field(default_factory=dict)

    def kind(self, name: str) -> str | None:
        """The kind of a name; None if the name is unknown."""
        found = component(name)
        if found is None or found.point not in self.points or not found.exists:
            return self.kinds.get(name)
        return "point velocity" if found.rate else "point"


@dataclass(frozen=True, slots=True)
class Site:
    """An expression with its description in words, the kinds of names that are allowed, and a local name if any.

    aside: a further remedy for names that are not allowed.
    """

    root: Expression
    what: str
    allowed: frozenset[str]
    place: Place | None
    local: str = ""
    aside: str = ""


def check_expression(site: Site, scope: Scope, places: Places) -> None:
    """Raise a ModelError unless the expression is well formed and uses names of the allowed kinds."""
    _check_size(site)
    for here in as_written(site.root):
        match here:
            case Defined():
                _check_defined(here, site, scope, places.of(here) or site.place)
            case Name():
                _check_name(here, site, scope, places.of(here) or site.place)
            case Number():
                _check_number(here, site)
            case Lookup():
                _check_lookup(here, scope, places.of(here) or site.place)
            case Call():
                _check_call(here, scope, places.of(here) or site.place)
            case Operation():
                _check_operation(here, site)
            case _:
                raise ModelError(f"{site.what} contains {here!r}, which is not an expression", site.place)
    _check_nesting(site)


def _check_size(site: Site) -> None:
    if size(site.root) > MAX_SIZE:
        message = f"{site.what} is an expression of {size(site.root)} parts; the limit is {MAX_SIZE}"
        raise ModelError(message, site.place, "split it with `define`")


def _check_nesting(site: Site) -> None:
    if isinstance(site.root, Compound) and nesting(site.root) > MAX_NESTING:
        message = f"{site.what} nests parentheses deeper than {MAX_NESTING}"
        raise ModelError(message, site.place, "split it with `define`")


def _check_name(name: Name, site: Site, scope: Scope, place: Place | None) -> None:
    kind = scope.kind(name.text)
    if name.text == site.local:
        if kind is not None:
            message = f"`{name.text}` is a reserved name in {site.what}, but the model declares a {kind} of this name"
            raise ModelError(message, place, f"rename the {kind} {name.text}")
    elif kind is None:
        raise _unknown(name.text, site, scope, place)
    elif kind == TABLE:
        arguments = "a, b" if len(scope.tables[name.text].axes) == 2 else "a"
        message = f"`{name.text}` in {site.what} is a table, which needs an argument"
        raise ModelError(message, place, f"write `{name.text}({arguments})`")
    elif kind in DEFINED:
        raise ModelError(f"{name.text} in {site.what} is not resolved", place, "call `resolved` on the mechanism")
    elif kind not in site.allowed and kind != "constant":
        message = f"{site.what} depends on {_KIND_WORDS[kind]} {name.text}"
        raise ModelError(message, place, _remedy(site.allowed) + site.aside)


def _check_defined(defined: Defined, site: Site, scope: Scope, place: Place | None) -> None:
    """A defined name must have the model's definition, and be allowed where it is used."""
    if scope.meanings.get(defined.name) != defined.value:
        message = f"{site.what} uses {defined.name} with a different definition than the model"
        raise ModelError(message, place, "change definitions with `kinegraph.model.definitions.replaced`")
    if defined.name == site.local:
        message = f"`{defined.name}` is a reserved name in {site.what}, but the model defines it"
        raise ModelError(message, place, f"rename the definition {defined.name}")
    for name in sorted(names(defined.value)):
        kind = scope.kind(name)
        if kind is not None and kind not in site.allowed and kind != "constant":
            message = f"{site.what} depends on {_KIND_WORDS[kind]} {name} through {defined.name}"
            raise ModelError(message, place, _remedy(site.allowed))


def _unknown(name: str, site: Site, scope: Scope, place: Place | None) -> ModelError:
    found = component(name)
    if found is not None:
        return _unknown_component(found.point, name, site, scope, place)
    usable = [known for known, kind in scope.kinds.items() if kind in site.allowed | {"constant", *DEFINED}]
    if scope.kinds.get(name.removesuffix("'")) in DEFINED:
        return ModelError(f"`{name}`: a defined name has no rate", place, "define the rate as an expression")
    if scope.kinds.get(name.removesuffix("'")) == "state":
        remedy = "name the right-hand side with `define`, and use that name here and in the `state` statement"
        return ModelError(f"`{name}` in {site.what}: the rate of a state cannot be used in expressions", place, remedy)
    said = f"unknown name '{name}' in {site.what}"
    velocity = velocity_meant(name, [known for known, kind in scope.kinds.items() if kind == "coordinate"])
    if velocity:
        here = "" if "velocity" in site.allowed else ", which cannot be used here"
        return ModelError(
            said, place, f"write the velocity as `{velocity}`{here}, or declare `parameters {name} = ...;`"
        )
    remedy = did_you_mean(name, [*usable, *([site.local] if site.local else [])])
    if not remedy.startswith("did"):
        if is_unit(name):
            number = _factor_of(name, site.root)
            remedy = f"a unit follows its number: write `{number} {name}`, or declare `parameters {name} = ...;`"
            return ModelError(said, place, remedy)
        declared = name.removesuffix("'")
        remedy = f"declare it: `coordinates {declared};`"
        if declared == name:
            remedy = f"declare it: `parameters {name} = ...;` or `coordinates {name};`"
    return ModelError(said, place, remedy)


def _factor_of(name: str, root: Expression) -> str:
    """The number that `45*deg` multiplies a name with; 1 if there is none."""
    for here in as_written(root):
        if isinstance(here, Operation) and here.operator == "*" and here.operands[1] == Name(name):
            factor = here.operands[0]
            return text(factor) if isinstance(factor, Number) else "1"
    return "1"


def _unknown_component(point: str, name: str, site: Site, scope: Scope, place: Place | None) -> ModelError:
    if point not in scope.points:
        message = f"unknown output or body '{point}' in {site.what}"
        return ModelError(message, place, did_you_mean(point, scope.points))
    message = f"unknown component '{name}' in {site.what}"
    known = f"{point}.x, {point}.y, {point}.z, rates such as {point}.x'"
    return ModelError(message, place, f"write {known}, or angular velocities {point}.wx, {point}.wy, {point}.wz")


def _remedy(allowed: frozenset[str]) -> str:
    if "velocity" in allowed:
        return "use parameters, coordinates, velocities, points, inputs with an expression, and time"
    if "point" in allowed:
        return "use parameters, coordinates, points, inputs with an expression, and time"
    if "coordinate" in allowed:
        return "use parameters, coordinates and time; quaternion coordinates only as `Q(...)` of one quaternion"
    if "quaternion coordinate" in allowed:
        return (
            "use the four names of one quaternion, or constants and parameters; a rotation about one axis may be a "
            "formula, `Q(cos(a), 0, 0, sin(a))`, and others are products of Rx, Ry, Rz"
        )
    if "input" in allowed:
        return "use only parameters, inputs, numbers and t"
    if "prescribed input" in allowed:
        return "use only parameters, numbers, t and inputs with an expression"
    return "use only parameters, numbers and t" if "time" in allowed else "use only parameters and numbers"


def _check_number(number: Number, site: Site) -> None:
    if max(abs(number.value.numerator), number.value.denominator) >= _BOUND:
        raise ModelError(f"{site.what} contains a number of more than {MAX_DIGITS} digits", site.place, "round it")


def _check_lookup(lookup: Lookup, scope: Scope, place: Place | None) -> None:
    if scope.tables.get(lookup.function) != lookup.table:
        message = f"`{lookup.function}(...)` is not the table `{lookup.function}` of the model"
        raise ModelError(message, place, "add the table with `Builder.table`, and change it there")
    wanted, found = len(lookup.table.axes), len(lookup.arguments)
    if wanted != found:
        message = f"the table {lookup.function} takes {wanted} argument{'s' * (wanted > 1)}, found {found}"
        raise ModelError(message, place, f"write `{lookup.function}({'a, b' if wanted == 2 else 'a'})`")


def _check_call(call: Call, scope: Scope, place: Place | None) -> None:
    wanted = FUNCTIONS.get(call.function)
    if wanted is None:
        choice = call.function.casefold() in CHOICES
        remedy = CHOICE_REMEDY if choice else did_you_mean(call.function, (*FUNCTIONS, *scope.tables))
        raise ModelError(f"unknown function '{call.function}'", place, remedy)
    if len(call.arguments) != wanted:
        example = f"{call.function}({', '.join('abc'[:wanted])})"
        message = f"{call.function} takes {wanted} argument{'s' * (wanted > 1)}, found {len(call.arguments)}"
        raise ModelError(message, place, f"write {example}")


def _check_operation(operation: Operation, site: Site) -> None:
    if len(operation.operands) != _OPERATORS.get(operation.operator):
        message = f"{site.what} has an operation {operation.operator!r} with {len(operation.operands)} operands"
        raise ModelError(message, site.place, "use + - * / ^ with two operands, and neg with one")
    if operation.operator == "/" and operation.operands[1] == _ZERO:
        raise ModelError(f"{site.what} divides by zero", site.place, "write another divisor")


# Sets of kinds of names

PARAMETERS = frozenset({"parameter"})
#: Known at all times, independent of the motion.
GIVEN = PARAMETERS | {"time", "prescribed input"}
#: Not functions of the positions and time alone, but free to change: no energy is stored with them.
STEERED = GIVEN | {"input", "state"}
POSITIONS = GIVEN | {"coordinate", "quaternion coordinate", "point"}
RATES = POSITIONS | {"velocity", "point velocity"}
#: Allowed in the formulas of forces.
ANYTHING = RATES | STEERED
MOVING = RATES - GIVEN
VELOCITIES = frozenset({"velocity", "point velocity"})
UNKNOWN = frozenset({"unknown"})


def degree(root: Expression, counts: Callable[[str], bool]) -> float:
    """The degree in the names selected by `counts`; infinite if the expression is not a polynomial in them."""
    results: list[float] = []
    for here in postorder(root):
        if isinstance(here, Compound):
            count = len(here.parts)
            parts = results[len(results) - count :]
            del results[len(results) - count :]
            results.append(_degree_of(here, parts))
        else:
            results.append(float(isinstance(here, Name) and counts(here.text)))
    return results[0]


def _degree_of(here: Compound, parts: list[float]) -> float:
    if not any(parts):
        return 0.0
    if not isinstance(here, Operation):
        return inf
    match here.operator:
        case "neg" | "+" | "-":
            return max(parts)
        case "*":
            return sum(parts)
        case "/":
            return parts[0] if not parts[1] else inf
    power = here.operands[1]
    whole = isinstance(power, Number) and power.value.denominator == 1 and power.value >= 0
    return parts[0] * float(power.value) if whole and isinstance(power, Number) else inf
