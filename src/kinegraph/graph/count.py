"""Count operations by the convention of the literature.

Every binary multiplication, addition or subtraction counts as one. x^n counts as n-1 multiplications. Signs are free.
Expressions of constants and parameters are computed in advance and are free.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from kinegraph.display import RichDisplay
from kinegraph.graph.node import Function, Graph, Polynomial


@dataclass(frozen=True, slots=True)
class Operations(RichDisplay):
    """Numbers of operations of each kind; `other` counts the remaining functions."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    sin: int = 0
    cos: int = 0
    other: int = 0

    def __add__(self, more: Operations) -> Operations:
        return Operations(*(getattr(self, f.name) + getattr(more, f.name) for f in fields(self)))

    @property
    def total(self) -> int:
        """The number of multiplications and additions."""
        return self.mul + self.add

    def __str__(self) -> str:
        counts = [f"{getattr(self, f.name)} {f.name}" for f in fields(self)]
        return ", ".join(counts[:2] + [text for text in counts[2:] if not text.startswith("0 ")])


_FUNCTION_COLUMNS = {"reciprocal": "div", "sqrt": "sqrt", "sin": "sin", "cos": "cos"}

#: The attribute in which a graph stores its count: every pass needs it several times.
_STORED = "_operations"


def count(graph: Graph) -> Operations:
    """The operations of all live, non-static nodes."""
    stored: Operations | None = vars(graph).get(_STORED)
    if stored is None:
        stored = vars(graph)[_STORED] = _counted(graph)
    return stored


def _counted(graph: Graph) -> Operations:
    total = dict.fromkeys((f.name for f in fields(Operations)), 0)
    for node, live, static in zip(graph.nodes, graph.live, graph.static, strict=True):
        if not live or static:
            continue
        if isinstance(node, Function):
            total[_FUNCTION_COLUMNS.get(node.name, "other")] += 1
        elif isinstance(node, Polynomial):
            mul, add = polynomial_cost(node, graph)
            total["mul"] += mul
            total["add"] += add
    return Operations(**total)


def polynomial_cost(node: Polynomial, graph: Graph) -> tuple[int, int]:
    """Multiplications and additions of one node. The static factors of a term form one constant."""
    static = graph.static
    mul = terms = 0
    static_term = 0
    for coefficient, factors in node.terms:
        degree = 0
        constant = type(coefficient) is not int or (coefficient != 1 and coefficient != -1)
        for child, exponent in factors:
            if static[child]:
                constant = True
            else:
                degree += exponent
        if not degree:
            static_term = 1
            continue
        terms += 1
        mul += degree if constant else degree - 1
    return mul, max(terms + static_term - 1, 0)


def largest_exponent(graph: Graph) -> int:
    """The highest power in a live, non-static node; 1 if there is none."""
    return max(
        (
            exponent
            for index, node in enumerate(graph.nodes)
            if isinstance(node, Polynomial) and graph.live[index] and not graph.static[index]
            for _, factors in node.terms
            for child, exponent in factors
            if not graph.static[child]
        ),
        default=1,
    )
