"""The estimate of a kernel's time orders programs as a processor does, and the slower graph is not taken."""

from __future__ import annotations

from itertools import pairwise

from kinegraph.codegen.estimate import estimated_cycles, faster_as_kernel
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output


def inputs(number: int) -> list[Scalar]:
    builder = GraphBuilder()
    return [Scalar(builder, builder.symbol(Kind.INPUT, f"x{i}")) for i in range(number)]


def graph_of(*outputs: Scalar) -> Graph:
    return outputs[0].builder.graph([Output("y", (len(outputs),), tuple(one.index for one in outputs))])


def cycles(graph: Graph) -> float:
    return estimated_cycles(bind(graph, (Argument("x", graph.symbols(Kind.INPUT)),), {}))


def chain(length: int) -> Graph:
    """Each result waits for the one before."""
    x, y = inputs(2)
    for _ in range(length):
        x = x * x + y
    return graph_of(x)


def side_by_side(number: int) -> Graph:
    xs = inputs(number + 1)
    return graph_of(*(x * x + xs[-1] for x in xs[:-1]))


def test_what_waits_takes_longer_than_what_does_not() -> None:
    assert cycles(side_by_side(400)) < 0.8 * cycles(chain(400))


def test_time_grows_with_the_work_and_is_always_the_same() -> None:
    assert cycles(side_by_side(400)) > 1.8 * cycles(side_by_side(200))
    assert cycles(chain(300)) == cycles(chain(300))


def test_additions_have_adders_of_their_own() -> None:
    """As many multiplications, and additions beside them, take hardly longer."""
    xs = inputs(400)
    plain = graph_of(*(x * x for x in xs))
    more = graph_of(*(x * x for x in xs), *(a + b for a, b in pairwise(xs[:200])))
    assert cycles(more) < 1.5 * cycles(plain)


def test_the_slower_graph_is_not_taken() -> None:
    fast, slow = side_by_side(200), chain(190)
    choice = faster_as_kernel(fast, slow)
    assert not choice.reduction_taken
    assert "not taken" in str(choice) and "% more time" in str(choice)
    back = faster_as_kernel(chain(210), fast)
    assert back.reduction_taken and "less time" in str(back)
    assert faster_as_kernel(fast, fast).reduction_taken


def test_what_saves_next_to_nothing_is_not_taken() -> None:
    choice = faster_as_kernel(side_by_side(200), side_by_side(199))
    assert not choice.reduction_taken and "saves too little" in str(choice)
