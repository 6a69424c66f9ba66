"""Convert model expressions to scalars of a graph, and scalars to outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from kinegraph.errors import DerivationError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Kind, Output
from kinegraph.lazy_imports import Functions
from kinegraph.model.definitions import named_expressions
from kinegraph.model.expressions import PI, TIME, Call, Expression, Name, Number, Operation, postorder, renamed
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import velocity_meant
from kinegraph.model.tables import Lookup, lookups

if TYPE_CHECKING:
    from kinegraph.derive.tree import tables
else:  # few models have tables
    tables = Functions("kinegraph.derive.tree.tables")


class Names:
    """The scalars of a mechanism's names in one builder.

    bound: exact expressions of parameters that are not symbols; a value such as `atan2(1, 3)` remains an exact constant
    of the graph. Inputs with an expression, and definitions, are replaced by their expressions.
    """

    def __init__(self, builder: GraphBuilder, mechanism: Mechanism, bound: Mapping[str, Expression]) -> None:
        self.builder = builder
        self._formulas = dict(bound)
        self._scalars: dict[str, Scalar] = {PI: Scalar(builder, builder.pi())}
        self._scalars[TIME] = Scalar(builder, builder.symbol(Kind.TIME, TIME))
        for name in mechanism.layout.positions:
            self._scalars[name] = Scalar(builder, builder.symbol(Kind.COORDINATE, name))
        for parameter in mechanism.parameters:
            if parameter.name not in bound:
                symbol = builder.symbol(Kind.PARAMETER, parameter.name)
                self._scalars[parameter.name] = Scalar(builder, symbol)
        # Velocities and inputs become symbols at their first use: the order of symbols decides the order of sums.
        self._kinds = dict.fromkeys(mechanism.layout.velocities, Kind.VELOCITY)
        self._kinds |= dict.fromkeys(mechanism.layout.inputs, Kind.INPUT)
        self._kinds |= dict.fromkeys(mechanism.layout.states, Kind.STATE)
        self._formulas |= {given.name: given.value for given in mechanism.inputs if given.value is not None}
        self._formulas |= {one.name: one.value for one in named_expressions(mechanism)}
        self._tables = mechanism.tables

    def replace(self, meanings: Mapping[str, Scalar]) -> None:
        """Replace the scalars of these names from now on."""
        self._scalars |= meanings

    def __getitem__(self, name: str) -> Scalar:
        if name not in self._scalars:
            self._scalars[name] = self._new(name)
        return self._scalars[name]

    def _new(self, name: str) -> Scalar:
        if name in self._kinds:
            return Scalar(self.builder, self.builder.symbol(self._kinds[name], name))
        if name not in self._formulas:
            velocity = velocity_meant(name, (known.removesuffix("'") for known in self._kinds))
            remedy = f"the velocity is written {velocity}" if velocity else "add it to the parameters or coordinates"
            raise DerivationError(f"the name {name!r} is not declared: {remedy}")
        return self.scalar(self._formulas[name])

    def number(self, value: Fraction | int) -> Scalar:
        """A number in this builder."""
        return Scalar(self.builder, self.builder.number(value))

    def scalar(self, root: Expression, local: Mapping[str, Scalar] | None = None) -> Scalar:
        """The scalar of an expression, computed iteratively, so that any length and depth is possible.

        local: names that are defined in this expression only.
        """
        local = local or {}
        if self._tables:  # those of the model contain their tables, those of a user do not
            root = renamed(root, lambda name: name, lookups(self._tables))
        return scalar_of(self.builder, root, lambda name: local[name] if name in local else self[name])


def scalar_of(builder: GraphBuilder, root: Expression, meaning: Callable[[str], Scalar]) -> Scalar:
    """The scalar of an expression. meaning: the scalar of a name."""
    done: list[Scalar] = []
    for node in postorder(root):
        if isinstance(node, Number):
            done.append(Scalar(builder, builder.number(node.value)))
        elif isinstance(node, Name):
            done.append(meaning(node.text))
        elif isinstance(node, Operation | Call):
            operands = done[-len(node.parts) :]
            del done[-len(node.parts) :]
            done.append(operation(node, operands))
    return done[0]


def operation(node: Operation | Call, values: list[Scalar]) -> Scalar:
    """One operator or function applied to scalars."""
    if isinstance(node, Lookup):
        return tables.looked_up(node.table, values)
    if isinstance(node, Call):
        return _call(node.function, values)
    first = values[0]
    match node.operator:
        case "neg":
            return -first
        case "+":
            return first + values[1]
        case "-":
            return first - values[1]
        case "*":
            return first * values[1]
        case "/":
            return first / values[1]
        case "^":
            return _power(first, values[1])
    raise DerivationError(f"unknown operator {node.operator!r}")


def _power(base: Scalar, exponent: Scalar) -> Scalar:
    value = exponent.value
    if value is not None and value.denominator == 1:
        return base ** int(value)
    if value is not None and value.denominator == 2:
        return base.apply("sqrt") ** value.numerator
    return (base.apply("log") * exponent).apply("exp")


def _call(function: str, values: list[Scalar]) -> Scalar:
    first = values[0]
    match function:
        case "tan":
            return first.sin() / first.cos()
        case "min":
            return (values[1] - first).apply("select", first, values[1])
        case "max":
            return (first - values[1]).apply("select", first, values[1])
    return first.apply(function, *values[1:])


#: The values of a quantity: nested sequences of scalars.
Values: TypeAlias = Scalar | Sequence["Values"]


def output(name: str, shape: tuple[int, ...], values: Values) -> Output:
    """Values as an output of a graph, in row-major order."""
    return Output(name, shape, tuple(scalar.index for scalar in _flat(values)))


def _flat(values: Values) -> Iterator[Scalar]:
    if isinstance(values, Scalar):
        yield values
    else:
        for entry in values:
            yield from _flat(entry)
