"""What waits for what, with one node for every value, and how values are used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kinegraph.codegen.program.uses import Uses
from kinegraph.codegen.simd.classes import Classes
from kinegraph.graph.node import Factor, Function, Graph, Node, Output, Polynomial, Symbol, children


class Folded:
    """A graph with one node for every value, which says what waits for what; `binding.graph` is only for scheduling."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        binding, graph = classes.binding, classes.graph
        self.nodes: list[int] = []
        self.number: dict[int, int] = {}
        self.outputs = tuple(
            output._replace(nodes=tuple(classes.first(classes.without_sign(node).node) for node in output.nodes))
            for output in graph.outputs
        )
        for output in self.outputs:
            for root in output.nodes:
                self._visit(root)
        nodes = tuple(self._folded(index) for index in self.nodes)
        moved = tuple(Output(o.name, o.shape, tuple(self.number[node] for node in o.nodes)) for o in self.outputs)
        statics = {self.number[index]: binding.statics[index] for index in self.nodes if index in binding.statics}
        inputs = {self.number[index]: binding.inputs[index] for index in self.nodes if index in binding.inputs}
        self.binding = replace(binding, graph=Graph(nodes, moved), known=statics, inputs=inputs)

    def needs(self, index: int) -> Iterator[int]:
        """The nodes whose lanes a node reads."""
        if index not in self.classes.binding.statics:
            width = self.classes.width(index)
            for child in children(self.classes.graph.nodes[index]):
                lanes = self.classes.lanes_of(self.classes.without_sign(child).node, width)
                yield from dict.fromkeys(self.classes.first(node) for node in lanes)

    def _visit(self, root: int) -> None:
        stack = [root]
        while stack:
            index = stack[-1]
            waiting = [] if index in self.number else [n for n in self.needs(index) if n not in self.number]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if index not in self.number:
                self.number[index] = len(self.nodes)
                self.nodes.append(index)

    def _folded(self, index: int) -> Node:
        node = self.classes.graph.nodes[index]
        needed = [self.number[child] for child in self.needs(index)]
        if isinstance(node, Symbol):
            return node
        if isinstance(node, Function) and needed:
            return Function(node.name, tuple(needed))
        return Polynomial(tuple((1, ((child, 1),)) for child in needed))


def uses_of_values(folded: Folded) -> Uses:
    """How values are used; as terms and factors only where lane meets lane."""
    uses, classes = Uses(), folded.classes
    for index in folded.nodes:
        node = classes.graph.nodes[index]
        if index in classes.binding.statics or isinstance(node, Symbol):
            continue
        uses.total.update(folded.needs(index))
        if isinstance(node, Polynomial):
            width = classes.width(index)
            terms = ((abs(c) == 1, _fitting(classes, width, factors)) for c, factors in node.terms)
            uses.add_terms(terms, len(node.terms) > 1)
    for output in folded.outputs:
        uses.total.update(output.nodes)
    return uses


def _fitting(classes: Classes, width: int, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """The factors of a term without their signs, if all are used lane by lane as they are computed."""
    unsigned = tuple((classes.without_sign(child).node, exponent) for child, exponent in factors)
    return unsigned if all(classes.first(i) == i and classes.width(i) == width for i, _ in unsigned) else ()
