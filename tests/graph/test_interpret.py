"""The interpreter against Python's arithmetic, and static values against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.errors import GraphError
from kinegraph.graph import text
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import BallArithmetic, Evaluation, extended_precision, interpret
from kinegraph.graph.node import FUNCTIONS, Graph, Kind, Output
from tests.graph.mechanics import newton_euler
from tests.graph.strategies import TAME, graphs, random_values

PYTHON: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("sin", "cos", "sqrt", "exp", "log", "asin", "acos", "atan", "atan2")},
    **{name: getattr(math, name) for name in ("sinh", "cosh", "tanh")},
    "reciprocal": lambda x: 1 / x,
    "abs": abs,
    "sign": lambda x: math.copysign(1.0, x) if x else 0.0,
    "select": lambda condition, chosen, other: chosen if condition >= 0 else other,
    "guarded": lambda value, room: value if room >= 0 else math.nan,
}
NAMES = ("x", "y", "z")


def static_values(graph: Graph, parameters: Mapping[str, Fraction | float]) -> dict[int, float]:
    """Every live static node, evaluated once in extended precision and rounded to the nearest double."""
    only = [live and static for live, static in zip(graph.live, graph.static, strict=True)]
    with extended_precision():
        evaluation = Evaluation(graph, BallArithmetic(parameters), only)
        return {index: float(evaluation[index].mid()) for index, want in enumerate(only) if want}


def graph_of(write: Callable[..., Scalar], kind: Kind = Kind.COORDINATE, shape: tuple[int, ...] = ()) -> Graph:
    builder = GraphBuilder()
    scalar = write(*(Scalar(builder, builder.symbol(kind, name)) for name in NAMES))
    return builder.graph([Output("out", shape, (scalar.index,))])


def applied(name: str, kind: Kind = Kind.COORDINATE) -> Graph:
    return graph_of(lambda *scalars: scalars[0].apply(name, *scalars[1 : FUNCTIONS[name].arity]), kind)


def test_python_has_every_function() -> None:
    assert PYTHON.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("point", [(0.3, 0.8, -0.4), (0.9, -0.2, 0.5)])
def test_functions(name: str, point: tuple[float, ...]) -> None:
    expected = PYTHON[name](*point[: FUNCTIONS[name].arity])
    assert float(interpret(applied(name), dict(zip(NAMES, point, strict=True)))["out"]) == pytest.approx(
        expected, 1e-15, nan_ok=True
    )


@pytest.mark.parametrize("name", ["sin", "cos", "atan", "atan2", "sinh", "tanh", "abs", "sign", "reciprocal", "select"])
def test_functions_of_negative_arguments(name: str) -> None:
    point = (-0.7, -0.6, 0.2)
    expected = PYTHON[name](*point[: FUNCTIONS[name].arity])
    assert float(interpret(applied(name), dict(zip(NAMES, point, strict=True)))["out"]) == pytest.approx(
        expected, 1e-15
    )


def test_a_polynomial_by_hand() -> None:
    graph = text.read('%0 = input "x"\n%1 = input "y"\n%2 = 3/2 %0 %1^2 - %0^3 + 1/4\noutput "out" () = %2\n')
    assert interpret(graph, {"x": 2.0, "y": -3.0})["out"] == 1.5 * 2 * 9 - 8 + 0.25


def test_pi_needs_no_value_and_others_do() -> None:
    graph = text.read('%0 = constant "pi"\n%1 = parameter "m"\n%2 = %0 %1\noutput "out" () = %2\n')
    assert interpret(graph, {"m": 2})["out"] == 2 * math.pi
    with pytest.raises(GraphError, match="no value for parameter 'm'"):
        interpret(graph, {})
    with pytest.raises(GraphError, match="no value for parameter 'm'"):
        static_values(graph, {})


def test_select_takes_the_first_branch_at_zero_and_neither_at_nan() -> None:
    values = {"x": np.array([0.0, 1.0, -1.0, np.nan]), "y": 2.0, "z": 3.0}
    np.testing.assert_array_equal(interpret(applied("select"), values)["out"], [2, 2, 3, np.nan])


def test_nan_in_is_nan_out_without_warnings() -> None:
    graph = newton_euler([2, 1])
    values = random_values(graph, 1) | {"q1": math.nan}
    assert np.isnan(interpret(graph, values)["tau"]).all()


def test_shapes_of_outputs() -> None:
    source = (
        '%0 = time "t"\n%1 = 2 %0\noutput "s" () = %0\noutput "m" (2, 3) = %0 %1 %0 %1 %0 %1\noutput "e" (0, 4) =\n'
    )
    graph = text.read(source)
    single = interpret(graph, {"t": 1.0})
    assert {name: value.shape for name, value in single.items()} == {"s": (), "m": (2, 3), "e": (0, 4)}
    np.testing.assert_array_equal(single["m"], [[1, 2, 1], [2, 1, 2]])
    batch = interpret(graph, {"t": np.ones((5, 7))})
    assert {name: value.shape for name, value in batch.items()} == {"s": (5, 7), "m": (5, 7, 2, 3), "e": (5, 7, 0, 4)}


def test_a_constant_output_is_repeated_over_the_batch() -> None:
    graph = text.read('%0 = time "t"\n%1 = 3\noutput "a" (2) = %0 %1\n')
    np.testing.assert_array_equal(interpret(graph, {"t": np.array([1.0, 2.0])})["a"], [[1, 3], [2, 3]])


@given(graphs(functions=TAME), st.integers(0, 1000))
def test_a_batch_equals_its_members(graph: Graph, seed: int) -> None:
    points = [random_values(graph, seed + k) for k in range(4)]
    batch = interpret(graph, {name: np.array([point[name] for point in points]) for name in points[0]})
    for position, point in enumerate(points):
        for name, value in interpret(graph, point).items():
            row = batch[name][position] if points[0] else batch[name]
            np.testing.assert_allclose(row, value, rtol=1e-12, atol=1e-12)


MPMATH: dict[str, Callable[..., mpmath.mpf]] = {
    **{name: getattr(mpmath, name) for name in PYTHON if hasattr(mpmath, name)},
    "reciprocal": lambda x: 1 / x,
    "abs": abs,
    "sign": mpmath.sign,
    "select": PYTHON["select"],
    "guarded": PYTHON["guarded"],
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("point", [(Fraction(3, 10), Fraction(-7, 9), Fraction(1, 7)), (0.9, -0.2, 0.5)])
def test_static_values_are_correctly_rounded(name: str, point: tuple[Fraction | float, ...]) -> None:
    graph = applied(name, Kind.PARAMETER)
    with mpmath.workdps(60):
        exact = [mpmath.mpf(Fraction(v).numerator) / Fraction(v).denominator for v in point]
        expected = float(MPMATH[name](*exact[: FUNCTIONS[name].arity]))
    found = static_values(graph, dict(zip(NAMES, point, strict=True)))[graph.output("out").nodes[0]]
    np.testing.assert_array_equal(found, expected)  # the same double; no number is no number


def test_static_values_survive_cancellation() -> None:
    """1 - cos(1e-9) has no correct digit in double precision."""
    graph = graph_of(lambda x, y, z: 1 - x.cos() + y - y, Kind.PARAMETER)
    values = static_values(graph, {"x": 1e-9, "y": 1.0})
    with mpmath.workdps(60):
        assert values[graph.output("out").nodes[0]] == float(1 - mpmath.cos(mpmath.mpf(1e-9)))


@given(st.fractions())
def test_static_numbers_are_correctly_rounded(value: Fraction) -> None:
    builder = GraphBuilder()
    graph = builder.graph([Output("out", (), (builder.number(value),))])
    assert static_values(graph, {}) == {0: float(value)}


def test_static_values_cover_live_static_nodes_only() -> None:
    source = '%0 = parameter "m"\n%1 = coordinate "q"\n%2 = %0^2\n%3 = %1 %2\n%4 = sin %0\noutput "out" () = %3\n'
    assert static_values(text.read(source), {"m": 3}) == {0: 3.0, 2: 9.0}


def test_static_values_leave_the_precision_of_flint_alone() -> None:
    before = flint.ctx.prec
    static_values(applied("sin", Kind.PARAMETER), {"x": 1})
    with pytest.raises(GraphError):
        static_values(applied("sin", Kind.PARAMETER), {})
    assert flint.ctx.prec == before


def test_static_values_treat_a_ball_around_zero_as_zero() -> None:
    """sqrt(x)^2 - x is zero, although its ball of extended precision extends below zero."""

    def zero(x: Scalar) -> Scalar:
        return x.apply("sqrt") ** 2 - x

    for value in (2, 3, 5, 6, 7):
        for write, expected in (
            (lambda x, y, z: zero(x).apply("sqrt"), 0.0),
            (lambda x, y, z: zero(x).apply("sign"), 0.0),
            (lambda x, y, z: zero(x).apply("select", y, z), 10.0),
            (lambda x, y, z: (-zero(x)).apply("select", y, z), 10.0),
        ):
            graph = graph_of(write, Kind.PARAMETER)
            result = static_values(graph, {"x": value, "y": 10, "z": 20})[graph.output("out").nodes[0]]
            assert result == pytest.approx(expected, abs=1e-30)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_static_values_of_no_number_are_no_number(value: float) -> None:
    assert all(map(math.isnan, static_values(applied("sin", Kind.PARAMETER), {"x": value}).values()))
