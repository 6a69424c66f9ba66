"""Evaluate model expressions: exact for + - * / and integer powers, floating point otherwise.

Used for checks, initial values and parameters. Compiled kernels compute everything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

from kinegraph.errors import ModelError, Place
from kinegraph.model.expressions import (
    PI,
    Call,
    Compound,
    Expression,
    Name,
    Number,
    Operation,
    Scalar,
    expression,
    names,
    postorder,
    text,
)
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import Places
from kinegraph.model.tables import Lookup

Value: TypeAlias = Fraction | float
_Formulas: TypeAlias = Mapping[str, Expression | None]

_EXACT_BITS = 4096  # larger rationals become floating point, so nested powers cannot exhaust the memory


def value(root: Expression, values: Mapping[str, Value]) -> Value:
    """The value of an expression for given values of its names; a Fraction if it is exact."""
    results: list[Value] = []
    for here in postorder(root):
        if isinstance(here, Number):
            results.append(here.value)
        elif isinstance(here, Name):
            results.append(_named(here.text, values))
        elif isinstance(here, Compound):
            count = len(here.parts)
            parts = results[len(results) - count :]
            del results[len(results) - count :]
            results.append(_apply(here, parts))
    return results[0]


def number(root: Expression, values: Mapping[str, Value]) -> float:
    """The value of an expression as a float."""
    try:
        result = float(value(root, values))
    except OverflowError:
        raise _no_value(root, "it is too large") from None
    if not math.isfinite(result):
        raise _no_value(root, "it is not finite")
    return result


def parameter_values(mechanism: Mechanism, overrides: Mapping[str, Scalar] | None = None) -> dict[str, Value]:
    """The values of all parameters, in the order of the mechanism; `overrides` replace the values of the model.

    An override is a number or an expression of other parameters.
    """
    formulas = _formulas(mechanism, overrides or {})
    for name, formula in formulas.items():
        if formula is None:
            remedy = f"write `parameters {name} = ...;` in the model, or pass it as `parameters=` or `--set {name}=...`"
            raise ModelError(f"the parameter {name} has no value", remedy=remedy)
    return _evaluated(formulas)


def following(mechanism: Mechanism, given: Iterable[str]) -> frozenset[str]:
    """The parameters whose values depend on the given ones, directly or through others."""
    known = {one.name: names(one.value) for one in mechanism.parameters if one.value is not None}
    free = found = frozenset(given)
    while more := frozenset(name for name, used in known.items() if name not in found and used & found):
        found |= more
    return found - free


def float_values(values: Mapping[str, Value]) -> dict[str, float]:
    """Parameter values as floats; an error names a value that is too large."""
    found: dict[str, float] = {}
    for name, exact in values.items():
        try:
            found[name] = float(exact)
        except OverflowError:
            raise ModelError(f"the parameter {name} is too large for floating point (maximum 1.8e308)") from None
    return found


def known_parameter_values(mechanism: Mechanism, places: Places | None = None) -> dict[str, Value]:
    """The values of all parameters that have one, directly or through others; errors have the parameter's place."""
    where = {parameter.name: places.of(parameter) for parameter in mechanism.parameters} if places else {}
    return _evaluated(_formulas(mechanism, {}), where)


def initial_positions(mechanism: Mechanism, parameters: Mapping[str, Value]) -> tuple[float, ...]:
    """Initial q in the order of `layout.positions`; quaternions are normalized."""
    found: list[float] = []
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            found.append(number(coordinate.position, parameters))
        else:
            components = [number(component, parameters) for component in coordinate.position]
            found.extend(unit_quaternion(coordinate.names, components, "the initial quaternion"))
    return tuple(found)


def unit_quaternion(
    names: Sequence[str], components: Sequence[float], what: str = "the quaternion"
) -> tuple[float, ...]:
    """The normalized quaternion, also for very large or small components; an error if all are zero."""
    largest = max(map(abs, components))
    if largest == 0:
        raise ModelError(f"{what} ({', '.join(names)}) is zero", remedy="write e.g. (1, 0, 0, 0) for no rotation")
    scaled = [component / largest for component in components]  # squares of the components could overflow
    length = math.hypot(*scaled)
    return tuple(component / length for component in scaled)


def initial_velocities(mechanism: Mechanism, parameters: Mapping[str, Value]) -> tuple[float, ...]:
    """Initial v in the order of `layout.velocities`."""
    written = (
        (c.velocity,) if isinstance(c, Coordinate) else c.velocity for c in mechanism.coordinates
    )  # one expression per coordinate, three per quaternion
    return tuple(number(velocity, parameters) for group in written for velocity in group)


def initial_states(mechanism: Mechanism, parameters: Mapping[str, Value]) -> tuple[float, ...]:
    """Initial z in the order of `layout.states`."""
    return tuple(number(state.initial, parameters) for state in mechanism.states)


def _formulas(mechanism: Mechanism, overrides: Mapping[str, Scalar]) -> dict[str, Expression | None]:
    formulas = {parameter.name: parameter.value for parameter in mechanism.parameters}
    for name, given in overrides.items():
        if name not in formulas:
            fault = f"unknown parameter '{name}'"
            if name in mechanism.input_names:
                raise ModelError(fault, remedy=f"{name} is an input of the model: pass it as inputs or in the state")
            raise ModelError(fault, remedy=did_you_mean(name, formulas))
        formulas[name] = expression(given, name)
    return formulas


def _evaluated(formulas: _Formulas, where: Mapping[str, Place | None] | None = None) -> dict[str, Value]:
    where = where or {}
    values: dict[str, Value] = {}
    used = {name: names(formula) if formula else frozenset() for name, formula in formulas.items()}
    for name in _order(used, where):
        formula = formulas.get(name)
        if formula is not None and used[name] <= values.keys() | {PI}:
            try:
                values[name] = value(formula, values)
            except ModelError as error:
                raise ModelError(f"the parameter {name} cannot be evaluated: {error}", where.get(name)) from None
    return {name: values[name] for name in formulas if name in values}


def _order(used: Mapping[str, frozenset[str]], where: Mapping[str, Place | None]) -> list[str]:
    try:
        return [name for name in TopologicalSorter(used).static_order() if name in used]
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        remedy = "give one of them a value that does not depend on the others"
        place = where.get(error.args[1][0])
        raise ModelError(f"the parameters form a cycle: {circle}", place, remedy) from None


def _named(name: str, values: Mapping[str, Value]) -> Value:
    if name in values:
        return values[name]
    if name == PI:
        return math.pi
    raise ModelError(f"{name} has no value", remedy=did_you_mean(name, values))


def _apply(here: Compound, parts: list[Value]) -> Value:
    try:
        match here:
            case Operation(operator, _) if operator in _OPERATORS:
                return _moderate(_OPERATORS[operator](*parts))
            case Lookup():
                return _looked_up(here, parts)
            case Call(function, _) if function in _FUNCTIONS:
                return _FUNCTIONS[function](*parts)
    except ZeroDivisionError:
        raise _no_value(here, "it divides by zero") from None
    except OverflowError:
        raise _no_value(here, "it is too large") from None
    except (ValueError, TypeError):
        raise _no_value(here, f"{here.head} is not defined there") from None
    raise _no_value(here, f"{here.head} is unknown")


def _looked_up(here: Lookup, parts: list[Value]) -> Value:
    found = here.table.at(parts)
    if math.isnan(found):
        raise ValueError
    return found


def _no_value(root: Expression, why: str) -> ModelError:
    written = text(root)
    shortened = written if len(written) <= 60 else written[:57] + "..."
    return ModelError(f"`{shortened}` has no value: {why}")


def _moderate(result: Value) -> Value:
    if isinstance(result, Fraction) and result.numerator.bit_length() + result.denominator.bit_length() > _EXACT_BITS:
        return float(result)
    return result


def _power(base: Value, exponent: Value) -> Value:
    if not isinstance(base, Fraction) or not isinstance(exponent, Fraction) or exponent.denominator != 1:
        return math.pow(base, exponent)
    bits = abs(exponent) * (base.numerator.bit_length() + base.denominator.bit_length())
    return Fraction(base ** int(exponent)) if bits <= _EXACT_BITS else math.pow(base, exponent)


def _sign(argument: Value) -> Value:
    return Fraction((argument > 0) - (argument < 0))


_OPERATORS: dict[str, Callable[..., Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": _power,
    "neg": lambda a: -a,
}

_FUNCTIONS: dict[str, Callable[..., Value]] = {
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")},
    **{name: getattr(math, name) for name in ("sinh", "cosh", "tanh", "sqrt", "exp", "log")},
    "abs": abs,
    "sign": _sign,
    "min": min,
    "max": max,
    "select": lambda condition, chosen, other: chosen if condition >= 0 else other,
}
