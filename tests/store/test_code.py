"""Code straight from the store is the code of the graph in memory."""

import pytest

from kinegraph import library
from kinegraph.codegen.c import c_source
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.errors import StoreError
from kinegraph.graph.node import Kind
from kinegraph.graph.text import read
from kinegraph.store import add, code, load_part
from kinegraph.store.read.show import describe


@pytest.fixture(scope="module")
def arm(shared_store):
    add(shared_store, library.mechanism("double-pendulum"), "H,tau")
    return shared_store


def test_c_equals_that_of_the_loaded_graph(arm):
    found = code(arm, "double-pendulum", "c", ["H"], runtime=["m1"])
    graph = load_part(arm, "double-pendulum", ["H"])
    values = {"m2": 1, "l1": 1, "l2": 1, "m1": 1}
    del values["m1"]
    arguments = (Argument("q", graph.symbols(Kind.COORDINATE)), Argument("p", (graph.symbols(Kind.PARAMETER)[0],)))
    assert arguments[1].symbols[0].name == "m1"
    assert found.text == c_source(bind(graph, arguments, values))
    assert found.arguments == (("q", ("q2",)), ("p", ("m1",)))
    assert found.outputs == (("H", (2, 2)),)


def test_inputs_are_in_natural_order(arm):
    found = code(arm, "double-pendulum", "c", ["tau"])
    assert found.arguments == (("q", ("q1", "q2")), ("v", ("q1'", "q2'")), ("a", ("q1''", "q2''")))


def test_other_languages(arm):
    assert read(code(arm, "double-pendulum", "graph", ["H"]).text) == load_part(arm, "double-pendulum", ["H"])
    assert "H12" in code(arm, "double-pendulum", "text", ["H12"]).text
    assert r"\cos" in code(arm, "double-pendulum", "latex", ["H"]).text
    with pytest.raises(StoreError, match="no code in 'cobol'; choose one of c, text"):
        code(arm, "double-pendulum", "cobol")


def test_code_can_be_kept(arm):
    for _ in range(2):
        code(arm, "double-pendulum", "c", ["H"], keep=True)
    assert [(one["language"], one["quantities"]) for one in describe(arm, "double-pendulum").sources] == [("c", "H")]
