"""Evaluate graphs at random points of a prime field: values of symbols, angles, functions and square roots."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from math import gcd, lcm
from typing import NamedTuple, TypeAlias, TypeVar, cast

import flint

from kinegraph.graph.angle import PI, linear_form
from kinegraph.graph.interpret import Arithmetic, Evaluation
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Node, Polynomial, Symbol

# ---- Prime fields with exact trigonometry
#
# The primes have p + 1 divisible by `CIRCLE_DIVISOR`. Then p = 3 modulo 4, so -1 is not a square and the circle
# x^2 + y^2 = 1 is a cyclic group of order p + 1. It contains exact points for all rational multiples of pi whose
# denominator divides half of `CIRCLE_DIVISOR`, so sin(pi/4) satisfies every addition formula too. The prime is drawn at
# random, because p x = 0 and x^p = x hold in the field of p only.

CIRCLE_DIVISOR = 2**8 * 3**4 * 5**3 * 7 * 11 * 13
_CIRCLE_PRIMES = (2, 3, 5, 7, 11, 13)

#: The least number of bits of a prime.
LEAST_BITS = 127

#: The cosine and sine of an angle.
Point = tuple[int, int]


class PrimeField:
    """The field of a prime p with p + 1 divisible by `CIRCLE_DIVISOR`, and its circle group."""

    def __init__(self, prime: int) -> None:
        self.prime = prime

    @classmethod
    def drawn(cls, seed: int, bits: int = LEAST_BITS) -> PrimeField:
        """The field of a random prime of this many bits, determined by the seed."""
        chance = random.Random(f"prime {seed} {bits}")
        least, most = (1 << (bits - 1)) // CIRCLE_DIVISOR + 1, (1 << bits) // CIRCLE_DIVISOR
        while True:
            prime = chance.randint(least, most) * CIRCLE_DIVISOR - 1
            if flint.fmpz(prime).is_probable_prime():  # no composite number is known to pass
                return cls(prime)

    def rotate(self, first: Point, second: Point) -> Point:
        """The addition formulas: (cos a, sin a) and (cos b, sin b) give (cos(a+b), sin(a+b))."""
        p = self.prime
        (c, s), (d, t) = first, second
        return (c * d - s * t) % p, (s * d + c * t) % p

    def multiple(self, point: Point, times: int) -> Point:
        """The point of `times` the angle."""
        if times < 0:
            point, times = (point[0], -point[1]), -times
        result = (1, 0)
        while times:
            if times & 1:
                result = self.rotate(result, point)
            point = self.rotate(point, point)
            times >>= 1
        return result

    def circle_point(self, parameter: int) -> Point:
        """The rational parametrization ((1-t^2)/(1+t^2), 2t/(1+t^2)); 1 + t^2 is never zero in this field."""
        p = self.prime
        inverse = pow(1 + parameter * parameter, -1, p)
        return (1 - parameter * parameter) * inverse % p, 2 * parameter * inverse % p

    @cached_property
    def unit_angle(self) -> Point:
        """The point of the angle 2 pi / CIRCLE_DIVISOR: a point of that order, for which a right angle has sine one."""
        parameter = 1
        while True:
            parameter += 1
            point = self.multiple(self.circle_point(parameter), (self.prime + 1) // CIRCLE_DIVISOR)
            if all(self.multiple(point, CIRCLE_DIVISOR // prime) != (1, 0) for prime in _CIRCLE_PRIMES):
                right = self.multiple(point, CIRCLE_DIVISOR // 4)
                return point if right == (0, 1) else (point[0], -point[1])

    def root(self, value: int) -> int | None:
        """A square root in the field; None if there is none."""
        root = pow(value, (self.prime + 1) // 4, self.prime)  # because p = 3 modulo 4
        return root if root * root % self.prime == value else None


# ---- Angles as sums of integer multiples of units, and the degree of a graph


class AnglePart(NamedTuple):
    """`times` the unit of a monomial; for a fixed angle, `turns` counts the smallest fixed angles."""

    times: int
    turns: int | None
    monomial: tuple[Factor, ...]


#: The parts of the angles of one graph, by the node of the angle.
AngleTable: TypeAlias = Mapping[int, tuple[AnglePart, ...]]

#: A product of symbols, named the same in every graph; None for a product that contains functions or sums.
Name: TypeAlias = tuple[tuple[Symbol, int], ...] | None


def angle_tables(*graphs: Graph) -> list[AngleTable]:
    """The angles of graphs in common units, so that halves and thirds of an angle add up to it."""
    forms = [_forms(graph) for graph in graphs]
    units = _units(graphs, forms)
    return [
        {argument: tuple(_part(graph, units, *one) for one in form) for argument, form in found.items()}
        for graph, found in zip(graphs, forms, strict=True)
    ]


_Form: TypeAlias = list[tuple[tuple[Factor, ...], Coefficient]]


def _forms(graph: Graph) -> dict[int, _Form]:
    arguments = {
        node.arguments[0]: None
        for node, live in zip(graph.nodes, graph.live, strict=True)
        if live and isinstance(node, Function) and node.name in ("sin", "cos")
    }
    return {argument: sorted(linear_form(graph.nodes, argument).items()) for argument in arguments}


def _name(graph: Graph, monomial: tuple[Factor, ...]) -> Name:
    found: list[tuple[Symbol, int]] = []
    for child, exponent in monomial:
        node = graph.nodes[child]
        if not isinstance(node, Symbol):
            return None
        found.append((node, exponent))
    return tuple(sorted(found, key=lambda one: (one[0].kind.value, one[0].name)))


def _units(graphs: Sequence[Graph], forms: Sequence[Mapping[int, _Form]]) -> dict[Name, Fraction]:
    """For every product the largest unit of which all its coefficients are integer multiples.

    A product that contains functions may equal a product with another name. If there is one, all share one unit.
    """
    units: dict[Name, Fraction] = {}
    for graph, found in zip(graphs, forms, strict=True):
        for form in found.values():
            for monomial, coefficient in form:
                name = _name(graph, monomial)
                units[name] = _common(units.get(name, 0), coefficient)
    return dict.fromkeys(units, reduce(_common, units.values())) if None in units else units


def _common(left: Coefficient, right: Coefficient) -> Fraction:
    """The largest fraction of which both are integer multiples."""
    return Fraction(gcd(left.numerator, right.numerator), lcm(left.denominator, right.denominator))


def _part(
    graph: Graph, units: Mapping[Name, Fraction], monomial: tuple[Factor, ...], coefficient: Coefficient
) -> AnglePart:
    name = _name(graph, monomial)
    unit = units[name]
    times = coefficient.numerator * (unit.denominator // coefficient.denominator) // unit.numerator
    return AnglePart(times, _turns(coefficient) if name == _PI else None, monomial)


_PI: Name = ((PI, 1),)


def _turns(coefficient: Coefficient) -> int | None:
    """A multiple of pi in units of the smallest fixed angle; None if that is not an integer."""
    turns = Fraction(coefficient) * CIRCLE_DIVISOR / 2
    return int(turns) if turns.denominator == 1 else None


def degree(graph: Graph, angles: AngleTable) -> int:
    """A bound of the degree of every node as a polynomial in symbols, functions, and points of the circle.

    Denominators count like numerators. The degree of a sum of fractions may exceed the bound by their number.
    """
    degrees: list[int] = []
    for node in graph.nodes:
        found = 1
        if isinstance(node, Polynomial):
            for _, factors in node.terms:
                total = 0
                for child, exponent in factors:
                    total += exponent * degrees[child]
                if total > found:
                    found = total
        elif isinstance(node, Function):
            if node.name in ("sin", "cos"):
                found = 2 * sum(abs(part.times) for part in angles.get(node.arguments[0], ()) if part.turns is None)
            elif node.name in ("reciprocal", "sqrt"):
                found = degrees[node.arguments[0]]
        degrees.append(found)
    return max(degrees, default=1)


# ---- Evaluation at a random point

T = TypeVar("T")


class UnluckyPoint(Exception):
    """A division by zero at this random point: try another."""


class FieldArithmetic:
    """One random point: random values for symbols, random points of the circle for angles, random oracles."""

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
        """A random element of the field, determined by the key."""
        digest = hashlib.blake2b(repr((self.seed, *key)).encode(), digest_size=32).digest()
        return int.from_bytes(digest, "big") % self.prime

    def _point_of_sphere(self, symbols: Sequence[Symbol]) -> list[int]:
        """A random point of the unit sphere, by stereographic projection."""
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
        if name == "guarded":  # a guard does not change values
            return arguments[0]
        return self.oracle(name, arguments)

    def oracle(self, name: str, arguments: Sequence[Hashable]) -> int:
        """A function of which only this is known: equal arguments give equal results."""
        return self.random(name, *arguments)

    def _select(self, condition: int, chosen: int, other: int) -> int:
        """A random combination of the two branches, with a weight that depends on the condition only."""
        weight = self.random("select", condition)
        return (weight * chosen + (1 - weight) * other) % self.prime

    def angle(self, parts: Sequence[AnglePart], values: Sequence[Hashable]) -> Point:
        """The point of an angle. values: for each part the value of its monomial."""
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
    """The values of a graph's nodes at a point; sines and cosines are coordinates of points of the circle."""

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
    """The values of a graph's nodes in the field, with a fast path for sums of products."""

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


# ---- Square roots in the quadratic extension of a prime field
#
# With p = 3 modulo 4 every element of the field has a root in F_p(i), i^2 = -1, because the element or its negative has
# one in the field. The sign of the root is random, once for every value. So sqrt(X)^2 = X holds, and sqrt(x^2) = x
# fails at every second point.

#: a + b i as a pair if b is not zero, otherwise the number a.
Element: TypeAlias = "int | tuple[int, int]"


class RootArithmetic:
    """A random point in the quadratic extension. Only square roots differ from those of the given point.

    A root of a + b i may lie outside the extension. Then the point is unlucky or, with `oracles`, the root is a random
    oracle.
    """

    def __init__(self, point: FieldArithmetic, oracles: bool = False) -> None:
        self.point = point
        self.prime = point.prime
        self.oracles = oracles
        self._roots: dict[Element, Element] = {}

    def symbol(self, symbol: Symbol) -> Element:
        """The value of a symbol."""
        return self.point.symbol(symbol)

    def number(self, value: Coefficient) -> int:
        """A rational number in this arithmetic."""
        return self.point.number(value)

    def add(self, left: Element, right: Element) -> Element:
        """The sum of two values."""
        if isinstance(left, int) and isinstance(right, int):
            return (left + right) % self.prime
        (a, b), (c, d) = _parts(left), _parts(right)
        return self._element(a + c, b + d)

    def multiply(self, left: Element, right: Element) -> Element:
        """The product of two values."""
        if isinstance(left, int):
            if isinstance(right, int):
                return left * right % self.prime
            return self._element(left * right[0], left * right[1])
        a, b = left
        if isinstance(right, int):
            return self._element(a * right, b * right)
        c, d = right
        return self._element(a * c - b * d, a * d + b * c)

    def power(self, base: Element, exponent: int) -> Element:
        """A value to a whole power."""
        if isinstance(base, int):
            return pow(base, exponent, self.prime)
        result: Element = 1
        while exponent:
            if exponent & 1:
                result = self.multiply(result, base)
            base = self.multiply(base, base)
            exponent >>= 1
        return result

    def function(self, name: str, arguments: Sequence[Element], angle: object = None) -> Element:
        """A function of values."""
        first = arguments[0]
        if name == "reciprocal":
            return self._inverse(first)
        if name == "sqrt":
            if first not in self._roots:
                self._roots[first] = self._signed_root(first)
            return self._roots[first]
        if name == "select":
            weight = self.point.random("select", first)
            return self.add(self.multiply(weight, arguments[1]), self.multiply(1 - weight, arguments[2]))
        if name == "guarded":
            return first
        if name == "sign":  # its square is one
            return 1 if self.point.random("sign of", first) & 1 else self.prime - 1
        return self.point.oracle(name, arguments)

    def _element(self, real: int, imaginary: int) -> Element:
        a, b = real % self.prime, imaginary % self.prime
        return (a, b) if b else a

    def _inverse(self, value: Element) -> Element:
        if value == 0:
            raise UnluckyPoint
        if isinstance(value, int):
            return pow(value, -1, self.prime)
        a, b = value
        scale = pow(a * a + b * b, -1, self.prime)
        return self._element(a * scale, -b * scale)

    def _signed_root(self, value: Element) -> Element:
        root = self._root_of_number(value) if isinstance(value, int) else self._root_of_pair(*value)
        if root is None:
            if not self.oracles:
                raise UnluckyPoint
            return self.point.random("sqrt", value)
        return root if self.point.random("sign", value) & 1 else self.multiply(-1, root)

    def _root_of_number(self, value: int) -> Element:
        root = self.point.field.root(value)
        if root is not None:
            return root
        other = self.point.field.root(-value % self.prime)
        assert other is not None, "one of x and -x is a square"
        return self._element(0, other)

    def _root_of_pair(self, a: int, b: int) -> Element | None:
        """(x + y i)^2 = a + b i: x^2 = (a +- sqrt(a^2 + b^2)) / 2, whichever is a square."""
        p, root = self.prime, self.point.field.root
        size = root((a * a + b * b) % p)
        if size is None:
            return None
        half = pow(2, -1, p)
        x = root((a + size) * half % p) or root((a - size) * half % p)
        assert x, "the two candidates have the product -(b/2)^2: one of them is a square"
        return self._element(x, b * pow(2 * x, -1, p))


def _parts(value: Element) -> tuple[int, int]:
    return (value, 0) if isinstance(value, int) else value


class RootEvaluation(PointEvaluation[Element]):
    """The values of a graph's nodes at a point of the extension, with a fast path for elements of the field."""

    def __init__(self, graph: Graph, arithmetic: RootArithmetic, angles: AngleTable, only: Sequence[bool]) -> None:
        self._number, self._prime = arithmetic.number, arithmetic.prime
        super().__init__(graph, arithmetic, arithmetic.point, angles, only)

    def _polynomial(self, node: Polynomial) -> Element:
        p, values = self._prime, self.values
        total = 0
        for coefficient, factors in node.terms:
            term = coefficient if isinstance(coefficient, int) else self._number(coefficient)
            for child, exponent in factors:
                value = values[child]
                if not isinstance(value, int):
                    return super()._polynomial(node)
                term = term * (value if exponent == 1 else pow(value, exponent, p)) % p
            total += term
        return total % p
