"""Arithmetic in a large prime field in which trigonometry is exact.

The prime p is chosen so that -1 is no square (the circle x^2 + y^2 = 1 is a cyclic group of order p + 1) and p + 1 is
divisible by `CIRCLE_DIVISOR`: the group then holds true points for all rational multiples of pi with a denominator
dividing half of it, so that sin(pi/4) and the like obey every addition formula too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import lcm

import flint

from kinegraph.graph.angle import PI, linear_form
from kinegraph.graph.node import Coefficient, Function, Graph, Symbol

CIRCLE_DIVISOR = 2**8 * 3**4 * 5**3 * 7 * 11 * 13


class UnluckyPoint(Exception):
    """A division by zero happened at this random point: try another."""


@cache
def field_prime() -> int:
    """The first prime p = k * CIRCLE_DIVISOR - 1 above 2^126."""
    k = 2**126 // CIRCLE_DIVISOR + 1
    while not flint.fmpz(k * CIRCLE_DIVISOR - 1).is_prime():
        k += 1
    return k * CIRCLE_DIVISOR - 1


Point = tuple[int, int]


def _rotate(first: Point, second: Point) -> Point:
    """The addition formulas: (cos a, sin a) and (cos b, sin b) give (cos(a+b), sin(a+b))."""
    p = field_prime()
    (c, s), (d, t) = first, second
    return (c * d - s * t) % p, (s * d + c * t) % p


def _multiple(point: Point, times: int) -> Point:
    """The point of `times` the angle."""
    if times < 0:
        point, times = (point[0], -point[1]), -times
    result = (1, 0)
    while times:
        if times & 1:
            result = _rotate(result, point)
        point = _rotate(point, point)
        times >>= 1
    return result


def _circle_point(parameter: int) -> Point:
    """The rational parametrisation ((1-t^2)/(1+t^2), 2t/(1+t^2)); 1 + t^2 is never zero here."""
    p = field_prime()
    inverse = pow(1 + parameter * parameter, -1, p)
    return (1 - parameter * parameter) * inverse % p, 2 * parameter * inverse % p


@cache
def _unit_angle() -> Point:
    """The point of the angle 2 pi / CIRCLE_DIVISOR: of exactly that order, a right angle having sine one."""
    p = field_prime()
    primes = (2, 3, 5, 7, 11, 13)
    for parameter in range(2, 1000):
        point = _multiple(_circle_point(parameter), (p + 1) // CIRCLE_DIVISOR)
        if all(_multiple(point, CIRCLE_DIVISOR // prime) != (1, 0) for prime in primes):
            right = _multiple(point, CIRCLE_DIVISOR // 4)
            return point if right == (0, 1) else (point[0], -point[1])
    raise AssertionError("the circle group has no generator below 1000")


class FieldArithmetic:
    """One random point: symbols get random values, angles random points of the circle, functions are random oracles."""

    def __init__(self, seed: int, angle_denominator: int = 1, unit: Iterable[Sequence[Symbol]] = ()) -> None:
        self.prime = field_prime()
        self.seed = seed
        self.angle_denominator = angle_denominator
        self._on_spheres: dict[Symbol, int] = {}
        for symbols in unit:
            self._on_spheres |= zip(symbols, self._point_of_sphere(symbols), strict=True)
        self._points: dict[int, Point] = {}
        self._angles: dict[tuple[tuple[Coefficient, int], ...], Point] = {}
        self._pi = self.symbol(PI)

    def _random(self, *key: object) -> int:
        digest = hashlib.blake2b(repr((self.seed, *key)).encode(), digest_size=32).digest()
        return int.from_bytes(digest, "big") % self.prime

    def _point_of_sphere(self, symbols: Sequence[Symbol]) -> list[int]:
        """A random point whose squares add up to one, projected from the pole."""
        plane = [self._random("sphere", symbol.name) for symbol in symbols[1:]]
        square = sum(one * one for one in plane) % self.prime
        if (1 + square) % self.prime == 0:
            raise UnluckyPoint
        scale = pow(1 + square, -1, self.prime)
        return [(1 - square) * scale % self.prime, *(2 * one * scale % self.prime for one in plane)]

    def symbol(self, symbol: Symbol) -> int:
        if symbol in self._on_spheres:
            return self._on_spheres[symbol]
        return self._random("symbol", symbol.kind.value, symbol.name)

    def number(self, value: Coefficient) -> int:
        if isinstance(value, int):
            return value % self.prime
        return value.numerator * pow(value.denominator, -1, self.prime) % self.prime

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
            return self._angle(tuple(angle()))[0 if name == "cos" else 1]
        if name == "select":
            return self._select(*arguments)
        return self._random(name, *arguments)

    def _select(self, condition: int, chosen: int, other: int) -> int:
        """A random mixture of the two branches, weighted by the condition's value alone."""
        weight = self._random("select", condition)
        return (weight * chosen + (1 - weight) * other) % self.prime

    def _angle(self, form: tuple[tuple[Coefficient, int], ...]) -> Point:
        point = self._angles.get(form)
        if point is None:
            point = (1, 0)
            for coefficient, value in form:
                point = _rotate(point, self._multiple_of(value, Fraction(coefficient)))
            self._angles[form] = point
        return point

    def _multiple_of(self, value: int, coefficient: Fraction) -> Point:
        turns = coefficient * CIRCLE_DIVISOR / 2
        if value == self._pi and turns.denominator == 1:
            return _multiple(_unit_angle(), int(turns) % CIRCLE_DIVISOR)
        if value not in self._points:
            self._points[value] = _circle_point(self._random("angle", value))
        times = coefficient * self.angle_denominator
        if times.denominator != 1:
            raise ValueError(f"angle denominator {self.angle_denominator} does not cover {coefficient}")
        return _multiple(self._points[value], int(times))


def angle_denominator(*graphs: Graph) -> int:
    """The least number that turns all fractions of angles in the graphs into whole multiples."""
    return lcm(
        *(
            coefficient.denominator
            for graph in graphs
            for node in graph.nodes
            if isinstance(node, Function) and node.name in ("sin", "cos")
            for coefficient in linear_form(graph.nodes, node.arguments[0]).values()
        )
    )
