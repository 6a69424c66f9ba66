"""Graphs as text, one node per line, and exact numbers as decimal text. Both are read back exactly.

    %0 = coordinate "q1"
    %1 = sin %0
    %2 = 3/2 %0 %1^2 - %0
    output "tau" (1) = %2

Lines that start with # are comments.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from weakref import ref

from kinegraph.errors import GraphError
from kinegraph.graph import law
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Kind, Node, Output, Polynomial, Symbol, Term

_NUMBER = re.compile(r"-?\d+(?:/\d+)?", re.ASCII)


def exact_text(value: Coefficient) -> str:
    """An integer or a fraction as text: `-12`, `3/2`."""
    try:
        return str(value)
    except ValueError:
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        digits = bits * 30103 // 100_000
        raise GraphError(
            f"a coefficient has about {digits} digits, too many to be written; no double holds such a number\n"
            "  choose units in which the numbers of the model are smaller, or lower powers"
        ) from None


def read_exact(text: str) -> Coefficient:
    """The number in a text, as an integer if possible."""
    if _NUMBER.fullmatch(text) is None:
        raise GraphError(f"{text[:40]!r} is not an exact number such as 3/2")
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError) as problem:
        raise GraphError(f"{text[:40]!r} is not an exact number: {problem}") from None
    return value.numerator if value.denominator == 1 else value


#: The latest texts: records and cache keys need the text of one graph up to three times.
_latest: deque[tuple[ref[Graph], str]] = deque(maxlen=2)


def dump(graph: Graph) -> str:
    """The graph as text."""
    known = next((text for of, text in tuple(_latest) if of() is graph), None)
    if known is None:
        known = _written(graph)
        _latest.append((ref(graph), known))
    return known


def _written(graph: Graph) -> str:
    lines = [f"%{index} = {_node(node)}" for index, node in enumerate(graph.nodes)]
    for output in graph.outputs:
        shape = ", ".join(map(str, output.shape))
        entries = " ".join(f"%{index}" for index in output.nodes)
        lines.append(f"output {_quoted(output.name)} ({shape}) = {entries}".rstrip())
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _node(node: Node) -> str:
    if isinstance(node, Symbol):
        return f"{node.kind.value} {_quoted(node.name)}"
    if isinstance(node, Function):
        return " ".join([node.name, *(f"%{argument}" for argument in node.arguments)])
    text = "".join(_term(position, term) for position, term in enumerate(node.terms))
    return text or "0"


def _term(position: int, term: Term) -> str:
    coefficient, factors = term
    sign = "-" if coefficient < 0 else ("+" if position else "")
    gap = " " if position else ""
    size = -coefficient if coefficient < 0 else coefficient
    parts = [] if size == 1 and factors else [exact_text(size)]
    parts += [f"%{child}" if exponent == 1 else f"%{child}^{exponent}" for child, exponent in factors]
    return f"{gap}{sign}{gap}{' '.join(parts)}"


_LINE = re.compile(r"%(\d+) = (.*)$")
_OUTPUT = re.compile(r'output ("(?:[^"\\]|\\.)*") \(([\d, ]*)\) =((?: %\d+)*)$')
_SYMBOL = re.compile(r'(\w+) ("(?:[^"\\]|\\.)*")$')
_FUNCTION = re.compile(r"([a-z]\w*(?:\([-\d/,]+\))?)((?: %\d+)+)$")
_FACTOR = re.compile(r"%(\d+)(?:\^(\d+))?$")
_TEXT_NUMBER = re.compile(r"(\d+)(?:/(\d*[1-9]\d*))?$")


def read(text: str) -> Graph:
    """The graph that a text describes; GraphError names the line that cannot be read."""
    nodes: list[Node] = []
    outputs: list[Output] = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        try:
            if match := _OUTPUT.match(line):
                outputs.append(_read_output(match))
            elif (match := _LINE.match(line)) and int(match[1]) == len(nodes):
                nodes.append(_read_node(match[2]))
            else:
                raise ValueError(f"expected %{len(nodes)} = … or output …")
        except (ValueError, GraphError) as problem:
            raise GraphError(f"graph text, line {number}: {problem}: {line[:80]!r}") from None
    graph = Graph(tuple(nodes), tuple(outputs))
    law.check(graph)
    return graph


def _read_output(match: re.Match[str]) -> Output:
    shape = tuple(int(part) for part in match[2].split(",") if part.strip())
    return Output(json.loads(match[1]), shape, tuple(int(part[1:]) for part in match[3].split()))


def _read_node(text: str) -> Node:
    if match := _SYMBOL.match(text):
        return Symbol(Kind(match[1]), json.loads(match[2]))
    if match := _FUNCTION.match(text):
        return Function(match[1], tuple(int(part[1:]) for part in match[2].split()))
    if text == "0":
        return Polynomial(())
    return Polynomial(tuple(_read_terms(text)))


def _read_terms(text: str) -> Iterator[Term]:
    pieces = re.split(r" ([+-]) ", text)
    for position in range(0, len(pieces), 2):
        piece = pieces[position]
        sign = -1 if position and pieces[position - 1] == "-" else 1
        if piece.startswith("-"):
            sign, piece = -sign, piece[1:]
        yield _read_term(sign, piece.split())


def _read_term(sign: int, parts: list[str]) -> Term:
    if not parts:
        raise ValueError("a term is missing")
    coefficient: Coefficient = sign
    factors: list[Factor] = []
    for position, part in enumerate(parts):
        if match := _FACTOR.match(part):
            factors.append((int(match[1]), int(match[2] or 1)))
        elif position == 0 and (match := _TEXT_NUMBER.match(part)):
            coefficient = sign * read_exact(match[0])
        else:
            raise ValueError(f"cannot read the factor {part!r}")
    return coefficient, tuple(factors)
