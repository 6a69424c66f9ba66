"""Squares of roots: sqrt(x)^2 = x, so that what needs the square alone does not wait for the root."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.functions import GUARDED
from kinegraph.graph.node import Coefficient, Factor, Function, Polynomial, Term
from kinegraph.graph.scalar import Scalar


def without_squared_roots(scalar: Scalar) -> Scalar:
    """The same scalar, the squares of roots and signs in its terms replaced by what they are."""
    builder = scalar.builder
    node = builder.nodes[scalar.index]
    if not isinstance(node, Polynomial):
        return scalar
    if len(node.terms) == 1 and len(node.terms[0][1]) == 1 and node.terms[0][1][0][1] == 1:  # a multiple of a sum
        inner = without_squared_roots(Scalar(builder, node.terms[0][1][0][0]))
        return Scalar(builder, builder.scale(node.terms[0][0], inner.index))
    return Scalar(builder, builder.polynomial(expanded_terms(builder, node.terms)))


def expanded_terms(builder: GraphBuilder, terms: tuple[Term, ...]) -> Iterator[Term]:
    """Terms without squares of roots; a term that becomes a sum is taken in term by term."""
    for coefficient, factors in terms:
        whole, exponents = _exponents(builder, factors)
        if any(exponent > 1 and _is(builder, child, "sqrt") for child, exponent in exponents.items()):
            yield from _replaced(builder, coefficient * whole, exponents)
        else:
            yield coefficient, factors


def _has_root(builder: GraphBuilder, index: int) -> bool:
    node = builder.nodes[index]
    if isinstance(node, Polynomial) and len(node.terms) == 1:
        return any(_has_root(builder, child) for child, _ in node.terms[0][1])
    return _is(builder, index, "sqrt")


def _is(builder: GraphBuilder, index: int, name: str) -> bool:
    node = builder.nodes[index]
    return isinstance(node, Function) and node.name == name


def _exponents(builder: GraphBuilder, factors: tuple[Factor, ...]) -> tuple[Coefficient, dict[int, int]]:
    """Products of roots expanded into their factors."""
    whole: Coefficient = 1
    found: dict[int, int] = {}
    waiting = list(factors)
    while waiting:
        child, exponent = waiting.pop()
        node = builder.nodes[child]
        if isinstance(node, Polynomial) and len(node.terms) == 1 and _has_root(builder, child):
            whole *= node.terms[0][0] ** exponent
            waiting += [(inner, power * exponent) for inner, power in node.terms[0][1]]
        else:
            found[child] = found.get(child, 0) + exponent
    return whole, found


def _replaced(builder: GraphBuilder, coefficient: Coefficient, exponents: dict[int, int]) -> Iterator[Term]:
    """sqrt(x)^2 is x, sign(x)^2 is one: where it is zero the root beside it has no number."""
    rest: list[Factor] = []
    squares: list[int] = []
    for child, exponent in exponents.items():
        is_root = _is(builder, child, "sqrt")
        if is_root:
            squares += [_radicand(builder, builder.nodes[child])] * (exponent // 2)
        exponent = exponent % 2 if is_root or _is(builder, child, "sign") else exponent
        rest += [(child, exponent)] if exponent else []
    if not rest and len(squares) == 1:
        only = builder.nodes[squares[0]]
        if isinstance(only, Polynomial):
            yield from ((coefficient * c, factors) for c, factors in only.terms)
            return
    yield coefficient, (*rest, *((square, 1) for square in squares))


def _radicand(builder: GraphBuilder, node: object) -> int:
    """What stands under a root, without its guard: the root itself has that."""
    assert isinstance(node, Function)
    inner = builder.nodes[node.arguments[0]]
    guarded = isinstance(inner, Function) and inner.name == GUARDED
    return inner.arguments[0] if guarded and isinstance(inner, Function) else node.arguments[0]
