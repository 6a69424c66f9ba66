"""The angles of the graphs a proof compares, each as a sum of whole multiples of units; and the graphs' degree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

from kinegraph.graph.angle import PI, linear_form
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Polynomial, Symbol
from kinegraph.graph.proof.field import CIRCLE_DIVISOR


class AnglePart(NamedTuple):
    """So many times the unit of a product; `turns` instead counts the parts of a full turn if it is one of those."""

    times: int
    turns: int | None
    monomial: tuple[Factor, ...]


#: The parts of the angles of one graph, by the node that sines and cosines are taken of.
AngleTable: TypeAlias = Mapping[int, tuple[AnglePart, ...]]

#: What a product of symbols is in every graph; None for a product with functions or sums in it.
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
    """For every product the largest fraction of it that all its multiples are whole multiples of.

    A product with functions in it may be equal to one that is named otherwise: with these there is one unit for all.
    """
    units: dict[Name, Fraction] = {}
    for graph, found in zip(graphs, forms, strict=True):
        for form in found.values():
            for monomial, coefficient in form:
                name = _name(graph, monomial)
                units[name] = _common(units.get(name, 0), coefficient)
    return dict.fromkeys(units, reduce(_common, units.values())) if None in units else units


def _common(left: Coefficient, right: Coefficient) -> Fraction:
    """The largest fraction that both are whole multiples of."""
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
    """How many of the smallest fixed angles so many times pi is, if it is a whole number of them."""
    turns = Fraction(coefficient) * CIRCLE_DIVISOR / 2
    return int(turns) if turns.denominator == 1 else None


def degree(graph: Graph, angles: AngleTable) -> int:
    """A bound of the degree of every node as a polynomial in symbols, functions, and points of the circle.

    Denominators count like numerators; what is added up of several fractions may exceed the bound by their number.
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
