"""Equations as text and LaTeX: the printed text is evaluated again, and compiled if LaTeX is installed."""

import re
from math import cos, exp, sin, sqrt

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.graph.text import read
from kinegraph.notation.latex import LatexNames, latex, name_latex
from kinegraph.notation.naming import Naming
from kinegraph.notation.text import formula
from kinegraph.notation.writing import number_text
from tests.programs import needs, shell

CASES = [
    ("double-pendulum", "H,C,gravity,qdd", False),
    ("stanford", "tau,H", False),
    ("rackovic-6r", "H,C,gravity", True),
    ("heavy-top", "qdd,energy", True),
    ("five-link-tree", "gravity", False),
    ("kidym-biped-new", "tau", True),
    ("puma560", "pose:L6", True),
]


def recomputed(text, values):
    """Every entry that the text defines, by evaluating the text."""
    names, found = {}, {}

    def known(name):
        return names.setdefault(name, f"n{len(names)}")

    space = {"sin": sin, "cos": cos, "sqrt": sqrt, "exp": exp}
    word = re.compile(r"tau:[^\W\d][\w$]*|[^\W\d][\w$]*'*")
    space |= {known(name): value for name, value in values.items()}
    lines = re.sub(r"\n    ", " ", text).splitlines()
    for line in (part for row in lines for part in re.split(r" {4,}", row) if "=" in part):
        *left, right = line.split(" = ")
        code = word.sub(lambda m: m[0] if m[0] in ("sin", "cos", "sqrt", "exp") else known(m[0]), right)
        code = re.sub(r"\bn_e", "e", code)
        value = eval(code.replace("^", "**"), {"__builtins__": {}}, space)
        for side in left:
            if "[" in side:
                found[side] = value
            else:
                space[known(side)] = value
    return found


@pytest.mark.parametrize(("model", "quantity", "numeric"), CASES)
@pytest.mark.parametrize("raw", [True, False])
def test_the_text_says_what_the_graph_computes(model, quantity, numeric, raw):
    graph = kg.derive(kg.load(model), quantity, numeric=numeric)
    graph = graph if raw else kg.reduce(graph, kg.Effort.QUICK).graph
    random = np.random.default_rng(1)
    values = {"pi": np.pi} | {s.name: random.uniform(0.3, 1.2) for s in graph.symbols() if s.name != "pi"}
    text = formula(graph)
    found = recomputed(text, values)
    for name, array in interpret(graph, values).items():
        for place, value in np.ndenumerate(array):
            entry = f"{name}[{','.join(str(i + 1) for i in place)}]"
            mirrored = f"{name}[{','.join(str(i + 1) for i in (*place[:-2], *place[:-3:-1]))}]"
            expected = found.get(entry, found.get(mirrored if f"{name} is symmetric" in text else entry, 0.0))
            assert value == pytest.approx(expected, rel=1e-11, abs=1e-11), entry


def test_names_avoid_those_of_the_model():
    text = "parameters s1 = 1, x1 = 2; coordinates q1; gravity 0, 0, -1; A | Ry(q1) | Sz(s1), Sx(x1), m(2);"
    naming = Naming(kg.derive(kg.parse(text), "H,gravity"))
    labels = [str(label) for label in naming.labels.values()]
    assert len(set(labels)) == len(labels) and not {"s1", "x1"} & set(labels)


def test_angles_are_named_by_their_coordinates():
    graph = kg.derive(kg.load("pendulum-12"), "gravity", numeric=True)
    labels = {str(label) for label in Naming(graph).labels.values()}
    assert {"s1", "s1_2"} <= labels and "s12" not in labels  # which could be of q12 or of q1 + q2


def test_a_long_chain_of_sums_is_no_problem():
    builder = GraphBuilder()
    total = builder.symbol(Kind.COORDINATE, "q")
    for number in range(5000):
        total = builder.add(builder.multiply(total, total), builder.symbol(Kind.PARAMETER, f"p{number}"))
    graph = builder.graph([Output("y", (), (total,))])
    assert "y = " in formula(graph) and max(map(len, formula(graph).splitlines())) < 200


def test_nothing_and_zero():
    assert formula(read('%0 = 0\noutput "y" (2) = %0 %0\n')) == "y = 0\n"
    assert "$\\mathrm{y} = 0$" in latex(read('%0 = 0\noutput "y" () = %0\n'))


@pytest.mark.parametrize(
    ("number", "text"),
    [("1/4", "0.25"), ("1000", "1000"), ("1/100000000", "1e-8"), ("123456", "123456"), ("1/3", "0.33333333333333333")],
)
def test_numbers(number, text):
    from fractions import Fraction

    assert number_text(Fraction(number)) == text


@pytest.mark.parametrize(
    ("name", "dots", "expected"),
    [
        ("q1", 0, "q_{1}"),
        ("q1", 1, r"\dot{q}_{1}"),
        ("teta$L", 2, r"\ddot{\theta}_{L}"),
        ("θ1", 0, r"\theta_{1}"),
        ("alfa$", 0, r"\alpha"),
        ("mu", 0, r"\mathit{mu}"),
        ("μ", 0, r"\mu"),
        ("J2x", 0, "J_{2x}"),
        ("mass", 0, r"\mathit{mass}"),
        ("Ш", 0, r"\text{Ш}"),
        ("a$b$c", 0, "a_{b,c}"),
        ("Σ", 0, r"\Sigma"),
    ],
)
def test_names_in_latex(name, dots, expected):
    assert name_latex(name, dots) == expected


def test_names_that_look_alike_are_told_apart():
    symbols = [Symbol(Kind.PARAMETER, name) for name in ("q1", "q_1", "q$1")]
    names = LatexNames(symbols)
    assert len({names[symbol] for symbol in symbols}) == 3


@needs("pdflatex")
@pytest.mark.parametrize(("model", "quantity", "numeric"), CASES)
def test_latex_sets_it(model, quantity, numeric, tmp_path):
    graph = kg.reduce(kg.derive(kg.load(model), quantity, numeric=numeric), kg.Effort.QUICK).graph
    text = "\\documentclass{article}\\usepackage{amsmath}\\allowdisplaybreaks\n\\begin{document}\n"
    (tmp_path / "a.tex").write_text(text + latex(graph, model) + "\\end{document}\n")
    shell("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex", folder=tmp_path)


CART = kg.parse(
    """parameters M, m, l; coordinates x, teta$L; gravity 0, 0, -9.81;
    Cart | Sx(x) | m(M); Bob~Cart | Ry(teta$L), Sz(-l) | m(m);"""
)


def test_entries_bear_the_names_of_the_coordinates():
    graph = kg.derive(CART, "qdd,tau,gravity,d(tau)/d(q)")
    text, tex = formula(graph, mechanism=CART), latex(graph, mechanism=CART)
    for left in ("x'' = ", "teta$L'' = ", "tau:x = ", "gravity[teta$L] = ", "d(tau:teta$L)/d(teta$L) = "):
        assert f"\n{left}" in text, left
    for left in (r"\ddot{x}", r"\ddot{\theta}_{L}", r"\tau_{x}", r"h^{G}_{\theta_{L}}"):
        assert f"{left} &= " in tex, left
    assert r"\frac{\partial \tau_{\theta_{L}}}{\partial \theta_{L}} &= " in tex
    assert not re.search(r"qdd|\\ddot\{q\}|tau\[1\]", text + tex)


def test_without_a_mechanism_entries_are_numbered():
    graph = kg.derive(CART, "qdd,d(d(tau)/d(q))/d(v)")
    tex = latex(graph)
    assert r"\ddot{q}_{2} &= " in tex and "qdd[2] = " in formula(graph)
    assert r"\frac{\partial^{2} \tau_{1}}{\partial q_{2}\,\partial v_{2}} &= " in tex


def test_a_sum_over_a_bar_needs_no_parentheses():
    graph = read('%0 = coordinate "a"\n%1 = coordinate "b"\n%2 = %0 + %1\n%3 = reciprocal %0\n'
                 '%4 = %2 %3\noutput "y" () = %4\n')  # fmt: skip
    assert r"\frac{a + b}{a}" in latex(graph)
    assert "(a + b)/a" in formula(graph)


def test_letters_say_what_quantities_are_of():
    graph = kg.derive(CART, "pose:Bob@Cart,jacobian:Bob,momentum")
    tex = latex(graph, mechanism=CART)
    assert r"{}^{\mathrm{Cart}}T^{\mathrm{Bob}}_{1,1}" in tex
    assert r"J^{\mathrm{Bob}}_{1,1}" in tex and r"\mathrm{momentum}_{1}" in tex


def test_what_is_empty_is_not_called_zero():
    still = kg.parse("A | Sx(1) | m(1);")
    assert formula(kg.derive(still, "tau")).strip() == "tau is empty"
    assert "is empty" in latex(kg.derive(still, "tau"))
