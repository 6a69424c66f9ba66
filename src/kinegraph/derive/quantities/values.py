"""The values of a quantity: nested sequences of scalars, and the graph's output made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from kinegraph.graph.node import Output
from kinegraph.graph.scalar import Scalar

Values: TypeAlias = Scalar | Sequence["Values"]


def output(name: str, shape: tuple[int, ...], values: Values) -> Output:
    """Values as an output of a graph, the last index running fastest."""
    return Output(name, shape, tuple(scalar.index for scalar in _flat(values)))


def _flat(values: Values) -> Iterator[Scalar]:
    if isinstance(values, Scalar):
        yield values
    else:
        for entry in values:
            yield from _flat(entry)
