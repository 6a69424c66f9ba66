"""Derivatives of stored graphs: against differences, against the derivation, and of everything that has a name."""

import numpy as np
import pytest
from hypothesis import given

import kinegraph as kg
from kinegraph.cli import main
from kinegraph.errors import StoreError
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Symbol
from kinegraph.graph.proof import prove
from kinegraph.store import Store, add, check, differentiate, evaluate, load
from kinegraph.store.differentiation import BY_DERIVATION, BY_REVERSE_MODE
from kinegraph.store.queries import Question, answer_to
from kinegraph.store.reduction import reduce_by_updates
from kinegraph.store.source_code import code
from tests.graph.strategies import graphs, random_values
from tests.store.examples import few
from tests.store.graphs import put

SLIDER = kg.parse("""
    model slider;
    parameters l = 0.4, k = 30;
    coordinates q1 = 0.2, x = 0.1;
    gravity 0, 0, -9.81;
    Arm      | Ry(q1), Sx(l)   | m(2), Jy(0.1);
    Load~Arm | Sx(x), Sz(x^2)  | m(1.5), Jy(0.02);
    spring s | on(x), stiffness(k), rest(0.05);
""")


@pytest.fixture(scope="module")
def slider(shared_store: Store) -> Store:
    add(shared_store, SLIDER, "H,C,gravity,tau,qdd")
    add(shared_store, kg.load("stanford"), "H,gravity", closed_form=True)
    return shared_store


@pytest.mark.parametrize("by", ["q1", "q1'", "l", "k", "q", "dq", "tau"])
def test_it_is_the_derivative_of_the_derivation(slider, by):
    wanted = {"q1'": ["tau", "qdd"], "v": ["tau"], "k": ["tau"], "tau": ["qdd"]}.get(by, ["H", "C", "gravity"])
    for stage in ("initial", "reduced"):
        found = differentiate(slider, f"slider:{stage}", wanted, by)
        assert found.proof == BY_DERIVATION and found.outputs == tuple(f"d({one})/d({by})" for one in wanted)
        prove(load(slider, found.graph), kg.derive(SLIDER, ",".join(found.outputs))).require()


@pytest.fixture(scope="module")
def sqlite_store(backend: str, shared_store: Store) -> Store:
    """What is differentiated does not depend on the server."""
    if backend != "sqlite":
        pytest.skip("the same on every server")
    return shared_store


@few
@given(graph=graphs(functions=("sin", "cos", "sqrt", "atan", "exp"), max_steps=6))
def test_it_is_the_limit_of_differences(sqlite_store, graph):
    put(sqlite_store, graph, "any")
    symbols = [one for one in graph.nodes if isinstance(one, Symbol) and one.name not in ("pi", "t")]
    if not symbols:
        return
    by = symbols[0]
    found = differentiate(sqlite_store, "any", ["matrix"], by.name)
    assert found.proof == BY_REVERSE_MODE
    derivative = load(sqlite_store, found.graph)
    values = random_values(graph, 1)
    step = 1e-6

    def at(shift):
        moved = {name: value + shift * (name == by.name) for name, value in values.items()}
        return np.asarray(interpret(graph, moved)["matrix"], float)

    exact = np.asarray(interpret(derivative, values)[f"d(matrix)/d({by.name})"], float)
    differences = (at(step) - at(-step)) / (2 * step)
    sizes = np.abs(at(0)) + np.abs(exact)
    good = np.isfinite(differences) & np.isfinite(exact) & (sizes < 1e4)
    assert np.allclose(exact[good], differences[good], rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["H12", "tau1", "H[2,2]", "%9"])
def test_entries_and_variables_are_proved_in_both_directions(slider, name):
    found = differentiate(slider, "slider", [name], "q1")
    assert found.proof == BY_REVERSE_MODE and found.outputs == (f"d({name})/d(q1)",)


def test_named_vectors_of_the_closed_form(slider):
    """e_2 turns with joint 1: de/dq = e_1 x e."""
    state = {"θ1": 0.3, "θ2": 0.5, "d32": 0.2}
    e1, e3, slope = (
        np.array([float(_value(slider, name, state, by)) for name in names])
        for names, by in (
            ([f"e_1_{k}" for k in (1, 2, 3)], None),
            ([f"e_3_{k}" for k in (1, 2, 3)], None),
            ([f"e_3_{k}" for k in (1, 2, 3)], "θ1"),
        )
    )
    assert slope == pytest.approx(np.cross(e1, e3), abs=1e-12) and np.abs(slope).max() > 0.1


def _value(store, name, state, by):
    """A variable or its derivative by name, whatever the sign it is kept with."""
    reference = "stanford:initial"
    if by is not None:
        reference, name = f"#{differentiate(store, reference, [name], by).graph}", ""
    ((label, array),) = evaluate(store, reference, [name] if name else [], state).items()
    return -array if label.removeprefix("d(").startswith("-") else array


def test_parameters_that_stand_for_numbers(slider):
    """G_3 is -9.81: gravity is linear in it."""
    found = differentiate(slider, "stanford:initial", ["gravity"], "G_3")
    state = {"θ1": 0.3, "θ2": 0.5, "d32": 0.2}
    slope = evaluate(slider, found.graph, [], state)["d(gravity)/d(G_3)"]
    assert -9.81 * slope == pytest.approx(evaluate(slider, "stanford", ["gravity"], state)["gravity"])


def test_derivatives_of_derivatives_commute_and_are_reduced(slider):
    first = differentiate(slider, "slider", ["tau"], "q1")
    mixed = differentiate(slider, first.graph, [], "x")
    other = differentiate(slider, differentiate(slider, "slider", ["tau"], "x").graph, [], "q1")
    assert mixed.outputs == ("d(d(tau)/d(q1))/d(x)",)
    left, right = load(slider, mixed.graph), load(slider, other.graph)
    renamed = right.outputs[0]._replace(name=left.outputs[0].name)
    prove(left, type(right)(right.nodes, (renamed,))).require()
    reduced = reduce_by_updates(slider, f"#{mixed.graph}", "series(products)")
    assert reduced.proved and check(slider)


def test_displacements_without_quaternions_are_coordinates(slider):
    found = differentiate(slider, "slider", ["H12"], "dq")
    assert found.proof == BY_REVERSE_MODE and found.outputs == ("d(H12)/d(dq)",)


def test_quaternions_stay_of_unit_length(store):
    nut = kg.load("wing-nut")
    add(store, nut, "H,bias")
    component = nut.layout.positions[nut.layout.quaternions[0]]
    for by in (component, "q", "dq"):
        assert differentiate(store, "wing-nut", ["H", "bias"], by).proof == BY_DERIVATION
    assert differentiate(store, "wing-nut", ["bias1"], "dq").proof == ""  # said, not claimed


def test_it_has_an_origin_and_code(slider):
    found = differentiate(slider, "slider", ["H12"], "x", stage="slope")
    assert "d(H12)/d(x)" in code(slider, "slider:slope", "c").text
    statement = f"SELECT origin, passes FROM reduction WHERE graph = {found.graph}"
    assert answer_to(slider, Question("sql", (statement,))).rows == ((found.origin, "d/d(x)"),)


@pytest.mark.parametrize("by", ["nothing", "", "z", "q3", "pi'", "%7"])
def test_what_is_no_symbol_is_refused(slider, by):
    with pytest.raises(StoreError, match="has no symbol"):
        differentiate(slider, "slider", ["H"], by)


def test_what_a_graph_does_not_depend_on_gives_zero(slider):
    found = differentiate(slider, "slider:reduced", ["H"], "x'")
    assert not evaluate(slider, found.graph, [], {})["d(H)/d(x')"].any()
    assert load(slider, found.graph).symbols(Kind.COORDINATE) == ()


def test_the_command(tmp_path, capsys):
    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main(["store", *words, "--store", str(tmp_path / "s.sqlite")])
        return ended.value.code, capsys.readouterr()

    run("add", "double-pendulum", "-q", "H,tau")
    code_, said = run("differentiate", "double-pendulum", "H,tau", "--by", "q2")
    assert not code_ and "d(H)/d(q2), d(tau)/d(q2); proved equal to the derivative of the derivation" in said.out
    code_, said = run("differentiate", "double-pendulum", "H", "--by", "q9")
    assert code_ and "no symbol 'q9'; available: " in said.err
