"""Tables 3.1 and 3.2: operations of every element of H, C and h^G as an expression of its own."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.compiler.closed_form import in_closed_form
from kinegraph.compiler.load import load
from kinegraph.graph.count import Operations, polynomial_cost
from kinegraph.graph.node import Graph, Polynomial, children
from kinegraph.passes.expand import Expand
from kinegraph.passes.like_rackovic import IDENTITIES, LIMITS
from kinegraph.passes.rebuild import Rebuild
from kinegraph.reproduce.entry import Entry, fewer, held
from kinegraph.reproduce.printed import table

_TOTALS = {"rackovic_table_3_1": (5768, 1047), "rackovic_table_3_2": (1340, 453)}

_WRITTEN = "another choice of which squares sin^2 + cos^2 = 1 takes away"
_CHOSEN = "identities are chosen by what they save over all elements together, not in this one"


def complete_expressions() -> tuple[Entry, ...]:
    """Table 3.1: complete analytic expressions."""
    return tuple(_entries("rackovic_table_3_1", _expanded(), _WRITTEN))


def simplified_expressions() -> tuple[Entry, ...]:
    """Table 3.2: after the trigonometric identities."""
    return tuple(_entries("rackovic_table_3_2", IDENTITIES.apply(_expanded()), _CHOSEN))


def _expanded() -> Graph:
    graph = Rebuild().apply(in_closed_form(load("rackovic-6r"), "H,C,gravity", {}))
    return Expand(LIMITS, forms=0).apply(graph)


def _entries(name: str, graph: Graph, reason: str) -> Iterator[Entry]:
    printed = table(name)
    sums = [0, 0]
    for element, place, said in _elements(printed):
        found = _alone(graph, *place)
        sums = [sums[0] + said[0], sums[1] + said[1]]
        if any(said) or found.total:
            yield fewer(f"{element}: mul", said[0], found.mul, reason)
            yield fewer(f"{element}: add", said[1], found.add, reason)
    for kind, total, added in zip(("mul", "add"), _TOTALS[name], sums, strict=True):
        why = "the printed entries add up to this; the text may count sums inside sines, the table does not"
        yield held(f"sum of the printed table: {kind}", str(total), str(added), total == added, why)


def _elements(printed: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, int], tuple[int, int]]]:
    """Each element once: its name, the output and the place there, what is printed."""
    for row, cells in printed.items():
        for i in range(6):
            said = int(cells[2 * i]), int(cells[2 * i + 1])
            if row == "h":
                yield f"h^G_{i + 1}", ("gravity", i), said
            elif row.startswith("H") and i + 1 <= int(row[1]):
                j = int(row[1])
                yield f"H_{i + 1}{j}", ("H", 6 * i + j - 1), said
            elif row.startswith("C") and i + 1 >= int(row[2]):
                k, j = int(row[1]), int(row[2])
                yield f"C^{k}_{i + 1}{j}", ("C", 36 * (k - 1) + 6 * i + j - 1), said


def _alone(graph: Graph, output: str, place: int) -> Operations:
    """The operations of one element if nothing else is computed; sums of angles inside sines are not in the tables."""
    todo, seen, found = [graph.output(output).nodes[place]], set[int](), Operations()
    while todo:
        index = todo.pop()
        node = graph.nodes[index]
        if index in seen or not isinstance(node, Polynomial) or graph.static[index]:
            continue
        seen.add(index)
        found = found + Operations(*polynomial_cost(node, graph))
        todo.extend(children(node))
    return found
