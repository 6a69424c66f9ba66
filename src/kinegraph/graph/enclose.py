"""Interval arithmetic as graph operations: bounds of nodes while symbols vary within a box.

Intervals are stored as midpoint and radius. An enclosure may be too wide but, apart from rounding, never too narrow.
It converges as the box shrinks. If there is no bound, as for 1/x around zero, the radius is huge or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import below
from kinegraph.graph.lookup import constants_of, is_interval
from kinegraph.graph.node import Function, Node, Polynomial, is_lookup

_UNKNOWN = 10**300
_HALF = Fraction(1, 2)


class Enclosure(NamedTuple):
    """All numbers from middle - radius to middle + radius."""

    middle: Scalar
    radius: Scalar

    @property
    def low(self) -> Scalar:
        """The lower bound."""
        return self.middle - self.radius

    @property
    def high(self) -> Scalar:
        """The upper bound."""
        return self.middle + self.radius


class Enclosed:
    """Enclosures of nodes; `seeds`: the enclosures of the symbols that vary."""

    def __init__(self, builder: GraphBuilder, seeds: Mapping[int, Enclosure]) -> None:
        self.builder = builder
        self._known = dict(seeds)
        self._zero = Scalar(builder, builder.zero)

    def __call__(self, root: int) -> Enclosure:
        """The enclosure of a node."""
        for index in below(self.builder, root, dict.fromkeys(self._known, 0)):
            self._known[index] = self._node(index, self.builder.nodes[index])
        return self._known[root]

    def _node(self, index: int, node: Node) -> Enclosure:
        if isinstance(node, Polynomial) and any(
            self._varies(child) for _, factors in node.terms for child, _ in factors
        ):
            return self._polynomial(node)
        if isinstance(node, Function) and any(self._varies(child) for child in node.arguments):
            rule = _looked_up(node.name) if is_lookup(node.name) else _RULES[node.name]
            return rule(*(self._known[child] for child in node.arguments))
        return Enclosure(Scalar(self.builder, index), self._zero)

    def _varies(self, index: int) -> bool:
        return not self._known[index].radius.is_zero

    def _polynomial(self, node: Polynomial) -> Enclosure:
        middle = radius = self._zero
        for coefficient, factors in node.terms:
            term = Enclosure(self._zero.number(1), self._zero)
            for child, exponent in factors:
                term = _product(term, _power(self._known[child], exponent))
            middle = middle + coefficient * term.middle
            radius = radius + (coefficient if coefficient > 0 else -coefficient) * term.radius
        return Enclosure(middle, radius)


def _product(one: Enclosure, other: Enclosure) -> Enclosure:
    radius = _abs(one.middle) * other.radius + one.radius * (_abs(other.middle) + other.radius)
    return Enclosure(one.middle * other.middle, radius)


def _power(base: Enclosure, exponent: int) -> Enclosure:
    if exponent == 1 or base.radius.is_zero:
        return Enclosure(base.middle**exponent, base.radius)
    if exponent % 2:
        return _between(base.low**exponent, base.high**exponent)
    size = _magnitude(base)
    return _between(size.low**exponent, size.high**exponent)


def _between(low: Scalar, high: Scalar) -> Enclosure:
    return Enclosure(_HALF * (low + high), _HALF * (high - low))


def _abs(value: Scalar) -> Scalar:
    return value.apply("abs")


def _larger(one: Scalar, other: Scalar) -> Scalar:
    return (one - other).apply("select", one, other)


def _smaller(one: Scalar, other: Scalar) -> Scalar:
    return (one - other).apply("select", other, one)


def _magnitude(x: Enclosure) -> Enclosure:
    size = _abs(x.middle)
    return _between(_larger(size - x.radius, size.number(0)), size + x.radius)


def _rising(name: str) -> Callable[[Enclosure], Enclosure]:
    return lambda x: _between(x.low.apply(name), x.high.apply(name))


def _falling(name: str) -> Callable[[Enclosure], Enclosure]:
    return lambda x: _between(x.high.apply(name), x.low.apply(name))


def _wave(name: str, slope: str) -> Callable[[Enclosure], Enclosure]:
    """sin and cos: bounded by slope and maximal curvature, with a radius of at most 2."""

    def rule(x: Enclosure) -> Enclosure:
        radius = _abs(x.middle.apply(slope)) * x.radius + _HALF * x.radius * x.radius
        return Enclosure(x.middle.apply(name), _smaller(radius, radius.number(2)))

    return rule


def _sqrt(x: Enclosure) -> Enclosure:
    low = _larger(x.low, x.middle.number(0)).apply("sqrt")
    return _between(low, _larger(x.high, x.middle.number(0)).apply("sqrt"))


def _reciprocal(x: Enclosure) -> Enclosure:
    apart = _abs(x.middle) - x.radius
    scale = (x.middle * x.middle - x.radius * x.radius).reciprocal()
    unknown = x.middle.number(_UNKNOWN)
    return Enclosure(x.middle * scale, apart.apply("select", x.radius * scale, unknown))


def _cosh(x: Enclosure) -> Enclosure:
    size = _magnitude(x)
    return _between(size.low.apply("cosh"), size.high.apply("cosh"))


def _sign(x: Enclosure) -> Enclosure:
    zero, one = x.middle.number(0), x.middle.number(1)
    clear = _abs(x.middle) - x.radius
    return Enclosure(clear.apply("select", x.middle.apply("sign"), zero), clear.apply("select", zero, one))


def _atan2(y: Enclosure, x: Enclosure) -> Enclosure:
    """The angle subtended by a disk around the box; all angles if the disk may touch the origin or the branch cut."""
    around = y.radius + x.radius
    distance = (x.middle * x.middle + y.middle * y.middle).apply("sqrt")
    whole = y.middle.number(7)  # more than a full turn
    safe = _larger(x.low, _abs(y.middle) - y.radius)  # right of the origin, or clear of the axis
    ratio = _smaller(around * distance.reciprocal(), y.middle.number(1))
    radius = (distance - around).apply("select", ratio.apply("asin"), whole)
    return Enclosure(y.middle.apply("atan2", x.middle), safe.apply("select", radius, whole))


def _select(condition: Enclosure, chosen: Enclosure, other: Enclosure) -> Enclosure:
    low, high = _smaller(chosen.low, other.low), _larger(chosen.high, other.high)
    either = _between(low, high)
    parts = [
        condition.low.apply("select", first, condition.high.apply("select", hull, second))
        for first, hull, second in zip(chosen, either, other, strict=True)
    ]
    return Enclosure(*parts)


def _guarded(value: Enclosure, room: Enclosure) -> Enclosure:
    return value


def _looked_up(name: str) -> Callable[[Enclosure], Enclosure]:
    """An interval rises with its argument; of an entry with an uncertain index only the range of all is known."""
    if is_interval(name):
        return _rising(name)
    low, high = min(constants_of(name)), max(constants_of(name))

    def rule(x: Enclosure) -> Enclosure:
        known, zero = -x.radius, x.middle.number(0)
        middle = known.apply("select", x.middle.apply(name), x.middle.number((low + high) / 2))
        return Enclosure(middle, known.apply("select", zero, x.middle.number((high - low) / 2)))

    return rule


_RULES: dict[str, Callable[..., Enclosure]] = {
    "sin": _wave("sin", "cos"), "cos": _wave("cos", "sin"), "sqrt": _sqrt, "exp": _rising("exp"), "log": _rising("log"),
    "asin": _rising("asin"), "acos": _falling("acos"), "atan": _rising("atan"), "atan2": _atan2,
    "sinh": _rising("sinh"), "cosh": _cosh, "tanh": _rising("tanh"), "abs": _magnitude, "sign": _sign,
    "reciprocal": _reciprocal, "select": _select, "guarded": _guarded,
}  # fmt: skip
