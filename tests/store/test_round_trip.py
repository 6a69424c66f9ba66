"""What is loaded is what was saved: the same nodes in the same order, exactly."""

from fractions import Fraction

import pytest
from hypothesis import given
from sqlalchemy import event

from kinegraph.errors import StoreError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.count import Operations
from kinegraph.graph.node import Graph, Kind, Output, Polynomial, Symbol
from kinegraph.graph.proof import prove
from kinegraph.store import GraphRecord, ModelRecord, PassRecord, load, load_part, open_store, save
from kinegraph.store.queries import describe
from tests.effort import SOAK
from tests.graph.strategies import graphs
from tests.store.examples import few
from tests.store.graphs import long_graph, put, random_graph


@few
@given(graph=graphs())
def test_any_graph_comes_back_equal(shared_store, graph):
    saved = put(shared_store, graph, "any")
    assert load(shared_store, saved.graphs[0]) == graph


def test_dead_nodes_and_proof_survive(store):
    graph = random_graph(1)
    put(store, graph)
    loaded = load(store, "model")
    assert loaded == graph
    assert prove(loaded, graph)


@pytest.mark.parametrize(
    "coefficient",
    [1, -3, 2**53, 2**53 + 1, -(10**40), 10**400, Fraction(1, 2), Fraction(-1, 3), Fraction(10**30 + 1, 10**400),
     Fraction(2**53 + 1, 2), Fraction(1, 2**60), Fraction(1, 2**1100), Fraction(9007199254740993, 1024)],
)  # fmt: skip
def test_coefficients_are_exact(shared_store, coefficient):
    graph = Graph((Symbol(Kind.COORDINATE, "q"), Polynomial(((coefficient, ((0, 2),)),))), (Output("y", (), (1,)),))
    saved = put(shared_store, graph, "exact")
    loaded = load(shared_store, saved.graphs[0])
    assert loaded == graph
    assert type(loaded.nodes[1].terms[0][0]) is type(coefficient)


def test_names_are_kept_whatever_they_are(store):
    names = ("teta$L", "кут", "q1''", 'a"b;--', "%s :name ?", " ", "x" * 5000)
    builder = GraphBuilder()
    total = builder.add(*(builder.symbol(Kind.INPUT, name) for name in names))
    graph = builder.graph([Output("кінець", (), (total,)), Output("d(tau)/d(q)", (1, 1), (total,))])
    put(store, graph, "O'Neil; DROP TABLE graph")
    assert load(store, "O'Neil; DROP TABLE graph") == graph


def test_empty_graph_and_empty_output(store):
    for number, graph in enumerate((Graph((), ()), Graph((), (Output("none", (0, 3), ()),)))):
        assert load(store, put(store, graph, f"empty{number}").graphs[0]) == graph


def test_part_holds_only_what_is_needed(store):
    graph = random_graph(2, nodes=300)
    wanted = Output("z", (2,), graph.outputs[0].nodes[:2])
    put(store, Graph(graph.nodes, (*graph.outputs, wanted)))
    part = load_part(store, "model", ["z"])
    assert all(part.live)
    assert prove(part, Graph(graph.nodes, (wanted,)))
    with pytest.raises(StoreError, match="no output 'zz'; did you mean `z`"):
        load_part(store, "model", ["zz"])


def test_versions_stages_and_passes(store):
    old, new = random_graph(3), random_graph(4)
    passes = (PassRecord("fold", Operations(mul=5, add=3, other=1), 0.25), PassRecord("share", Operations(mul=2)))
    record = GraphRecord("reduced", ("y",), old, passes, True)
    assert save(store, ModelRecord("arm", "one", (GraphRecord("initial", ("y",), old), record))).version == 1
    assert save(store, ModelRecord("arm", "one")).version == 1
    assert save(store, ModelRecord("arm", "two", (GraphRecord("initial", ("y",), new),))).version == 2
    assert load(store, "arm") == load(store, "arm@2") == load(store, "arm:initial") == new
    assert load(store, "arm@1:initial") == load(store, "arm@1") == old
    found = describe(store, "arm@1")
    assert (found.graph.stage, found.graph.proved, found.text) == ("reduced", True, "one")
    assert [(p["name"], p["mul"], p["other"], p["seconds"]) for p in found.passes] == [
        ("fold", 5, 1, 0.25),
        ("share", 2, 0, None),
    ]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("arn", "did you mean `arm`"),
        ("arm@7", "no version 7 of arm"),
        ("arm:final", "no stage 'final' of arm:final; it has initial"),
        ("#99", "no graph 99"),
        (99, "no graph 99"),
        ("@2", "is not a stored model"),
        ("bare", "no graph of bare"),
    ],
)
def test_a_wrong_reference_says_what_there_is(store, reference, message):
    put(store, random_graph(5), "arm")
    save(store, ModelRecord("bare", "nothing derived"))
    with pytest.raises(StoreError, match=message):
        load(store, reference)


def test_a_model_needs_a_name_and_finite_values(store):
    with pytest.raises(StoreError, match="needs a name"):
        save(store, ModelRecord("", "text"))
    with pytest.raises(StoreError, match="value of g is nan"):
        put(store, random_graph(6), g=float("nan"))


def test_a_failed_save_leaves_nothing(store):
    broken = Graph((Symbol(Kind.COORDINATE, "q"), Polynomial(((1, ((0, 1), (0, 1))),))), ())  # one factor twice
    good = GraphRecord("initial", (), random_graph(7))
    with pytest.raises(StoreError):
        save(store, ModelRecord("model", "text", (good, GraphRecord("reduced", (), broken))))
    with pytest.raises(StoreError, match="no mechanism"):
        load(store, "model")


def test_tens_of_thousands_of_nodes(tmp_path):
    """How long that takes is measured by `python -m benchmarks store`."""
    graph = long_graph(100_000 if SOAK else 20_000)
    store = open_store(tmp_path / "big.sqlite")
    put(store, graph)
    assert load(store, "model") == graph


def test_more_nodes_are_no_more_statements(store):
    """A statement a node would keep a server waiting for the network."""
    sent = [statements(store, lambda size=size: put(store, long_graph(size), f"m{size}")) for size in (1000, 2000)]
    assert sent[0] == sent[1]
    asked = [statements(store, lambda size=size: load(store, f"m{size}")) for size in (1000, 2000)]
    assert asked[0] == asked[1]


def statements(store, run):
    """How many statements the database gets."""
    sent = []

    def note(connection, cursor, statement, *rest):
        sent.append(statement)

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        run()
    finally:
        event.remove(store.engine, "before_cursor_execute", note)
    return len(sent)
