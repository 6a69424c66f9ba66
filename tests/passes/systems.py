"""Random systems of trigonometric polynomials for the passes to chew on."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from kinegraph.graph.build import Builder
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.scalar import Scalar

COEFFICIENTS = (0, 1, -1, 2, 3, Fraction(1, 3), Fraction(-7, 2), 10**40 + 1, Fraction(1, 10**30))


def leaves(builder: Builder) -> list[Scalar]:
    """Symbols of all sorts, sines and cosines of angles that are sums of each other, a reciprocal, a root."""
    q = [Scalar(builder, builder.symbol(Kind.COORDINATE, f"q{i}")) for i in range(3)]
    v = Scalar(builder, builder.symbol(Kind.VELOCITY, "v"))
    m, k = (Scalar(builder, builder.symbol(Kind.PARAMETER, name)) for name in "mk")
    angles = [q[0], q[0] + q[1], q[0] + q[1] + q[2], q[1], 2 * q[2]]
    found = [v, m, m + k, v.number(1)]
    for angle in angles:
        found += [angle.sin(), angle.cos()]
    return [*found, (v * v + m * m + 1).reciprocal(), (v + q[1].cos()).apply("sqrt")]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Outputs that are sums of products of leaves and of earlier sums; some zero, some equal, some multiples."""
    builder = Builder()
    atoms = leaves(builder)
    sums: list[Scalar] = []
    for _ in range(draw(st.integers(1, 5))):
        total = atoms[0].number(0)
        for _ in range(draw(st.integers(0, 5))):
            term = atoms[0].number(draw(st.sampled_from(COEFFICIENTS)))
            for _ in range(draw(st.integers(0, 4))):
                term = term * draw(st.sampled_from(atoms + sums))
            total = total + term
        sums.append(total)
    sums += [sums[0], -2 * sums[-1], sums[0] - sums[0]]
    shown = tuple(scalar.index for scalar in sums)
    return builder.graph([Output("y", (len(shown),), shown), Output("angle", (), (atoms[4].index,))])
