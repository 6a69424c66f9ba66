"""A random point of a prime field: what every symbol, angle and function is there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias, cast

from kinegraph.graph.angle import PI
from kinegraph.graph.interpret import Evaluation
from kinegraph.graph.node import Coefficient, Graph, Polynomial, Symbol
from kinegraph.graph.proof.field import CIRCLE_DIVISOR, Point, PrimeField

#: An angle as a sum of multiples of values.
AngleForm: TypeAlias = tuple[tuple[Coefficient, Hashable], ...]


class UnluckyPoint(Exception):
    """A division by zero happened at this random point, or of this random prime: try another."""


class FieldArithmetic:
    """One random point: symbols get random values, angles random points of the circle, functions are random oracles."""

    def __init__(
        self, field: PrimeField, seed: int, angle_denominator: int = 1, unit: Iterable[Sequence[Symbol]] = ()
    ) -> None:
        self.field = field
        self.prime = field.prime
        self.seed = seed
        self.angle_denominator = angle_denominator
        self._on_spheres: dict[Symbol, int] = {}
        for symbols in unit:
            self._on_spheres |= zip(symbols, self._point_of_sphere(symbols), strict=True)
        self._inverses: dict[int, int] = {}
        self._points: dict[Hashable, Point] = {}
        self._angles: dict[AngleForm, Point] = {}
        self._pi = self.symbol(PI)

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
        if symbol in self._on_spheres:
            return self._on_spheres[symbol]
        return self.random("symbol", symbol.kind.value, symbol.name)

    def number(self, value: Coefficient) -> int:
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
        return (left + right) % self.prime

    def multiply(self, left: int, right: int) -> int:
        return left * right % self.prime

    def power(self, base: int, exponent: int) -> int:
        return pow(base, exponent, self.prime)

    def function(
        self, name: str, arguments: Sequence[int], angle: Callable[[], Sequence[tuple[Coefficient, int]]]
    ) -> int:
        if name == "reciprocal":
            if arguments[0] == 0:
                raise UnluckyPoint
            return pow(arguments[0], -1, self.prime)
        if name in ("sin", "cos"):
            return self.angle(tuple(angle()))[0 if name == "cos" else 1]
        if name == "select":
            return self._select(*arguments)
        return self.oracle(name, arguments)

    def oracle(self, name: str, arguments: Sequence[Hashable]) -> int:
        """A function of which nothing is known but that equal arguments give equal results."""
        return self.random(name, *arguments)

    def _select(self, condition: int, chosen: int, other: int) -> int:
        """A random mixture of the two branches, weighted by the condition's value alone."""
        weight = self.random("select", condition)
        return (weight * chosen + (1 - weight) * other) % self.prime

    def angle(self, form: AngleForm) -> Point:
        """The point of an angle given as a linear form."""
        point = self._angles.get(form)
        if point is None:
            point = (1, 0)
            for coefficient, value in form:
                point = self.field.rotate(point, self._multiple_of(value, Fraction(coefficient)))
            self._angles[form] = point
        return point

    def _multiple_of(self, value: Hashable, coefficient: Fraction) -> Point:
        turns = coefficient * CIRCLE_DIVISOR / 2
        if value == self._pi and turns.denominator == 1:
            return self.field.multiple(self.field.unit_angle, int(turns) % CIRCLE_DIVISOR)
        if value not in self._points:
            self._points[value] = self.field.circle_point(self.random("angle", value))
        times = coefficient * self.angle_denominator
        if times.denominator != 1:
            raise ValueError(f"angle denominator {self.angle_denominator} does not cover {coefficient}")
        return self.field.multiple(self._points[value], int(times))


class FieldEvaluation(Evaluation[int]):
    """The values of a graph's nodes at a point; sums of products without a call for each operation."""

    def __init__(self, graph: Graph, arithmetic: FieldArithmetic, only: Sequence[bool] | None = None) -> None:
        self._number, self._prime = arithmetic.number, arithmetic.prime
        super().__init__(graph, arithmetic, only)

    def _polynomial(self, node: Polynomial) -> int:
        p, values = self._prime, cast(list[int], self.values)
        total = 0
        for coefficient, factors in node.terms:
            term = coefficient if isinstance(coefficient, int) else self._number(coefficient)
            for child, exponent in factors:
                term = term * values[child] % p if exponent == 1 else term * pow(values[child], exponent, p) % p
            total += term
        return total % p
