"""Hostile names: identifiers are legal, never shared, and nothing breaks out of a comment."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinegraph as kg
from kinegraph.codegen.program.instructions import Op, Program
from kinegraph.compiler.request import arguments_of, request_of
from kinegraph.compiler.stored import reduced
from kinegraph.export import ExportOptions, FunctionLayout, Language, Sines, export
from kinegraph.export.identifiers import LONGEST, RESERVED, TAKEN_FILES, Scope, comment, identifier, prefix
from kinegraph.export.languages.syntax import temporaries
from kinegraph.export.prepare import prepare
from kinegraph.export.unit import Unit
from kinegraph.export.write import render
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.notation.naming import Naming, is_angle_function
from tests.effort import SOAK
from tests.export.languages import build
from tests.export.test_numbers import COMPILED, LANGUAGES
from tests.programs import needs, require, shell

HOSTILE = (
    "int", "1x", "a b", '*/ system("") /*', "😀", "x" * 300, "Привет", "end", "%}", '"""', "\\", "line\nbreak", "??/",
    "fn", "x1", "X1", "s", "q", "tau", "a_", "a__b", "A", "a", "\r\n#define q 1", "=#", "#=", "${HOME}", "`ls`",
    "{0}", "%d\\n", "sin", "np", "selftest", "T", "batch", "", "\ud800", "__import__('os')", "\\end{document}",
    "gamma$L", "gamma_L",
    "q_x0123456789abcdef", "tau_part1_", "coding: utf-7", "parameters", "linux", "\u202e", "\x00", "ends in \\", "é",
)  # fmt: skip
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def hostile_graph() -> Graph:
    """As many sines as names; symbols and outputs have hostile names."""
    builder = GraphBuilder()
    outputs = []
    for number, name in enumerate(HOSTILE, start=1):
        symbol = Scalar(builder, builder.symbol(Kind.COORDINATE, name))
        outputs.append(Output(name, (2,), ((symbol.sin() * number).index, (symbol * symbol).index)))
    return builder.graph(outputs)


@cache
def hostile_unit(name: str, layout: FunctionLayout) -> Unit:
    """The same for every language."""
    return prepare(hostile_graph(), "", ExportOptions(name=name, layout=layout, chunk=20))


PLAIN, INJECTING, LONG = "int", '*/ system("")', "x" * 300
#: Quick runs name one function for all quantities in every language, and one for each in C and Python.
CASES = [
    (language, name, layout)
    for language in LANGUAGES
    for name, layout in (
        (PLAIN, FunctionLayout.SEPARATE),
        (INJECTING, FunctionLayout.COMBINED),
        (LONG, FunctionLayout.COMBINED),
    )
    if SOAK or name == INJECTING or (name == PLAIN and language in (Language.C, Language.PYTHON))
]


@pytest.mark.parametrize(("language", "name", "layout"), CASES)
def test_hostile_names_compile(language: Language, name: str, layout: FunctionLayout, tmp_path: Path) -> None:
    unit = hostile_unit(name, layout)
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    if language in (*COMPILED, Language.PYTHON):
        x = np.linspace(0.1, 0.9, len(HOSTILE))
        found = [one for routine in unit.routines for one in code.call(routine, [x])]
        expected = [(number * np.sin(entry), entry**2) for number, entry in enumerate(x, start=1)]
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@needs("pdflatex")
def test_hostile_names_in_latex(tmp_path: Path) -> None:
    # Cyrillic letters need a font encoding that a small TeX does not have.
    cyrillic = subprocess.run(["kpsewhich", "t2aenc.def"], capture_output=True).returncode == 0
    names = [name for name in HOSTILE if cyrillic or name != "Привет"]
    builder = GraphBuilder()
    outputs = [
        Output(name, (1,), ((Scalar(builder, builder.symbol(Kind.COORDINATE, name)).sin() * 2).index,))
        for name in names
    ]
    report = export(builder.graph(outputs), "", "latex", tmp_path, ExportOptions(name="*/ \\input{x}"))
    shell("pdflatex", "-interaction=batchmode", "-halt-on-error", "-draftmode", report.files[0].name, folder=tmp_path)


def test_hostile_names_of_a_mechanism(tmp_path: Path) -> None:
    body, angle = "int", "угол$1"
    long = "l" * 200
    text = f"""model файл-$.1; parameters {long} = 2; coordinates {angle};
    gravity 0, 0, -9.81;
    {body} | Ry({angle}) | Sz(-{long}), m(3);"""
    mechanism = kg.parse(text)
    unit = prepare(mechanism, f"tau,pose:{body}", ExportOptions(symbolic_parameters=True))
    code = build(unit, Language.C, tmp_path)
    assert code.selftest() == 0
    (found,) = code.call(unit.routines[0], [np.array([0.5]), np.zeros(1), np.zeros(1), np.array([2.0])])
    np.testing.assert_allclose(found, 3 * 9.81 * 2 * np.sin(0.5), rtol=1e-14)


@pytest.mark.parametrize("name", HOSTILE)
def test_an_identifier_is_legal_everywhere(name: str) -> None:
    for found in (identifier(name), prefix(name)):
        assert IDENTIFIER.fullmatch(found) and "__" not in found and len(found) <= LONGEST + 1
        assert found not in RESERVED


def test_identifiers_of_hostile_names_differ() -> None:
    scope = Scope()
    assert len({scope.take(name) for name in HOSTILE}) == len(HOSTILE)


@given(st.text(max_size=40))
def test_an_identifier_stays_as_it_is(name: str) -> None:
    """The name alone decides, and what it becomes is spelled as itself."""
    found = identifier(name)
    assert IDENTIFIER.fullmatch(found) and len(found) <= LONGEST + 1
    assert identifier(found.rstrip("_")) == found


READABLE = {
    "gamma$L": "gamma_L", "teta": "teta", "teta$L": "teta_L", "угол": "ugol", "Тяга": "Tyaga", "щит": "shchit",
    "Їжак": "Yizhak", "Ђурђевдан": "Djurdjevdan", "θ1": "theta1", "Δq": "Deltaq", "φ̇": "phi", "q1'": "q1_dot",
    "q1''": "q1_ddot", "q1" + 3 * "'": "q1_d3", "é": "e_", "Łódź": "Lodz", "straße": "strasse", "q₁": "q1", "m²": "m2",
    "1x": "n1x", "a b": "a_b", '*/ system("") /*': "system", "😀": "name", "": "name", "ъ": "name", "for": "for_",
    "Für": "Fur", "для": "dlya", "d(tau)/d(q)": "d_tau_d_q", "x" * 300: "x" * LONGEST, "\ud800": "name", "a__b": "a_b",
}  # fmt: skip


@pytest.mark.parametrize("name", READABLE)
def test_names_are_spelled_in_plain_letters(name: str) -> None:
    assert identifier(name) == READABLE[name]


def test_equal_spellings_are_numbered() -> None:
    scope = Scope()
    names = ("gamma$L", "gamma_L", "gamma L", "γ_L", "for", "for$", "Sin", "sin")
    assert [scope.take(name) for name in names] == [
        "gamma_L", "gamma_L_2", "gamma_L_3", "gamma_L_4", "for_", "for_2", "Sin_", "sin_2",
    ]  # fmt: skip


HASH = re.compile(r"_x[0-9a-f]{8,}")
WRITTEN = [one for one in Language if one not in (Language.FMU, Language.RECORDS, Language.URDF)]


@pytest.mark.parametrize("language", WRITTEN, ids=lambda one: one.value)
def test_no_hash_is_in_a_name(language: Language) -> None:
    """Only the digest of the model is one, and it is no name."""
    mechanism = kg.parse("""model Пресс; parameters масса = 2, a$b = 3; coordinates gamma$L, угол; gravity 0, 0, -9.81;
        Тіло | Ry(gamma$L) | Sz(-1), m(масса); B~Тіло | Sz(-1), Ry(угол) | Sz(-a$b), m(1);""")
    rendering = render(mechanism, "tau,pose:Тіло,d(tau)/d(угол)", language, ExportOptions())
    for name, text in rendering.files.items():
        assert not HASH.search(name) and name.isascii()
        assert HASH.search(str(text).replace(rendering.digest, "")) is None
    if language is Language.C:
        for word in ("cos_gamma_L", "sin_ugol", "Press_pose_Tilo", "Press_d_tau_by_ugol"):
            assert word in str(rendering.files["Press.c"]), word
        assert " * Press: tau, pose:Tilo, d(tau)/d(ugol)\n" in str(rendering.files["Press.c"])


def test_an_identifier_can_be_its_own_name() -> None:
    assert [identifier(name) for name in ("tau", "q1", "panda_link0")] == ["tau", "q1", "panda_link0"]
    assert identifier("for") == "for_"
    assert prefix("double-pendulum") == "double_pendulum"


#: Files of ours with these names would be found before those of the language: fault 22.
SHADOWING = ("types", "numbers", "math", "Math", "stdio", "con", "CON", "random", "numpy", "string", "com1", "core")


@pytest.mark.parametrize("language", Language, ids=lambda one: one.value)
@pytest.mark.parametrize("name", SHADOWING)
def test_no_file_shadows_those_of_a_language(language: Language, name: str) -> None:
    mechanism = kg.parse("coordinates q; gravity 0, 0, -9.81; A | Ry(q) | Sz(-1), m(1);")
    files = render(mechanism, "H", language, ExportOptions(name=name, binary=False)).files
    stems = {Path(file).name.partition(".")[0].casefold() for file in files}
    if language is Language.RUST:  # the crate has the name, its files have not
        stems = set(re.findall(r'^name = "(.*)"', str(files["Cargo.toml"]).casefold(), re.MULTILINE))
    assert stems and not stems & TAKEN_FILES
    assert all(stem.startswith(f"{name.casefold()}_") for stem in stems)


@pytest.mark.parametrize("name", ["types", "numbers", "numpy"])
def test_exported_python_runs_in_its_own_folder(name: str, tmp_path: Path) -> None:
    """Python looks for modules beside the script first."""
    mechanism = kg.parse("coordinates q; gravity 0, 0, -9.81; A | Ry(q) | Sz(-1), m(1);")
    (file,) = export(mechanism, "tau", "python", tmp_path, ExportOptions(name=name)).files
    shell(sys.executable, "-c", f"import {file.stem} as m, fractions; raise SystemExit(m.selftest())", folder=tmp_path)


@pytest.mark.parametrize("name", ["math", "stdio"])
def test_exported_c_does_not_hide_the_library(name: str, tmp_path: Path) -> None:
    mechanism = kg.parse("coordinates q; gravity 0, 0, -9.81; A | Ry(q) | Sz(-1), m(1);")
    require("gcc")
    files = export(mechanism, "tau", "c", tmp_path, ExportOptions(name=name, sines=Sines.LIBRARY)).files
    source = next(file.name for file in files if file.suffix == ".c")
    shell("gcc", "-I.", f"-D{name.upper()}_MAIN", source, "-o", "own", "-lm", folder=tmp_path)
    shell("./own", folder=tmp_path)


@given(st.lists(st.text(max_size=6) | st.sampled_from(("a", "A", "a_2", "a_3")), max_size=30))
def test_a_scope_gives_no_identifier_twice(names: list[str]) -> None:
    scope = Scope()
    found = [scope.take(name) for name in names]
    assert len({one.casefold() for one in found}) == len(names)


@given(st.text())
def test_comments_hold_what_they_are_given(text: str) -> None:
    shown = comment(text)
    assert shown.isascii() and shown.isprintable()
    assert not re.search(r"[*\"\\%#{}`?\r\n]", shown)


def test_comments_can_be_read() -> None:
    assert comment("d(tau)/d(q)") == "d(tau)/d(q)"
    assert comment("*/") == "<U+002A>/"
    assert comment("сила на θ1, é, 😀") == "sila na theta1, e, <U+1F600>"


def test_functions_are_named_after_their_arguments() -> None:
    """KiDyM hoists cos(q2) as a variable of that name; two names that differ in case alone stay two."""
    bodies = "A | Rz(q1) | Sx(1), m(1); B~A | Sx(1), Rz(q2) | Sx(1), m(1); C~B | Sx(1), Rz(Q2) | Sx(1), m(1);"
    routine = prepare(kg.parse(f"coordinates q1, q2, Q2; {bodies}"), "H", ExportOptions()).routines[0]
    names = {name.casefold() for name in temporaries(routine).values()}
    assert {"cos_q2", "cos_q2_2"} <= names
    assert len(set(temporaries(routine).values())) == len(routine.program.instructions)


def test_names_of_functions_keep_clear_of_arguments_and_stay_short() -> None:
    long = "q" + "x" * 60
    text = f"coordinates {long}, s; A | Rz({long}) | Sx(1), m(1); B~A | Sx(1), Rz(s) | Sx(1), m(1);"
    names = temporaries(prepare(kg.parse(text), "H", ExportOptions()).routines[0]).values()
    assert "cos_s" in names and all(len(name) <= LONGEST for name in names)


def values_of(program: Program, inputs: list[float]) -> list[float]:
    """What every instruction of arithmetic and sines computes."""
    work = {
        Op.ADD: lambda a, b: a + b, Op.SUBTRACT: lambda a, b: a - b, Op.MULTIPLY: lambda a, b: a * b,
        Op.DIVIDE: lambda a, b: a / b, Op.NEGATE: lambda a: -a, Op.SINCOS: lambda a: a, Op.STORE: lambda a: a,
        Op.SIN: np.sin, Op.COS: np.cos, Op.MULTIPLY_ADD: lambda a, b, c: a * b + c,
        Op.MULTIPLY_SUBTRACT: lambda a, b, c: a * b - c, Op.NEGATED_MULTIPLY_ADD: lambda a, b, c: c - a * b,
    }  # fmt: skip
    found: list[float] = []
    for one in program.instructions:
        if one.op is Op.INPUT:
            found.append(inputs[int(one.detail)])
        elif one.op is Op.LITERAL:
            found.append(float(one.detail))
        else:
            found.append(float(work[one.op](*(found[operand] for operand in one.operands))))
    return found


def test_shared_terms_are_named_as_they_are_printed() -> None:
    """What `derive --numeric` calls x1 is x1 in the code, with the same value; nothing else has such a name."""
    arm = kg.load("puma560")
    routine = prepare(arm, "tau", ExportOptions()).routines[0]
    names = temporaries(routine)
    naming = Naming(reduced(request_of(arm, "tau", numeric=True)).graph)
    printed = {str(one) for i, one in naming.labels.items() if not is_angle_function(naming.graph.nodes[i])}
    coded = {name for name in names.values() if re.fullmatch(r"x\d+", name)}
    assert len(printed) > 10 and coded <= printed and len(coded) >= len(printed) - 2
    symbols = [symbol.name for argument in arguments_of(arm, "tau") for symbol in argument.symbols]
    inputs = [0.1 + 0.07 * place for place in range(len(symbols))]
    shown = {str(label): node for node, label in naming.labels.items()}
    wanted = Graph(naming.graph.nodes, tuple(Output(name, (), (shown[name],)) for name in sorted(coded)))
    values = interpret(wanted, dict(zip(symbols, inputs, strict=True)))
    computed = values_of(routine.program, inputs)
    for index, name in names.items():
        if name in coded:
            assert computed[index] == pytest.approx(float(values[name]), rel=1e-12, abs=1e-12)


def test_terms_of_a_graph_keep_clear_of_its_outputs() -> None:
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")
    shared = x * x * y + y
    outputs = [Output("x1", (), ((shared * shared + x).index,)), Output("t3", (), ((shared * y).index,))]
    routine = prepare(builder.graph(outputs), "", ExportOptions(layout=FunctionLayout.COMBINED)).routines[0]
    assert [field.name for field in routine.outputs] == ["x1_out", "t3_out"]
    assert len(set(temporaries(routine).values())) == len(routine.program.instructions)


def test_comments_tell_forces_from_inputs(tmp_path: Path) -> None:
    model = kg.parse("coordinates q; inputs u; A | Ry(q) | m(1), Jy(1); force f | value(u), on(q);")
    export(model, "qdd", "c", tmp_path, ExportOptions(name="pushed"))
    header = (tmp_path / "pushed.h").read_text("utf-8")
    assert "tau: generalized forces\n *     0 tau:q" in header
    assert "u: inputs of the model\n *     0 u" in header
