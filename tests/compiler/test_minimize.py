"""SymPy in, SymPy out."""

from __future__ import annotations

import pytest

from kinegraph.compiler.minimize import minimize
from kinegraph.errors import GraphError
from kinegraph.passes.effort import Effort

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
    result = minimize(wanted, parameters=[a], effort=Effort.QUICK)
    assert result.proved
    assert result.after.total < result.before.total
    for before, after in zip(wanted, put_back(result), strict=True):
        assert abs(complex((before - after).subs({x: 0.3, y: 0.7, z: 1.1, a: 2.0}).evalf())) < 1e-12


def test_a_single_expression_and_constants():
    result = minimize(sympy.Integer(4), effort=Effort.QUICK)
    assert result.expressions == ([], [4])
    assert minimize([x, x, 0 * x], effort=Effort.QUICK).expressions == ([], [x, x, 0])


@pytest.mark.parametrize(
    "pair",
    [
        (sympy.Symbol("x"), sympy.Symbol("x", positive=True)),
        (sympy.Dummy("a"), sympy.Dummy("a")),
        (sympy.Symbol("u_1"), sympy.Symbol("u"), sympy.Symbol("u", real=True)),
        (sympy.Symbol("pi"), sympy.pi),
    ],
    ids=str,
)
def test_different_symbols_of_one_name_stay_different(pair):
    wanted = [sum(one * (place + 2) for place, one in enumerate(pair)), pair[0] - pair[1], pair[0] * pair[-1]]
    result = minimize(wanted, effort=Effort.QUICK)
    assert [sympy.expand(a - b) for a, b in zip(wanted, put_back(result), strict=True)] == [0, 0, 0]


def test_a_parameter_is_the_symbol_itself_and_not_its_name():
    one, other = sympy.Symbol("k"), sympy.Symbol("k", positive=True)
    assert minimize([one * other * x], parameters=[one], effort=Effort.QUICK).before.mul == 2
    assert minimize([one * other * x], parameters=[one, other], effort=Effort.QUICK).before.mul == 1
    assert minimize([one * other * x], parameters=["k"], effort=Effort.QUICK).before.mul == 1


@pytest.mark.parametrize(
    "value",
    [0.1, 1 / 3, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, -2.5, 123456789.12345679, 0.12345678901234568],
)
def test_a_float_keeps_all_its_digits(value):
    (result,) = minimize([sympy.Float(value)], effort=Effort.QUICK).expressions[1]
    assert float(result) == value
    assert float(minimize([value], effort=Effort.QUICK).expressions[1][0]) == value


def test_a_float_is_the_shortest_decimal_that_gives_it():
    assert minimize([sympy.Float(0.1), sympy.Float("0.1", 40)], effort=Effort.QUICK).expressions[1] == [
        sympy.Rational(1, 10),
        sympy.Rational(1, 10),
    ]
    long = "0.1234567890123456789012345678901234567"
    assert minimize([sympy.Float(long, 37)], effort=Effort.QUICK).expressions[1] == [sympy.Rational(long)]


def test_new_names_are_unlike_all_that_are_there():
    wanted = [(sympy.Symbol("x0", positive=True) + y) ** 2, sympy.sin(sympy.Symbol("x0", positive=True) + y)]
    replacements, _ = minimize(wanted, effort=Effort.QUICK).expressions
    assert replacements
    assert "x0" not in {str(name) for name, _ in replacements}


def test_matrices_numbers_and_functions_of_time():
    t = sympy.Symbol("t")
    q = sympy.Function("q")(t)
    matrix = sympy.Matrix([[x, y], [x * y, 1]])
    assert minimize(matrix, effort=Effort.QUICK).expressions == ([], [x, y, x * y, 1])
    assert minimize([q * q.diff(t), 1.5, 2, sympy.E], effort=Effort.QUICK).expressions == (
        [],
        [q * q.diff(t), sympy.Rational(3, 2), 2, sympy.E],
    )
    assert minimize([x**2.0 + x**-1.5], effort=Effort.QUICK).proved


class Touchy:
    """Something that must never be evaluated."""

    def __repr__(self):
        return "__import__('os').abort()"


@pytest.mark.parametrize(
    "wrong",
    [
        None, "x+y", ["x+y"], [x, "__import__('os').abort()"], b"x", {x: 1}, {x}, [None], [[x]], [True], lambda: x,
        [sympy.Eq(x, y)], Touchy(), [Touchy()],
    ],
    ids=range(14),
)  # fmt: skip
def test_what_is_no_expression_is_refused_and_never_evaluated(wrong):
    with pytest.raises(GraphError, match=r"give expressions of SymPy, as in minimize\("):
        minimize(wrong)


@pytest.mark.parametrize(
    "wrong",
    [sympy.I * x, sympy.oo, sympy.nan, sympy.zoo, x**y, sympy.Float("1e100000"), sympy.Symbol("A", commutative=False)],
    ids=lambda one: str(one)[:20],
)
def test_what_has_no_real_value_is_refused(wrong):
    with pytest.raises(GraphError):
        minimize([wrong])


def test_high_powers_and_deep_expressions_are_read():
    deep = x
    for _ in range(300):
        deep = sympy.sin(deep) + y
    result = minimize([x**1000000, deep], effort=Effort.QUICK)
    assert result.after.mul < 30
    assert result.after.sin == 300


def test_unknown_functions_are_named():
    with pytest.raises(GraphError, match="besselj"):
        minimize([sympy.besselj(0, x)])
