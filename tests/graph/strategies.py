"""Random graphs for Hypothesis: sums and products with rational coefficients, and functions, with shared nodes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import FUNCTIONS, Graph, Kind, Output

#: Functions that are smooth and finite for every argument of moderate size.
TAME = ("sin", "cos", "atan", "tanh")

coefficients = st.one_of(st.integers(-5, 5), st.fractions(-4, 4, max_denominator=12))

names = st.text(min_size=1, max_size=6)


@st.composite
def graphs(draw: st.DrawFn, functions: Sequence[str] = tuple(FUNCTIONS), max_steps: int = 15) -> Graph:
    """A graph of up to `max_steps` random operations with a scalar, a vector and a matrix among its outputs."""
    builder = GraphBuilder()
    pool = [
        Scalar(builder, builder.symbol(kind, f"{kind.value[0]}{number}"))
        for kind in (Kind.PARAMETER, Kind.COORDINATE, Kind.VELOCITY)
        for number in range(draw(st.integers(1, 2)))
    ]
    pool.append(Scalar(builder, builder.pi()))
    for _ in range(draw(st.integers(1, max_steps))):
        pool.append(draw(_operations(pool, functions)))
    entries = st.sampled_from(pool).map(lambda scalar: scalar.index)
    outputs = [
        Output("scalar", (), (pool[-1].index,)),
        Output("vector", (3,), tuple(draw(entries) for _ in range(3))),
        Output("matrix", (2, 2), tuple(draw(entries) for _ in range(4))),
    ]
    return builder.graph(outputs)


@st.composite
def _operations(draw: st.DrawFn, pool: Sequence[Scalar], functions: Sequence[str]) -> Scalar:
    """One more scalar, made of the existing ones."""
    pick = st.sampled_from(pool)
    if functions and draw(st.integers(0, 3)) == 0:
        return apply(draw(st.sampled_from(functions)), [draw(pick) for _ in range(3)])
    total = pool[0].number(draw(coefficients))
    for _ in range(draw(st.integers(1, 3))):
        term = pool[0].number(draw(coefficients))
        for _ in range(draw(st.integers(0, 2))):
            term = term * draw(pick) ** draw(st.sampled_from((1, 1, 1, 2, 3)))
        total = total + term
    return total


def apply(name: str, arguments: Sequence[Scalar]) -> Scalar:
    """A function of random arguments, without division by an exact zero."""
    first, *more = arguments[: FUNCTIONS[name].arity]
    if name == "reciprocal" and first.is_zero:
        return first
    return first.apply(name, *more)


def random_values(graph: Graph, seed: int, low: float = -1.0, high: float = 1.0) -> dict[str, float]:
    """A value for every symbol except pi."""
    generator = random.Random(seed)
    return {symbol.name: generator.uniform(low, high) for symbol in graph.symbols() if symbol.name != "pi"}


def exact_values(graph: Graph, seed: int) -> dict[str, Fraction]:
    """A short rational value for every symbol except pi."""
    return {name: Fraction(value).limit_denominator(64) for name, value in random_values(graph, seed).items()}
