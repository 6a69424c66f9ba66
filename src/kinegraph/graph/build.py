"""Build graphs: a builder that folds exactly, scalars with operators, and transfer from other graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import TypeAlias

from kinegraph.errors import GraphError
from kinegraph.graph.angle import PI, RATIONAL_SINES, LinearForm, linear_form, quarter_turns, shifted
from kinegraph.graph.canonical import SumBuilder, exact, mark_folded, without_dead_nodes
from kinegraph.graph.lookup import exact_entry, selected
from kinegraph.graph.node import (
    FUNCTIONS,
    Coefficient,
    Factor,
    Function,
    Graph,
    Kind,
    Node,
    Output,
    Polynomial,
    Symbol,
    Term,
    is_lookup,
    rule_of,
)


class GraphBuilder(SumBuilder):
    """Builds a list of distinct nodes, the only way to make a graph. Methods take and return node ids.

    Equal expressions get the same node. Sums and products are those of `SumBuilder`. Angles are linear forms. Functions
    of numbers are folded if the result is exact.
    """

    def __init__(self) -> None:
        super().__init__()
        self._angles: dict[tuple[tuple[tuple[Factor, ...], Coefficient], ...], int] = {}
        self._forms: dict[
            int, LinearForm | None
        ] = {}  # shared by all angles: those of a platform have thousands in common

    def copy(self) -> GraphBuilder:
        """Another builder with the same nodes and ids."""
        copy = GraphBuilder()
        copy.become(self)
        return copy

    def become(self, other: GraphBuilder) -> None:
        """Replace the contents by a copy of another builder's."""
        for name, value in vars(other).items():
            setattr(self, name, value.copy() if isinstance(value, list | dict) else value)

    def power(self, index: int, exponent: int) -> int:
        """An integer power; negative powers go through the reciprocal."""
        if exponent < 0:
            return self.power(self.reciprocal(index), -exponent)
        if exponent == 0:
            return self.number(1)
        return self.polynomial(((1, ((index, exponent),)),))

    def reciprocal(self, index: int) -> int:
        """The reciprocal of a node."""
        return self.apply("reciprocal", index)

    def apply(self, name: str, *arguments: int) -> int:
        """A function of nodes, folded if the result is known exactly."""
        rule = rule_of(name)
        if rule is None:
            raise GraphError(f"unknown function {name[:40]!r}; the functions are {', '.join(sorted(FUNCTIONS))}")
        if len(arguments) != rule.arity:
            raise GraphError(f"{name[:40]} takes {rule.arity} arguments, not {len(arguments)}")
        if name in ("sin", "cos"):
            return self._trigonometric(name, arguments[0])
        folded = self._fold(name, arguments)
        return self._intern(Function(name, arguments)) if folded is None else folded

    def _fold(self, name: str, arguments: tuple[int, ...]) -> int | None:
        first = self.value_of(arguments[0])
        if name == "reciprocal":
            return self._reciprocal(arguments[0])
        if name == "select":
            if first is not None:
                return arguments[1] if first >= 0 else arguments[2]
            return arguments[1] if arguments[1] == arguments[2] else None
        if name == "guarded":
            room = self.value_of(arguments[1])
            return arguments[0] if room is not None and room >= 0 else None
        if first is None:
            return None
        if is_lookup(name):
            return self.number(exact_entry(name, first))
        if name == "sqrt" and first >= 0:
            root = Fraction(isqrt(first.numerator), isqrt(first.denominator))
            return self.number(root) if root * root == first else None
        if name == "abs":
            return self.number(first if first >= 0 else -first)
        if name == "sign":
            return self.number((first > 0) - (first < 0))
        if first == 0 and name in ("asin", "atan", "sinh", "tanh"):
            return self.number(0)
        if (first == 0 and name in ("exp", "cosh")) or (first == 1 and name == "log"):
            return self.number(1 if first == 0 else 0)
        return None

    def _reciprocal(self, index: int) -> int | None:
        coefficient, factors = self.split(index)
        if not coefficient:
            raise GraphError("division by an expression that is exactly zero")
        if not factors:
            return self.number(Fraction(1) / coefficient)
        base = factors[0][0]
        node = self.nodes[base]
        if isinstance(node, Function) and node.name == "reciprocal":
            return self.scale(Fraction(1) / coefficient, node.arguments[0])
        return None if coefficient == 1 else self.scale(Fraction(1) / coefficient, self.reciprocal(base))

    def _trigonometric(self, name: str, argument: int) -> int:
        form = linear_form(self.nodes, argument, self._forms)
        pi = ((self.pi(), 1),)
        pi_multiple = form.pop(pi, 0)
        if not form:
            return self._fixed_angle(name, pi_multiple)
        sign = 1
        if min(form.items())[1] < 0:  # sin(-x) = -sin x, cos(-x) = cos x: one node for both
            form = {monomial: -c for monomial, c in form.items()}
            pi_multiple = -pi_multiple
            sign = -1 if name == "sin" else 1
            argument = self.scale(-1, argument)
        quarters, rest = quarter_turns(pi_multiple)
        turned, name = shifted(name, quarters)
        if rest:
            form[pi] = rest
        angle = self._angle(tuple(sorted(form.items())), argument if rest == pi_multiple else None)
        return self.scale(sign * turned, self._intern(Function(name, (angle,))))

    def _fixed_angle(self, name: str, pi_multiple: Coefficient) -> int:
        """sin or cos of a multiple of pi: a rational number, or a node with an angle between zero and pi/4."""
        quarters, rest = quarter_turns(pi_multiple)
        sign, name = shifted(name, quarters)
        if name == "sin" and rest in RATIONAL_SINES:
            return self.number(sign * RATIONAL_SINES[rest])
        if not rest:
            return self.number(sign)
        if rest < 0 and name == "sin":
            sign = -sign
        rest = rest if rest > 0 else -rest
        if rest == Fraction(1, 4):
            name = "sin"
        return self.scale(sign, self._intern(Function(name, (self.scale(rest, self.pi()),))))

    def _angle(self, form: tuple[tuple[tuple[Factor, ...], Coefficient], ...], argument: int | None) -> int:
        """The node of a linear form, whatever the order of its sum: the first node built for it."""
        if form not in self._angles:
            if argument is None or len(form) == 1:  # (x + y) - y is x itself
                argument = self.polynomial((c, factors) for factors, c in form)
            self._angles[form] = argument
        return self._angles[form]

    def graph(self, outputs: Iterable[Output]) -> Graph:
        """The finished graph, without nodes that no output needs."""
        return without_dead_nodes(self.whole_graph(outputs))

    def whole_graph(self, outputs: Iterable[Output]) -> Graph:
        """The graph with all nodes so far: removing dead nodes takes longer than counting operations."""
        graph = Graph(tuple(self.nodes), tuple(outputs))
        vars(graph)["static"] = tuple(self.static)  # saves the graph a pass over all nodes
        if self.folded:
            mark_folded(graph)
        return graph


Number: TypeAlias = int | Fraction


class Scalar:
    """A node of a builder with arithmetic operators, to write formulas as in a book. Equal only to the same node."""

    __slots__ = ("builder", "index")

    def __init__(self, builder: GraphBuilder, index: int) -> None:
        self.builder = builder
        self.index = index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and other.index == self.index and other.builder is self.builder

    def __hash__(self) -> int:
        return hash(self.index)

    def __repr__(self) -> str:
        return f"%{self.index}"

    def number(self, value: Coefficient) -> Scalar:
        """A number in the same builder."""
        return Scalar(self.builder, self.builder.number(value))

    def symbol(self, kind: Kind, name: str) -> Scalar:
        """A symbol in the same builder."""
        return Scalar(self.builder, self.builder.symbol(kind, name))

    @property
    def value(self) -> Coefficient | None:
        """The value of an exact number; None for other nodes."""
        return self.builder.value_of(self.index)

    @property
    def is_zero(self) -> bool:
        """Is this the number zero?"""
        return self.index == self.builder.zero

    @property
    def static(self) -> bool:
        """Does this depend on constants and parameters only?"""
        return self.builder.static[self.index]

    def __add__(self, other: Scalar | Number) -> Scalar:
        builder = self.builder
        index = other.index if isinstance(other, Scalar) and other.builder is builder else self._index(other)
        if index == builder.zero:
            return self
        if self.index == builder.zero:
            return Scalar(builder, index)
        return Scalar(builder, builder.sum_of_two(self.index, index))

    __radd__ = __add__

    def __sub__(self, other: Scalar | Number) -> Scalar:
        builder = self.builder
        index = other.index if isinstance(other, Scalar) and other.builder is builder else self._index(other)
        if index == builder.zero:
            return self
        return Scalar(builder, builder.difference(self.index, index))

    def __rsub__(self, other: Scalar | Number) -> Scalar:
        return -self + other

    def __neg__(self) -> Scalar:
        return Scalar(self.builder, self.builder.negative(self.index))

    def __mul__(self, other: Scalar | Number) -> Scalar:
        if not isinstance(other, Scalar):
            return Scalar(self.builder, self.builder.scale(other, self.index))
        builder, first, second = self.builder, self.index, other.index
        if other.builder is not builder:
            self._require_same_builder(other)
        if first == builder.zero or second == builder.one:
            return self
        if second == builder.zero or first == builder.one:
            return other
        return Scalar(builder, builder.product_of_two(first, second))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar | Number) -> Scalar:
        if not isinstance(other, Scalar):
            other = self.number(other)
        return self * other.reciprocal()

    def __rtruediv__(self, other: Scalar | Number) -> Scalar:
        return self.reciprocal() * other

    def __pow__(self, exponent: int) -> Scalar:
        return Scalar(self.builder, self.builder.power(self.index, exponent))

    def apply(self, function: str, *more: Scalar) -> Scalar:
        """A function of this scalar and others."""
        return Scalar(self.builder, self.builder.apply(function, self.index, *(self._index(s) for s in more)))

    def sin(self) -> Scalar:
        """The sine."""
        return self.apply("sin")

    def cos(self) -> Scalar:
        """The cosine."""
        return self.apply("cos")

    def reciprocal(self) -> Scalar:
        """One divided by this."""
        return self.apply("reciprocal")

    def _index(self, other: Scalar | Number) -> int:
        if not isinstance(other, Scalar):
            return self.builder.number(other)
        self._require_same_builder(other)
        return other.index

    def _require_same_builder(self, other: Scalar) -> None:
        if other.builder is not self.builder:
            raise GraphError("cannot combine scalars of two builders: copy one with transfer")


def transfer(
    graph: Graph,
    builder: GraphBuilder,
    symbol: Callable[[Symbol], int] | None = None,
    only: Sequence[bool] | None = None,
) -> dict[int, int]:
    """Rebuild nodes of a graph in a builder, and return the new id of each.

    symbol: the node that replaces a symbol. only: the nodes to rebuild; by default the live nodes. The builder folds
    and merges the new nodes, so replaced symbols propagate.
    """
    place: dict[int, int] = {}
    wanted = graph.live if only is None else only
    for index, node in enumerate(graph.nodes):
        if wanted[index]:
            place[index] = _rebuilt(node, builder, place, symbol)
    return place


def without_lookups(graph: Graph) -> Graph:
    """The graph with selections instead of functions that have constants of their own."""
    if not any(isinstance(node, Function) and is_lookup(node.name) for node in graph.nodes):
        return graph
    builder = GraphBuilder()
    place: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Function) and is_lookup(node.name):
            given = Scalar(builder, place[node.arguments[0]])
            place[index] = selected(node.name, given, given.number, lambda c, a, b: c.apply("select", a, b)).index
        else:
            place[index] = _rebuilt(node, builder, place, None)
    return builder.graph(moved(graph.outputs, place))


def _rebuilt(
    node: Node, builder: GraphBuilder, place: Mapping[int, int], symbol: Callable[[Symbol], int] | None
) -> int:
    if isinstance(node, Symbol):
        return symbol(node) if symbol else builder.symbol(node.kind, node.name)
    if isinstance(node, Function):
        return builder.apply(node.name, *(place[argument] for argument in node.arguments))
    return builder.polynomial([(c, tuple([(place[child], e) for child, e in factors])) for c, factors in node.terms])


def copied(graph: Graph, builder: GraphBuilder, given: Mapping[int, int] | None = None) -> dict[int, int]:
    """Like transfer, but without expanding or folding, so that sharing is kept. given: ids of nodes already copied."""
    place = dict(given or {})
    for index, node in enumerate(graph.nodes):
        if not graph.live[index] or index in place:
            continue
        if isinstance(node, Polynomial):
            place[index] = _copied_sum(node, builder, place)
        elif isinstance(node, Function):
            place[index] = builder.intern(Function(node.name, tuple(place[a] for a in node.arguments)))
        else:
            place[index] = builder.symbol(node.kind, node.name)
    return place


def _copied_sum(node: Polynomial, builder: GraphBuilder, place: Mapping[int, int]) -> int:
    total: dict[tuple[Factor, ...], Coefficient] = {}
    for coefficient, factors in node.terms:
        exponents: dict[int, int] = {}
        for child, exponent in factors:
            exponents[place[child]] = exponents.get(place[child], 0) + exponent
        key = tuple(sorted(exponents.items()))
        total[key] = total.get(key, 0) + coefficient
    terms = tuple((exact(c), factors) for factors, c in total.items() if c)
    if len(terms) == 1 and terms[0][0] == 1 and len(terms[0][1]) == 1 and terms[0][1][0][1] == 1:
        return terms[0][1][0][0]
    return builder.intern(Polynomial(terms)) if terms else builder.zero


def moved(outputs: Sequence[Output], place: Mapping[int, int]) -> tuple[Output, ...]:
    """Outputs that refer to the new ids of their nodes."""
    return tuple(output._replace(nodes=tuple(place[index] for index in output.nodes)) for output in outputs)


def substituted(builder: GraphBuilder, nodes: Sequence[int], values: Mapping[Symbol, int]) -> tuple[int, ...]:
    """Nodes of a builder with symbols replaced, in the same builder."""

    def symbol(node: Symbol) -> int:
        return values[node] if node in values else builder.symbol(node.kind, node.name)

    graph = builder.graph([Output("nodes", (len(nodes),), tuple(nodes))])
    return moved(graph.outputs, transfer(graph, builder, symbol))[0].nodes


def bind(graph: Graph, values: Mapping[str, Coefficient]) -> Graph:
    """The graph with symbols replaced by exact numbers; other symbols remain."""
    builder = GraphBuilder()

    def symbol(node: Symbol) -> int:
        bound = node.name in values and node != PI
        return builder.number(values[node.name]) if bound else builder.symbol(node.kind, node.name)

    return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))


def join(graphs: Sequence[Graph]) -> Graph:
    """One graph with the outputs of several graphs; common nodes are shared."""
    builder = GraphBuilder()
    outputs = [output for graph in graphs for output in moved(graph.outputs, transfer(graph, builder))]
    return builder.graph(outputs)


def flattened(graph: Graph) -> Graph:
    """The graph with nested sums merged: a sum used once, as a term of another sum, becomes part of that sum.

    The number of operations is unchanged, but no order of summation is fixed.
    """
    builder = GraphBuilder()
    place: dict[int, int] = {}
    merged = _merged_sums(graph)
    terms: dict[int, tuple[Term, ...]] = {}
    for index, node in enumerate(graph.nodes):
        if not graph.live[index]:
            continue
        if isinstance(node, Symbol):
            place[index] = builder.symbol(node.kind, node.name)
        elif isinstance(node, Function):
            place[index] = builder.intern(Function(node.name, tuple(place[child] for child in node.arguments)))
        else:
            inner = {child: terms[child] for child in _single(node) if child in merged}
            terms[index] = _joined(node, place, inner)
            if index not in merged:
                # If terms have canceled, the builder must bring the rest to canonical form.
                whole = len(terms[index]) == len(node.terms) + sum(len(added) - 1 for added in inner.values())
                joined = Polynomial(terms[index])
                place[index] = builder.intern(joined) if whole else builder.polynomial(joined.terms)
    return builder.graph(moved(graph.outputs, place))


def _merged_sums(graph: Graph) -> set[int]:
    found: set[int] = set()
    for index, node in enumerate(graph.nodes):
        if graph.live[index] and isinstance(node, Polynomial) and len(node.terms) > 1:
            for child in _single(node):
                inner = graph.nodes[child]
                if graph.use_counts[child] == 1 and isinstance(inner, Polynomial) and len(inner.terms) > 1:
                    found.add(child)
    return found


def _single(node: Polynomial) -> list[int]:
    """The nodes that are added or subtracted without a factor."""
    return [f[0][0] for c, f in node.terms if len(f) == 1 and f[0][1] == 1 and abs(c) == 1]


def _joined(node: Polynomial, place: Mapping[int, int], inner: Mapping[int, tuple[Term, ...]]) -> tuple[Term, ...]:
    total: dict[tuple[Factor, ...], Coefficient] = {}
    for coefficient, factors in node.terms:
        if len(factors) == 1 and factors[0][0] in inner and abs(coefficient) == 1 and factors[0][1] == 1:
            added = [(coefficient * c, f) for c, f in inner[factors[0][0]]]
        else:
            added = [(coefficient, tuple(sorted((place[child], exponent) for child, exponent in factors)))]
        for c, f in added:
            total[f] = total.get(f, 0) + c
    return tuple((exact(c), f) for f, c in total.items() if c)
