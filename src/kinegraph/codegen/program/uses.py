"""How values are used: what decides whether a product or a reciprocal needs a value of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kinegraph.codegen.program.binding import Bound
from kinegraph.graph.node import Factor, Function, Polynomial, children


@dataclass(frozen=True)
class Uses:
    """How often every value is used at all, as a term of a sum, and as a plain factor."""

    total: Counter[int] = field(default_factory=Counter)
    summand: Counter[int] = field(default_factory=Counter)
    factor: Counter[int] = field(default_factory=Counter)

    def only_added(self, index: int) -> bool:
        """Is the value only ever a term of sums?"""
        return self.summand[index] == self.total[index]

    def divides_once(self, index: int) -> bool:
        """Is the value used once, as a plain factor?"""
        return self.total[index] == 1 and self.factor[index] > 0

    def add_terms(self, terms: Iterable[tuple[bool, tuple[Factor, ...]]], several: bool) -> None:
        """Count the factors of a sum's terms. With each term goes whether its coefficient is one or minus one."""
        factor = self.factor
        for of_size_one, factors in terms:
            for child, exponent in factors:
                if exponent == 1:
                    factor[child] += 1
            if several and of_size_one and len(factors) == 1 and factors[0][1] == 1:
                self.summand[factors[0][0]] += 1


def uses_of_nodes(binding: Bound) -> Uses:
    """Of the nodes that are computed."""
    uses, graph = Uses(), binding.graph
    used: list[int] = []
    for index, node in enumerate(graph.nodes):
        if not graph.live[index] or index in binding.statics:
            continue
        if isinstance(node, Polynomial):
            used += children(node)
            uses.add_terms([(c == 1 or c == -1, factors) for c, factors in node.terms], len(node.terms) > 1)
        elif isinstance(node, Function):
            used += node.arguments
    for output in graph.outputs:
        used += output.nodes
    uses.total.update(used)  # all at once: counting is compiled, beginning to count is not
    return uses
