"""Equations as polynomials in what is unknown: sines and cosines of unknown angles, and unknown displacements.

Angles that differ by something known are one unknown: sin(q1 + q2) and sin(q2) with q1 known. The first that is met
stands for all of them, so that a chain in the axes of the ground keeps the absolute angles of its bars.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from kinegraph.graph.angle import LinearForm, linear_form
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Coefficient, Function, Kind, Polynomial, Symbol, children
from kinegraph.graph.scalar import Scalar

#: Coefficients of unknown coordinates, by their symbols.
Combination: TypeAlias = tuple[tuple[int, Coefficient], ...]


#: How coordinates are called where they tell the branch; no coordinate's name has a space.
GIVEN = "given "


class NoClosedForm(Exception):
    """These equations have no closed form that is known here."""


class Part(Enum):
    """What of an unknown stands in a monomial."""

    COSINE = "cos"
    SINE = "sin"
    VALUE = "value"


class Atom(NamedTuple):
    """A sine or cosine of an unknown angle, or an unknown displacement."""

    part: Part
    unknown: Combination


Monomial: TypeAlias = tuple[Atom, ...]
Expanded: TypeAlias = dict[Monomial, Scalar]

#: Longer products than these do not occur in the forms that are known.
_MOST_FACTORS = 3


class Turn(NamedTuple):
    """Sine and cosine of an angle."""

    sine: Scalar
    cosine: Scalar

    def after(self, other: Turn) -> Turn:
        """The turn by both angles."""
        return Turn(
            self.sine * other.cosine + self.cosine * other.sine, self.cosine * other.cosine - self.sine * other.sine
        )

    def back(self) -> Turn:
        """The turn by the opposite angle."""
        return Turn(-self.sine, self.cosine)


class Unknowns:
    """Expands scalars in unknown coordinates; `angles` are the angles that stand for each unknown combination."""

    def __init__(self, builder: GraphBuilder, symbols: Iterable[int]) -> None:
        self.builder = builder
        self.symbols = frozenset(symbols)
        self.angles: dict[Combination, LinearForm] = {}
        self._known: dict[int, Expanded] = {}
        self._touched: dict[int, bool] = {}

    def expanded(self, scalar: Scalar) -> Expanded:
        """A scalar as a polynomial in the unknowns; NoClosedForm if it is none."""
        return self._expanded(scalar.index)

    def _depends(self, index: int) -> bool:
        if index not in self._touched:
            node = self.builder.nodes[index]
            self._touched[index] = index in self.symbols or any(self._depends(child) for child in children(node))
        return self._touched[index]

    def _expanded(self, index: int) -> Expanded:
        if index not in self._known:
            self._known[index] = self._new(index)
        return self._known[index]

    def _new(self, index: int) -> Expanded:
        if not self._depends(index):
            return {(): Scalar(self.builder, index)}
        node = self.builder.nodes[index]
        if isinstance(node, Polynomial):
            return self._sum(node)
        if isinstance(node, Function):
            if node.name not in ("sin", "cos"):
                raise NoClosedForm
            return self._sine(node)
        return {(Atom(Part.VALUE, ((index, 1),)),): Scalar(self.builder, self.builder.one)}

    def _sum(self, node: Polynomial) -> Expanded:
        total: Expanded = {}
        for coefficient, factors in node.terms:
            term: Expanded = {(): Scalar(self.builder, self.builder.number(coefficient))}
            for child, exponent in factors:
                for _ in range(exponent):
                    term = multiplied(term, self._expanded(child))
            total = added(total, term)
        return total

    def _sine(self, node: Function) -> Expanded:
        form = linear_form(self.builder.nodes, node.arguments[0])
        if not any(self._depends(child) for monomial in form for child, _ in monomial):  # unknowns that cancel
            turn = turn_of(self.builder, form)
            return without_zeros({(): turn.cosine if node.name == "cos" else turn.sine})
        combination, sign = self._combination(form)
        angle = self.angles.setdefault(combination, _scaled(form, sign))
        rest = turn_of(self.builder, less(_scaled(form, sign), angle))
        sine, cosine = (Atom(part, combination) for part in (Part.SINE, Part.COSINE))
        if node.name == "cos":
            return without_zeros({(cosine,): rest.cosine, (sine,): -rest.sine})
        return without_zeros({(sine,): sign * rest.cosine, (cosine,): sign * rest.sine})

    def _combination(self, form: LinearForm) -> tuple[Combination, int]:
        """The unknown part of an angle, with a positive coefficient in front, and the sign that took."""
        found: dict[int, Coefficient] = {}
        for monomial, coefficient in form.items():
            if any(self._depends(child) for child, _ in monomial):
                if len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0] not in self.symbols:
                    raise NoClosedForm
                found[monomial[0][0]] = coefficient
        sign = 1 if found[min(found)] > 0 else -1
        return tuple((symbol, sign * found[symbol]) for symbol in sorted(found)), sign


def turn_of(builder: GraphBuilder, form: LinearForm) -> Turn:
    """Sine and cosine of an angle that is a linear form."""
    angle = Scalar(builder, builder.polynomial((c, monomial) for monomial, c in form.items()))
    return Turn(angle.sin(), angle.cos())


def given(builder: GraphBuilder, index: int) -> int:
    """The symbol of a coordinate as it is given, which nothing replaces: it tells the branch."""
    node = builder.nodes[index]
    if not isinstance(node, Symbol) or node.kind is not Kind.COORDINATE:
        return index
    return builder.symbol(Kind.COORDINATE, GIVEN + node.name)


def given_turn(builder: GraphBuilder, form: LinearForm) -> Turn:
    """Sine and cosine of an angle of coordinates as they are given."""
    return turn_of(builder, {tuple((given(builder, x), e) for x, e in one): c for one, c in form.items()})


def _scaled(form: LinearForm, sign: int) -> LinearForm:
    return {monomial: sign * coefficient for monomial, coefficient in form.items()}


def less(form: LinearForm, other: LinearForm, times: int = 1) -> LinearForm:
    """An angle less a multiple of another."""
    found = dict(form)
    for monomial, coefficient in other.items():
        found[monomial] = found.get(monomial, 0) - times * coefficient
    return {monomial: coefficient for monomial, coefficient in found.items() if coefficient}


def added(first: Expanded, second: Expanded) -> Expanded:
    """The sum of two polynomials."""
    total = dict(first)
    for monomial, coefficient in second.items():
        total[monomial] = total[monomial] + coefficient if monomial in total else coefficient
    return without_zeros(total)


def multiplied(first: Expanded, second: Expanded) -> Expanded:
    """The product of two polynomials, squares of a sine written by its cosine."""
    total: Expanded = {}
    for left, a in first.items():
        for right, b in second.items():
            for monomial, sign in _without_squares(tuple(sorted((*left, *right), key=_order))):
                product = sign * (a * b)
                total[monomial] = total[monomial] + product if monomial in total else product
    return without_zeros(total)


def _without_squares(monomial: Monomial) -> list[tuple[Monomial, int]]:
    """sin^2 = 1 - cos^2, so that a constant length is a constant."""
    for place, (first, second) in enumerate(pairwise(monomial)):
        if first == second and first.part is Part.SINE:
            rest = (*monomial[:place], *monomial[place + 2 :])
            cosine = Atom(Part.COSINE, first.unknown)
            squared = tuple(sorted((*rest, cosine, cosine), key=_order))
            return [*_without_squares(rest), *((one, -sign) for one, sign in _without_squares(squared))]
    if len(monomial) > _MOST_FACTORS:
        raise NoClosedForm
    return [(monomial, 1)]


def _order(atom: Atom) -> tuple[Combination, str]:
    return atom.unknown, atom.part.value


def without_zeros(expanded: Mapping[Monomial, Scalar]) -> Expanded:
    """Without terms whose coefficient is zero."""
    return {monomial: coefficient for monomial, coefficient in expanded.items() if not coefficient.is_zero}
