"""A random point of a prime field: what every symbol, angle and function is there."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar, cast

from kinegraph.graph.interpret import Arithmetic, Evaluation
from kinegraph.graph.node import Coefficient, Function, Graph, Node, Polynomial, Symbol
from kinegraph.graph.proof.angles import AnglePart, AngleTable
from kinegraph.graph.proof.field import CIRCLE_DIVISOR, Point, PrimeField

T = TypeVar("T")


class UnluckyPoint(Exception):
    """A division by zero happened at this random point, or of this random prime: try another."""


class FieldArithmetic:
    """One random point: symbols get random values, angles random points of the circle, functions are random oracles."""

    def __init__(self, field: PrimeField, seed: int, unit: Iterable[Sequence[Symbol]] = ()) -> None:
        self.field = field
        self.prime = field.prime
        self.seed = seed
        self._on_spheres: dict[Symbol, int] = {}
        for symbols in unit:
            self._on_spheres |= zip(symbols, self._point_of_sphere(symbols), strict=True)
        self._inverses: dict[int, int] = {}
        self._points: dict[Hashable, Point] = {}

    def random(self, *key: object) -> int:
        """A random number of the field, the same for the same key."""
        digest = hashlib.blake2b(repr((self.seed, *key)).encode(), digest_size=32).digest()
        return int.from_bytes(digest, "big") % self.prime

    def _point_of_sphere(self, symbols: Sequence[Symbol]) -> list[int]:
        """A random point whose squares add up to one, projected from the pole."""
        plane = [self.random("sphere", symbol.name) for symbol in symbols[1:]]
        square = sum(one * one for one in plane) % self.prime
        if (1 + square) % self.prime == 0:
            raise UnluckyPoint
        scale = pow(1 + square, -1, self.prime)
        return [(1 - square) * scale % self.prime, *(2 * one * scale % self.prime for one in plane)]

    def symbol(self, symbol: Symbol) -> int:
        """The value of a symbol."""
        if symbol in self._on_spheres:
            return self._on_spheres[symbol]
        return self.random("symbol", symbol.kind.value, symbol.name)

    def number(self, value: Coefficient) -> int:
        """A rational number in this arithmetic."""
        if isinstance(value, int):
            return value % self.prime
        denominator = value.denominator
        inverse = self._inverses.get(denominator)
        if inverse is None:
            if denominator % self.prime == 0:
                raise UnluckyPoint
            inverse = self._inverses[denominator] = pow(denominator, -1, self.prime)
        return value.numerator * inverse % self.prime

    def add(self, left: int, right: int) -> int:
        """The sum of two values."""
        return (left + right) % self.prime

    def multiply(self, left: int, right: int) -> int:
        """The product of two values."""
        return left * right % self.prime

    def power(self, base: int, exponent: int) -> int:
        """A value to a whole power."""
        return pow(base, exponent, self.prime)

    def function(self, name: str, arguments: Sequence[int], angle: object = None) -> int:
        """A function of values."""
        if name == "reciprocal":
            if arguments[0] == 0:
                raise UnluckyPoint
            return pow(arguments[0], -1, self.prime)
        if name == "select":
            return self._select(*arguments)
        if name == "guarded":  # a guard changes no value: it says where there is one
            return arguments[0]
        return self.oracle(name, arguments)

    def oracle(self, name: str, arguments: Sequence[Hashable]) -> int:
        """A function of which nothing is known but that equal arguments give equal results."""
        return self.random(name, *arguments)

    def _select(self, condition: int, chosen: int, other: int) -> int:
        """A random mixture of the two branches, weighted by the condition's value alone."""
        weight = self.random("select", condition)
        return (weight * chosen + (1 - weight) * other) % self.prime

    def angle(self, parts: Sequence[AnglePart], values: Sequence[Hashable]) -> Point:
        """The point of an angle: its parts, and the value of the product each is a multiple of."""
        point = (1, 0)
        for part, value in zip(parts, values, strict=True):
            point = self.field.rotate(point, self._multiple(part, value))
        return point

    def _multiple(self, part: AnglePart, value: Hashable) -> Point:
        if part.turns is not None:
            return self.field.multiple(self.field.unit_angle, part.turns % CIRCLE_DIVISOR)
        if value not in self._points:
            self._points[value] = self.field.circle_point(self.random("angle", value))
        return self.field.multiple(self._points[value], part.times)


class PointEvaluation(Evaluation[T]):
    """The values of a graph's nodes at a point; sines and cosines are those of points of the circle."""

    def __init__(
        self, graph: Graph, arithmetic: Arithmetic[T], point: FieldArithmetic, angles: AngleTable,
        only: Sequence[bool] | None = None,
    ) -> None:  # fmt: skip
        self._point, self._table = point, angles
        self._circle: dict[int, Point] = {}
        super().__init__(graph, arithmetic, only)

    def _node(self, node: Node) -> T:
        if isinstance(node, Polynomial):
            return self._polynomial(node)
        if isinstance(node, Function) and node.name in ("sin", "cos"):
            cosine, sine = self._angle(node.arguments[0])
            return cast(T, cosine if node.name == "cos" else sine)
        return super()._node(node)

    def _angle(self, argument: int) -> Point:
        if argument not in self._circle:
            parts = self._table[argument]
            values = [self._polynomial(Polynomial(((1, part.monomial),))) for part in parts]
            self._circle[argument] = self._point.angle(parts, values)
        return self._circle[argument]


class FieldEvaluation(PointEvaluation[int]):
    """The values of a graph's nodes in the field; sums of products without a call for each operation."""

    def __init__(self, graph: Graph, point: FieldArithmetic, angles: AngleTable) -> None:
        self._number, self._prime = point.number, point.prime
        super().__init__(graph, point, point, angles)

    def _polynomial(self, node: Polynomial) -> int:
        p, values = self._prime, cast(list[int], self.values)
        total = 0
        for coefficient, factors in node.terms:
            term = coefficient if isinstance(coefficient, int) else self._number(coefficient)
            for child, exponent in factors:
                term = term * values[child] % p if exponent == 1 else term * pow(values[child], exponent, p) % p
            total += term
        return total % p
