"""Scalars of a mechanism written in its independent coordinates: everything that loops determine is replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from kinegraph.derive.constraints.dyads.roots import expanded_terms
from kinegraph.derive.constraints.dyads.solutions import Solution
from kinegraph.derive.constraints.dyads.unknowns import Combination, NoClosedForm, Turn, less, turn_of
from kinegraph.graph.angle import LinearForm, linear_form
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import below
from kinegraph.graph.node import Function, Polynomial
from kinegraph.graph.scalar import Scalar


class Written:
    """Replaces what solutions determine; `rates` are velocities by their symbols.

    Angles themselves stay as they are given: which of their turns is meant no sine tells.
    """

    def __init__(
        self, builder: GraphBuilder, solutions: Sequence[Solution], rates: Mapping[int, Scalar] | None = None
    ) -> None:
        self.builder = builder
        self._values = {symbol: value.index for one in solutions for symbol, value in one.values.items()}
        self._values |= {symbol: rate.index for symbol, rate in (rates or {}).items()}
        self._blocks = [_Angles(one) for one in solutions if one.turns]
        self._symbols = {symbol for block in self._blocks for symbol in block.symbols}
        self._place: dict[int, int] = {}

    def __call__(self, scalars: Sequence[Scalar]) -> list[Scalar]:
        """The same scalars in independent coordinates."""
        for scalar in scalars:
            for index in below(self.builder, scalar.index, self._place):
                self._place[index] = self._rebuilt(index)
        return [Scalar(self.builder, self._place[scalar.index]) for scalar in scalars]

    def _rebuilt(self, index: int) -> int:
        node = self.builder.nodes[index]
        if index in self._values:
            return self._values[index]
        if isinstance(node, Polynomial):
            terms = tuple((c, tuple((self._place[child], e) for child, e in factors)) for c, factors in node.terms)
            return self.builder.polynomial(expanded_terms(self.builder, terms))
        if isinstance(node, Function):
            if node.name in ("sin", "cos"):
                return self._sine(node)
            return self.builder.apply(node.name, *(self._place[argument] for argument in node.arguments))
        return index

    def _sine(self, node: Function) -> int:
        form = linear_form(self.builder.nodes, node.arguments[0])
        if not any(child in self._symbols for monomial in form for child, _ in monomial):
            return self.builder.apply(node.name, self._place[node.arguments[0]])
        turns = []
        for block in self._blocks:
            form, found = block.split(form)
            turns += found
        if form:
            rest = turn_of(self.builder, form)
            turns.append(Turn(*self([rest.sine, rest.cosine])))
        total = turns[0]
        for turn in turns[1:]:
            total = total.after(turn)
        return (total.sine if node.name == "sin" else total.cosine).index


class _Angles:
    """The angles of one solution, and how those of its coordinates add up from them."""

    def __init__(self, solution: Solution) -> None:
        self.symbols = sorted({symbol for combination in solution.turns for symbol, _ in combination})
        self._turns = list(solution.turns.values())
        self._forms = [solution.angles[combination] for combination in solution.turns]
        self._matrix = _inverse([_row(combination, self.symbols) for combination in solution.turns])

    def split(self, form: LinearForm) -> tuple[LinearForm, list[Turn]]:
        """What of an angle is left without this solution's angles, and their turns."""
        wanted = [Fraction(form.get(((symbol, 1),), 0)) for symbol in self.symbols]
        turns: list[Turn] = []
        for number, (turn, angle) in enumerate(zip(self._turns, self._forms, strict=True)):
            times = sum(w * row[number] for w, row in zip(wanted, self._matrix, strict=True))
            if times.denominator != 1:
                raise NoClosedForm
            turns += [turn if times > 0 else turn.back()] * abs(int(times))
            form = less(form, angle, int(times))
        return form, turns


def _row(combination: Combination, symbols: Sequence[int]) -> list[Fraction]:
    coefficients = dict(combination)
    return [Fraction(coefficients.get(symbol, 0)) for symbol in symbols]


def _inverse(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    """Of one or two rows, by which symbols become combinations."""
    if len(matrix) != len(matrix[0]):
        raise NoClosedForm
    size = len(matrix)
    work = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next((row for row in range(column, size) if work[row][column]), None)
        if pivot is None:
            raise NoClosedForm
        work[column], work[pivot] = work[pivot], work[column]
        work[column] = [item / work[column][column] for item in work[column]]
        for row in range(size):
            if row != column:
                work[row] = [a - work[row][column] * b for a, b in zip(work[row], work[column], strict=True)]
    return [row[size:] for row in work]
