"""Linear relations between outputs: exact rational coefficients, with trigonometry and roots."""

from fractions import Fraction

from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.graph.proof import relations


def found(make, **more):
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")
    outputs = [Output(name, (), (one.index,)) for name, one in make(x, y).items()]
    return relations(builder.graph(outputs), **more)


def test_coefficients_are_exact_fractions():
    large = Fraction(123456789, 987654321)
    assert found(lambda x, y: {"a": x * y, "b": y * x * large + y, "c": y}) == [
        {"a": 1, "b": -1 / large, "c": 1 / large}
    ]
    assert found(lambda x, y: {"a": x, "b": y, "c": x * y}) == []


def test_identities_of_angles_and_roots_are_relations():
    squares = found(lambda x, y: {"s": x.sin() ** 2, "c": x.cos() ** 2, "1": x.number(1)})
    assert squares == [{"s": 1, "c": 1, "1": -1}]
    halves = found(lambda x, y: {"a": (x / 2).sin() ** 2, "b": x.cos(), "1": x.number(1)})
    assert halves == [{"a": 1, "b": Fraction(1, 2), "1": Fraction(-1, 2)}]
    roots = found(lambda x, y: {"a": (x + y).apply("sqrt") ** 2, "x": x, "y": 3 * y})
    assert roots == [{"a": 1, "x": -1, "y": Fraction(-1, 3)}]
    assert found(lambda x, y: {"a": (x * x).apply("sqrt"), "x": x}) == []  # that depends on a sign


def test_a_factor_that_is_no_fraction_is_no_relation():
    def by_pi(x, y):
        pi = Scalar(x.builder, x.builder.symbol(Kind.CONSTANT, "pi"))
        return {"a": pi * x, "x": x, "y": y, "2y": 2 * y}

    assert found(by_pi) == [{"y": 1, "2y": Fraction(-1, 2)}]


def test_quaternions_have_unit_length():
    group = [tuple(Symbol(Kind.COORDINATE, name) for name in ("x", "y", "z", "w"))]
    builder = GraphBuilder()
    nodes = [Scalar(builder, builder.symbol(*one)) for one in group[0]]
    outputs = [Output(one.name, (), ((node**2).index,)) for one, node in zip(group[0], nodes, strict=True)]
    graph = builder.graph([*outputs, Output("1", (), (builder.one,))])
    assert relations(graph, group) == [{"x": 1, "y": 1, "z": 1, "w": 1, "1": -1}]
    assert relations(graph) == []
