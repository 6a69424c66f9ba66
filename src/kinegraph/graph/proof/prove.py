"""Proof that two graphs compute the same: both are evaluated at random points of a large prime field.

The prime is drawn anew for every proof. Two different rational functions of degree d agree at a random point with
probability at most d/p, p above 2^126 and above 2^64 d; all identities of sines and cosines hold exactly in the field
(see `field`). Other functions are random oracles of their arguments' values: equal arguments give equal results and
nothing more is assumed of them. Where that is not enough and there are square roots, these become true roots of random
sign (see `roots`), at so many points that a wrong sign does not pass.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias, TypeVar, cast

from kinegraph.errors import ProofError
from kinegraph.graph.interpret import Evaluation
from kinegraph.graph.node import Function, Graph, Symbol, children
from kinegraph.graph.proof.angles import angle_tables, degree
from kinegraph.graph.proof.field import LEAST_BITS, PrimeField
from kinegraph.graph.proof.point import FieldArithmetic, FieldEvaluation, UnluckyPoint
from kinegraph.graph.proof.roots import RootArithmetic, RootEvaluation

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
