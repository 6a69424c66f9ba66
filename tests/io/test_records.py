"""The model language: what it says, what it refuses, and that documentation and writer agree with it."""

import os
import pickle
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kinegraph import library
from kinegraph.errors import ModelError
from kinegraph.io import load, parse, write
from kinegraph.io.language.reader import MAX_LENGTH
from kinegraph.model import Body, Call, Inertia, Name, Number, Operation, Point, Rx, Ry, Rz, Sx, Sz, expression, inertia
from kinegraph.model.expressions import text
from tests.effort import SOAK
from tests.interpreted import interpreted

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "model-language.md"


def value_of(written: str):
    return parse(f"parameters a = 1, b = 2, c = 3, x = {written}; B || m(1);").parameters[3].value


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENTATION.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", blocks("kg"))
def test_documented_models_are_read(block):
    mechanism = parse(block)
    assert parse(write(mechanism)) == mechanism


def test_documented_python_runs():
    (block,) = blocks("python")
    scope: dict[str, object] = {}
    exec(block, scope)
    assert scope["mechanism"].layout.velocities == ("q1'", "q2'")


def test_a_whole_model():
    mechanism = parse("""
        model dp; gravity 0, 0, -g;
        Arm2~Arm1 | Sz(-l1) Ry(q2) | Sz(-l1/2), m(2) Jx(1), ;   // base comes later
        Arm1 | Ry(q1), | ; /* massless */
        initial q1' = 1, q2 = 1/3; coordinates q1 = 0.3, q2; parameters g = 9.81, l1;
        output tip = Arm2 (0, 0, -l1); output home = (1, 2, 3);
    """)
    assert mechanism.name == "dp"
    arm2, arm1 = mechanism.bodies
    assert arm1 == Body("Arm1", None, (Ry("q1"),), Inertia())
    assert arm2 == Body("Arm2", "Arm1", (Sz(-Name("l1")), Ry("q2")), inertia(2, 1, at=[Sz(-Name("l1") / 2)]))
    assert [c.position for c in mechanism.coordinates] == [expression(0.3), expression(Fraction(1, 3))]
    assert [c.velocity for c in mechanism.coordinates] == [expression(1), expression(0)]
    assert mechanism.parameters[1].value is None
    assert mechanism.points[1] == Point("home", None, (expression(1), expression(2), expression(3)))


def test_outputs_may_have_axes_of_their_own():
    head = "parameters a = 0.4; coordinates q; A | Rz(q) | m(1), Jz(1); B~A | Sx(1), Rx(a), Q(1, 2, 0, 1) |;"
    model = parse(head + "output tip = A (1, 0, 0) | Rx(a), Q(1, 2, 0, 1);")
    poses = interpreted(model, ["pose:tip", "pose:B"])([0.3])
    assert np.allclose(poses["pose:tip"], poses["pose:B"], rtol=0, atol=1e-15)
    assert parse(write(model)) == model


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ("Sx(1)", "`Sx` after the position of the output tip"),
        ("Rx(q)", "a rotation of the output tip depends on the coordinate q"),
        ("Q(0, 0, 0, 0)", "the quaternion of the output tip"),
        ("m(1)", "inertia `m` among the transforms"),
    ],
)
def test_axes_of_outputs_only_turn(turns, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        parse(f"coordinates q; A | Rz(q) | m(1), Jz(1); output tip = A (1, 0, 0) | {turns};")


def test_bare_names_of_the_stanford_records():
    body = parse("parameters m2, J2x, J2z, J2y, J2xy; П || m2,J2x, J2z, J2y J2xy;").bodies[0]
    assert body.inertia == inertia("m2", "J2x", "J2y", "J2z", "J2xy")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.1", Number(Fraction(1, 10))),
        ("1e-3", Number(Fraction(1, 1000))),
        ("-2", Number(Fraction(-2))),
        ("1/3", Number(Fraction(1, 3))),
        ("-(2)", Operation("neg", (expression(2),))),
        ("a - b - c", (Name("a") - "b") - "c"),
        ("a/b*c", (Name("a") / "b") * "c"),
        ("a + b*c", Name("a") + Name("b") * "c"),
        ("a^b^c", Name("a") ** (Name("b") ** "c")),
        ("a**b", Name("a") ** "b"),
        ("-a^2", -(Name("a") ** 2)),
        ("a^-b", Name("a") ** (-Name("b"))),
        ("-a*b", (-Name("a")) * "b"),
        ("+a", Name("a")),
        ("atan2(a, pi)", Call("atan2", (Name("a"), Name("pi")))),
    ],
)
def test_expressions(written, meant):
    assert value_of(written) == meant
    assert value_of(text(meant)) == meant


def test_names_of_any_alphabet_and_keywords_as_parameters():
    mechanism = parse(
        "parameters model = 1, output = model; coordinates teta$L, θ1; К | Rx(teta$L), Rz(θ1) | m(output);"
    )
    assert mechanism.layout.positions == ("teta$L", "θ1")
    assert parse(write(mechanism)) == mechanism


def test_line_ends_tabs_and_byte_order_mark(tmp_path):
    windows = "\ufeffcoordinates q;\r\nA\t|\tRx(q)\t|\tm(1);\r\n# end\r\n"
    assert parse(windows) == parse(windows.replace("\r\n", "\r")) == parse("coordinates q; A|Rx(q)|m(1);")
    with pytest.raises(ModelError, match="line 2, column 8"):
        parse(windows.replace("Rx(q)", "Rx(x)"))
    file = tmp_path / "my arm.kg"
    file.write_bytes(windows.encode())
    assert load(file).name == "my-arm"


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ModelError, match="cannot read"):
        load(tmp_path / "missing.kg")
    file = tmp_path / "latin.kg"
    file.write_bytes(b"A || m(\xff);")
    with pytest.raises(ModelError, match="not UTF-8"):
        load(file)
    file.write_bytes(b"x" * (MAX_LENGTH + 1))
    with pytest.raises(ModelError, match="limit"):
        load(file)


@pytest.mark.parametrize(
    ("model", "place", "words"),
    [
        ("", None, "no bodies"),
        ("A | Rx(1) | m(1)", (1, 17), "`;`"),
        ("A | Rx(1+) | m(1);", (1, 10), "expected"),
        ("A | Rx(2x);", (1, 9), r"2\*x"),
        ("A | Rx(−1);", (1, 8), "`-`"),
        ("/* A", (1, 1), r"\*/"),
        ("12;", (1, 1), "statement"),
        ("gravity | Rx(1);", (1, 9), "rename"),
        ("A | rx(1);", (1, 5), "`Rx`"),
        ("A | Rx(1,2);", (1, 5), "takes 1 argument, found 2"),
        ("A | Q(1,2);", (1, 5), "takes 4 arguments"),
        ("A | m(1);", (1, 5), "third section"),
        ("A || m(1), Sx(1);", (1, 12), "center of mass first"),
        ("A || m(1), m(2);", (1, 12), "mass is given twice"),
        ("A || mass(1);", (1, 6), "unknown transform or inertia 'mass'"),
        ("gravity 1, 2; A || m(1);", (1, 1), "3 components, found 2"),
        ("gravity 1,2,3; gravity 1,2,3; A||m(1);", (1, 16), "given twice"),
        ("A || m(1); initial z = 1;", (1, 20), "unknown coordinate or velocity 'z'"),
        ("coordinates q = 1; A|Rx(q); initial q = 2;", (1, 37), "two initial values"),
        ("A || m(1); armature z = 1;", (1, 21), "unknown coordinate or quaternion velocity 'z'"),
        ("coordinates q; A | Rx(q); armature q = 1, q = 2;", (1, 43), "two values of armature"),
        ("coordinates q; A | Rx(q); armature q = -1;", (1, 36), "armature of q is negative: -1"),
        ("coordinates q; A | Rx(q); armature q = q;", (1, 40), "armature of q depends"),
        ("accept inertia B; A || m(1);", (1, 16), "unknown body 'B'"),
        ("A | Rx(1e99999);", (1, 8), "1000 digits"),
        ("A | Rx(" + "1" * 5000 + ");", (1, 8), "1000 digits"),
    ],
)
def test_syntax_errors_say_where_and_what_to_write(model, place, words):
    with pytest.raises(ModelError, match=words) as caught:
        parse(model, "arm.kg")
    found = caught.value.place
    assert (found and (found.line, found.column)) == place
    assert caught.value.remedy


def test_long_sums_and_many_signs_work():
    length = 50_000 if SOAK else 10_000
    many = parse("parameters a = 1; B | Rx(" + "+".join(["a"] * length) + ") | m(1);")
    assert parse(write(many)) == many
    signs = parse("parameters a = 1; B | Rx(" + "-" * 10_000 + "a) | m(1);")
    assert parse(write(signs)) == signs


@pytest.mark.parametrize("nested", ["(" * 10_000 + "1" + ")" * 10_000, "sin(" * 10_000 + "1" + ")" * 10_000])
def test_deep_nesting_is_refused(nested):
    with pytest.raises(ModelError, match="deeper than 200"):
        parse(f"A | Rx({nested}) | m(1);")


@pytest.mark.parametrize(
    "rubbish",
    ["x" * 10_000_000, "x" * 4_000_000, "(" * 4_000_000, "/*" * 2_000_000, "A|Rx(" + "1" * 4_000_000, "\n" * 4_000_000,
     "A|Rx(" + "1+" * 2_000_000],
    ids=["too-long", "name", "parentheses", "comments", "digits", "lines", "sum"],
)  # fmt: skip
def test_rubbish_is_refused(rubbish, monkeypatch):
    """Megabytes of it: whoever reads them twice for each letter does not come to an end."""
    if not SOAK:
        monkeypatch.setattr("kinegraph.io.language.reader.MAX_SIZE", 20_000)  # what is below is built, for seconds
    with pytest.raises(ModelError):
        parse(rubbish)


def test_equal_expressions_have_equal_hashes():
    left, right = Name("a") + Name("b") * 2, Name("a") + Name("b") * 2
    assert left == right and hash(left) == hash(right) and left != Name("a") and Name("a") != left
    assert left != Name("a") + Name("b") * 3


def test_helpers_read_like_records():
    assert parse("A | Rx(1), Sx(2), Rz(3) | m(1);").bodies[0].transforms == (Rx(1), Sx(2), Rz(3))


def test_a_mechanism_read_in_another_process_is_equal():
    script = "import pickle, sys; from kinegraph import library; "
    script += "sys.stdout.buffer.write(pickle.dumps(library.mechanism('kidym-biped-old')))"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": path}
    sent = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True).stdout
    assert pickle.loads(sent) == library.mechanism("kidym-biped-old")


def test_forces_in_the_words_of_kidym():
    """`P.xC = ...` is the force that `force P_xC | value(...), on(xC)` is."""
    head = "inputs S; coordinates q = 0.3; define xC = sin(q); A | Rz(q) | Sx(1), m(1), Jz(1); output C = A (1, 0, 0);"
    short = parse(head + "P.xC = -S*cos(q); P.C.y = S;")
    long = parse(head + "force P_xC | value(-S*cos(q)), on(xC); force P_C_y | value(S), on(C.y);")
    assert short == long


@pytest.mark.parametrize(("line", "said"), [("Q.x = 1;", "unknown statement"), ("P.nowhere = 1;", "nowhere")])
def test_other_letters_are_no_forces(line, said):
    with pytest.raises(ModelError, match=said):
        parse(f"coordinates x; A | Sx(x) | m(1); {line}")
