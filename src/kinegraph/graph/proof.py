"""Proof that two graphs compute the same, and linear relations between outputs, at random points of a prime field."""

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

# Proof that two graphs compute the same: both are evaluated at random points of a large prime field.
#
# The prime is drawn anew for every proof. Two different rational functions of degree d agree at a random point with
# probability at most d/p, p above 2^126 and above 2^64 d; all identities of sines and cosines hold exactly in the field
# (see `field`). Other functions are random oracles of their arguments' values: equal arguments give equal results and
# nothing more is assumed of them. Where that is not enough and there are square roots, these become true roots of
# random sign (see `roots`), at so many points that a wrong sign does not pass.

#: Points for a proof with roots: a wrong sign passes each with probability 1/2.
ROOT_POINTS = 24

#: Degrees of more bits are not compared: finding a prime that large would take minutes.
MOST_DEGREE_BITS = 1024

#: An entry of an output, by name and position.
Entry: TypeAlias = tuple[str, int]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of a comparison; `differences` names the output entries that disagree, as (output, position)."""

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
    """Compare all outputs of two graphs. The seed is random unless given, so no rewrite can be fitted to it.

    quaternions: symbols whose squares add up to one, four at a time; else symbols are independent of each other.
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

    Nodes of one value are equal expressions, but for chance.
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
    """Two graphs and the random points they are evaluated at."""

    def __init__(self, first: Graph, second: Graph, seed: int, unit: tuple[tuple[Symbol, ...], ...]) -> None:
        self.first, self.second, self.seed, self.unit = first, second, seed, unit
        self.angles = angle_tables(first, second)
        bits = max(degree(*one).bit_length() for one in zip((first, second), self.angles, strict=True))
        if bits > MOST_DEGREE_BITS:
            raise ProofError(
                f"cannot compare polynomials of degree 2^{bits}: 2^{MOST_DEGREE_BITS} is the most; "
                "write nested powers as symbols of their own"
            )
        self.bits = max(LEAST_BITS, bits + 64)

    def point(self, number: int) -> FieldArithmetic:
        """The random point of this number, each in a field of its own."""
        field = PrimeField.drawn(self.seed + number, self.bits)
        return FieldArithmetic(field, self.seed + number, self.unit)

    def at_one_point(self) -> tuple[Entry, ...]:
        """The entries that differ if nothing is known of functions other than sine, cosine and division."""
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
        """Those of the entries that differ where roots are true roots."""
        wanted = [_cone(graph, entries) for graph in (self.first, self.second)]
        for oracles in (False, True):
            compared = 0
            for left, right in islice(self._root_evaluations(wanted, oracles), ROOT_POINTS):
                compared += 1
                # Nothing else was evaluated; a node of one graph may be shared with an entry that needed no roots.
                if different := tuple(one for one in self._different(left, right) if one in entries):
                    return different
            if compared == ROOT_POINTS:
                return ()
        return entries

    def _root_evaluations(
        self, wanted: Sequence[Sequence[bool]], oracles: bool
    ) -> Iterator[tuple[RootEvaluation, RootEvaluation]]:
        """Both graphs at points where all roots exist; few enough are tried if these are rare."""
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


# Linear relations with rational coefficients between the outputs of a graph, found at random points of a prime field.
#
# Values at random points are rows of a matrix over the field; its null space holds the relations. There is no rounding:
# a coefficient is a fraction whose numerator and denominator are far smaller than the prime, or it is none. More points
# are taken than there are outputs, so that hardly any relation is found that does not hold; who relies on one proves
# it.

#: The prime has so many bits, and a fraction so many at most: others are chance, or values of symbols.
_BITS, _MOST = 320, 160
#: Points beyond the number of outputs; with square roots, whose signs are chance, more.
_FURTHER, _FURTHER_ROOTS = 4, 12
#: How many points are tried for each that is wanted.
_TRIES = 6


def relations(
    graph: Graph, quaternions: Iterable[Sequence[Symbol]] = (), seed: int | None = None
) -> list[dict[str, Fraction]]:
    """Independent relations: sums of coefficients times outputs, by name, that are zero everywhere.

    Each output has one entry. They are reduced in the order of the outputs: each begins with a one, at an output that
    no other has. quaternions: symbols whose squares add up to one, four at a time.
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
        """Of a prime that is large beside the degree and beside all coefficients."""
        bits = degree(self.graph, self._angles).bit_length()
        if bits > MOST_DEGREE_BITS:
            raise ProofError(f"cannot compare polynomials of degree 2^{bits}: 2^{MOST_DEGREE_BITS} is the most")
        return PrimeField.drawn(self.seed, max(_BITS, bits + 64))

    def rows(self) -> list[list[int]]:
        """Values of the outputs, one row for every point (two where roots are imaginary)."""
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
    """Vectors that the matrix takes to zero, reduced from the left."""
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
    """The fraction that a number of the field is: by Euclid's algorithm; None if none is small."""
    before, now = (prime, 0), (value % prime, 1)
    bound = isqrt(prime >> 1)
    while now[0] > bound:
        quotient = before[0] // now[0]
        before, now = now, (before[0] - quotient * now[0], before[1] - quotient * now[1])
    numerator, denominator = now
    if denominator == 0 or numerator.bit_length() + denominator.bit_length() > _MOST:
        return None
    return Fraction(numerator, denominator)
