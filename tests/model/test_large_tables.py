"""Tables of many points are arrays: the same values as selections, in every kernel, language and library."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, RegularGridInterpolator

import kinegraph as kg
from kinegraph.derive.tree.tables import SELECTED
from kinegraph.errors import GraphError
from kinegraph.export import ExportOptions, Language
from kinegraph.export.prepare import prepare
from kinegraph.graph.build import GraphBuilder, Scalar, without_lookups
from kinegraph.graph.enclose import Enclosed, Enclosure
from kinegraph.graph.interpret import interpret
from kinegraph.graph.law import check
from kinegraph.graph.lookup import constants_of, label_of, lookup_name
from kinegraph.graph.node import Function, Graph, Kind, Output
from kinegraph.graph.proof import prove
from kinegraph.graph.text import dump, read
from kinegraph.model import Builder, Mechanism, Sx, inertia
from kinegraph.notation.text import formula
from tests.export.languages import build
from tests.interpreted import interpreted

SLOPE = "d(forces)/d(q)"
X = np.round(np.cumsum(np.random.default_rng(3).uniform(0.01, 0.1, 300)), 4)
Y = np.round(np.sin(X) + 0.2 * np.cos(7 * X), 6)
Y[-1] = Y[0]
PLACES = np.concatenate([X[[0, 1, 100, 298]], np.random.default_rng(4).uniform(X[0], X[-1], 12)])


def slider(interpolation: str, outside: str) -> Mechanism:
    builder = Builder("slider")
    q = builder.coordinate("q")
    table = builder.table("push", X, Y, interpolation=interpolation, outside=outside)
    builder.body("Block", transforms=[Sx(q)], inertia=inertia(mass=2))
    builder.force("f", table(q), q)
    return builder.build()


@pytest.mark.parametrize(
    ("kind", "outside"), [("linear", "refuse"), ("spline", "hold"), ("spline", "periodic"), ("monotone", "extrapolate")]
)
def test_values_and_slopes_are_exact_in_every_kernel(kind: str, outside: str) -> None:
    model = slider(kind, outside)
    table = model.tables[0]
    exact = [float(table.at([Fraction(float(q))])) for q in PLACES]
    steps = [table.at([Fraction(float(q)) + sign * Fraction(1, 10**12)]) for q in PLACES[4:] for sign in (-1, 1)]
    slopes = np.diff(np.array([float(one * 10**12) for one in steps]).reshape(-1, 2), axis=1)[:, 0] / 2
    for make in (kg.compile, interpreted):
        kernel = make(model, ["forces", SLOPE])
        found = [kernel(q=[q], v=[0.0]) for q in PLACES]
        assert [float(one["forces"][0]) for one in found] == pytest.approx(exact, abs=1e-12)
        assert [one[SLOPE].item() for one in found[4:]] == pytest.approx(slopes, abs=1e-3)
    many = kernel.batch(q=PLACES[:, None], v=np.zeros((len(PLACES), 1)))
    assert many["forces"][:, 0] == pytest.approx(exact, abs=1e-12)
    fast = kg.compile(model, ["forces", SLOPE]).batch(q=PLACES[:, None], v=np.zeros((len(PLACES), 1)))
    assert fast["forces"][:, 0] == pytest.approx(exact, abs=1e-12)
    outer = kg.compile(model, "forces")
    for q in (X[0] - 0.3, X[-1] + 0.4, math.nan):
        wanted = float(table.at([Fraction(q)])) if q == q else math.nan
        assert float(outer(q=[q], v=[0.0])[0]) == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_arrays_equal_selections() -> None:
    """In all digits, also at the points and for no number; and the text of the graph says everything."""
    graph = kg.derive(slider("spline", "hold"), ["forces", SLOPE])
    assert any(isinstance(node, Function) and node.name.startswith("entry(") for node in graph.nodes)
    plain = without_lookups(graph)
    assert not any(isinstance(node, Function) and node.name.startswith(("entry(", "interval(")) for node in plain.nodes)
    q = np.concatenate([PLACES, X, [-5.0, 99.0, math.nan, math.inf]])
    found, wanted = (interpret(one, {"q": q, "q'": np.zeros(len(q))}) for one in (graph, plain))
    np.testing.assert_array_equal(found["forces"], wanted["forces"])
    again = read(dump(graph))
    assert again == graph
    check(again)
    assert prove(again, graph)
    assert len(plain) > 10 * len(graph)


def test_a_table_of_two_arguments() -> None:
    x, y = np.linspace(0, 2, 12), np.linspace(-1, 1, 9)
    values = np.round(np.sin(x)[:, None] * np.cosh(y)[None, :], 6)
    builder = Builder("map")
    a, b = builder.coordinate("a"), builder.coordinate("b")
    table = builder.table("map", x, values, y, interpolation="linear", outside="hold")
    builder.body("Block", transforms=[Sx(a)], inertia=inertia(mass=2))
    builder.body("Slide", "Block", [Sx(b)], inertia(mass=1))
    builder.force("f", table(a, b), a)
    model = builder.build()
    assert len(model.tables[0].pieces) > SELECTED
    peer = RegularGridInterpolator((x, y), values)
    kernel = kg.compile(model, "forces")
    for point in np.random.default_rng(2).uniform((0, -1), (2, 1), (20, 2)):
        assert kernel(q=point, v=[0, 0])[0] == pytest.approx(peer(point).item(), abs=1e-12)
    assert kernel(q=[5.0, -3.0], v=[0, 0])[0] == pytest.approx(peer([2.0, -1.0]).item(), abs=1e-12)


def test_five_thousand_points_make_a_short_graph() -> None:
    x = np.round(np.linspace(0, 10, 5000), 6)
    builder = Builder("road")
    q = builder.coordinate("q")
    table = builder.table("road", x, np.round(np.sin(x), 8), interpolation="spline", outside="hold")
    builder.body("Block", transforms=[Sx(q)], inertia=inertia(mass=2))
    builder.force("f", table(q), q)
    model = builder.build()
    kernel = kg.compile(model, "qdd")
    assert len(kernel.graph.nodes) < 40  # type: ignore[attr-defined]
    assert kernel(q=[3.3], v=[0.0], tau=[0.0])[0] == pytest.approx(CubicSpline(x, np.sin(x))(3.3) / 2, abs=1e-7)


def test_a_run_over_a_large_table() -> None:
    """A mass on a periodic potential force: the energy from the integral of the spline."""
    model = slider("spline", "periodic")
    run = kg.simulate(model, 4, state={"q": 1.0}, times=200, rtol=1e-10)
    work = CubicSpline(X, Y, bc_type="periodic").antiderivative()
    assert run.status.good
    np.testing.assert_allclose(run["q'"] ** 2, work(run["q"]) - work(1.0), atol=1e-6)


@pytest.mark.parametrize("language", [Language.C, Language.PYTHON, Language.JAVASCRIPT], ids=lambda one: one.value)
def test_sources_hold_the_arrays(language: Language, tmp_path: Path) -> None:
    unit = prepare(slider("spline", "refuse"), ["forces", SLOPE], ExportOptions())
    assert build(unit, language, tmp_path).selftest() == 0


def test_equations_name_searches_briefly() -> None:
    name = lookup_name("interval", [Fraction(1, 2), 3])
    assert (name, label_of(name), constants_of(name)) == ("interval(1/2,3)", "interval_2", (Fraction(1, 2), 3))
    printed = formula(kg.derive(slider("linear", "hold"), "forces"))
    assert "interval1(" in printed
    assert "entry2(" in printed
    assert max(map(len, printed.splitlines())) < 200


def test_libraries_take_selections() -> None:
    casadi = pytest.importorskip("casadi")
    from kinegraph.interop.symbolic import to_casadi

    model = slider("linear", "hold")
    function = to_casadi(model, "forces")["forces"]
    assert isinstance(function, casadi.Function)
    kernel = kg.compile(model, "forces")
    for q in PLACES:
        assert float(function(q, 0.0)) == pytest.approx(kernel(q=[q], v=[0.0])[0], abs=1e-13)


def single(name: str) -> Graph:
    builder = GraphBuilder()
    x = Scalar(builder, builder.symbol(Kind.COORDINATE, "x"))
    return builder.graph([Output("y", (), (x.apply(name).index,))])


def test_numbers_of_such_functions() -> None:
    """The bound itself is reached; entries are those of the whole number; beyond the last is the last."""
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, math.nan])
    found = interpret(single("interval(0,1)"), {"x": x})["y"]
    np.testing.assert_array_equal(found, [0, 1, 1, 2, 2, math.nan])
    found = interpret(single("entry(7,8)"), {"x": x})["y"]
    np.testing.assert_array_equal(found, [math.nan, 7, 7, 8, 8, math.nan])


@pytest.mark.parametrize("name", ["interval(1,1)", "interval(2,1)", "entry(a)", "entry(2/4)", "entry(1/0)"])
def test_the_law_refuses_other_constants(name: str) -> None:
    builder = GraphBuilder()
    x = builder.symbol(Kind.COORDINATE, "x")
    with pytest.raises(GraphError):
        check(Graph((*builder.nodes, Function(name, (x,))), (Output("y", (), (len(builder.nodes),)),)))


def test_enclosures_of_such_functions() -> None:
    """An interval of the argument gives all pieces in it; an uncertain index any value."""
    builder = GraphBuilder()
    x, low, high = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in ("x", "low", "high"))
    piece = x.apply("interval(0,1,2)")
    value = piece.apply("entry(5,-1,3,9)")
    enclosed = Enclosed(builder, {x.index: Enclosure((low + high) / 2, (high - low) / 2)})
    outputs = []
    for name, one in (("piece", piece), ("value", value)):
        found = enclosed(one.index)
        outputs += [Output(f"{name} low", (), (found.low.index,)), Output(f"{name} high", (), (found.high.index,))]
    graph = builder.graph(outputs)
    wide = interpret(graph, {"low": 0.5, "high": 1.5})
    assert [float(wide[one.name]) for one in outputs] == [1, 2, -1, 9]
    sharp = interpret(graph, {"low": 1.25, "high": 1.5})
    assert [float(sharp[one.name]) for one in outputs] == [2, 2, 3, 3]
