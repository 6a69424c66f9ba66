"""Square roots in a proof: true roots of random sign."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.graph import proof as proofs
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.prime_field import Element, FieldArithmetic, PrimeField, RootArithmetic, UnluckyPoint
from kinegraph.graph.proof import prove
from tests.graph.proof.test_prove import Write, graph_of, proven

FIELD = PrimeField.drawn(2)
POINT = RootArithmetic(FieldArithmetic(FIELD, 3))


def root(x: Scalar) -> Scalar:
    return x.apply("sqrt")


TRUE: dict[str, tuple[Write, Write]] = {
    "square of a root": (lambda x, y, pi: root(x + y) ** 2, lambda x, y, pi: x + y),
    "conjugate": (
        lambda x, y, pi: 1 / (root(x) - root(y)),
        lambda x, y, pi: (root(x) + root(y)) / (x - y),
    ),
    "circle by a root": (
        lambda x, y, pi: (x / root(x * x + y * y)) ** 2 + (y / root(x * x + y * y)) ** 2,
        lambda x, y, pi: x.number(1),
    ),
    "sine from a cosine": (
        lambda x, y, pi: (1 - (x / y) ** 2).apply("sqrt") ** 2 + (x / y) ** 2,
        lambda x, y, pi: x.number(1),
    ),
    "fourth power": (lambda x, y, pi: root(x) ** 4, lambda x, y, pi: x * x),
    "one over a root": (lambda x, y, pi: 1 / root(x), lambda x, y, pi: root(x) / x),
    "root of a number": (lambda x, y, pi: root(x.number(2)) ** 2 * x, lambda x, y, pi: 2 * x),
    "root in a root": (lambda x, y, pi: root(x + root(y)) ** 2 - root(y), lambda x, y, pi: x),
    "twice in a root": (
        lambda x, y, pi: (root(x + root(y + root(x))) ** 2 - x) ** 2,
        lambda x, y, pi: y + root(x),
    ),
    "equal radicands": (lambda x, y, pi: root((x + y) ** 2 + 1), lambda x, y, pi: root(x * x + 2 * x * y + y * y + 1)),
    "root in an angle": (
        lambda x, y, pi: (2 * root(x)).sin() * root(y) ** 2,
        lambda x, y, pi: 2 * root(x).sin() * root(x).cos() * y,
    ),
    "root in a function": (
        lambda x, y, pi: (root(x) ** 2).apply("exp") + root(x).apply("select", root(y) ** 2, x),
        lambda x, y, pi: x.apply("exp") + root(x).apply("select", y, root(x) ** 2),
    ),
}

FALSE: dict[str, tuple[Write, Write]] = {
    "root of a square": (lambda x, y, pi: root(x * x), lambda x, y, pi: x),
    "negative root": (lambda x, y, pi: root(x), lambda x, y, pi: -root(x)),
    "product of roots": (lambda x, y, pi: root(x) * root(y), lambda x, y, pi: root(x * y)),
    "sum under a root": (lambda x, y, pi: root(x + y), lambda x, y, pi: root(x) + root(y)),
    "sign of a root beside a square": (
        lambda x, y, pi: root(x) ** 2 + root(y),
        lambda x, y, pi: x - root(y),
    ),
    "root of a fourth power": (lambda x, y, pi: root(root(x) ** 4), lambda x, y, pi: x),
    "root of a square of a sum": (lambda x, y, pi: root((x + y) ** 2), lambda x, y, pi: x + y),
    "another radicand": (lambda x, y, pi: root(x) ** 2, lambda x, y, pi: y),
}


@pytest.mark.parametrize("name", TRUE)
def test_accepts_what_holds_for_roots(name: str) -> None:
    assert proven(*TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_refuses_what_depends_on_a_sign(name: str) -> None:
    left, right = FALSE[name]
    for seed in range(20):
        assert not prove(graph_of(left), graph_of(right), seed=seed)


def test_there_are_points_enough_for_signs() -> None:
    assert proofs.ROOT_POINTS >= 20


def test_roots_as_oracles_are_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """If equal radicands suffice, one point of the field does, and the extension is not used."""
    monkeypatch.setattr(proofs._Comparison, "with_roots", None)
    assert proven(*TRUE["equal radicands"])


def test_a_hidden_zero_under_roots_is_a_difference() -> None:
    assert not proven(lambda x, y, pi: 1 / (root(x) ** 2 - x), lambda x, y, pi: 1 / (root(y) ** 2 - y))


elements = st.tuples(st.integers(0, FIELD.prime - 1), st.integers(0, 3) | st.integers(0, FIELD.prime - 1)).map(
    lambda pair: pair if pair[1] else pair[0]
)


@given(elements, elements, elements)
def test_the_extension_is_a_field(a: Element, b: Element, c: Element) -> None:
    add, times = POINT.add, POINT.multiply
    assert times(a, add(b, c)) == add(times(a, b), times(a, c))
    assert times(times(a, b), c) == times(a, times(b, c))
    assert POINT.power(a, 5) == times(a, times(times(a, a), times(a, a)))
    if a:
        assert times(a, POINT.function("reciprocal", [a])) == 1


@given(elements)
def test_a_root_squares_to_its_radicand(value: Element) -> None:
    try:
        found = POINT.function("sqrt", [value])
    except UnluckyPoint:
        assert isinstance(value, tuple)  # numbers of the field below always have a root
        return
    assert POINT.multiply(found, found) == value
    assert POINT.function("sqrt", [value]) == found


def test_half_of_the_extension_has_roots() -> None:
    strict = RootArithmetic(FieldArithmetic(FIELD, 4))
    lenient = RootArithmetic(FieldArithmetic(FIELD, 4), oracles=True)
    lucky = 0
    for number in range(200):
        lenient.function("sqrt", [(number, 1)])
        try:
            strict.function("sqrt", [(number, 1)])
            lucky += 1
        except UnluckyPoint:
            pass
    assert 60 < lucky < 140


def test_both_signs_occur() -> None:
    signs = set()
    for seed in range(20):
        point = RootArithmetic(FieldArithmetic(FIELD, seed))
        signs.add(point.function("sqrt", [4]))
    assert signs == {2, FIELD.prime - 2}


def test_entries_that_need_no_roots_may_share_nodes_with_those_that_do() -> None:
    """Both are zero: the first because sqrt(x)^2 = x, the second exactly."""
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")
    root = (x * x + y).apply("sqrt")
    first = root * root - (x * x + y)
    second = y * (y.reciprocal() * x) - x
    zero = x.number(0).index
    graphs = [builder.graph([Output("out", (2,), nodes)]) for nodes in ((first.index, second.index), (zero, zero))]
    assert prove(*graphs)


def test_of_a_sign_its_square_is_known_and_nothing_else() -> None:
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")
    root = y.apply("sign") * x.apply("sqrt")

    def graph(scalar: Scalar) -> Graph:
        return builder.graph([Output("out", (), (scalar.index,))])

    assert prove(graph(root * root), graph(x))
    assert not prove(graph(root), graph(x.apply("sqrt")))
    assert not prove(graph(y * y.apply("sign") + root * root - x), graph(y.apply("abs")))


def test_a_guard_changes_no_value() -> None:
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")
    guarded = x.apply("guarded", y)
    graphs = [builder.graph([Output("out", (), (one.index,))]) for one in (guarded * guarded, x * x, x * y)]
    assert prove(graphs[0], graphs[1])
    assert not prove(graphs[0], graphs[2])
