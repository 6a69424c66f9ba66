"""Elimination avoids pivots that vanish identically without being exact zeros."""

import numpy as np

import kinegraph as kg
from kinegraph.derive.constraints.partitioning import Elimination
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Kind
from tests.interpreted import interpreted


def test_a_sum_that_cancels_is_no_pivot() -> None:
    """sin^2 + cos^2 - 1 vanishes everywhere, but is not an exact zero of the graph."""
    builder = GraphBuilder()
    q = Scalar(builder, builder.symbol(Kind.COORDINATE, "q"))
    nothing, one = q.sin() ** 2 + q.cos() ** 2 - 1, q.number(1)
    found = Elimination([[nothing, one], [q, one]], ["a", "b"], [[0.0, 1.0], [0.3, 1.0]])
    assert found.pivots[0] == q


def test_forces_on_a_bicycle_undo_its_accelerations() -> None:
    bicycle = kg.load("bicycle")
    fitting = kg.assemble(bicycle)
    torque, forward = interpreted(bicycle, "tau"), interpreted(bicycle, "qdd")
    steering = np.zeros(9)
    steering[1] = 0.7
    accelerations = forward(fitting.q, fitting.v, steering)
    np.testing.assert_allclose(torque(fitting.q, fitting.v, accelerations), steering, atol=1e-9)
