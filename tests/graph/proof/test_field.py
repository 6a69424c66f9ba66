"""The prime fields of proofs: their circle groups, fractions and powers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.prime_field import CIRCLE_DIVISOR, FieldArithmetic, PrimeField, UnluckyPoint, angle_tables, degree

FIELD = PrimeField.drawn(1)
OFFSETS = range(20)


def arithmetic() -> FieldArithmetic:
    return FieldArithmetic(FIELD, 1)


@pytest.mark.parametrize("bits", [127, 200, 700])
def test_primes_suit_the_circle(bits: int) -> None:
    p = PrimeField.drawn(3, bits).prime
    assert p.bit_length() == bits
    assert p % 4 == 3  # -1 is no square
    assert (p + 1) % CIRCLE_DIVISOR == 0
    assert pow(2, p - 1, p) == 1


def test_every_seed_draws_its_own_prime() -> None:
    primes = {PrimeField.drawn(seed).prime for seed in OFFSETS}
    assert len(primes) == len(OFFSETS)
    assert PrimeField.drawn(7).prime == PrimeField.drawn(7).prime


@pytest.mark.parametrize("seed", OFFSETS)
def test_the_unit_angle_has_the_order_of_a_full_turn(seed: int) -> None:
    field = PrimeField.drawn(seed)
    unit = field.unit_angle
    assert field.multiple(unit, CIRCLE_DIVISOR) == (1, 0)
    assert field.multiple(unit, CIRCLE_DIVISOR // 4) == (0, 1)
    assert field.multiple(unit, CIRCLE_DIVISOR // 2) == (field.prime - 1, 0)
    assert field.multiple(unit, CIRCLE_DIVISOR // 12)[1] == pow(2, -1, field.prime)  # the sine of 30 degrees
    assert all(field.multiple(unit, CIRCLE_DIVISOR // prime) != (1, 0) for prime in (2, 3, 5, 7, 11, 13))


@given(st.integers(0, 2**126), st.integers(-50, 50), st.integers(-50, 50))
def test_multiples_add_on_the_circle(parameter: int, first: int, second: int) -> None:
    p = FIELD.prime
    point = FIELD.circle_point(parameter)
    assert (point[0] ** 2 + point[1] ** 2) % p == 1
    c, s = FIELD.rotate(FIELD.multiple(point, first), FIELD.multiple(point, second))
    d, t = FIELD.multiple(point, first + second)
    assert ((c - d) % p, (s - t) % p) == (0, 0)


@given(st.integers(0, FIELD.prime - 1))
def test_a_number_or_its_negative_has_a_root(value: int) -> None:
    roots = [FIELD.root(value), FIELD.root(-value % FIELD.prime)]
    assert roots.count(None) == (1 if value else 0)
    assert all(root is None or root * root % FIELD.prime in (value, -value % FIELD.prime) for root in roots)


def angles_of(*graphs: Graph) -> list[list[int]]:
    return [[part.times for parts in table.values() for part in parts] for table in angle_tables(*graphs)]


def sines(*coefficients: Fraction | int, name: str = "q") -> Graph:
    builder = GraphBuilder()
    q = Scalar(builder, builder.symbol(Kind.COORDINATE, name))
    found = [(q * coefficient).sin().index for coefficient in coefficients]
    return builder.graph([Output("s", (len(found),), tuple(found))])


def test_angles_are_whole_multiples_of_a_unit_of_all_graphs() -> None:
    assert angles_of(sines(Fraction(1, 6), 3, Fraction(1, 4))) == [[2, 36, 3]]
    assert angles_of(sines(Fraction(1, 6), 3), sines(Fraction(1, 4))) == [[2, 36], [3]]


def test_every_angle_has_a_unit_of_its_own() -> None:
    """A decimal in one angle does not cause large multiples of another."""
    assert angles_of(sines(1), sines(Fraction(1, 10**400), name="r")) == [[1], [1]]


def test_a_fixed_angle_is_a_part_of_a_full_turn() -> None:
    builder = GraphBuilder()
    q, pi = Scalar(builder, builder.symbol(Kind.COORDINATE, "q")), Scalar(builder, builder.pi())
    graph = builder.graph([Output("s", (2,), ((q + pi / 5).sin().index, (q + pi / 17).sin().index))])
    (table,) = angle_tables(graph)
    turns = [part.turns for parts in table.values() for part in parts if part.monomial != ((0, 1),)]
    assert set(turns) == {CIRCLE_DIVISOR // 10, None}


def test_degree_counts_powers_of_powers_and_turns() -> None:
    builder = GraphBuilder()
    q, v = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "qv")

    def of(value: Scalar) -> int:
        graph = builder.graph([Output("y", (), (value.index,))])
        return degree(graph, angle_tables(graph)[0])

    assert of(q) == 1
    assert of(q * v + 1) == 2
    assert of((q**1000 + v) ** 1000) == 10**6
    assert of((q**5).reciprocal() ** 3) == 15
    assert of((10**9 * q + v).sin() * q.sin()) == 2 * (10**9 + 1) + 2
    assert of((10**9 * q + v).sin() * v) == 2 * 2 + 1  # nothing is known of a billionth of it


def test_division_by_zero_is_unlucky() -> None:
    with pytest.raises(UnluckyPoint):
        arithmetic().function("reciprocal", [0])


def test_a_fraction_of_the_prime_is_unlucky() -> None:
    with pytest.raises(UnluckyPoint):
        arithmetic().number(Fraction(1, FIELD.prime))


def test_numbers_in_the_field() -> None:
    point = arithmetic()
    third = point.number(Fraction(1, 3))
    assert point.multiply(third, 3) == 1
    assert point.add(point.number(-1), 1) == 0
    assert point.power(third, 2) == point.number(Fraction(1, 9))
