"""Numbers computed in the store equal those of the interpreter, bit for bit."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from kinegraph import library
from kinegraph.errors import GraphError, StoreError
from kinegraph.graph.interpret import interpret
from kinegraph.store import add, evaluate, kernel, load
from tests.graph.strategies import graphs, random_values
from tests.store.examples import few
from tests.store.graphs import put, random_graph

REFERENCE = Path(__file__).parents[1] / "io" / "data" / "rackovic_example_2_1.json"


@few
@given(graph=graphs())
def test_equals_the_interpreter(shared_store, graph):
    saved = put(shared_store, graph, "any")
    values = random_values(graph, seed=1)
    results = evaluate(shared_store, saved.graphs[0], values=values)
    for name, expected in interpret(graph, values).items():
        np.testing.assert_array_equal(results[name], expected)


def test_arrays_of_states(store):
    graph = random_graph(1)
    values = {f"p{i}": 0.5 + i for i in range(6)} | {f"q{i}": np.linspace(i, 1, 7) for i in range(6)}
    put(store, graph)
    results = evaluate(store, "model", ["y", "y[2]"], values)
    expected = interpret(graph, values)["y"]
    assert results["y"].shape == (7, 5)
    np.testing.assert_array_equal(results["y"], expected)
    np.testing.assert_array_equal(results["y[2]"], expected[:, 1])


def test_saved_values_hold_unless_others_are_given(store):
    graph = random_graph(2)
    saved = {f"p{i}": 0.25 * i for i in range(6)}
    state = {f"q{i}": 0.1 * i for i in range(6)}
    put(store, graph, **saved)
    np.testing.assert_array_equal(evaluate(store, "model", ["y"], state)["y"], interpret(graph, saved | state)["y"])
    other = {**saved, **state, "p1": 9.0}
    np.testing.assert_array_equal(
        evaluate(store, "model", ["y"], {**state, "p1": 9.0})["y"], interpret(graph, other)["y"]
    )
    with pytest.raises(GraphError, match="no value for coordinate"):
        evaluate(store, "model", ["y"])
    with pytest.raises(StoreError, match="no output 'x'"):
        evaluate(store, "model", ["x"])


@pytest.fixture(scope="module")
def robot(shared_store):
    add(shared_store, library.mechanism("rackovic-6r"), "H,C,gravity")
    return shared_store


@pytest.mark.parametrize("stage", ["initial", "reduced"])
def test_table_2_2_of_the_dissertation(robot, stage):
    reference = json.loads(REFERENCE.read_text())
    state = {f"q{i}": value for i, value in enumerate(reference["q"], start=1)}
    found = evaluate(robot, f"rackovic-6r:{stage}", values=state)
    np.testing.assert_allclose(found["H"], reference["H"], atol=2e-6)
    np.testing.assert_allclose(found["gravity"], reference["hG"], atol=2e-6)
    printed = np.array(reference["C"])
    printed[4, 5, 4] = 0  # a misprint, see the reference file
    np.testing.assert_allclose(found["C"], printed, atol=2e-6)
    assert evaluate(robot, f"rackovic-6r:{stage}", ["H11"], state)["H11"] == found["H"][0, 0]


def test_a_stored_model_runs(robot):
    run = kernel(robot, "rackovic-6r")
    q = np.linspace(-1, 1, 6)
    expected = interpret(load(robot, "rackovic-6r"), {f"q{i}": value for i, value in enumerate(q, start=1)})
    for name, array in run(q=q).items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-12, atol=1e-13)
