"""Complete analytic expressions: formed, kept, read back, and the one the dissertation prints."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given

from kinegraph import library
from kinegraph.errors import StoreError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.proof import prove
from kinegraph.io.vectors import read_vectors
from kinegraph.store import Form, add, check, evaluate, form_expressions, load
from kinegraph.store import expressions as expansion
from kinegraph.store.queries import Question, answer_to
from tests.graph.strategies import graphs, random_values
from tests.store.examples import few
from tests.store.graphs import put

PRINTED = Path(__file__).parent / "data" / "rackovic_h11.txt"


def rebuilt(expressions, nodes) -> Graph:
    """A graph made of expressions alone."""
    builder = GraphBuilder()
    place = dict(enumerate(_carried(builder, nodes)))
    outputs = []
    for expression in expressions:
        terms = [
            (c, tuple((builder.apply(b.function, place[b.node]) if b.function else place[b.node], e) for b, e in m))
            for m, c in expression.terms.items()
        ]
        outputs.append(Output(expression.label, (), (builder.polynomial(terms),)))
    return builder.graph(outputs)


def _carried(builder, graph):
    from kinegraph.graph.build import transfer

    place = transfer(graph, builder, only=[True] * len(graph))
    return [place[index] for index in range(len(graph))]


@pytest.mark.parametrize("sums", [False, True])
@few
@given(graph=graphs(functions=("sin", "cos", "sqrt", "atan"), max_steps=6))
def test_an_expression_is_its_variable(shared_store, graph, sums):
    saved = put(shared_store, graph, "any")
    try:
        found = form_expressions(shared_store, saved.graphs[0], "matrix", Form(sums=sums))
    except StoreError as problem:
        assume("more than" not in str(problem))
        raise
    labels = [f"matrix[{i},{j}]" for i in (1, 2) for j in (1, 2)]
    single = Graph(
        graph.nodes, tuple(Output(n, (), (c,)) for n, c in zip(labels, graph.output("matrix").nodes, strict=True))
    )
    assert prove(rebuilt(found, graph), single)


def angles(*outputs) -> Graph:
    """A graph of scalars made by functions of q1, q2 and m."""
    builder = GraphBuilder()
    kinds = (Kind.COORDINATE, Kind.COORDINATE, Kind.PARAMETER)
    symbols = [Scalar(builder, builder.symbol(kind, name)) for kind, name in zip(kinds, ("q1", "q2", "m"), strict=True)]
    return builder.graph([Output(f"y{n}", (), (make(*symbols).index,)) for n, make in enumerate(outputs, start=1)])


LONG = "sqrt(1 + m^2) + 2*m*sqrt(1 + m^2) + m^2*sqrt(1 + m^2)"


@pytest.mark.parametrize(
    ("make", "single", "sums"),
    [
        (lambda a, b, m: (a + b).sin(), "cos(q1)*sin(q2) + sin(q1)*cos(q2)", "sin(q1 + q2)"),
        (lambda a, b, m: (a - b).cos(), "cos(q1)*cos(q2) + sin(q1)*sin(q2)", "cos(q1 - q2)"),
        (lambda a, b, m: (2 * a).cos(), "-1 + 2*cos(q1)^2", "cos(2*q1)"),
        (lambda a, b, m: m * a.sin() ** 2 + m * a.cos() ** 2, "m", "m"),
        (lambda a, b, m: (a.sin() + 1) * (a.sin() - 1), "-cos(q1)^2", "-1 + sin(q1)^2"),
        (lambda a, b, m: (a / 2).sin() * m / 3, "1/3*m*sin(0.5*q1)", "1/3*m*sin(0.5*q1)"),
        (lambda a, b, m: (m * m + 1).apply("sqrt") * (m + 1) ** 2, None, LONG),
        (lambda a, b, m: m - m, "0", "0"),
    ],
)  # fmt: skip
def test_what_is_printed(shared_store, make, single, sums):
    saved = put(shared_store, angles(make), "printed")
    for form, text in ((Form(), single or sums), (Form(sums=True), sums)):
        (found,) = form_expressions(shared_store, saved.graphs[0], "y1", form)
        assert str(found) == f"y1 = {text}"


def test_parameters_as_numbers(store):
    put(store, angles(lambda a, b, m: m * (a + b) ** 2), m=Fraction(5, 2))
    (found,) = form_expressions(store, "model", "y1", Form(numeric=True))
    assert str(found) == "y1 = 2.5*q1^2 + 5*q1*q2 + 2.5*q2^2" or str(found) == "y1 = 2.5*q1^2 + 2.5*q2^2 + 5*q1*q2"
    assert found.rows()[0] == {"coefficient": "5/2", "factors": [{"name": "q1", "exponent": 2}]}


def test_kept_expressions_are_read_back(store):
    put(store, angles(lambda a, b, m: m * (a + b).sin() / 3, lambda a, b, m: m - m), m=2)
    formed = [form_expressions(store, "model", name, Form(True), keep=True) for name in ("y1", "y2")]
    with store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT COUNT(*) FROM expression_term").scalar()
    assert rows == 3  # two of y1, and the zero that says y2 was formed
    assert [form_expressions(store, "model", name, Form(True)) for name in ("y1", "y2")] == formed
    assert form_expressions(store, "model", "y1", Form(True), keep=True) == formed[0]
    assert check(store)


def test_too_long_an_expression_is_refused(store, monkeypatch):
    monkeypatch.setattr(expansion, "MAX_TERMS", 20)
    put(store, angles(lambda a, b, m: (a + b + m) ** 9))
    with pytest.raises(StoreError, match="more than 20 terms"):
        form_expressions(store, "model", "y1")


def printed_graph() -> Graph:
    """H11 as section 2.5.3 prints it."""
    builder = GraphBuilder()
    terms = []
    for line in PRINTED.read_text().splitlines()[1:]:
        sign, body = line.split()
        coefficient, factors = Fraction(f"{sign}1"), []
        for word in body.split("*"):
            if match := re.fullmatch(r"(sin|cos)\((q\d)\)(\^2)?", word):
                angle = builder.symbol(Kind.COORDINATE, match[2])
                factors.append((builder.apply(match[1], angle), 2 if match[3] else 1))
            else:
                coefficient *= Fraction(word)
        terms.append((coefficient, tuple(factors)))
    return builder.graph([Output("H[1,1]", (), (builder.polynomial(terms),))])


def test_h11_is_the_expression_of_section_2_5_3(store):
    add(store, library.mechanism("rackovic-6r"), "H")
    printed = printed_graph()
    for stage in ("initial", "reduced"):
        (ours,) = form_expressions(store, f"rackovic-6r:{stage}", "H11", Form(numeric=True), keep=True)
        assert prove(rebuilt([ours], load(store, f"rackovic-6r:{stage}")), printed)
        assert len(ours.terms) <= 81  # as many as the document prints
    state = dict(zip(("q2", "q3", "q4", "q5"), (-0.5236, -2.09439, -0.5236, 0.0), strict=True))
    assert float(interpret(printed, state)["H[1,1]"]) == pytest.approx(4.906043, abs=1e-6)
    assert float(evaluate(store, "rackovic-6r", ["H11"], state)["H11"]) == pytest.approx(4.906043, abs=1e-6)


def test_values_at_a_point(shared_store):
    graph = angles(lambda a, b, m: (a + 2 * b).sin() * (a - b).cos() * m + (a * b).sin())
    saved = put(shared_store, graph, "point")
    values = random_values(graph, seed=3)
    (found,) = form_expressions(shared_store, saved.graphs[0], "y1")
    np.testing.assert_allclose(
        interpret(rebuilt([found], graph), values)["y1"], interpret(graph, values)["y1"], rtol=1e-12
    )


OBLIQUE = """
name = "oblique"
[[link]]
axis = [0, 0, 1]
r = { 1 = [0, 0, 0.4], 2 = [0, 0, -0.4] }
moments = [0, 0, 0.2]
[[link]]
axis = [1, 1, 0]
r = { 2 = [0, 0.4, 0.1] }
mass = 5
moments = [0.25, 0.01, 0.25]
"""


@pytest.mark.parametrize("reference", ["oblique", "oblique:initial"])
def test_numbers_are_printed_as_decimals_of_a_double(store, reference):
    """An oblique axis has exact numbers of hundreds of digits: they stay in the store, nobody reads them."""
    add(store, read_vectors(OBLIQUE), "H,gravity")
    found = form_expressions(store, reference, "H") + form_expressions(store, reference, "gravity")
    assert max(len(str(c)) for one in found for c in one.terms.values()) > 100
    for one in found:
        assert all(len(digits.replace(".", "")) <= 20 for digits in re.findall(r"\d[\d.]*", str(one)))
    for question in (("costliest", reference), ("shared", reference), ("terms", reference, "H11", "q2")):
        rows = answer_to(store, Question(question[0], question[1:])).rows
        assert all(len(digits) <= 20 for row in rows for cell in row for digits in re.findall(r"\d[\d.]*", str(cell)))
    q = {"q1": 0.3, "q2": -0.7}
    text = str(form_expressions(store, reference, "H11")[0]).partition(" = ")[2]
    value = eval(text.replace("^", "**"), {}, {"cos": np.cos, "sin": np.sin, **q})
    assert value == pytest.approx(evaluate(store, reference, ["H"], q)["H"][0, 0], rel=1e-12)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 3), "1/3"), (Fraction(-5, 7), "-5/7"), (Fraction(1, 8), "0.125"), (Fraction(-1, 8), "-0.125"),
        (3, "3"), (-12, "-12"), (10**40, "1e40"), (Fraction(2, 3) * 10**7, "6666666.6666666667"),
        (Fraction(10**400 + 1, 3 * 10**400), "0.33333333333333333"),
        (Fraction(1, 3 * 10**30), "3.3333333333333333e-31"),
    ],
)  # fmt: skip
def test_a_coefficient_as_text(value, text):
    assert expansion.term_text(value, []) == text
    assert expansion.term_text(value, [("x", 2)]) == f"{text}*x^2"
