"""Square roots at a random point: the quadratic extension of a prime field, and true roots of random sign in it.

With p = 3 modulo 4 every number of the field has a root in F_p(i), i^2 = -1: the number itself or its negative has
one in the field. Which of the two roots is taken is chance, once for every value: so sqrt(X)^2 = X holds, and
sqrt(x^2) = x fails at every second point.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kinegraph.graph.node import Coefficient, Graph, Polynomial, Symbol
from kinegraph.graph.proof.angles import AngleTable
from kinegraph.graph.proof.point import FieldArithmetic, PointEvaluation, UnluckyPoint

#: a + b i as a pair where b is not zero, else the number a alone.
Element: TypeAlias = "int | tuple[int, int]"


class RootArithmetic:
    """A random point in the quadratic extension; everything but roots is as at the point of the field below it.

    A root of what is a + b i itself may lie outside the extension: the point is unlucky then, or, with `oracles`, the
    root is one more random function.
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
        if name == "sign":  # of this much is known: its square is one
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
        """(x + y i)^2 = a + b i: x^2 is half of a plus or minus the root of a^2 + b^2, whichever is a square."""
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
    """The values of a graph's nodes at a point of the extension; where nothing is imaginary, as in the field."""

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
