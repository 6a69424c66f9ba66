"""Numbers with units: exact values, and nothing with two meanings."""

from __future__ import annotations

from fractions import Fraction
from math import pi

import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError, ModelError
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.units import UNITS, read_unit


def _value(text: str) -> object:
    return parameter_values(kg.parse(f"parameters zz = {text}; B | | ;"))["zz"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 mm", Fraction(3, 1000)), ("2 kN", 2000), ("2.5kg", Fraction(5, 2)), ("-4 cm", Fraction(-1, 25)),
        ("1e3 [kg*m^2]", 1000), ("36 [km/h]", 10), ("9.81 [m/s^2]", Fraction(981, 100)), ("2 [N m]", 2),
        ("5 [N/mm]", 5000), ("3 [1/s]", 3), ("1 [kg m/s^2]", 1), ("2*3 mm", Fraction(6, 1000)), ("1 bar", 100000),
        ("(2 kN)/2", 1000), ("3 mm + 2 cm", Fraction(23, 1000)), ("50 Hz", 50), ("1 [V s/rad]", 1),
    ],
)  # fmt: skip
def test_units_without_angles_are_exact(text: str, value: object) -> None:
    assert _value(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("45 deg", pi / 4), ("45deg", pi / 4), ("-90 deg", -pi / 2), ("1500 rpm", 50 * pi), ("2 rev", 4 * pi),
     ("180 [deg/s]", pi), ("1 [Nm/deg]", 180 / pi), ("30 rpm", pi), ("sin(30 deg)^2", 0.25)],
)  # fmt: skip
def test_angles_are_in_radians(text: str, value: float) -> None:
    assert float(_value(text)) == pytest.approx(value, rel=1e-15)


def test_a_right_angle_stays_exact() -> None:
    """The cosine of 90 degrees is zero, not 6e-17: equations get their short form."""
    turned = kg.parse("coordinates q; gravity 0, 0, -9.81; A | Rx(90 deg), Rz(q) | Sx(1), m(1);")
    written = kg.parse("coordinates q; gravity 0, 0, -9.81; A | Rx(pi/2), Rz(q) | Sx(1), m(1);")
    assert kg.derive(turned, "qdd") == kg.derive(written, "qdd")
    assert kg.parse(kg.write(turned)) == turned


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 kN/m", r"`2 kN/m` has two meanings\n.*2 \[kN/m\]"), ("3 mm^2", r"two meanings\n.*3 \[mm\^2\]"),
        ("5 N*m", "two meanings"),
        ("1/2 mm", r"two meanings\n.*`1 mm/2`.*`1/\(2 mm\)`"), ("2^2 mm", "two meanings"),
        ("3/4 [kN/m]", "two meanings"), ("3 l", r"write the multiplication: `3\*l`"), ("3 Grad", "multiplication"),
        ("2 [furlong]", "'furlong' is not a unit"), ("2 []", "not a unit"), ("2 [m/]", "not a unit"),
        ("3 mm + 2 kg", "a sum of m and kg"), ("30 degrees", "did you mean `deg`"), ("2 [deg^2]", "power of an angle"),
        ("2 m'", "unexpected"), ("3 t", r"multiplication: `3\*t`"),
    ],
)  # fmt: skip
def test_what_has_no_single_meaning_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        _value(text)


@pytest.mark.parametrize("declared", ["parameters m = 2", "coordinates m", "inputs m", "define m = 2", "state m' = 1"])
def test_a_unit_that_is_a_name_of_the_model_is_refused(declared: str) -> None:
    with pytest.raises(ModelError, match=r"`m` is a unit and also a name of this model\n.*`3\*m`.*`3 \[m\]`"):
        kg.parse(f"B | Sx(3 m) | m(1); {declared};")
    kg.parse(f"B | Sx(3 [m]){', Sy(m)' if declared.startswith('coord') else ''} | m(1); {declared};")


@pytest.mark.parametrize(
    ("record", "message"),
    [("B | Sx(3 deg) | m(1);", r"Sx\(...\) is in m"), ("B | Rx(3 mm) | m(1);", r"Rx\(...\) is in rad"),
     ("B | | m(3 m);", r"m\(...\) is in kg"), ("B | | m(1), Jx(3 kg);", r"Jx\(...\) is in m\^2 kg")],
)  # fmt: skip
def test_a_unit_of_another_quantity_is_refused(record: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        kg.parse(record)


def test_units_work_wherever_numbers_are_typed() -> None:
    model = kg.parse(
        "coordinates q; Arm | Ry(q) | Sz(-1), m(1); gravity 0, 0, -9.81; inputs u; force f | value(u), on(q);"
    )
    run = kg.simulate(model, 0.1, state={"q": "45 deg", "q'": "30 rpm"}, inputs={"u": "2 kN*0 + sin(180 deg*t)"})
    assert run["q"][0] == pytest.approx(pi / 4)
    assert run["q'"][0] == pytest.approx(pi)
    with pytest.raises(KinegraphError, match="two meanings"):
        kg.simulate(model, 0.1, inputs={"u": "2 kN/m"})


def test_every_unit_has_a_size_and_its_name_reads_back() -> None:
    for name, unit in UNITS.items():
        assert read_unit(name) is unit
        assert read_unit(f"[{name}]").dimensions == unit.dimensions
        assert unit.size > 0
