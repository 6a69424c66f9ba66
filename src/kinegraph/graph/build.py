"""The one door into the graph: a builder that folds exactly and gives equal expressions the same node.

Sums and products are those of `SumBuilder`. Angles are linear forms, and functions of numbers are numbers where these
are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt

from kinegraph.errors import GraphError
from kinegraph.graph.angle import RATIONAL_SINES, LinearForm, linear_form, quarter_turns, shifted
from kinegraph.graph.canonical.folded import mark_folded
from kinegraph.graph.canonical.renumber import without_dead_nodes
from kinegraph.graph.canonical.sums import SumBuilder
from kinegraph.graph.functions import FUNCTIONS
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Output


class GraphBuilder(SumBuilder):
    """Grows a list of distinct nodes. Methods take and return node ids."""

    def __init__(self) -> None:
        super().__init__()
        self._angles: dict[tuple[tuple[tuple[Factor, ...], Coefficient], ...], int] = {}
        self._forms: dict[int, LinearForm | None] = {}  # once for all angles: those of a platform share thousands

    def copy(self) -> GraphBuilder:
        """Another builder with the same nodes under the same numbers."""
        copy = GraphBuilder()
        copy.become(self)
        return copy

    def become(self, other: GraphBuilder) -> None:
        """Hold what another builder holds, and nothing else; either grows by itself from then on."""
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
        """One over a node."""
        return self.apply("reciprocal", index)

    def apply(self, name: str, *arguments: int) -> int:
        """A function of nodes, folded where the result is known exactly."""
        if name not in FUNCTIONS:
            raise GraphError(f"unknown function {name!r}; known are {', '.join(sorted(FUNCTIONS))}")
        if len(arguments) != FUNCTIONS[name].arity:
            raise GraphError(f"{name} takes {FUNCTIONS[name].arity} arguments, {len(arguments)} were given")
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
        """sin or cos of a multiple of pi: a number where it is rational, else one node between zero and pi/4."""
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
        """One node for each linear form, in whatever order it was added up: the first node made is used again."""
        if form not in self._angles:
            if argument is None or len(form) == 1:  # (x + y) - y is x itself
                argument = self.polynomial((c, factors) for factors, c in form)
            self._angles[form] = argument
        return self._angles[form]

    def graph(self, outputs: Iterable[Output]) -> Graph:
        """The finished graph; nodes no output needs are left out."""
        return without_dead_nodes(self.whole_graph(outputs))

    def whole_graph(self, outputs: Iterable[Output]) -> Graph:
        """The graph with all nodes made so far: leaving dead ones out takes longer than counting operations."""
        graph = Graph(tuple(self.nodes), tuple(outputs))
        vars(graph)["static"] = tuple(self.static)  # what it would find out by going through all nodes
        if self.folded:
            mark_folded(graph)
        return graph
