"""Values of expressions and parameters, and the Python builder against the language."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from kinegraph.errors import ModelError
from kinegraph.io import parse
from kinegraph.model import (
    Builder,
    Name,
    Q,
    Rx,
    Ry,
    Rz,
    Sx,
    Sy,
    Sz,
    expression,
    inertia,
    initial_positions,
    initial_velocities,
    number,
    parameter_values,
    value,
)


def valued(written: str, **values):
    return value(parse(f"parameters a, b, x = {written}; B || m(1);").parameters[2].value, values)


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        ("0.1 + 0.2", Fraction(3, 10)),
        ("2^10/3", Fraction(1024, 3)),
        ("-2^2", Fraction(-4)),
        ("2^-2", Fraction(1, 4)),
        ("a*b - a/b", Fraction(-4, 3)),
        ("max(a, 2) + min(a, 2)", Fraction(5, 2)),
        ("abs(-a) + sign(-b)", Fraction(-1, 2)),
        ("select(0, 1, 2) + 10*select(-1, 1, 2)", Fraction(21)),
    ],
)
def test_rational_values_are_exact(written, exact):
    found = valued(written, a=Fraction(1, 2), b=Fraction(1, 3))
    assert found == exact and isinstance(found, Fraction)


def test_other_values_are_floats():
    assert valued("sin(pi/6) + atan2(1, 1) + sqrt(2) + exp(1)") == pytest.approx(
        0.5 + math.pi / 4 + math.sqrt(2) + math.e, rel=1e-15
    )
    assert valued("2^0.5") == pytest.approx(math.sqrt(2), rel=1e-15)


def test_huge_powers_do_not_fill_the_memory():
    assert valued("1.0000001^10000000") == pytest.approx(math.e, rel=1e-6)
    with pytest.raises(ModelError, match="too large"):
        valued("9^9^9^9")


@pytest.mark.parametrize("written", ["1/(1-1)", "sqrt(0-1)", "log(0)", "asin(2)", "exp(1e6)", "0^-1"])
def test_undefined_values_are_errors(written):
    with pytest.raises(ModelError):
        valued(written)


def test_values_of_deep_expressions():
    total = Name("a")
    for _ in range(50_000):
        total = total + 1
    assert number(total, {"a": 1.0}) == 50_001


def test_parameters_use_each_other_in_any_order():
    mechanism = parse("parameters c = a + b, b = 2*a, a = 0.1; A || m(1);")
    assert parameter_values(mechanism) == {"c": Fraction(3, 10), "b": Fraction(1, 5), "a": Fraction(1, 10)}
    assert list(parameter_values(mechanism)) == ["c", "b", "a"]
    assert parameter_values(mechanism, {"a": 1})["c"] == 3
    assert parameter_values(mechanism, {"b": 0.7})["c"] == Fraction(8, 10)


def test_missing_and_unknown_parameters_are_named():
    mechanism = parse("parameters length, k = 2*length; A || m(1);")
    with pytest.raises(ModelError, match="length has no value"):
        parameter_values(mechanism)
    assert parameter_values(mechanism, {"length": 2})["k"] == 4
    with pytest.raises(ModelError, match="did you mean `length`"):
        parameter_values(mechanism, {"lenght": 2})


def test_initial_values():
    mechanism = parse("""parameters k = 2; coordinates q = k/4; initial q' = k, y = 3;
        quaternion (a,b,c,d) velocity (x,y,z) = (3, 0, 4, 0); A | Rx(q), Q(a,b,c,d) | m(1);""")
    values = parameter_values(mechanism)
    assert initial_positions(mechanism, values) == (0.5, 0.6, 0, 0.8, 0)
    assert initial_velocities(mechanism, values) == (2, 0, 3, 0)


def test_the_builder_says_what_the_language_says():
    b = Builder("all", gravity=(0, 0, -9.81))
    l1 = b.parameter("l1", 0.4)
    b.parameter("k")
    b.parameter("third", Fraction(1, 3))
    q1 = b.coordinate("q1", position=0.3, velocity=-1, armature=l1 / 2)
    turn = b.quaternion(["e0", "e1", "e2", "e3"], ["wx", "wy", "wz"], (1, 0, 0, 1), (0, "l1", 0), 0.02)
    arm = b.body("Arm", transforms=[Ry(q1), Sx(2 * l1), Sy("k")], inertia=inertia(mass="k", Jx=1, Jxy=0, at=[Sz(-l1)]))
    b.body("Wing", arm, [turn], inertia(1, 1, 1, 3, accepted=True))
    b.body("Plate", "Arm", [Rx(l1**2 / 3), Rz(-q1), Q(1, 0, 0, "l1")])
    b.point("tip", arm, (0, 0, -l1))
    b.point("home", None)
    assert b.build() == parse("""model all; gravity 0, 0, -9.81; parameters l1 = 0.4, k, third = 1/3;
        coordinates q1 = 0.3; quaternion (e0,e1,e2,e3) velocity (wx,wy,wz) = (1,0,0,1); initial q1' = -1, wy = l1;
        armature q1 = l1/2, (wx, wy, wz) = 0.02;
        Arm | Ry(q1) Sx(2*l1) Sy(k) | Sz(-l1) m(k) Jx(1);
        Wing~Arm | Q(e0,e1,e2,e3) | m(1) Jx(1) Jy(1) Jz(3); accept inertia Wing;
        Plate~Arm | Rx(l1^2/3) Rz(-q1) Q(1,0,0,l1);
        output tip = Arm (0,0,-l1); output home = (0,0,0);""")


@pytest.mark.parametrize("given", [0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1)])
def test_numbers_are_the_decimals_they_were_written_as(given):
    assert expression(given).value == Fraction(1, 10)


@pytest.mark.parametrize("given", [math.nan, math.inf, Decimal("NaN"), None, [1]])
def test_what_is_no_number(given):
    with pytest.raises(ModelError, match="not a finite number"):
        expression(given)


def test_builder_counts_components():
    with pytest.raises(ModelError, match="gravity: expected 3 entries, found 2"):
        Builder("m", gravity=(0, 1))
    with pytest.raises(ModelError, match="expected 4"):
        Builder("m").quaternion(["a", "b", "c"], ["x", "y", "z"])


def test_a_formula_as_text_is_no_name():
    with pytest.raises(ModelError, match=r"'2\*l1' is a formula"):
        expression("2*l1")
