"""Terms rewritten by equations: division with a remainder, circles, addition theorems; never in a circle."""

from __future__ import annotations

from kinegraph.graph import law
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.proof import prove
from kinegraph.passes.compiled_search.anneal import Engine
from kinegraph.passes.effort import Annealing, Budget
from kinegraph.passes.expand import Analytic, Expand
from kinegraph.passes.factoring.alternatives import Alternatives, relations
from kinegraph.passes.factoring.convert import to_graph, to_system


def searched(graph: Graph, work: int = 300_000, rewrite: float = 0.6, seed: int = 4) -> Graph:
    """The graph after the compiled search, proved."""
    translation = to_system(graph)
    ways = Alternatives(relations=relations(translation))
    Engine(translation.system, seed, Annealing(rewrite=rewrite), ways).run(Budget(work=work))
    result = to_graph(translation)
    law.check(result)
    prove(graph, result).require()
    return result


def graph_of(builder: GraphBuilder, outputs: list[Scalar]) -> Graph:
    return builder.graph([Output("y", (len(outputs),), tuple(one.index for one in outputs))])


def quadratic_form() -> Graph:
    """A quadratic form in three variables with its gradient, as kinetic energy and momenta are."""
    builder = GraphBuilder()
    x, y, z = (Scalar(builder, builder.symbol(Kind.INPUT, name)) for name in "xyz")
    p, q, r = 7 * x + 3 * y + 5 * z, 3 * x + 11 * y + 13 * z, 5 * x + 13 * y + 17 * z
    form = 7 * x * x + 11 * y * y + 17 * z * z + 6 * x * y + 10 * x * z + 26 * y * z
    return graph_of(builder, [p, q, r, form])


def test_a_quadratic_form_is_found_to_be_its_gradient_times_the_variables() -> None:
    """The mixed terms must be halved: no sharing of equal parts does that."""
    graph = quadratic_form()
    gradient = count(graph_with(graph, 3)).total
    assert count(searched(graph)).total == gradient + 5
    assert count(searched(graph, rewrite=0)).total > gradient + 5


def graph_with(graph: Graph, outputs: int) -> Graph:
    """The first outputs alone, searched as well."""
    only = graph.outputs[0].nodes[:outputs]
    return searched(Graph(graph.nodes, (Output("y", (outputs,), only),)))


def test_roots_that_become_numbers_are_numbers_in_products() -> None:
    """A function of a root that is 1, pi/pi, and another function: a product of two ones was no lawful node.

    The slope of a periodic linear table is such a product.
    """
    builder = GraphBuilder()
    q, pi = Scalar(builder, builder.symbol(Kind.COORDINATE, "q")), Scalar(builder, builder.pi())
    angle = pi * q
    table = Scalar(builder, builder.apply("select", q.index, builder.number(3), angle.sin().index))
    circle = angle.sin() * angle.sin() + angle.cos() * angle.cos()
    one = circle.reciprocal()
    for product in (pi * one * pi.reciprocal() * table, (pi * circle * one) * (pi.reciprocal() * table) + q, one):
        graph = graph_of(builder, [product, circle])
        for step in (Expand(), Analytic(Budget(work=2000), forms=1)):
            found = step.apply(graph)
            law.check(found)
            prove(graph, found).require()


def test_either_square_gives_way_where_that_saves() -> None:
    """One output has 1 - cos^2 inside, another 1 - sin^2: both vanish into products that are there."""
    builder = GraphBuilder()
    q, v, w = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "qvw")
    s, c = q.sin(), q.cos()
    outputs = [v * s * s, w * c * c, 3 * v - 3 * v * c * c + w, 5 * w - 5 * w * s * s + v]
    assert count(searched(graph_of(builder, outputs))).total <= 8


def test_a_sum_of_angles_is_found_again() -> None:
    builder = GraphBuilder()
    a, b, v = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "abv")
    written = a.cos() * b.cos() - a.sin() * b.sin()
    outputs = [v * written + a, (a + b).cos(), (a + b).sin()]
    assert count(searched(graph_of(builder, outputs))).total == 3


def test_what_a_function_is_applied_to_never_uses_the_function() -> None:
    """x = sqrt(u) stands in sums that have the terms of u: dividing u by them would close a circle."""
    builder = GraphBuilder()
    x, y, z = (Scalar(builder, builder.symbol(Kind.INPUT, name)) for name in "xyz")
    inner = x * y + 2 * y * z + 3 * z * x + 1
    root = inner.apply("sqrt")
    outputs = [root * x + x * y + 2 * y * z, root + x * y + 2 * y * z + 3 * z * x, (root + inner).sin() + inner * root]
    searched(graph_of(builder, outputs), work=100_000)
