"""Objects in memory (SymPy, CasADi), documents and records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KernelError
from kinegraph.export import ExportOptions, FunctionLayout, Language, Precision, export, render
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output
from kinegraph.interop import to_casadi, to_sympy
from tests.export.test_functions import every_function
from tests.programs import needs, shell


def test_sympy_is_exact() -> None:
    sympy = pytest.importorskip("sympy")
    equations = to_sympy(kg.load("double-pendulum"), "tau,gravity,pose:tip")
    m2, l2, q1, q2 = (equations.symbols[name] for name in ("m2", "l2", "q1", "q2"))
    gravity = equations.results["gravity"]
    expected = sympy.Rational(981, 100) * m2 * l2 * sympy.sin(q1 + q2)
    assert sympy.simplify(sympy.expand_trig(gravity[1] - expected)) == 0
    assert equations.results["pose:tip"].shape == (4, 4)


def test_sympy_knows_every_function() -> None:
    pytest.importorskip("sympy")
    graph = every_function()
    values = {"x": 0.3, "y": 0.7, "z": 0.2}
    equations = to_sympy(graph, "")
    for name, expected in interpret(graph, values).items():
        entries = equations.results[name]
        state = {equations.symbols[symbol]: value for symbol, value in values.items()}
        found = [float(one.subs(state)) for one in (entries if expected.shape else [entries])]
        np.testing.assert_allclose(found, expected.ravel(), rtol=1e-13)


def test_sympy_arrays_of_three_indices() -> None:
    pytest.importorskip("sympy")
    found = to_sympy(kg.load("double-pendulum"), "C", ExportOptions(symbolic_parameters=False)).results["C"]
    assert found.shape == (2, 2, 2)


def test_casadi_gives_the_kernels_numbers() -> None:
    pytest.importorskip("casadi")
    arm = kg.load("puma560")
    functions = to_casadi(arm, "tau,H,C")
    random = np.random.default_rng(1)
    q, v, a = (random.uniform(-1, 1, 6) for _ in range(3))
    found = np.array(functions["tau"](q, v, a)).ravel()
    np.testing.assert_allclose(found, kg.compile(arm, "tau")(q, v, a), rtol=0, atol=1e-12 * np.abs(found).max())
    np.testing.assert_allclose(np.array(functions["H"](q)), kg.compile(arm, "H")(q), rtol=0, atol=1e-12)
    c = np.array(functions["C"](q)).reshape(6, 6, 6)
    np.testing.assert_allclose(c, kg.compile(arm, "C")(q), rtol=0, atol=1e-12)


def test_casadi_knows_every_function() -> None:
    pytest.importorskip("casadi")
    graph = every_function()
    state = (0.3, 0.7, 0.2)
    (function,) = to_casadi(graph, "", ExportOptions(layout=FunctionLayout.COMBINED)).values()
    expected = interpret(graph, dict(zip("xyz", state, strict=True)))
    for found, want in zip(function(state), expected.values(), strict=True):
        np.testing.assert_allclose(np.array(found).ravel(), want.ravel(), rtol=1e-13)


@needs("pdflatex")
@pytest.mark.parametrize(("model", "quantities"), [("double-pendulum", "H,C,gravity"), ("kidym-biped-new", "gravity")])
def test_the_document_compiles(model: str, quantities: str, tmp_path: Path) -> None:
    report = export(kg.load(model), quantities, Language.LATEX, tmp_path)
    text = report.files[0].read_text()
    assert "Abbreviations:" in text and "SHA-256" in text
    shell("pdflatex", "-interaction=batchmode", "-halt-on-error", "-draftmode", report.files[0].name, folder=tmp_path)


@pytest.mark.parametrize("model", kg.library.names())
def test_records_are_read_back(model: str, tmp_path: Path) -> None:
    mechanism = kg.load(model)
    (path,) = export(mechanism, "", "records", tmp_path).files
    assert kg.load(path) == mechanism


def test_code_says_what_it_is(tmp_path: Path) -> None:
    report = export(kg.load("puma560"), "tau", "c", tmp_path)
    header, source = (path.read_text() for path in report.files)
    assert report.digest in header and report.digest in source and len(report.digest) == 64
    (function,) = report.functions
    assert f"tau: {function.operations}." in header
    assert "0 q1 [rad], 1 q2 [rad]" in header and "0 q1' [rad/s]" in header
    assert "#include <math.h>" not in source
    assert export(kg.load("puma560"), "H", "c", tmp_path).digest != report.digest


def test_the_same_model_gives_the_same_text() -> None:
    first, second = (render(kg.load("puma560"), "tau", Language.C).files for _ in range(2))
    assert first == second


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "double_pendulum.c"
    mine.write_text("int main(void) { return 0; }\n")
    with pytest.raises(KernelError, match="was not written by an export"):
        export(kg.load("double-pendulum"), "tau", "c", tmp_path)
    assert sorted(tmp_path.iterdir()) == [mine] and mine.read_text().startswith("int main")
    mine.unlink()
    for _ in range(2):
        export(kg.load("double-pendulum"), "tau", "c", tmp_path)


@pytest.mark.parametrize(
    ("quantities", "language", "options", "message"),
    [
        ("tau", "cobol", ExportOptions(), "unknown language 'cobol'"),
        ("tau", "matlab", ExportOptions(precision=Precision.FLOAT), "float is for c and rust"),
        ("", "c", ExportOptions(), "nothing to export"),
        ("tau,tau", "c", ExportOptions(), "given twice"),
    ],
)
def test_what_cannot_be_exported(quantities: str, language: str, options: ExportOptions, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        render(kg.load("double-pendulum"), quantities, Language.parse(language), options)


def test_options_are_checked() -> None:
    with pytest.raises(KernelError, match="chunk is 3"):
        ExportOptions(chunk=3)
    with pytest.raises(KernelError, match="name is empty"):
        ExportOptions(name=" ")


def test_results_that_are_never_finite_have_no_self_test() -> None:
    builder = GraphBuilder()
    x = Scalar(builder, builder.symbol(Kind.COORDINATE, "x"))
    graph = builder.graph([Output("y", (1,), ((-1 - x * x).apply("sqrt").index,))])
    with pytest.raises(KernelError, match="export without a self-test"):
        render(graph, "", Language.C)
    texts = render(graph, "", Language.C, ExportOptions(self_test=False)).files
    assert "selftest" not in "".join(texts.values())


@needs("rustc", "cc")
def test_cargo_finds_the_self_test(tmp_path: Path) -> None:
    export(kg.load("double-pendulum"), "tau", "rust", tmp_path)
    shell("rustc", "--edition", "2021", "-D", "warnings", "--test", "src/lib.rs", "-o", "tests", folder=tmp_path)
    assert "1 passed" in shell(str(tmp_path / "tests"), folder=tmp_path)
