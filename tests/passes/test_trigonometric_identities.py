"""Trigonometric identities: each is found, new angles are found in steps, and the choice is by saving."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kinegraph.graph import law
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.count import count
from kinegraph.graph.node import Function, Graph, Kind, Output, children
from kinegraph.graph.proof import prove
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities


def symbols() -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
    """Three angles and two rates."""
    builder = GraphBuilder()
    x, y, z = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xyz")
    v, w = (Scalar(builder, builder.symbol(Kind.VELOCITY, name)) for name in "vw")
    return x, y, z, v, w


def graph_of(*outputs: Scalar) -> Graph:
    return outputs[0].builder.graph([Output("y", (len(outputs),), tuple(one.index for one in outputs))])


def rewritten(*outputs: Scalar) -> tuple[int, int]:
    """Multiplications and additions after the pass, which is proved on the way."""
    graph = graph_of(*outputs)
    result = TrigonometricIdentities().apply(graph)
    law.check(result)
    prove(graph, result).require()
    operations = count(result)
    return operations.mul, operations.add


def test_each_identity_is_found() -> None:
    x, y, _, v, w = symbols()
    sx, cx, sy, cy = x.sin(), x.cos(), y.sin(), y.cos()
    assert rewritten(v * sx * sx + v * cx * cx + w) == (0, 1)
    assert rewritten(3 * v * sx * sx + 5 * v * cx * cx) == (2 + 2, 1)  # 3 v + 2 v c c or v (3 + 2 c c)
    assert rewritten(v - v * sx * sx) == (2, 0)
    assert rewritten(v * (cx * cy - sx * sy), w * (sx * cy + cx * sy)) == (2, 1)
    assert rewritten(v * (cx * cy + sx * sy), w * (sx * cy - cx * sy)) == (2, 1)
    assert rewritten(v * (cx * cx - sx * sx), w * sx * cx, 3 * sx * cx) == (1 + 2 + 1 + 1, 0)  # and 2 x


def test_angles_made_by_an_identity_are_used_in_the_next() -> None:
    x, y, z, v, _ = symbols()
    sx, cx, sy, cy, sz, cz = x.sin(), x.cos(), y.sin(), y.cos(), z.sin(), z.cos()
    cosine = v * cx * cy * cz - v * sx * sy * cz - v * sx * cy * sz - v * cx * sy * sz
    sine = v * sx * cy * cz + v * cx * sy * cz + v * cx * cy * sz - v * sx * sy * sz
    assert rewritten(cosine, sine) == (2, 2)


def test_differences_of_sums_are_found() -> None:
    x, y, _, v, _ = symbols()
    total = x + y
    assert rewritten(v * (x.cos() * total.cos() + x.sin() * total.sin())) == (1, 0)


def test_the_choice_is_by_saving() -> None:
    """c c c can be paired two ways: x + y comes first and saves once, y + z saves in all four outputs."""
    x, y, z, v, w = symbols()
    sx, cx, sy, cy, sz, cz = x.sin(), x.cos(), y.sin(), y.cos(), z.sin(), z.cos()
    either = v * cx * cy * cz - v * sx * sy * cz - v * cx * sy * sz
    others = [factor * (cy * cz - sy * sz) + w for factor in (v * v, w * w, v * w)]
    graph = graph_of(either, *others)
    result = TrigonometricIdentities().apply(graph)
    prove(graph, result).require()
    angles = [
        {result.nodes[child].name for child in children(result.nodes[node.arguments[0]])}
        for node in result.nodes
        if isinstance(node, Function)
    ]
    assert {"y", "z"} in angles and {"x", "y"} not in angles


@given(
    signs=st.tuples(st.sampled_from((1, -1)), st.sampled_from((1, -1))),
    scale=st.sampled_from((1, -3, 10**30)),
    multiples=st.tuples(st.integers(1, 3), st.integers(-3, 3).filter(bool)),
    rest=st.integers(0, 2),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_sums_of_any_angles_come_back(
    signs: tuple[int, int], scale: int, multiples: tuple[int, int], rest: int
) -> None:
    """Sines and cosines of sums written out in those of their parts cost no more than written directly.

    Apart from the angles: 2 x + 2 y and 2 x - 2 y are four multiplications here, two in the builder's hands.
    """
    x, y, _, v, w = symbols()
    first, second = multiples[0] * x, multiples[1] * y
    factor = (v.number(1), v, v * w)[rest]
    written = [
        scale * factor * (first.sin() * second.cos() + signs[0] * first.cos() * second.sin()) + w,
        scale * factor * (first.cos() * second.cos() - signs[1] * first.sin() * second.sin()) - v,
    ]
    direct = [
        scale * factor * (first + signs[0] * second).sin() + w,
        scale * factor * (first + signs[1] * second).cos() - v,
    ]
    after = sum(rewritten(*(one * v for one in written)))
    assert after <= count(graph_of(*(one * v for one in direct))).total + 4


@pytest.mark.parametrize("price", [0.25, 100.0])
def test_functions_have_their_price(price: float) -> None:
    x, y, _, v, _ = symbols()
    graph = graph_of(v * (x.cos() * y.cos() - x.sin() * y.sin()), x.cos() + x.sin(), y.cos() + y.sin())
    result = TrigonometricIdentities(function_weight=price).apply(graph)
    assert count(result).cos == (3 if price < 1 else 2)
