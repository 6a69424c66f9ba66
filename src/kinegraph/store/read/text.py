"""Variables and terms as text a person reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from kinegraph.graph.node import Coefficient, Function, Node, Polynomial, Symbol, children
from kinegraph.model.expression import Number
from kinegraph.model.expression_text import text as number_text


def node_text(code: int, nodes: Mapping[int, Node], depth: int = 3) -> str:
    """A variable written out; what lies deeper is named by its code."""
    node = nodes[code]
    if isinstance(node, Symbol):
        return node.name
    if not depth:
        return f"%{code}"
    if isinstance(node, Function):
        return f"{node.name}({', '.join(node_text(child, nodes, depth - 1) for child in node.arguments)})"
    return sum_text([_term(term, nodes, depth) for term in node.terms])


def definition(code: int, nodes: Mapping[int, Node]) -> str:
    """How a variable is computed from the next lower ones; sines and cosines are written out."""
    node = nodes[code]
    if not isinstance(node, Polynomial):
        return node_text(code, nodes)
    names = {child: _short(child, nodes) for child in set(children(node))}
    return sum_text([term_text(c, [(names[child], e) for child, e in factors]) for c, factors in node.terms])


def _short(code: int, nodes: Mapping[int, Node]) -> str:
    return f"%{code}" if isinstance(nodes[code], Polynomial) else node_text(code, nodes)


def _term(term: tuple[Coefficient, tuple[tuple[int, int], ...]], nodes: Mapping[int, Node], depth: int) -> str:
    coefficient, factors = term
    texts = [(node_text(child, nodes, depth - 1), exponent) for child, exponent in factors]
    if coefficient == 1 and len(texts) == 1 and texts[0][1] == 1:
        return texts[0][0]
    enclosed = [
        (f"({text})" if " " in text and isinstance(nodes[child], Polynomial) else text, exponent)
        for (text, exponent), (child, _) in zip(texts, factors, strict=True)
    ]
    return term_text(coefficient, enclosed)


def term_text(coefficient: Coefficient, powers: Sequence[tuple[str, int]]) -> str:
    """A coefficient times powers of named quantities."""
    written = [name if exponent == 1 else f"{name}^{exponent}" for name, exponent in powers]
    if written and abs(coefficient) == 1:
        return ("-" if coefficient < 0 else "") + "*".join(written)
    return "*".join([number_text(Number(Fraction(coefficient))), *written])


def sum_text(pieces: Sequence[str]) -> str:
    """Terms with their signs, joined."""
    return " + ".join(pieces).replace("+ -", "- ") or "0"


def symbols_below(code: int, nodes: Mapping[int, Node]) -> frozenset[str]:
    """The names of the symbols a variable depends on."""
    found: set[str] = set()
    seen: set[int] = set()
    stack = [code]
    while stack:
        here = stack.pop()
        if here not in seen:
            seen.add(here)
            node = nodes[here]
            if isinstance(node, Symbol):
                found.add(node.name)
            stack.extend(children(node))
    return frozenset(found)
