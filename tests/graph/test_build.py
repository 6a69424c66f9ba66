"""The builder: one node for one value, whatever way it was written."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.errors import GraphError
from kinegraph.graph import law, text
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.canonical import renumber
from kinegraph.graph.node import Function, Kind, Output, Polynomial, Symbol
from tests.graph.strategies import coefficients, graphs

HALF = Fraction(1, 2)


@pytest.fixture
def builder() -> GraphBuilder:
    return GraphBuilder()


@pytest.fixture
def x(builder: GraphBuilder) -> Scalar:
    return Scalar(builder, builder.symbol(Kind.COORDINATE, "x"))


@pytest.fixture
def y(builder: GraphBuilder) -> Scalar:
    return Scalar(builder, builder.symbol(Kind.COORDINATE, "y"))


@pytest.fixture
def p(builder: GraphBuilder) -> Scalar:
    return Scalar(builder, builder.symbol(Kind.PARAMETER, "p"))


def test_a_symbol_is_one_node_per_kind_and_name(builder: GraphBuilder, x: Scalar) -> None:
    assert builder.symbol(Kind.COORDINATE, "x") == x.index
    assert builder.symbol(Kind.VELOCITY, "x") != x.index


def test_numbers_are_integers_where_they_can_be(builder: GraphBuilder) -> None:
    assert builder.number(Fraction(6, 3)) == builder.number(2)
    assert builder.nodes[builder.number(Fraction(6, 3))] == Polynomial(((2, ()),))
    assert type(builder.nodes[builder.number(Fraction(6, 3))].terms[0][0]) is int
    assert builder.nodes[builder.number(0)] == Polynomial(())
    assert builder.number(Fraction(0)) == builder.number(0)


def test_value_of_knows_numbers_only(builder: GraphBuilder, x: Scalar) -> None:
    assert builder.value_of(builder.number(HALF)) == HALF
    assert builder.value_of(builder.number(0)) == 0
    assert builder.value_of(x.index) is None
    assert (x + 1).value is None
    assert (2 * x).value is None


def test_sums_and_products_commute(x: Scalar, y: Scalar) -> None:
    assert x + y == y + x
    assert x * y == y * x
    assert x - y == -(y - x)


def test_like_terms_join(x: Scalar, y: Scalar) -> None:
    assert x + x == 2 * x
    assert 2 * x + 3 * x == 5 * x
    assert x * y + y * x == 2 * (x * y)
    assert HALF * x + HALF * x == x


def test_opposite_terms_cancel(x: Scalar, y: Scalar) -> None:
    assert (x - x).is_zero
    assert (x * y - y * x).is_zero
    assert ((x - y) + (y - x)).is_zero
    assert 3 * x - 2 * x == x


def test_zero_and_one_are_neutral(x: Scalar) -> None:
    assert x + 0 == x
    assert 0 + x == x
    assert x - 0 == x
    assert x * 1 == x
    assert x * x.number(1) == x
    assert (x * 0).is_zero
    assert (x * x.number(0)).is_zero
    assert (0 - x) == -x


def test_no_node_is_the_negative_of_another(x: Scalar, y: Scalar) -> None:
    assert -1 * (-x) == x
    assert (-x) * (-y) == x * y
    assert (-x) * y == -(x * y)
    assert (y - x) * (y - x) == (x - y) * (x - y)
    assert (y - x) ** 3 == -((x - y) ** 3)
    assert (-x - y) == -(x + y)


def test_common_coefficients_move_outwards(x: Scalar, y: Scalar) -> None:
    assert 2 * x + 2 * y == 2 * (x + y)
    assert HALF * x - HALF * y == HALF * (x - y)
    assert (3 * x) * (HALF * y) == Fraction(3, 2) * (x * y)
    assert (2 * x) * (HALF * y) == x * y


def test_a_scaled_node_holds_one_factor(builder: GraphBuilder, x: Scalar, y: Scalar) -> None:
    product = x * y
    assert builder.nodes[(3 * product).index] == Polynomial(((3, ((product.index, 1),)),))


def test_powers(x: Scalar, y: Scalar) -> None:
    assert x**0 == x.number(1)
    assert x**1 == x
    assert x * x == x**2
    assert (2 * x) ** 3 == 8 * x**3
    assert (-x) ** 2 == x**2
    assert (HALF * x) ** 2 == Fraction(1, 4) * x**2
    assert x.number(3) ** 4 == x.number(81)
    assert x.number(0) ** 2 == x.number(0)
    assert x.number(HALF) ** -2 == x.number(4)
    assert (2 * x) ** -2 == Fraction(1, 4) * x.reciprocal() ** 2


def test_polynomial_refuses_exponents_below_one(builder: GraphBuilder, x: Scalar) -> None:
    for exponent in (0, -1):
        with pytest.raises(GraphError, match="exponent"):
            builder.polynomial(((1, ((x.index, exponent),)),))


def test_static_factors_are_multiplied_first(builder: GraphBuilder, x: Scalar, p: Scalar) -> None:
    r = Scalar(builder, builder.symbol(Kind.PARAMETER, "r"))
    node = builder.nodes[builder.multiply(p.index, x.index, r.index)]
    assert node == Polynomial(((1, tuple(sorted(((x.index, 1), ((p * r).index, 1))))),))


def test_static_means_constants_and_parameters_only(builder: GraphBuilder, x: Scalar, p: Scalar) -> None:
    assert p.static and (p * p + 3).static and p.sin().static and p.number(2).static
    assert Scalar(builder, builder.pi()).static
    assert not x.static and not (x * p).static and not x.sin().static


def test_reciprocals(x: Scalar, y: Scalar) -> None:
    assert x.number(4).reciprocal() == x.number(Fraction(1, 4))
    assert (2 * x).reciprocal() == HALF * x.reciprocal()
    assert (-x).reciprocal() == -x.reciprocal()
    assert x.reciprocal().reciprocal() == x
    assert (3 * x.reciprocal()).reciprocal() == Fraction(1, 3) * x
    assert x / 2 == HALF * x
    assert 1 / x == x.reciprocal()
    assert x / y == x * y.reciprocal()


def test_division_by_exact_zero_is_refused(x: Scalar) -> None:
    with pytest.raises(GraphError, match="exactly zero"):
        (x - x).reciprocal()
    with pytest.raises(GraphError, match="exactly zero"):
        x / 0
    with pytest.raises(GraphError, match="exactly zero"):
        x.number(0) ** -1


@pytest.mark.parametrize(
    ("function", "argument", "result"),
    [
        ("sqrt", 0, 0),
        ("sqrt", Fraction(9, 4), Fraction(3, 2)),
        ("sqrt", 1, 1),
        ("abs", Fraction(-2, 3), Fraction(2, 3)),
        ("abs", 5, 5),
        ("sign", -7, -1),
        ("sign", 0, 0),
        ("sign", HALF, 1),
        ("exp", 0, 1),
        ("cosh", 0, 1),
        ("log", 1, 0),
        ("asin", 0, 0),
        ("atan", 0, 0),
        ("sinh", 0, 0),
        ("tanh", 0, 0),
        ("sin", 0, 0),
        ("cos", 0, 1),
    ],
)
def test_functions_of_numbers_fold_where_exact(x: Scalar, function: str, argument: Fraction, result: Fraction) -> None:
    assert x.number(argument).apply(function) == x.number(result)


@pytest.mark.parametrize(
    ("function", "argument"),
    [("sqrt", 2), ("sqrt", Fraction(4, 3)), ("sqrt", -4), ("exp", 1), ("log", 0), ("log", 2), ("acos", 0), ("cosh", 1)],
)
def test_functions_of_numbers_stay_where_not_rational(
    builder: GraphBuilder, x: Scalar, function: str, argument: Fraction
) -> None:
    scalar = x.number(argument).apply(function)
    assert isinstance(builder.nodes[scalar.index], Function)
    assert scalar.static


def test_select_folds_on_a_known_condition_and_on_equal_branches(x: Scalar, y: Scalar) -> None:
    for condition, chosen in ((1, x), (0, x), (Fraction(-1, 9), y)):
        assert x.number(condition).apply("select", x, y) == chosen
    assert (x * y).apply("select", y, y) == y
    assert x.apply("select", x, y) != y.apply("select", x, y)


def test_unknown_functions_and_wrong_arities_are_refused(x: Scalar) -> None:
    with pytest.raises(GraphError, match=r"unknown function 'sinus'.*the functions are"):
        x.apply("sinus")
    with pytest.raises(GraphError, match="atan2 takes 2 arguments, not 1"):
        x.apply("atan2")


def test_scalars_of_two_builders_do_not_mix(x: Scalar) -> None:
    other = GraphBuilder()
    stranger = Scalar(other, other.symbol(Kind.COORDINATE, "y"))
    for combine in (
        lambda: x + stranger,
        lambda: x - stranger,
        lambda: x * stranger,
        lambda: x / stranger,
        lambda: x.apply("atan2", stranger),
    ):
        with pytest.raises(GraphError, match="two builders"):
            combine()
    assert x != stranger


def test_the_graph_holds_live_nodes_only(builder: GraphBuilder, x: Scalar, y: Scalar) -> None:
    (x * y + 7).sin()
    graph = builder.graph([Output("out", (), ((x + 1).index,))])
    assert text.dump(graph) == '%0 = coordinate "x"\n%1 = 1 + %0\noutput "out" () = %1\n'
    assert graph.symbols() == (Symbol(Kind.COORDINATE, "x"),)


def test_renumber_keeps_the_given_order(builder: GraphBuilder, x: Scalar, y: Scalar) -> None:
    graph = builder.graph([Output("out", (), ((x * y).index,))])
    swapped = renumber(graph, [1, 0, 2])
    law.check(swapped)
    assert text.dump(swapped) == '%0 = coordinate "y"\n%1 = coordinate "x"\n%2 = %0 %1\noutput "out" () = %2\n'


@given(graphs())
def test_whatever_is_built_obeys_the_law(graph) -> None:
    law.check(graph)
    assert all(graph.live)


@given(st.lists(coefficients, min_size=3, max_size=3), st.lists(coefficients, min_size=3, max_size=3))
def test_linear_combinations_are_canonical(first: list, second: list) -> None:
    """Summed in any order and in parts, a linear combination of symbols is one node."""
    builder = GraphBuilder()
    x = [Scalar(builder, builder.symbol(Kind.COORDINATE, f"x{k}")) for k in range(3)]
    terms = [(c, ((s.index, 1),)) for c, s in zip(first + second, x + x, strict=True)]
    joined = [(a + b, ((s.index, 1),)) for a, b, s in zip(first, second, x, strict=True)]
    assert builder.polynomial(terms) == builder.polynomial(reversed(terms)) == builder.polynomial(joined)
    negated = [(-c, factors) for c, factors in terms]
    assert builder.polynomial(negated) == builder.scale(-1, builder.polynomial(terms))


def test_static_products_are_multiplied_out(builder: GraphBuilder, p: Scalar) -> None:
    r = Scalar(builder, builder.symbol(Kind.PARAMETER, "r"))
    assert (p + r) * (p - r) == p**2 - r**2
    assert (p + r) ** 2 - p**2 - r**2 == 2 * p * r
    assert p * p.reciprocal() == p.number(1)
    assert (p + r) + r == p + 2 * r
    assert p * (p * r) == p**2 * r


def test_other_products_are_kept_as_written(builder: GraphBuilder, x: Scalar, y: Scalar) -> None:
    assert (x + y) * (x - y) != x**2 - y**2
    assert builder.nodes[((x + y) + x).index] == Polynomial(((1, ((x.index, 1),)), (1, (((x + y).index, 1),))))


def test_high_static_powers_stay_powers(builder: GraphBuilder, p: Scalar) -> None:
    r = Scalar(builder, builder.symbol(Kind.PARAMETER, "r"))
    for base in (p, p * r, p + r):
        assert builder.nodes[(base**10**9).index] == Polynomial(((1, ((base.index, 10**9),)),))


def test_a_product_of_constants_is_multiplied_out_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of robot files are products of a dozen sines: factor by factor that took half of a compilation."""
    builder = GraphBuilder()
    symbols = [builder.symbol(Kind.PARAMETER, f"p{k}") for k in range(12)]
    factors = [*symbols, builder.add(*symbols[:3]), builder.reciprocal(symbols[4])]
    steps: list[int] = []
    times = GraphBuilder._times
    monkeypatch.setattr(GraphBuilder, "_times", lambda *given: steps.append(1) or times(*given))
    whole = builder.multiply(*factors)
    assert len(steps) <= 2
    node = builder.nodes[whole]
    assert isinstance(node, Polynomial) and len(node.terms) == 3
    assert all(symbols[4] not in dict(factors) for _, factors in node.terms)
