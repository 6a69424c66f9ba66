"""Angles: linear forms, right angles, and one node for sin(q2 + q3) for every order of the sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinegraph as kg
from kinegraph.graph import angle
from kinegraph.graph.angle import LinearForm, linear_form, quarter_turns, shifted
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Function, Kind, Node, Output, Polynomial, Term


def coordinates(number: int) -> tuple[GraphBuilder, list[Scalar], Scalar]:
    builder = GraphBuilder()
    q = [Scalar(builder, builder.symbol(Kind.COORDINATE, f"q{k + 1}")) for k in range(number)]
    return builder, q, Scalar(builder, builder.pi())


def functions_in(builder: GraphBuilder, *scalars: Scalar) -> int:
    graph = builder.graph([Output("all", (len(scalars),), tuple(scalar.index for scalar in scalars))])
    return sum(isinstance(node, Function) for node in graph.nodes)


def evaluated(scalar: Scalar, **values: float) -> float:
    graph = scalar.builder.graph([Output("out", (), (scalar.index,))])
    return float(interpret(graph, values)["out"])


@pytest.mark.parametrize("twelfths", range(-30, 31))
def test_multiples_of_fifteen_degrees_of_a_fixed_angle(twelfths: int) -> None:
    """Rational by Niven's theorem, and never more than four irrational constants."""
    angle = Fraction(twelfths, 12)
    for name, function in (("sin", math.sin), ("cos", math.cos)):
        _, _, pi = coordinates(0)
        scalar = (angle * pi).apply(name)
        exact = function(math.pi * angle)
        rational = abs(2 * exact - round(2 * exact)) < 1e-12
        assert (scalar.value is not None) == rational
        if rational:
            assert scalar.value == Fraction(round(2 * exact), 2)
        else:
            assert evaluated(scalar) == pytest.approx(exact, abs=1e-15)


def test_all_multiples_of_fifteen_degrees_share_four_constants() -> None:
    builder, _, pi = coordinates(0)
    scalars = [(Fraction(k, 12) * pi).apply(name) for k in range(-30, 31) for name in ("sin", "cos")]
    assert functions_in(builder, *scalars) == 4  # sin and cos of pi/12, cos of pi/6, sin of pi/4


@pytest.mark.parametrize("quarters", range(-6, 7))
def test_right_angles_fold_exactly(quarters: int) -> None:
    builder, (q,), pi = coordinates(1)
    turned = q + Fraction(quarters, 2) * pi
    s, c = q.sin(), q.cos()
    assert turned.sin() == (s, c, -s, -c)[quarters % 4]
    assert turned.cos() == (c, -s, -c, s)[quarters % 4]
    assert functions_in(builder, s, c, turned.sin(), turned.cos()) == 2


@pytest.mark.parametrize("turns", [-4, -2, 2, 4])
def test_a_full_turn_leaves_no_trace_in_the_angle(turns: int) -> None:
    """If the angle with an added turn comes first, the sine is still a function of q."""
    builder, (q,), pi = coordinates(1)
    first = (q + turns * pi).sin()
    assert builder.nodes[first.index] == Function("sin", (q.index,))
    assert first == q.sin()

    builder, (q, r), pi = coordinates(2)
    assert builder.nodes[(q + r + turns * pi).sin().index] == Function("sin", ((q + r).index,))


def test_odd_and_even() -> None:
    builder, (q, r), _ = coordinates(2)
    assert (-q).sin() == -q.sin()
    assert (-q).cos() == q.cos()
    assert (r - q).sin() == -(q - r).sin()
    assert (r - q).cos() == (q - r).cos()
    assert functions_in(builder, (r - q).sin(), (q - r).sin()) == 1


@pytest.mark.parametrize("eighths", range(-9, 10))
@pytest.mark.parametrize("pi_first", [False, True])
def test_odd_and_even_with_a_fixed_part(eighths: int, pi_first: bool) -> None:
    builder = GraphBuilder()
    if pi_first:
        builder.pi()
    q = Scalar(builder, builder.symbol(Kind.COORDINATE, "q"))
    pi = Scalar(builder, builder.pi())
    angle = q + Fraction(eighths, 8) * pi
    assert (-angle).sin() == -angle.sin()
    assert (-angle).cos() == angle.cos()
    assert (pi / 2 - angle).sin() == angle.cos()
    assert (pi - angle).sin() == angle.sin()
    assert evaluated(angle.sin(), q=0.3) == pytest.approx(math.sin(0.3 + eighths * math.pi / 8), abs=1e-14)


def test_one_sum_of_angles_is_one_node() -> None:
    _, (q1, q2, q3), _ = coordinates(3)
    ways = [(q1 + q2) + q3, q1 + (q2 + q3), q3 + q2 + q1, 2 * q1 + (q2 - q1) + q3]
    assert len({way.sin() for way in ways}) == 1
    assert len({way.cos() for way in ways}) == 1


def test_one_linear_form_with_coefficients_is_one_node() -> None:
    _, (q1, q2), pi = coordinates(2)
    first = Fraction(1, 2) * q1 - 3 * q2 + pi / 8
    second = Fraction(1, 2) * (q1 - 6 * q2) + pi / 8
    assert first.sin() == second.sin()
    assert (2 * first).cos() == (q1 - 6 * q2 + pi / 4).cos()


def test_an_angle_that_cancels_to_a_symbol_is_the_symbol() -> None:
    builder, (q1, q2), _ = coordinates(2)
    assert builder.nodes[((q1 + q2) - q2).sin().index] == Function("sin", (q1.index,))
    assert ((q1 + q2) - q1 - q2).cos() == q1.number(1)
    assert ((q1 + q2) - q1 - q2).sin().is_zero


def test_linear_form_opens_sums_but_not_products() -> None:
    builder, (q1, q2, q3), _ = coordinates(3)
    product = q1 * q2
    inlined = builder.polynomial(((3, ((q1.index, 1), (q2.index, 1))), (1, ((q3.index, 1),))))
    assert linear_form(builder.nodes, (3 * product + q3).index) == linear_form(builder.nodes, inlined)
    assert linear_form(builder.nodes, inlined) == {
        ((q1.index, 1), (q2.index, 1)): 3,
        ((q3.index, 1),): 1,
    }
    assert linear_form(builder.nodes, (q1**2 + 5).index) == {((q1.index, 2),): 1, (): 5}
    assert linear_form(builder.nodes, builder.number(0)) == {}


def test_inlined_and_named_products_are_one_angle() -> None:
    builder, (q1, q2, q3), _ = coordinates(3)
    inlined = Scalar(builder, builder.polynomial(((3, ((q1.index, 1), (q2.index, 1))), (1, ((q3.index, 1),)))))
    assert inlined.sin() == (3 * (q1 * q2) + q3).sin()


def test_linear_form_opens_a_shared_sum_once() -> None:
    """Nested sums that share parts like Fibonacci numbers have 10^41 paths from top to bottom."""
    builder, (a, b), _ = coordinates(2)
    for _ in range(200):
        a, b = b, Scalar(builder, builder.intern(Polynomial(((1, ((a.index, 1),)), (1, ((b.index, 1),))))))
    form = linear_form(builder.nodes, b.index)
    assert sum(form.values()) == 734544867157818093234908902110449296423351  # F(202)


@given(st.fractions(-20, 20, max_denominator=48))
def test_quarter_turns_splits_without_loss(multiple: Fraction) -> None:
    quarters, rest = quarter_turns(multiple)
    assert quarters in range(4)
    assert Fraction(-1, 4) < rest <= Fraction(1, 4)
    assert (multiple - rest - Fraction(quarters, 2)) % 2 == 0


@pytest.mark.parametrize("quarters", range(8))
def test_shifted_agrees_with_mathematics(quarters: int) -> None:
    x = 0.7
    for name, function in (("sin", math.sin), ("cos", math.cos)):
        sign, other = shifted(name, quarters)
        assert sign * getattr(math, other)(x) == pytest.approx(function(x + quarters * math.pi / 2), abs=1e-14)


def test_a_product_is_one_angle_however_it_is_grouped() -> None:
    """Passes write 2 (pi t) as (2 pi) t and t x + t y as t (x + y): the proof must see one angle."""
    builder, (x, y, t), pi = coordinates(3)
    for left, right in [
        (2 * (pi * t), (2 * pi) * t),
        (pi * t + t, t * (pi + 1)),
        (2 * pi * t + 3 * pi * t * t, t * (2 * pi + t * (3 * pi))),
        (x * t * t + y * t * t, (x + y) * (t * t)),
    ]:
        assert linear_form(builder.nodes, left.index) == linear_form(builder.nodes, right.index)
        assert left.sin().index == right.sin().index


def test_large_products_of_sums_are_left_alone() -> None:
    builder, q, _ = coordinates(12)
    total = sum(q[1:], q[0])
    deep = total
    for _ in range(2000):
        deep = deep * total + q[0]
    assert 1 <= len(linear_form(builder.nodes, deep.index)) <= 65
    assert len(linear_form(builder.nodes, ((q[0] + q[1]) ** 1000 * q[2]).index)) == 1
    assert len(linear_form(builder.nodes, ((q[0] + q[1]) * (q[2] + q[3])).index)) == 4


@pytest.mark.parametrize("law", ["sin(2*pi*t)", "cos(pi*t + t)", "sin(2*pi*t + 3*pi*t^2)*sin(4*pi*t + q1)"])
def test_reductions_of_oscillating_forces_are_proved(law: str) -> None:
    model = kg.parse(f"coordinates q1, q2; A | Ry(q1) | Sz(-1), m(1); B~A | Sz(-1), Ry(q2) | Sz(-1), m(1);"
                     f"force f | value({law}), on(q1);")  # fmt: skip
    assert kg.reduce(kg.derive(model, "qdd"), kg.Effort.QUICK).proved


def test_angles_that_share_a_sum_multiply_it_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sine expanded its angle again: copying a platform's projection to another builder took minutes."""
    made: list[object] = []
    sums = angle._sum

    def counted(nodes: Sequence[Node], terms: Sequence[Term], known: dict[int, LinearForm | None]) -> LinearForm | None:
        made.append(terms)
        return sums(nodes, terms, known)

    monkeypatch.setattr(angle, "_sum", counted)
    builder, names, _ = coordinates(12)
    shared = names[0]
    for one in names:
        shared = (shared + one) * one + one
    for one in names:
        builder.apply("sin", (shared * one).index)
    assert len(made) < 60
