"""Definitions of a model keep their names in equations and in code."""

import re
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler import stored
from kinegraph.compiler.request import request_of
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph
from kinegraph.notation.mathml import mathml
from tests.notation.test_formula import recomputed

#: `x1` is what abbreviations are called otherwise, `height` uses a point, `idle` is used nowhere.
NAMED = kg.parse("""model named;
parameters k = 20;
coordinates q1 = 0.3, q2;
define gamma = q1 + q2, load = k*(gamma - 0.1), height = tip.z, x1 = q1'^2 + q2'^2, idle = q1*q2;
quasivelocity w = q1' + cos(gamma)*q2';
Arm1      | Ry(q1)         | Sz(-0.5), m(2), Jy(0.2);
Arm2~Arm1 | Sz(-1), Ry(q2) | Sz(-0.4), m(1), Jy(0.1);
output tip = Arm2 (0, 0, -0.8);
spring coil | on(gamma), stiffness(k);
damper slow | on(w), damping(0.3);
damper fast | on(q1), force(x1*rate);
force  push | value(-load*height), on(q1);
""")


def reduced(numeric: bool) -> Graph:
    return stored.reduced(request_of(NAMED, "forces", numeric=numeric)).graph


@pytest.mark.parametrize(("numeric", "load"), [(False, "load = k*gamma - 0.1*k"), (True, "load = 20*gamma - 2")])
def test_equations_call_definitions_by_their_names(numeric: bool, load: str) -> None:
    """In any reduced form: in the reduced graph `load` has the opposite sign."""
    graph = reduced(numeric)
    written = kg.formula(graph, mechanism=NAMED)
    assert {"gamma = q1 + q2", "w = c12*q2' + q1'", "x1 = q1'^2 + q2'^2", load} <= set(written.splitlines())
    assert "- height*load" in written and "-load" not in written and "idle" not in written
    assert {"height = -0.8*c12 - c1", "height = -c1 - 0.8*c12"} & set(written.splitlines())
    assert r"\mathit{gamma} &= q_{1} + q_{2}" in kg.latex(graph, mechanism=NAMED)
    named = [str(one) for one in mathml(graph, NAMED, 10).abbreviations]
    assert any("gamma" in one for one in named) and any("height" in one for one in named)
    assert "height" in kg.latex(graph, mechanism=NAMED)
    assert "gamma" not in kg.formula(graph)


@pytest.mark.parametrize("numeric", [False, True])
def test_equations_by_names_are_those_of_the_graph(numeric: bool) -> None:
    values = {"q1": 0.4, "q2": -0.9, "q1'": 1.3, "q2'": 0.7, "k": 20.0}
    graph = reduced(numeric)
    found = recomputed(kg.formula(graph, mechanism=NAMED), values)
    expected = np.ravel(interpret(graph, values)["forces"])
    assert [found["forces[q1]"], found["forces[q2]"]] == pytest.approx(list(expected))


def test_code_calls_definitions_by_their_names(tmp_path: Path) -> None:
    kg.export(NAMED, "forces", "c", tmp_path)
    code = (tmp_path / "named.c").read_text()
    assert re.search(r"const double gamma = (q\[1\] \+ q\[0\]|q\[0\] \+ q\[1\]);", code) and "const double w = " in code
    assert "const double minus_height = 0.8*" in code and "load*minus_height" in code
    assert "idle" not in code


def test_values_of_the_command_line_are_not_taken_for_those_of_the_model() -> None:
    """With another k no expression is `load` as the model has it."""
    graph = stored.reduced(request_of(NAMED, "forces", numeric=True, parameters={"k": 7})).graph
    assert "load" not in kg.formula(graph, mechanism=NAMED)
