"""SymPy in, SymPy out."""

from __future__ import annotations

import pytest

from kinegraph.compiler.minimise import minimise
from kinegraph.errors import GraphError
from kinegraph.passes.pipeline import Effort

sympy = pytest.importorskip("sympy")
x, y, z, a = sympy.symbols("x y z a")


def put_back(result):
    replacements, reduced = result.expressions
    for name, value in reversed(replacements):
        reduced = [expression.subs(name, value) for expression in reduced]
    return reduced


def test_expressions_come_back_equal_and_cheaper():
    wanted = [
        sympy.expand((x + y) * (z + 3) * (x - 2)),
        y * sympy.sin(x) ** 2 + y * sympy.cos(x) ** 2 + 1 / (x + y),
        sympy.Float("0.1") * x * a + sympy.sin(x + y) * sympy.sqrt(z) + sympy.tan(z) + sympy.exp(x),
    ]
    result = minimise(wanted, parameters=[a], effort=Effort.QUICK)
    assert result.proved
    assert result.after.total < result.before.total
    for before, after in zip(wanted, put_back(result), strict=True):
        assert abs(complex((before - after).subs({x: 0.3, y: 0.7, z: 1.1, a: 2.0}).evalf())) < 1e-12


def test_a_single_expression_and_constants():
    result = minimise(sympy.Integer(4), effort=Effort.QUICK)
    assert result.expressions == ([], [4])
    assert minimise([x, x, 0 * x], effort=Effort.QUICK).expressions == ([], [x, x, 0])


def test_unknown_functions_are_named():
    with pytest.raises(GraphError, match="besselj"):
        minimise([sympy.besselj(0, x)])
