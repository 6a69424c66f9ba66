"""Proof that two graphs are equal, and linear relations between outputs, at random points of a prime field."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import isqrt
from typing import TypeAlias, TypeVar, cast

import flint

from kinegraph.errors import ProofError
from kinegraph.graph.interpret import Evaluation
from kinegraph.graph.node import Function, Graph, Symbol, children
from kinegraph.graph.prime_field import (
    LEAST_BITS,
    AngleTable,
    Element,
    FieldArithmetic,
    FieldEvaluation,
    PrimeField,
    RootArithmetic,
    RootEvaluation,
    UnluckyPoint,
    angle_tables,
    degree,
)

# ---- Equality of graphs
#
# Both graphs are evaluated at random points of a large prime field, with a new prime for every proof. Two different
# rational functions of degree d agree at a random point with probability at most d/p, where p > 2^126 and p > 2^64 d.
# All identities of sines and cosines hold exactly in the field (see `prime_field`). Other functions are random oracles:
# equal arguments give equal results, and nothing else is assumed. If graphs with square roots differ that way, the
# roots become true roots of random sign, at enough points to detect a wrong sign.

#: Points of a proof with roots. A wrong sign passes each with probability 1/2.
ROOT_POINTS = 24

#: Degrees with more bits are not compared: finding such a large prime would take minutes.
MOST_DEGREE_BITS = 1024

#: An entry of an output, by name and position.
Entry: TypeAlias = tuple[str, int]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a comparison; differences: the output entries that disagree, as (output, position)."""

    differences: tuple[Entry, ...] = ()

    def __bool__(self) -> bool:
        return not self.differences

    def require(self) -> None:
        """Raise ProofError unless the graphs are equal."""
        if self.differences:
            name, position = self.differences[0]
            more = f" and {len(self.differences) - 1} more" if len(self.differences) > 1 else ""
            raise ProofError(f"the graphs differ in output {name!r}, entry {position}{more}")


def prove(first: Graph, second: Graph, seed: int | None = None, quaternions: Iterable[Sequence[Symbol]] = ()) -> Proof:
    """Compare all outputs of two graphs. The default seed is random, so no rewrite can be fitted to it.

    quaternions: groups of four symbols whose squares sum to one. All other symbols are independent.
    """
    _require_same_outputs(first, second)
    base = secrets.randbits(128) if seed is None else seed
    comparison = _Comparison(first, second, base, tuple(tuple(one) for one in quaternions))
    differences = comparison.at_one_point()
    if differences and _has_roots(first, second):
        differences = comparison.with_roots(differences)
    return Proof(differences)


def values_at_one_point(first: Graph, second: Graph) -> tuple[Sequence[int], Sequence[int], int]:
    """The values of all nodes of two graphs at one random point of a prime field, and the prime.

    Nodes of equal value are equal expressions, with overwhelming probability.
    """
    comparison = _Comparison(first, second, secrets.randbits(128), ())
    left, right, prime = comparison.evaluated()
    return cast(Sequence[int], left.values), cast(Sequence[int], right.values), prime


def _require_same_outputs(first: Graph, second: Graph) -> None:
    shapes = [{output.name: output.shape for output in graph.outputs} for graph in (first, second)]
    if shapes[0] != shapes[1]:
        raise ProofError(f"the graphs have different outputs: {shapes[0]} and {shapes[1]}")


def _has_roots(*graphs: Graph) -> bool:
    return any(isinstance(node, Function) and node.name == "sqrt" for graph in graphs for node in graph.nodes)


class _Comparison:
    """Two graphs and the random points at which they are evaluated."""

    def __init__(self, first: Graph, second: Graph, seed: int, unit: tuple[tuple[Symbol, ...], ...]) -> None:
        self.first, self.second, self.seed, self.unit = first, second, seed, unit
        self.angles = angle_tables(first, second)
        bits = max(degree(*one).bit_length() for one in zip((first, second), self.angles, strict=True))
        if bits > MOST_DEGREE_BITS:
            raise ProofError(
                f"cannot compare polynomials of degree 2^{bits}: the limit is 2^{MOST_DEGREE_BITS}; "
                "introduce symbols for nested powers"
            )
        self.bits = max(LEAST_BITS, bits + 64)

    def point(self, number: int) -> FieldArithmetic:
        """The random point of this number, each in its own field."""
        field = PrimeField.drawn(self.seed + number, self.bits)
        return FieldArithmetic(field, self.seed + number, self.unit)

    def at_one_point(self) -> tuple[Entry, ...]:
        """The entries that differ if all functions except sine, cosine and division are random oracles."""
        left, right, _ = self.evaluated()
        return self._different(left, right)

    def evaluated(self) -> tuple[FieldEvaluation, FieldEvaluation, int]:
        """Both graphs at one point, and the prime of its field."""
        for number in range(8):
            try:
                point = self.point(number)
                left = FieldEvaluation(self.first, point, self.angles[0])
                return left, FieldEvaluation(self.second, point, self.angles[1]), point.prime
            except UnluckyPoint:
                continue
        raise ProofError(
            "a denominator is zero at eight random points: the graph divides by an expression equal to zero"
        )

    def with_roots(self, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """The entries that still differ with true square roots."""
        wanted = [_cone(graph, entries) for graph in (self.first, self.second)]
        for oracles in (False, True):
            compared = 0
            for left, right in islice(self._root_evaluations(wanted, oracles), ROOT_POINTS):
                compared += 1
                # Other entries were not evaluated, though they may share nodes with these.
                if different := tuple(one for one in self._different(left, right) if one in entries):
                    return different
            if compared == ROOT_POINTS:
                return ()
        return entries

    def _root_evaluations(
        self, wanted: Sequence[Sequence[bool]], oracles: bool
    ) -> Iterator[tuple[RootEvaluation, RootEvaluation]]:
        """Both graphs at points where all roots exist, after a limited number of tries."""
        for number in range(8, 8 + 16 * ROOT_POINTS):
            try:
                point = RootArithmetic(self.point(number), oracles)
                yield (
                    RootEvaluation(self.first, point, self.angles[0], wanted[0]),
                    RootEvaluation(self.second, point, self.angles[1], wanted[1]),
                )
            except UnluckyPoint:
                continue

    def _different(self, left: Evaluation[T], right: Evaluation[T]) -> tuple[Entry, ...]:
        """The entries whose values differ."""
        found: list[Entry] = []
        others = _nodes(self.second)
        for output in self.first.outputs:
            for position, (a, b) in enumerate(zip(output.nodes, others[output.name], strict=True)):
                if left.values[a] != right.values[b]:
                    found.append((output.name, position))
        return tuple(found)


def _nodes(graph: Graph) -> dict[str, tuple[int, ...]]:
    return {output.name: output.nodes for output in graph.outputs}


def _cone(graph: Graph, entries: Iterable[Entry]) -> list[bool]:
    """For every node: does any of the entries need it?"""
    nodes = _nodes(graph)
    wanted = [False] * len(graph)
    for name, position in entries:
        wanted[nodes[name][position]] = True
    for index in range(len(graph) - 1, -1, -1):
        if wanted[index]:
            for child in children(graph.nodes[index]):
                wanted[child] = True
    return wanted


# ---- Linear relations with rational coefficients between the outputs of a graph
#
# The values at random points are the rows of a matrix over the field; its null space holds the relations. There is no
# rounding: a coefficient is accepted if it is a fraction whose numerator and denominator are far smaller than the
# prime. There are more points than outputs, so that a false relation is improbable. Callers prove the relations they
# use.

#: Bits of the prime, and the most bits of a fraction. Longer fractions are accidental, or values of symbols.
_BITS, _MOST = 320, 160
#: Additional points, and more with square roots, whose signs are random.
_FURTHER, _FURTHER_ROOTS = 4, 12
#: The number of tries for each point.
_TRIES = 6


def relations(
    graph: Graph, quaternions: Iterable[Sequence[Symbol]] = (), seed: int | None = None
) -> list[dict[str, Fraction]]:
    """Independent linear relations: for each the coefficients of outputs, by name, whose combination vanishes.

    Each output has one entry. The relations are in reduced row echelon form, in the order of the outputs.
    quaternions: groups of four symbols whose squares sum to one.
    """
    names = [output.name for output in graph.outputs]
    if not names:
        return []
    points = _Points(graph, tuple(tuple(one) for one in quaternions), secrets.randbits(128) if seed is None else seed)
    context = flint.fmpz_mod_ctx(points.field.prime)
    rows = points.rows()
    matrix = flint.fmpz_mod_mat(len(rows), len(names), [entry for row in rows for entry in row], context)
    found = []
    for vector in _null_space(matrix, context):
        fractions = [_fraction(entry, points.field.prime) for entry in vector]
        if all(one is not None for one in fractions):
            found.append({name: one for name, one in zip(names, fractions, strict=True) if one})
    return found


@dataclass(frozen=True)
class _Points:
    """The random points at which a graph is evaluated, all in one field."""

    graph: Graph
    unit: tuple[tuple[Symbol, ...], ...]
    seed: int

    @cached_property
    def _angles(self) -> AngleTable:
        return angle_tables(self.graph)[0]

    @cached_property
    def field(self) -> PrimeField:
        """A field whose prime is large compared with the degree and all coefficients."""
        bits = degree(self.graph, self._angles).bit_length()
        if bits > MOST_DEGREE_BITS:
            raise ProofError(f"cannot compare polynomials of degree 2^{bits}: the limit is 2^{MOST_DEGREE_BITS}")
        return PrimeField.drawn(self.seed, max(_BITS, bits + 64))

    def rows(self) -> list[list[int]]:
        """Values of the outputs, one row for every point (two if roots are imaginary)."""
        rooted = any(isinstance(node, Function) and node.name == "sqrt" for node in self.graph.nodes)
        wanted = len(self.graph.outputs) + (_FURTHER_ROOTS if rooted else _FURTHER)
        for oracles in (False, True):
            found: list[list[int]] = []
            for _, rows in zip(range(wanted), self._evaluated(wanted, rooted, oracles), strict=False):
                found += rows
            if len(found) >= wanted:
                return found
        raise ProofError("a denominator is zero at nearly all random points: the graph divides by zero")

    def _evaluated(self, wanted: int, rooted: bool, oracles: bool) -> Iterator[list[list[int]]]:
        field, angles = self.field, self._angles
        nodes = [output.nodes[0] for output in self.graph.outputs]
        for number in range(_TRIES * wanted):
            point = FieldArithmetic(field, self.seed + number, self.unit)
            try:
                if not rooted:
                    values = cast(list[int], FieldEvaluation(self.graph, point, angles).values)
                    yield [[values[k] for k in nodes]]
                    continue
                everything = [True] * len(self.graph)
                found = RootEvaluation(self.graph, RootArithmetic(point, oracles), angles, everything)
            except UnluckyPoint:
                continue
            roots = cast(list[Element], found.values)
            pairs = [one if isinstance(one, tuple) else (one, 0) for one in (roots[k] for k in nodes)]
            imaginary = any(part for _, part in pairs)
            yield [[real for real, _ in pairs], *([[part for _, part in pairs]] if imaginary else [])]


def _null_space(matrix: flint.fmpz_mod_mat, context: flint.fmpz_mod_ctx) -> list[list[int]]:
    """A basis of the null space in reduced row echelon form."""
    reduced, rank = matrix.rref()
    table = [[int(entry) for entry in row] for row in reduced.tolist()[:rank]]
    size = matrix.ncols()
    pivots = [next(k for k, entry in enumerate(row) if entry) for row in table]
    free = [k for k in range(size) if k not in pivots]
    if not free:
        return []
    vectors = []
    for column in free:
        vector = [0] * size
        vector[column] = 1
        for row, pivot in zip(table, pivots, strict=True):
            vector[pivot] = -row[column]
        vectors.append(vector)
    basis = flint.fmpz_mod_mat(len(vectors), size, [entry for vector in vectors for entry in vector], context)
    return [[int(entry) for entry in row] for row in basis.rref()[0].tolist()]


def _fraction(value: int, prime: int) -> Fraction | None:
    """Rational reconstruction by Euclid's algorithm; None if no fraction is small enough."""
    before, now = (prime, 0), (value % prime, 1)
    bound = isqrt(prime >> 1)
    while now[0] > bound:
        quotient = before[0] // now[0]
        before, now = now, (before[0] - quotient * now[0], before[1] - quotient * now[1])
    numerator, denominator = now
    if denominator == 0 or numerator.bit_length() + denominator.bit_length() > _MOST:
        return None
    return Fraction(numerator, denominator)
