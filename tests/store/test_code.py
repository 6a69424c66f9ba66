"""Code straight from the store takes what kernels and exports of the same quantities take, and gives their numbers."""

import re
from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KernelError, StoreError
from kinegraph.export import ExportOptions, Language
from kinegraph.export.prepare import prepare
from kinegraph.export.write import PROGRAM_LANGUAGES, files_of
from kinegraph.graph.text import read
from kinegraph.model.changes import with_parameters
from kinegraph.store import GraphRecord, ModelRecord, add, code, load, load_part, save
from kinegraph.store.queries import describe
from tests.effort import SOAK
from tests.export.languages import build
from tests.interpreted import interpreted

# Neither the order of names nor that of first use is the order of the model; H depends on q2 alone, nothing on z.
CART = kg.parse("""
    model cart;
    parameters m2 = 2*m1, m1 = 1.2, b = 0.3, a = 0.35;
    coordinates z, q2, q1;
    gravity 0, 0, -9.81;
    inputs lift; force up | on(z), value(lift);
    Cart        | Sz(z)         | m(1);
    Upper~Cart  | Ry(q1)        | Sx(a), m(m1);
    Lower~Upper | Sx(a), Ry(q2) | Sx(b), m(m2);
""")
QUANTITIES = ["H", "gravity", "qdd"]
#: Compiled or started in little time; `make soak` runs all of them.
QUICK = (Language.C, Language.PYTHON)


@pytest.fixture(scope="module")
def cart(shared_store):
    add(shared_store, CART, QUANTITIES)
    return shared_store


@cache
def exported():
    return prepare(CART, QUANTITIES, ExportOptions())


@cache
def expected():
    return [interpreted(CART, quantity) for quantity in QUANTITIES]


def described(files):
    """The signatures of functions and what their comments say of arguments: all but code and what it costs."""
    kept = r"(void \w+\(|function .*=|def [a-zA-Z]\w*\(|(pub |inline |pure )?(fn|subroutine|void) [a-zA-Z]\w*\()"
    lines = (line.strip().lstrip("/*!%#. ") for text in files.values() for line in text.splitlines())
    return [line for line in lines if re.match(rf"{kept}|\w+: (positions|vel|acc|gen|inputs|time|par)|\d+ [a-z]", line)]


@pytest.mark.parametrize("language", PROGRAM_LANGUAGES, ids=lambda one: one.value)
def test_functions_are_called_as_those_of_an_export(cart, language):
    found, wanted = (
        described(one) for one in (code(cart, "cart", language.value).files, files_of(exported(), language))
    )
    assert found == wanted
    assert any(re.fullmatch(r"\d z \[m\], \d q2 \[rad\], \d q1 \[rad\]", line) for line in found)


@pytest.mark.parametrize("language", PROGRAM_LANGUAGES, ids=lambda one: one.value)
def test_numbers_are_those_of_the_kernel(cart, language, tmp_path):
    if language not in QUICK and not SOAK:
        pytest.skip("needs KINEGRAPH_SOAK=1")
    built = build(exported(), language, tmp_path, code(cart, "cart", language.value).files)
    assert built.selftest() == 0
    random = np.random.default_rng(3)
    for routine, kernel in zip(exported().routines, expected(), strict=True):
        state = [random.uniform(-1, 1, field.size) for field in routine.inputs]
        assert [len(one.symbols) for one in kernel.arguments] == [field.size for field in routine.inputs]
        (found,) = built.call(routine, state)
        np.testing.assert_allclose(found, kernel(*state), rtol=1e-13, atol=1e-13)


def test_arguments_are_complete_and_in_model_order(cart):
    q, v = ("q", ("z", "q2", "q1")), ("v", ("z'", "q2'", "q1'"))
    assert code(cart, "cart", "c", ["H"]).arguments == (q,)
    assert code(cart, "cart", "c", ["H23"]).arguments == (q,)
    forces = ("tau", ("tau:z", "tau:q2", "tau:q1"))
    assert code(cart, "cart", "c", ["qdd", "H"]).arguments == (q, v, forces, ("u", ("lift",)))


def test_parameters_of_a_formula_follow_those_given_at_run_time(cart, tmp_path):
    found = code(cart, "cart", "python", ["H"], runtime=["m1"])
    assert found.arguments[-1] == ("p", ("m1",))
    space = {}
    exec(found.text, space)
    for mass in (1.2, 5.0):
        same = interpreted(with_parameters(CART, {"m1": mass}), "H")
        np.testing.assert_allclose(space["H"]([0, 0.7, 0.2], [mass]), same([0, 0.7, 0.2]), rtol=1e-14)
    with pytest.raises(KernelError, match="runtime parameter 'm9' does not exist"):
        code(cart, "cart", runtime=["m9"])


def test_graphs_of_unknown_models_take_all_their_symbols(cart):
    record = GraphRecord("reduced", ("H",), load(cart, "cart"))
    save(cart, ModelRecord("foreign", "some other text", (record,)))
    unit = prepare(load(cart, "foreign"), "", ExportOptions())
    for name in ("H", "H33", "qdd"):
        found = code(cart, "foreign", "c", [name]).arguments
        assert [(argument, len(entries)) for argument, entries in found] == [
            (field.name, field.size) for field in unit.routines[0].inputs
        ]


def test_texts(cart):
    assert read(code(cart, "cart", "graph", ["H"]).text) == load_part(cart, "cart", ["H"])
    assert "H12" in code(cart, "cart", "text", ["H12"]).text
    assert r"\cos" in code(cart, "cart", "latex", ["H"]).text
    with pytest.raises(StoreError, match="unknown language 'cobol'; choose from c, text"):
        code(cart, "cart", "cobol")


def test_code_can_be_kept(cart):
    for _ in range(2):
        code(cart, "cart", "c", ["H"], keep=True)
    assert [(one["language"], one["quantities"]) for one in describe(cart, "cart").sources] == [("c", "H")]
