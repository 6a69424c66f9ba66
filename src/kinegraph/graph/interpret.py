"""The meaning of a graph: a slow, simple interpreter, generic in the type of numbers.

Every backend and every pass is tested against it. The arithmetics here are doubles (scalars or NumPy arrays) and
balls of extended precision; `prime_field` adds a prime field for proofs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import inf, isfinite
from numbers import Rational
from threading import RLock
from typing import Generic, Protocol, TypeAlias, TypeVar

import flint
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.errors import GraphError
from kinegraph.graph.angle import PI, linear_form
from kinegraph.graph.lookup import constants_of, doubles_of, exact_entry, is_interval
from kinegraph.graph.node import Coefficient, Graph, Node, Polynomial, Symbol, is_lookup

T = TypeVar("T")


class Arithmetic(Protocol[T]):
    """The operations of an evaluation."""

    def symbol(self, symbol: Symbol) -> T:
        """The value of a symbol."""
        ...

    def number(self, value: Coefficient) -> T:
        """A rational number as a value."""
        ...

    def add(self, left: T, right: T) -> T:
        """The sum of two values."""
        ...

    def multiply(self, left: T, right: T) -> T:
        """The product of two values."""
        ...

    def power(self, base: T, exponent: int) -> T:
        """A value to a positive integer power."""
        ...

    def function(self, name: str, arguments: Sequence[T], angle: Callable[[], Sequence[tuple[Coefficient, T]]]) -> T:
        """Apply a function; `angle()` is the first argument as a linear form, for sin and cos."""
        ...


def nearest_double(value: Coefficient) -> float:
    """The double nearest to an exact number; infinite on overflow."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


class Evaluation(Generic[T]):
    """The values of a graph's nodes in one arithmetic, children first."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic[T], only: Sequence[bool] | None = None) -> None:
        self.graph = graph
        self.arithmetic = arithmetic
        self.values: list[T | None] = []
        wanted = graph.live if only is None else only
        for node, want in zip(graph.nodes, wanted, strict=True):
            self.values.append(self._node(node) if want else None)

    def __getitem__(self, index: int) -> T:
        value = self.values[index]
        assert value is not None, f"node {index} was not evaluated"
        return value

    def _node(self, node: Node) -> T:
        if isinstance(node, Polynomial):
            return self._polynomial(node)
        if isinstance(node, Symbol):
            return self.arithmetic.symbol(node)
        arguments = [self[argument] for argument in node.arguments]
        return self.arithmetic.function(node.name, arguments, lambda: self._linear_form(node.arguments[0]))

    def _polynomial(self, node: Polynomial) -> T:
        arithmetic = self.arithmetic
        total: T | None = None
        for coefficient, factors in node.terms:
            term = arithmetic.number(coefficient) if coefficient != 1 or not factors else None
            for child, exponent in factors:
                value = self[child] if exponent == 1 else arithmetic.power(self[child], exponent)
                term = value if term is None else arithmetic.multiply(term, value)
            assert term is not None
            total = term if total is None else arithmetic.add(total, term)
        return arithmetic.number(0) if total is None else total

    def _linear_form(self, index: int) -> list[tuple[Coefficient, T]]:
        form = linear_form(self.graph.nodes, index)
        return [(c, self._polynomial(Polynomial(((1, monomial),)))) for monomial, c in sorted(form.items())]


#: Values of symbols, and results: doubles or arrays of doubles.
Value: TypeAlias = ArrayLike | Fraction
Floating: TypeAlias = np.float64 | NDArray[np.float64]


class FloatArithmetic:
    """Doubles, or NumPy arrays of doubles broadcast against each other."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = values

    def symbol(self, symbol: Symbol) -> Floating:
        """The value of a symbol."""
        if symbol == PI:
            return np.float64(np.pi)
        if symbol.name not in self.values:
            raise GraphError(f"no value for {symbol.kind.value} {symbol.name!r}: give one")
        value = self.values[symbol.name]
        return np.asarray(nearest_double(value) if isinstance(value, int | Fraction) else value, dtype=np.float64)

    def number(self, value: Coefficient) -> Floating:
        """A rational number in this arithmetic."""
        return np.float64(nearest_double(value))

    def add(self, left: Floating, right: Floating) -> Floating:
        """The sum of two values."""
        return left + right

    def multiply(self, left: Floating, right: Floating) -> Floating:
        """The product of two values."""
        return left * right

    def power(self, base: Floating, exponent: int) -> Floating:
        """A value to a whole power."""
        return base**exponent

    def function(self, name: str, arguments: Sequence[Floating], angle: Callable[[], object]) -> Floating:
        """A function of values."""
        if is_lookup(name):
            return _looked_up(name, arguments[0])
        return _FLOAT_FUNCTIONS[name](*arguments)


def _looked_up(name: str, argument: Floating) -> Floating:
    constants = np.array(doubles_of(name))
    if is_interval(name):
        return np.where(np.isnan(argument), np.nan, np.searchsorted(constants, argument, side="right"))
    inside = argument >= 0
    places = np.minimum(np.where(inside, argument, 0.0), len(constants) - 1).astype(int)
    return np.where(inside, constants[places], np.nan)


def _select(condition: Floating, chosen: Floating, other: Floating) -> Floating:
    # If the condition is NaN, so is the result.
    return np.where(condition >= 0, chosen, np.where(condition < 0, other, np.nan))


def _guarded(value: Floating, room: Floating) -> Floating:
    return np.where(room >= 0, value, np.nan)


_FLOAT_FUNCTIONS: dict[str, Callable[..., Floating]] = {
    "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "exp": np.exp, "log": np.log,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "abs": np.abs, "sign": np.sign,
    "reciprocal": lambda x: np.float64(1) / x, "select": _select, "guarded": _guarded,
}  # fmt: skip


class BallArithmetic:
    """Real balls of extended precision (Arb): the error bound is propagated."""

    def __init__(self, values: Mapping[str, Coefficient | float]) -> None:
        self.values = values

    def symbol(self, symbol: Symbol) -> flint.arb:
        """The value of a symbol."""
        if symbol == PI:
            return flint.arb.pi()
        if symbol.name not in self.values:
            raise GraphError(f"no value for {symbol.kind.value} {symbol.name!r}: give one")
        value = self.values[symbol.name]
        finite = isinstance(value, Rational) or isfinite(value)
        return self.number(Fraction(value)) if finite else flint.arb.nan()

    def number(self, value: Coefficient) -> flint.arb:
        """A rational number in this arithmetic."""
        return flint.arb(flint.fmpq(value.numerator, value.denominator))

    def add(self, left: flint.arb, right: flint.arb) -> flint.arb:
        """The sum of two values."""
        return left + right

    def multiply(self, left: flint.arb, right: flint.arb) -> flint.arb:
        """The product of two values."""
        return left * right

    def power(self, base: flint.arb, exponent: int) -> flint.arb:
        """A value to a whole power."""
        return base**exponent

    def function(self, name: str, arguments: Sequence[flint.arb], angle: Callable[[], object]) -> flint.arb:
        """A function of values."""
        first = arguments[0]
        if name == "reciprocal":
            return 1 / first
        if name == "select":
            return arguments[2] if first < 0 else arguments[1]  # a ball that contains zero counts as zero
        if name == "guarded":
            return flint.arb.nan() if arguments[1] < 0 else first
        if is_lookup(name):
            return self._looked_up(name, first)
        if name == "sqrt" and first.contains(0):  # the error bound may reach below zero, but the value does not
            return first.nonnegative_part().sqrt()
        if name == "atan2":
            return flint.arb.atan2(first, arguments[1])
        if name == "sign":
            return flint.arb(first.sgn())
        return abs(first) if name == "abs" else getattr(first, name)()

    def _looked_up(self, name: str, argument: flint.arb) -> flint.arb:
        if not argument.is_finite():
            return flint.arb.nan()
        if not is_interval(name):
            return self.number(exact_entry(name, Fraction(round(float(argument)))))
        bounds = constants_of(name)
        near = bisect_right(bounds, Fraction(float(argument)))  # a ball that contains a bound has reached it
        while near and argument < self.number(bounds[near - 1]):
            near -= 1
        while near < len(bounds) and not argument < self.number(bounds[near]):
            near += 1
        return flint.arb(near)


EXTENDED_PRECISION = 256


def exact_statics(graph: Graph, indices: Sequence[int]) -> list[Fraction | None]:
    """Static nodes without parameters, as the nearest numbers of extended precision; None if not finite."""
    balls = _static_balls(graph, {})
    return [_exact(balls[index].mid()) for index in indices]


def _exact(middle: flint.arb) -> Fraction | None:
    if not isfinite(float(middle)):
        return None
    mantissa, exponent = middle.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _static_balls(graph: Graph, parameters: Mapping[str, Coefficient | float]) -> dict[int, flint.arb]:
    only = [live and static for live, static in zip(graph.live, graph.static, strict=True)]
    with extended_precision():
        evaluation = Evaluation(graph, BallArithmetic(parameters), only)
        return {index: evaluation[index] for index, want in enumerate(only) if want}


_precision_lock = RLock()


@contextmanager
def extended_precision() -> Iterator[None]:
    """Run a block with Arb in extended precision, in one thread at a time, because Arb's precision is global."""
    with _precision_lock, flint.ctx.workprec(EXTENDED_PRECISION):
        yield


def interpret(graph: Graph, values: Mapping[str, Value]) -> dict[str, np.ndarray]:
    """All outputs, by name, for the given values of the symbols.

    Values may be arrays of one common shape, which then precedes the shape of every output.
    """
    with np.errstate(all="ignore"):
        evaluation = Evaluation(graph, FloatArithmetic(values))
    batch = np.broadcast_shapes(*(np.asarray(v).shape for v in values.values())) if values else ()
    results: dict[str, np.ndarray] = {}
    for output in graph.outputs:
        entries = [np.broadcast_to(evaluation[index], batch) for index in output.nodes]
        stacked = np.stack(entries, axis=-1) if entries else np.empty((*batch, 0))
        results[output.name] = stacked.reshape((*batch, *output.shape))
    return results
