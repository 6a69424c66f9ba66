"""Values of parameters from files of every kind."""

from fractions import Fraction

import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io.parameters import read_parameters
from kinegraph.model import Name, expression
from kinegraph.model.evaluate import parameter_values

MODEL = "parameters m1 = 1, l1 = 1, k; coordinates q; A | Ry(q) | Sz(-l1), m(m1), Jy(k);"
FILES = {
    "values.json": '{"m1": 2, "l1": 0.1, "k": "2*m1"}',
    "nested.json": '{"parameters": {"m1": 2, "l1": 0.1, "k": "2*m1"}}',
    "values.toml": 'm1 = 2\nl1 = 0.1  # meters\nk = "2*m1"\n',
    "values.csv": "name,value,unit\nm1,2,kg\n\n# a remark\nl1,0.1,m\nk,2*m1\n",
    "values.txt": "\ufeff# masses\nm1 = 2;\nl1 = 0.1, // meters\n\nk = 2*m1\n",
    "values": "m1=2\nl1=1e-1\nk=2*m1",
}


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file(tmp_path, name):
    file = tmp_path / name
    file.write_text(FILES[name], encoding="utf-8")
    found = read_parameters(file)
    assert found == {"m1": expression(2), "l1": expression(Fraction(1, 10)), "k": 2 * Name("m1")}
    model = tmp_path / "arm.kg"
    model.write_text(MODEL)
    values = parameter_values(kg.load(model, parameters=file))
    assert values == {"m1": 2, "l1": Fraction(1, 10), "k": 4}
    assert kg.load(model, parameters=found) == kg.load(model, parameters=str(file))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", '{"m1": 1,', "not valid JSON"),
        ("a.json", "[1, 2]", "does not contain names with values"),
        ("a.json", '{"m1": true}', "is not a number"),
        ("a.json", '{"m1": {"x": 1}}', "is not a number"),
        ("a.json", '{"m1": 1, "m1": 2}', "twice"),
        ("a.json", '{"m1": NaN}', "a.json: m1 = nan is not a finite number"),
        ("a.toml", "m1 = nan", "a.toml: m1 = NaN is not a finite number"),
        ("a.json", '{"m1": "import os"}', "not a valid expression"),
        ("a.json", "[" * 100_000, "not valid JSON"),
        ("a.toml", "m1 = ", "not valid TOML"),
        ("a.csv", "m1\n", "line 1.*a name and a value"),
        ("a.csv", 'm1,"2\n', "not valid CSV"),
        ("a.txt", "m1 2", "line 1.*name = value"),
        ("a.txt", "m1 = 1\nm1 = 2", "twice"),
        ("a.txt", "m1 = 1 +", "not a valid expression"),
        ("a.txt", "mass = 1", "unknown parameter 'mass' of arm"),
        ("a.txt", "m_1 = 1", "did you mean `m1`"),
        ("a.txt", "m1 = q", "depends on the coordinate q"),
        ("a.txt", "m1 = -1", "negative"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, name, text, words):
    file, model = tmp_path / name, tmp_path / "arm.kg"
    file.write_text(text)
    model.write_text(MODEL)
    with pytest.raises(ModelError, match=f"(?s){words}"):
        kg.load(model, parameters=file)


def test_a_missing_file_and_bytes_that_are_no_text(tmp_path):
    with pytest.raises(ModelError, match="cannot read"):
        read_parameters(tmp_path / "missing.json")
    with pytest.raises(ModelError, match="cannot read"):
        read_parameters(tmp_path)
    (tmp_path / "latin.txt").write_bytes(b"m1 = \xff")
    with pytest.raises(ModelError, match="UTF-8"):
        read_parameters(tmp_path / "latin.txt")


@pytest.mark.parametrize(
    ("suffix", "text"), [("json", '{"m1": 1e99999999999999999999}'), ("toml", "m1 = 1e99999999999999999999")]
)
def test_exponents_beyond_decimals_are_refused(tmp_path, suffix, text):
    file = tmp_path / f"numbers.{suffix}"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="too large"):
        read_parameters(file)
