"""Linear relations with rational coefficients between the outputs of a graph, found at random points of a prime field.

Values at random points are rows of a matrix over the field; its null space holds the relations. There is no rounding:
a coefficient is a fraction whose numerator and denominator are far smaller than the prime, or it is none. More points
are taken than there are outputs, so that hardly any relation is found that does not hold; who relies on one proves it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import cast

import flint

from kinegraph.errors import ProofError
from kinegraph.graph.node import Function, Graph, Symbol
from kinegraph.graph.proof.angles import AngleTable, angle_tables, degree
from kinegraph.graph.proof.field import PrimeField
from kinegraph.graph.proof.point import FieldArithmetic, FieldEvaluation, UnluckyPoint
from kinegraph.graph.proof.prove import MOST_DEGREE_BITS
from kinegraph.graph.proof.roots import Element, RootArithmetic, RootEvaluation

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
