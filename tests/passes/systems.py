"""Random systems of trigonometric polynomials for the passes to chew on."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output

COEFFICIENTS = (0, 1, -1, 2, 3, Fraction(1, 3), Fraction(-7, 2), 10**40 + 1, Fraction(1, 10**30))


def leaves(builder: GraphBuilder) -> list[Scalar]:
    """Symbols of all sorts, sines and cosines of angles that are sums of each other, a reciprocal, a root."""
    q = [Scalar(builder, builder.symbol(Kind.COORDINATE, f"q{i}")) for i in range(3)]
    v = Scalar(builder, builder.symbol(Kind.VELOCITY, "v"))
    m, k = (Scalar(builder, builder.symbol(Kind.PARAMETER, name)) for name in "mk")
    angles = [q[0], q[0] + q[1], q[0] + q[1] + q[2], q[1], 2 * q[2]]
    found = [v, m, m + k, v.number(1)]
    for angle in angles:
        found += [angle.sin(), angle.cos()]
    return [*found, (v * v + m * m + 1).reciprocal(), (v + q[1].cos()).apply("sqrt")]


def odd_angles(builder: GraphBuilder) -> list[Scalar]:
    """Angles that are products, large or broken multiples, powers, functions, and sums of these."""
    q, r = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in ("q0", "q1"))
    m, k = (Scalar(builder, builder.symbol(Kind.PARAMETER, name)) for name in "mk")
    t = Scalar(builder, builder.symbol(Kind.TIME, "t"))
    return [
        q * m,
        q * r,
        (q + m) * (r + k),
        q**2,
        (q + r) ** 9,
        9 * q,
        1000 * q,
        100003 * q + r,
        q / 7,
        q * m + r / 3,
        m * k + q,
        q + (2 * t).sin() * Fraction(3, 10),
        q - (q + r).sin().cos(),
        (q * q + m).apply("acos"),
        r + q.apply("atan2", r + m),
        (q.cos() * r).reciprocal(),
    ]


def odd_leaves(builder: GraphBuilder, angle: Scalar, other: Scalar) -> list[Scalar]:
    """Functions of odd angles, also several times over, of each other, and of sums with each other."""
    sine, cosine = angle.sin(), angle.cos()
    return [
        sine,
        cosine,
        cosine.cos(),
        (sine + other.cos()).sin(),
        sine.apply("exp"),
        (2 * cosine + 1).apply("tanh"),
        (4 * cosine + 2).apply("tanh"),
        (cosine * other.sin() + 3).reciprocal(),
        cosine.apply("sqrt").apply("sqrt"),
        angle,
    ]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Outputs that are sums of products of leaves and of earlier sums; some zero, some equal, some multiples."""
    builder = GraphBuilder()
    return _system(draw, builder, leaves(builder))


@st.composite
def odd_graphs(draw: st.DrawFn) -> Graph:
    """The same with angles and functions of every sort, a few at a time; leaves are shown as they are, too."""
    builder = GraphBuilder()
    angles = st.sampled_from(odd_angles(builder))
    found = odd_leaves(builder, draw(angles), draw(angles))
    atoms = [*draw(st.lists(st.sampled_from(found), min_size=1, max_size=4)), *leaves(builder)[:6]]
    return _system(draw, builder, atoms)


def _system(draw: st.DrawFn, builder: GraphBuilder, atoms: list[Scalar]) -> Graph:
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
