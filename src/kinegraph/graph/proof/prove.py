"""Proof that two graphs compute the same: both are evaluated at random points of a large prime field.

Two different rational functions of degree d agree at a random point with probability at most d/p, p about 2^126; all
identities of sines and cosines hold exactly in the field (see `field`). Other functions are random oracles of their
arguments' values: equal arguments give equal results and nothing more is assumed of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kinegraph.errors import ProofError
from kinegraph.graph.interpret import Evaluation
from kinegraph.graph.node import Graph, Symbol
from kinegraph.graph.proof.field import FieldArithmetic, UnluckyPoint, angle_denominator


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of a comparison; `differences` names the output entries that disagree, as (output, position)."""

    differences: tuple[tuple[str, int], ...] = ()

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
    denominator = angle_denominator(first, second)
    unit = [tuple(one) for one in quaternions]
    base = secrets.randbits(128) if seed is None else seed
    for attempt in range(8):
        try:
            arithmetic = FieldArithmetic(base + attempt, denominator, unit)
            return _compare(first, Evaluation(first, arithmetic), second, Evaluation(second, arithmetic))
        except UnluckyPoint:
            continue
    raise ProofError("a denominator is zero at eight random points: the graph divides by an expression equal to zero")


def _compare(first: Graph, left: Evaluation[int], second: Graph, right: Evaluation[int]) -> Proof:
    differences: list[tuple[str, int]] = []
    for output in first.outputs:
        others = second.output(output.name).nodes
        for position, (a, b) in enumerate(zip(output.nodes, others, strict=True)):
            if left[a] != right[b]:
                differences.append((output.name, position))
    return Proof(tuple(differences))


def _require_same_outputs(first: Graph, second: Graph) -> None:
    shapes = [{output.name: output.shape for output in graph.outputs} for graph in (first, second)]
    if shapes[0] != shapes[1]:
        raise ProofError(f"the graphs have different outputs: {shapes[0]} and {shapes[1]}")
