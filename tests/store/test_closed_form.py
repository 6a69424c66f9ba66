"""The closed form in the store: every vector of Rackovic's algorithms is a variable with its name, and stays one."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.cli import main
from kinegraph.compiler.derive import named_closed_form
from kinegraph.errors import DerivationError
from kinegraph.graph.build import bind
from kinegraph.graph.count import count
from kinegraph.graph.proof import prove
from kinegraph.store import Store, check, eliminate, evaluate, form_expressions, load
from kinegraph.store.models import add, kernel
from kinegraph.store.queries import Question, answer_to
from kinegraph.store.reduction import reduce_by_updates, reduce_stored
from kinegraph.store.source_code import code

#: A tree of revolute and prismatic joints, with products of inertia, parameters, armature and an angle of two
#: coordinates; nobody's example.
CRANE = kg.parse("""
    model crane;
    parameters l = 0.7, m = 3, tilt = 0.4;
    coordinates slew = 0.3, luff = -0.4, out = 0.2, q4 = 0.5, q5;
    gravity 0.1, 0, -9.81;
    Mast       | Rz(slew), Sz(1.2)                   | m(5), Jz(0.4);
    Boom~Mast  | Sx(0.1), Rx(tilt), Ry(luff)         | Sx(l/2), Sz(0.02), m(m), Jx(0.1), Jy(0.3), Jz(0.3), Jxy(0.01);
    Slide~Boom | Sx(l), Sx(out)                      | m(1.5), Jx(0.02), Jy(0.03), Jz(0.04);
    Hook~Slide | Ry(-luff - q4), Sz(-0.3)            | m(2), Jx(0.02), Jy(0.02), Jz(0.01);
    Weight~Mast | Sx(-0.4), Rz(0.3), Rx(2*q5)        | Sy(0.1), Sz(-0.2), m(4), Jx(0.05), Jy(0.06), Jz(0.07), Jxz(0.01);
    armature luff = 0.05;
""")
#: Joints of the crane and the coordinates that turn them alone.
AXES = {1: "slew'", 3: "out'", 5: "q5'"}
STATE = {"slew": 0.4, "luff": 0.3, "out": 0.15, "q4": -0.7, "q5": 0.9}


@pytest.fixture(scope="module")
def crane(shared_store: Store) -> Store:
    add(shared_store, CRANE, "H,C,gravity", closed_form=True)
    eliminate(shared_store, "crane:initial", numeric=True)
    return shared_store


def names(store: Store, reference: str) -> set[str]:
    return {name.removeprefix("-") for _, name, _ in answer_to(store, Question("defined", (reference,))).rows}


def value(store: Store, reference: str, name: str) -> float:
    """A variable by its name, whatever the sign it is kept with."""
    ((label, array),) = evaluate(store, reference, [name], STATE).items()
    return -float(array) if label.startswith("-") else float(array)


def test_axes_and_arms_are_those_of_the_quantities(crane):
    state = [STATE[one] for one in CRANE.layout.positions]
    for joint, coordinate in AXES.items():
        expected = kg.compile(CRANE, f"axis:{coordinate}")(state)
        found = [value(crane, "crane:initial", f"e_{joint}_{k}") for k in (1, 2, 3)]
        assert found == pytest.approx(expected, abs=1e-12)
    expected = kg.compile(CRANE, "arm:slew:Hook")(state)
    assert [value(crane, "crane:initial", f"r_41_{k}") for k in (1, 2, 3)] == pytest.approx(expected, abs=1e-12)


def test_names_stay_through_passes(crane):
    first = names(crane, "crane:initial")
    assert first >= {f"e_{joint}_1" for joint in (3, 4, 5)} | {"r_41_1", "r_51_3", "Q_4_1_1", "Q_2_3_3"}
    reduce_stored(crane, "crane:initial", "rebuild, by_parts(monomials)", numeric=True)
    reduce_by_updates(crane, "crane:initial", "series(monomials)")
    for stage in ("eliminated", "by passes", "by updates"):
        kept = names(crane, f"crane:{stage}")
        assert {"e_3_1", "r_41_1", "Q_4_1_1"} <= kept <= first
        for name in sorted(kept)[::3]:
            assert value(crane, f"crane:{stage}", name) == pytest.approx(value(crane, "crane:initial", name), abs=1e-9)
    assert check(crane)


def test_every_graph_is_proved_and_has_an_origin(crane):
    rows = answer_to(crane, Question("sql", ("SELECT id, proved FROM graph ORDER BY id",))).rows
    assert all(bool(proved) for _, proved in rows)
    origin = answer_to(crane, Question("sql", ("SELECT passes FROM reduction ORDER BY graph LIMIT 1",))).rows
    assert origin == (("neutral elements, identical expressions, numeric",),)


@pytest.mark.soak
def test_eliminating_has_something_to_do(crane):
    """Zeros and ones are parameters: only as numbers are they neutral."""
    before = count(load(crane, "crane:initial"))
    as_symbols = eliminate(crane, "crane:initial")
    assert as_symbols.passes[-1].operations == before
    as_numbers = eliminate(crane, "crane:initial", numeric=True)
    assert as_numbers.passes[1].operations.total < 0.6 * before.total
    assert as_numbers.passes[2].operations.total < as_numbers.passes[1].operations.total
    assert evaluate(crane, as_numbers.graph, ["H"], STATE)["H"] == pytest.approx(
        kg.compile(CRANE, "H")([STATE[one] for one in CRANE.layout.positions]), abs=1e-12
    )


@pytest.mark.parametrize("name", ["double-pendulum", "stanford", "cart-double-pendulum", "bead-on-hoop"])
def test_the_closed_form_of_other_mechanisms_is_the_plain_derivation(name):
    mechanism = kg.load(name)
    found = named_closed_form(mechanism, "H,C,gravity")
    prove(bind(found.graph, found.values), kg.derive(mechanism, "H,C,gravity")).require()


@pytest.mark.parametrize("name", ["four-bar", "spatial-slider-crank", "five-bar"])
def test_closing_chains_have_named_vectors(name):
    """A and B of Alg. 1.3: (e_i x r_i) . Q' and e_i . Q', of chains on one and on both sides of the loop; proved."""
    mechanism = kg.load(name)
    (loop, *_) = [one.name for one in mechanism.loops]
    words = f"A:{loop},B:{loop}"
    found = named_closed_form(mechanism, words)
    prove(bind(found.graph, found.values), kg.derive(mechanism, words)).require()
    known = {one for one, _ in found.names.values()}
    assert {one for one in known if one.startswith(f"r_{loop}_1")}


def test_the_walker_in_double_support(store):
    """Its B, stored with named vectors and eliminated in the database, beside the plain one."""
    walker = kg.load("rackovic-14r-double")
    add(store, walker, "B:support", closed_form=True)
    kept = names(store, "rackovic-14r-double:initial")
    assert any(one.startswith("r_support_") for one in kept)
    eliminated = eliminate(store, "rackovic-14r-double:initial", numeric=True)
    q = dict(zip(walker.layout.positions, np.linspace(-0.4, 0.5, len(walker.layout.positions)), strict=True))
    found = evaluate(store, eliminated.graph, ["B:support"], q)["B:support"]
    plain = kg.compile(walker, "B:support", loops=False)(list(q.values()))
    assert found == pytest.approx(plain, abs=1e-12)
    assert check(store)


def test_names_of_the_model_keep_their_meaning(store):
    hostile = kg.parse("""
        model hostile;
        parameters e_1_1 = 2, local_e_1_1 = 3, G_3 = 0.5, m_1 = 7;
        coordinates local_Q_1_1_1 = 0.2, G_4 = 0.1;
        gravity 0, 0, -9.81;
        define e_2_2 = sin(local_Q_1_1_1);
        A   | Rx(local_Q_1_1_1), Sy(e_1_1)  | m(m_1), Jx(local_e_1_1);
        B~A | Ry(G_4), Sz(G_3)             | m(1), Jx(0.1), Jy(0.1), Jz(0.1);
    """)
    add(store, hostile, "H,gravity", closed_form=True)
    q = {"local_Q_1_1_1": 0.3, "G_4": -0.4}
    for stage in ("initial", "reduced"):
        found = evaluate(store, f"hostile:{stage}", ["H", "gravity"], q)
        expected = kg.compile(hostile, "H,gravity")([0.3, -0.4])
        assert found["H"] == pytest.approx(expected["H"]) and found["gravity"] == pytest.approx(expected["gravity"])
    kept = names(store, "hostile:initial")
    assert "_e_2_2" in kept and "e_1_1" not in kept
    assert check(store)


@pytest.mark.parametrize("quantity", ["tau", "H,qdd", "d(H)/d(q)", "energy"])
def test_other_quantities_are_refused_with_a_remedy(store, quantity):
    with pytest.raises(DerivationError, match="without --closed-form"):
        add(store, CRANE, quantity, closed_form=True)


def test_ball_joints_are_refused_with_a_remedy(store):
    with pytest.raises(DerivationError, match="revolute and prismatic"):
        add(store, kg.load("wing-nut"), "H", closed_form=True)


def test_a_named_variable_has_an_expression_code_and_a_kernel(crane):
    (found,) = form_expressions(crane, "crane:eliminated", "e_2_1")
    assert str(found) in ("e_2_1 = -sin(slew)*cos(tilt)", "-e_2_1 = sin(slew)*cos(tilt)")
    assert "Q_4_1_1" in code(crane, "crane:eliminated", "python", ["Q_4_1_1"]).text
    state = [STATE[one] for one in CRANE.layout.positions]
    found = kernel(crane, "crane:initial")(state)
    assert found["H"] == pytest.approx(kg.compile(CRANE, "H")(state), abs=1e-12)


def test_the_command(tmp_path, capsys):
    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main(["store", *words, "--store", str(tmp_path / "s.sqlite")])
        assert not ended.value.code
        return capsys.readouterr().out

    run("add", "double-pendulum", "-q", "H,C,gravity", "--closed-form")
    eliminated = run("eliminate", "double-pendulum:initial", "--numeric")
    assert "331 mul, 223 add" in eliminated and "19 mul, 12 add" in eliminated
    assert "e_1_2" in run("query", "defined", "double-pendulum:initial")
