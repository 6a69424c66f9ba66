"""Every quantity of the table, and derivatives of every one, through everything that takes quantities.

The words come from the table: a new row is tested here without a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.cli.inspect import Stage
from kinegraph.compiler.derive import Derivations, derived
from kinegraph.compiler.request import Quantities, arguments_of, request_of
from kinegraph.derive.constraints.redundancy import row_names_of
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Extent, QuantityRecord, Topology
from kinegraph.derive.quantities.table import TABLE
from kinegraph.derive.tree.displacements import unit_quaternions
from kinegraph.errors import KernelError
from kinegraph.export import ExportOptions, FunctionLayout, Language, export
from kinegraph.export import write as driver
from kinegraph.export.prepare import prepare
from kinegraph.export.unit import Unit
from kinegraph.graph.certificate import RecursiveProof
from kinegraph.graph.interpret import interpret
from kinegraph.graph.law import check
from kinegraph.graph.node import Graph
from kinegraph.jit.kernel import KernelOptions
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognition import legs_of
from kinegraph.notation.mathml import mathml
from kinegraph.store import add, load, open_store
from tests.cli.run import data, runner
from tests.derive.every_quantity import MECHANISMS, STILL, derivatives, state, symbols, words, words_of
from tests.effort import SOAK
from tests.export.languages import build
from tests.mechanisms import Floats

every_mechanism = pytest.mark.parametrize("name", MECHANISMS)
both = pytest.mark.parametrize("list_of", [words, derivatives], ids=["words", "derivatives"])
#: What takes seconds: trees and loops always, the rest by `make soak`.
a_tree_and_loops = pytest.mark.parametrize(
    "name", [name if name in ("arm", "closed") else pytest.param(name, marks=pytest.mark.soak) for name in MECHANISMS]
)
#: Languages of equations; the others describe a mechanism or simulate it.
LANGUAGES = (
    Language.C,
    Language.CPP,
    Language.PYTHON,
    Language.MATLAB,
    Language.JULIA,
    Language.RUST,
    Language.FORTRAN,
    Language.LATEX,
)


@pytest.fixture(scope="module", autouse=True)
def each_request_is_derived_once() -> Iterator[None]:
    """Tests share derived requests, because deriving takes most of their time."""
    records: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Derivations, "_records", records)
        yield


def layout_of(name: str) -> FunctionLayout:
    """One function for each quantity; for all together where each alone takes seconds to reduce."""
    long = name in ("free", "driven", "closed", "unknown", "motor")
    return FunctionLayout.COMBINED if long and not SOAK else FunctionLayout.SEPARATE


@cache
def graph_of(name: str, list_of: type[words]) -> Graph:
    return kg.derive(MECHANISMS[name], list_of(MECHANISMS[name]), numeric=True)


@cache
def expected(name: str, list_of: type[words]) -> dict[str, Floats]:
    """The numbers, by the interpreter."""
    return interpret(graph_of(name, list_of), symbols(MECHANISMS[name]))


def assert_close(found: Floats, right: Floats, what: str) -> None:
    scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
    assert found.shape == right.shape, what
    np.testing.assert_allclose(found / scale, right / scale, rtol=0, atol=1e-10, err_msg=what)


def given(mechanism: Mechanism, wanted: list[str]) -> dict[str, Floats | float]:
    values = state(mechanism)
    return {argument.name: values[argument.name] for argument in arguments_of(mechanism, wanted)}


def test_the_mechanisms_together_ask_for_every_row() -> None:
    asked = {Quantity.parse(word).name for mechanism in MECHANISMS.values() for word in words(mechanism)}
    assert asked == {record.name for record in TABLE}


@every_mechanism
@both
def test_derived_with_the_shape_the_table_says(name: str, list_of: type[words]) -> None:
    mechanism, graph = MECHANISMS[name], graph_of(name, list_of)
    check(graph)
    assert [output.name for output in graph.outputs] == list_of(mechanism)
    lengths = {
        Extent.VELOCITIES: len(mechanism.layout.velocities),
        Extent.BASE_PARAMETERS: None,
        Extent.COMPONENTS: None,
        Extent.STATES: len(mechanism.states),
        Extent.UNKNOWNS: len(mechanism.unknowns),
        Extent.ROWS: len(row_names_of(mechanism)),
        Extent.LEGS: len(legs_of(mechanism)),
        Extent.LEG_COORDINATES: sum(len(leg.coordinates) for leg in legs_of(mechanism)),
    }
    for output in graph.outputs:
        row = Quantity.parse(output.name).record.shape
        for length, extent in zip(output.shape, row, strict=False):
            assert lengths.get(extent, extent) in (None, length), output.name  # type: ignore[call-overload]
        assert len(output.shape) >= len(row)


@every_mechanism
@both
def test_they_depend_on_what_the_table_says(name: str, list_of: type[words]) -> None:
    mechanism = MECHANISMS[name]
    derivation = Derivation(mechanism, {}, Plan())
    for word in list_of(mechanism):
        found = derivation.builder.graph([derivation.output(Quantity.parse(word))]).symbols()
        allowed = {symbol for argument in arguments_of(mechanism, word) for symbol in argument.symbols}
        moving = {symbol for symbol in found if not symbol.kind.static}
        assert moving <= allowed, word


@every_mechanism
@both
def test_reduced_and_proved(name: str, list_of: type[words]) -> None:
    mechanism, graph = MECHANISMS[name], graph_of(name, list_of)
    reduction = kg.reduce(graph, kg.Effort.QUICK)
    assert reduction.proved
    values = {parameter.name: parameter.value for parameter in mechanism.parameters}
    derivations = Derivations(request_of(mechanism, list_of(mechanism), parameters=values))
    plain, _ = derivations.first(derived(derivations).plan)
    assert kg.prove(plain, reduction.graph, quaternions=unit_quaternions(mechanism))


@a_tree_and_loops
@both
def test_compiled_called_and_batched(name: str, list_of: type[words]) -> None:
    mechanism, wanted = MECHANISMS[name], list_of(MECHANISMS[name])
    lanes = None if name == "arm" or SOAK else 2  # batches are compiled in half the time of the usual eight lanes
    kernel = kg.compile(mechanism, wanted, options=KernelOptions(lanes=lanes))
    arguments = given(mechanism, wanted)
    found = kernel(**arguments)
    for word in wanted:
        assert_close(found[word], expected(name, list_of)[word], word)
    if list_of is words or name == "arm" or SOAK:  # batches are code of their own, seconds for long derivatives
        batch = kernel.batch(**{key: np.stack([one, 1.1 * one, 0.9 * one]) for key, one in arguments.items()})
        beside = kernel(**{key: 1.1 * one for key, one in arguments.items()})
        for word in wanted:
            assert_close(batch[word][0], expected(name, list_of)[word], word)
            assert_close(batch[word][1], beside[word], word)


@pytest.mark.parametrize("record", TABLE, ids=lambda record: record.name)
def test_compiled_alone_dense_and_sparse(record: QuantityRecord) -> None:
    name = "arm"
    for word in list(words_of(record, MECHANISMS[name]))[-1:]:
        arguments = given(MECHANISMS[name], [word])
        kernel = kg.compile(MECHANISMS[name], word)
        assert_close(kernel(**arguments), expected(name, words)[word], word)
        if arguments:
            rows = kernel.batch(**{key: np.stack([0.9 * one, one]) for key, one in arguments.items()})
            assert_close(rows[1], expected(name, words)[word], word)
        if expected(name, words)[word].ndim == 2:
            sparse = kg.compile(MECHANISMS[name], word, sparse=True)(**arguments)
            assert_close(sparse.toarray(), expected(name, words)[word], word)


@pytest.mark.parametrize(
    "record", [record for record in TABLE if Topology.TREES in record.recursive], ids=lambda record: record.name
)
def test_loops_compute_what_the_table_says(record: QuantityRecord) -> None:
    mechanism = kg.load("double-pendulum")
    (word,) = words_of(record, mechanism)  # type: ignore[arg-type]
    arguments = given(mechanism, [word])
    looped = kg.compile(mechanism, word, loops=True)
    assert_close(np.asarray(looped(**arguments)), kg.compile(mechanism, word, loops=False)(**arguments), word)
    assert isinstance(looped.proof, RecursiveProof) and looped.proof.quantities == (word,)


@a_tree_and_loops
def test_every_command(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mechanism, run = MECHANISMS[name], runner(capsys)
    file = tmp_path / f"{name}.kg"
    file.write_text(kg.write(mechanism), encoding="utf-8")
    wanted = words(mechanism)
    at = ",".join(f"{symbol}={value!r}" for symbol, value in symbols(mechanism).items())
    found = data(run(f"eval {file} --as-given --json -q", ",".join(wanted), "--state", at))
    for word in wanted:
        assert_close(np.array(found[word]), expected(name, words)[word], word)
    assert run(f"eval {file} -q", ",".join(wanted)).code == 0
    assert data(run(f"count {file} --json --effort quick -q", ",".join(wanted)))["proved"]
    assert data(run(f"derive {file} --json -q", ",".join(wanted)))["latex"]
    for stage in Stage:
        assert run(f"inspect {file} --stage {stage.value} -q", ",".join(wanted)).code == 0
    combined = " --combined" if layout_of(name) is FunctionLayout.COMBINED else ""
    assert run(f"export {file} --to c -o {tmp_path}{combined} -q", ",".join(wanted)).code == 0
    assert run(f"store add {file} --store {tmp_path / 'models.db'} -q", ",".join(wanted)).code == 0


def test_ops_of_derivatives(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "model.kg"
    file.write_text(kg.write(MECHANISMS["arm"]), encoding="utf-8")
    assert data(runner(capsys)(f"count {file} --json --effort quick -q", ",".join(derivatives(MECHANISMS["arm"]))))[
        "proved"
    ]


@pytest.fixture(scope="module")
def each_unit_is_prepared_once() -> Iterator[None]:
    """All languages print the same numbers."""
    prepared: dict[tuple[str, str, ExportOptions], Unit] = {}

    def prepare_once(mechanism: Mechanism, quantities: Quantities, options: ExportOptions) -> Unit:
        key = mechanism.name, str(quantities), options
        if key not in prepared:
            prepared[key] = prepare(mechanism, quantities, options)
        return prepared[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "prepare", prepare_once)
        yield


@a_tree_and_loops
@pytest.mark.usefixtures("each_unit_is_prepared_once")
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.value)
def test_exported_to_every_language(language: Language, name: str, tmp_path: Path) -> None:
    wanted = words(MECHANISMS[name])
    options = ExportOptions(self_test=language is Language.C, layout=layout_of(name))
    report = export(MECHANISMS[name], wanted, language, tmp_path, options)
    assert all(path.stat().st_size for path in report.files)
    if language is not Language.LATEX:
        assert ", ".join(one.quantity for one in report.functions) == ", ".join(wanted)


@every_mechanism
@pytest.mark.parametrize("language", [Language.C, Language.PYTHON], ids=lambda language: language.value)
def test_exported_code_gives_the_numbers(language: Language, name: str, tmp_path: Path) -> None:
    mechanism = MECHANISMS[name]
    wanted = words(mechanism)
    unit = prepare(mechanism, wanted, ExportOptions(layout=layout_of(name)))
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    groups = [wanted] if len(unit.routines) == 1 else [[word] for word in wanted]
    for group, routine in zip(groups, unit.routines, strict=True):
        inputs = [np.atleast_1d(one) for one in given(mechanism, group).values()]
        for word, found in zip(group, code.call(routine, inputs), strict=True):
            assert_close(np.asarray(found), expected(name, words)[word], word)


@a_tree_and_loops
@both
def test_kept_in_the_store(name: str, list_of: type[words], tmp_path: Path) -> None:
    mechanism = MECHANISMS[name]
    store = open_store(tmp_path / "models.db")
    loaded = load(store, add(store, mechanism, list_of(mechanism)).graphs[0])
    assert [output.name for output in loaded.outputs] == list_of(mechanism)
    assert loaded == kg.derive(mechanism, list_of(mechanism))
    # That is the derivation the store was given. This one is another: with numbers in place of the parameters.
    values = {name: float(value) for name, value in parameter_values(mechanism).items()}
    found = interpret(loaded, symbols(mechanism) | values)
    for word in list_of(mechanism):
        assert_close(found[word], expected(name, list_of)[word], word)


@every_mechanism
@both
def test_written_as_text_latex_and_mathml(name: str, list_of: type[words]) -> None:
    graph = graph_of(name, list_of)
    assert kg.formula(graph) and kg.latex(graph)
    displays = mathml(graph)
    for display in (*displays.abbreviations, *displays.entries):
        for math in (display.left, *display.terms):
            ElementTree.fromstring(math)


def test_a_model_without_coordinates(tmp_path: Path) -> None:
    """Empty quantities are refused for languages without empty code; the others are exported."""
    for word in words(STILL):
        kernel = kg.compile(STILL, word)
        arguments = given(STILL, [word])
        found = kernel(**arguments)
        assert found.shape == kg.derive(STILL, word, numeric=True).outputs[0].shape
        for language in LANGUAGES:
            if found.size:
                export(STILL, word, language, tmp_path / re.sub(r"\W", "", word))
            else:
                with pytest.raises(KernelError, match="is empty: still has no coordinates"):
                    export(STILL, word, language, tmp_path)
