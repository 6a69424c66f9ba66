"""Exact derivatives as graph operations: forward mode for few symbols, reverse mode for few outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Function, Node, Polynomial, Term, children, rule_of


class ForwardDerivative:
    """Directional derivatives of nodes; `seeds`: the derivative of each symbol that varies."""

    def __init__(self, builder: GraphBuilder, seeds: Mapping[int, int]) -> None:
        self.builder = builder
        self._known = dict(seeds)
        self._zero = builder.number(0)

    def __call__(self, root: int) -> int:
        """The derivative of a node, as a node."""
        for index in below(self.builder, root, self._known):
            self._known[index] = self._node(self.builder.nodes[index])
        return self._known[root]

    def _node(self, node: Node) -> int:
        if isinstance(node, Polynomial):
            known, zero = self._known, self._zero
            terms = [
                (c * exponent, (*_reduced(factors, position), (known[child], 1)))
                for c, factors in node.terms
                for position, (child, exponent) in enumerate(factors)
                if known[child] != zero
            ]
            return self.builder.polynomial(terms) if terms else zero
        if isinstance(node, Function) and any(self._known[a] != self._zero for a in node.arguments):
            partials = _partials(self.builder, node)
            products = (
                self.builder.multiply(partial, self._known[argument])
                for partial, argument in zip(partials, node.arguments, strict=True)
            )
            return self.builder.add(*products)
        return self._zero


def _reduced(factors: tuple[tuple[int, int], ...], position: int) -> tuple[tuple[int, int], ...]:
    """The factors with the exponent at `position` reduced by one."""
    child, exponent = factors[position]
    rest = ((child, exponent - 1),) if exponent > 1 else ()
    return factors[:position] + rest + factors[position + 1 :]


def _partials(builder: GraphBuilder, node: Function) -> list[int]:
    arguments = [Scalar(builder, argument) for argument in node.arguments]
    rule = rule_of(node.name)
    assert rule is not None
    partials = rule.derivatives(*arguments)
    return [p.index if isinstance(p, Scalar) else builder.number(p) for p in partials]


def below(builder: GraphBuilder, root: int, known: Mapping[int, int] | None = None) -> list[int]:
    """All nodes that a root depends on and that are not in `known`, children first (ids are topological)."""
    found: set[int] = set()
    stack = [root]
    while stack:
        index = stack.pop()
        if index in found or (known is not None and index in known):
            continue
        found.add(index)
        stack.extend(children(builder.nodes[index]))
    return sorted(found)


def gradient(builder: GraphBuilder, root: int, symbols: Sequence[int]) -> list[int]:
    """The derivatives of one node by several symbols, in reverse mode."""
    order = _depending(builder, below(builder, root), symbols)
    if root not in order:
        return [builder.number(0)] * len(symbols)
    adjoints: dict[int, list[Term]] = {index: [] for index in order}
    adjoints[root].append((1, ((builder.number(1), 1),)))
    total: dict[int, int] = {}
    for index in reversed(order):
        total[index] = builder.polynomial(adjoints[index])
        if builder.value_of(total[index]) != 0:
            _push(builder, index, total[index], adjoints)
    return [total.get(symbol, builder.number(0)) for symbol in symbols]


def _depending(builder: GraphBuilder, order: Sequence[int], symbols: Sequence[int]) -> list[int]:
    """The nodes of `order` that depend on any of the symbols.

    The others need no adjoint and may have none: asin(1) is a constant without a finite derivative.
    """
    found = set(symbols)
    for index in order:
        if any(child in found for child in children(builder.nodes[index])):
            found.add(index)
    return [index for index in order if index in found]


def _push(builder: GraphBuilder, index: int, adjoint: int, adjoints: dict[int, list[Term]]) -> None:
    node = builder.nodes[index]
    if isinstance(node, Polynomial):
        for coefficient, factors in node.terms:
            for position, (child, exponent) in enumerate(factors):
                if child not in adjoints:
                    continue
                rest = (*_reduced(factors, position), (adjoint, 1))
                # A separate product, so that other paths can share it.
                product = builder.polynomial(((1, rest),))
                adjoints[child].append((coefficient * exponent, ((product, 1),)))
    elif isinstance(node, Function):
        for partial, argument in zip(_partials(builder, node), node.arguments, strict=True):
            if argument not in adjoints:
                continue
            adjoints[argument].append((1, ((builder.multiply(partial, adjoint), 1),)))


def jacobian(builder: GraphBuilder, roots: Sequence[int], symbols: Sequence[int]) -> list[list[int]]:
    """The matrix of derivatives, one row for each root: reverse mode if roots are far fewer than symbols."""
    if 3 * len(roots) < len(symbols):  # forward mode shares more between columns, so it wins for nearly square matrices
        return [gradient(builder, root, symbols) for root in roots]
    one = builder.number(1)
    zero = builder.number(0)
    columns = []
    for symbol in symbols:
        seeds = dict.fromkeys(symbols, zero) | {symbol: one}
        derivative = ForwardDerivative(builder, seeds)
        columns.append([derivative(root) for root in roots])
    return [[column[row] for column in columns] for row in range(len(roots))]
