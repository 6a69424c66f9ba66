from __future__ import annotations

from collections import Counter
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.codegen.program.instructions import LEAVES, Op, Program, cut
from kinegraph.codegen.program.lowering import AngleGroup, lower, schedule
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output, Symbol, children
from tests.codegen.run import run
from tests.graph.strategies import graphs, random_values


def symbols(*names: str) -> Argument:
    return Argument("x", tuple(Symbol(Kind.COORDINATE, name) for name in names))


def ops(program: Program) -> Counter[Op]:
    return Counter(one.op for one in program.instructions if one.op not in LEAVES)


def program_of(*terms_of_outputs: object, names: str = "abcd", fuse: bool = True) -> Program:
    """A program from a function of a builder and its symbols."""
    builder = GraphBuilder()
    nodes = [builder.symbol(Kind.COORDINATE, name) for name in names]
    outputs = [make(builder, *nodes) for make in terms_of_outputs]  # type: ignore[operator]
    graph = builder.graph([Output("y", (len(outputs),), tuple(outputs))])
    return lower(bind(graph, [symbols(*names)], {}), fuse=fuse)


@given(graphs(), st.integers(0, 1000), st.sampled_from((1, 3, 4)), st.booleans(), st.sampled_from((1, 3, 10**6)))
def test_programs_mean_what_their_graphs_mean(graph: Graph, seed: int, group: int, fuse: bool, limit: int) -> None:
    values = random_values(graph, seed)
    moving = tuple(symbol for symbol in graph.symbols(Kind.COORDINATE, Kind.VELOCITY))
    parameters = {symbol.name: values[symbol.name] for symbol in graph.symbols(Kind.PARAMETER)}
    binding = bind(graph, [Argument("x", moving)], parameters)
    program = lower(binding, group, fuse)
    y = run(program, [values[symbol.name] for symbol in moving], cut(program, limit))
    expected = np.concatenate([array.ravel() for array in interpret(graph, values).values()])
    beside = {name: value * (1 + 1e-14) for name, value in values.items()}  # what rounding may do: sin(1e9) takes seven
    moved = np.concatenate([array.ravel() for array in interpret(graph, beside).values()])  # digits of its argument
    nodes = [one for output in graph.outputs for one in output.nodes]
    for ours, reference, other, node in zip(y, expected, moved, nodes, strict=True):
        # Ill-conditioned points (a pole, a jump) are not what is tested here; they must still be rare. Constants as
        # sin(exp(25)) are: programs hold them rounded from extended precision, the interpreter only in double.
        if node in binding.statics and ours == float(binding.statics[node]):
            continue
        allowed = 1e-6 + 10 * abs(other - reference) if np.isfinite(other) else np.inf
        assert np.isnan(ours) or not np.isfinite(reference) or ours == pytest.approx(reference, rel=1e-6, abs=allowed)


@given(st.integers(1, 30))
def test_constants_are_rounded_once(exponent: int) -> None:
    """An independent judge of what programs hold: balls of 300 bits."""
    builder = GraphBuilder()
    node = builder.apply("sin", builder.apply("exp", builder.number(exponent)))
    graph = builder.graph([Output("y", (), (node,))])
    with flint.ctx.workprec(300):
        wanted = float(flint.arb(exponent).exp().sin())
    assert run(lower(bind(graph, [], {})), [])[0] == pytest.approx(wanted, rel=1e-15)


@given(graphs())
def test_a_schedule_has_every_node_once_and_children_first(graph: Graph) -> None:
    moving = graph.symbols(*(kind for kind in Kind if kind is not Kind.CONSTANT))
    binding = bind(graph, [Argument("x", moving)], {})
    done = set(binding.statics)
    for step in schedule(binding, 2):
        if isinstance(step, AngleGroup):
            assert set(step.angles) <= done and 1 <= len(step.angles) <= 2
        else:
            assert step not in done and set(children(graph.nodes[step])) <= done
            done.add(step)
    assert done == {index for index, live in enumerate(graph.live) if live}


def test_sums_of_products_are_chains_of_fused_operations() -> None:
    program = program_of(lambda b, x, y, z, w: b.add(b.multiply(x, y), b.multiply(z, w), x))
    assert ops(program) == {Op.MULTIPLY_ADD: 2, Op.STORE: 1}


def test_a_product_that_is_only_added_is_never_computed_by_itself() -> None:
    makers = (
        lambda b, x, y, z, w: b.add(b.multiply(x, y), z),
        lambda b, x, y, z, w: b.add(b.multiply(x, y), w),
    )
    assert ops(program_of(*makers)) == {Op.MULTIPLY_ADD: 2, Op.STORE: 2}
    assert ops(program_of(*makers, fuse=False)) == {Op.MULTIPLY: 1, Op.ADD: 2, Op.STORE: 2}


def test_signs_cost_nothing() -> None:
    def negative(b: GraphBuilder, x: int, y: int, z: int, w: int) -> int:
        return b.polynomial([(1, ((x, 1), (y, 1))), (-1, ((z, 1),)), (-1, ((w, 1), (z, 1)))])

    assert Op.NEGATE not in ops(program_of(negative))


def test_what_is_known_last_is_added_last() -> None:
    """A sum must not wait for a late positive term because an early one is negative."""

    def late(b: GraphBuilder, x: int, y: int, z: int, w: int) -> int:
        return b.polynomial([(1, ((b.apply("sin", x), 1),)), (-1, ((y, 1),)), (1, ((x, 1), (z, 1)))])

    program = program_of(late)
    *_, last, store = program.instructions
    assert (last.op, store.op) == (Op.ADD, Op.STORE)
    assert Op.SIN in [program.instructions[operand].op for operand in last.operands]
    assert ops(program)[Op.NEGATE] == 0


def test_powers_by_squaring() -> None:
    assert ops(program_of(lambda b, x, y, z, w: b.power(x, 8)))[Op.MULTIPLY] == 3


def test_a_reciprocal_used_once_is_a_division() -> None:
    program = program_of(lambda b, x, y, z, w: b.multiply(x, y, b.reciprocal(z)))
    assert ops(program) == {Op.MULTIPLY: 1, Op.DIVIDE: 1, Op.STORE: 1}


def test_a_reciprocal_used_twice_is_computed_once() -> None:
    makers = (
        lambda b, x, y, z, w: b.multiply(x, b.reciprocal(z)),
        lambda b, x, y, z, w: b.multiply(y, b.reciprocal(z)),
    )
    assert ops(program_of(*makers)) == {Op.DIVIDE: 1, Op.MULTIPLY: 2, Op.STORE: 2}


def test_sine_and_cosine_of_one_angle_are_computed_together() -> None:
    makers = (lambda b, x, y, z, w: b.apply("sin", x), lambda b, x, y, z, w: b.apply("cos", x))
    assert ops(program_of(*makers)) == {Op.SINCOS: 1, Op.SIN: 1, Op.COS: 1, Op.STORE: 2}


def test_static_factors_are_one_literal_rounded_once() -> None:
    builder = GraphBuilder()
    q = builder.symbol(Kind.COORDINATE, "q")
    # 0.1 * 0.2 * 3, exactly, then rounded: not what rounding after each factor gives.
    parameters = {"a": Fraction(1, 10), "b": Fraction(1, 5)}
    a, b = (builder.symbol(Kind.PARAMETER, name) for name in parameters)
    node = builder.polynomial([(3, ((q, 1), (a, 1), (b, 1))), (1, ((q, 2),))])
    graph = builder.graph([Output("y", (), (node,))])
    program = lower(bind(graph, [symbols("q")], parameters))
    assert [one.detail for one in program.instructions if one.op is Op.LITERAL] == [0.06]
    assert ops(program) == {Op.MULTIPLY: 1, Op.MULTIPLY_ADD: 1, Op.STORE: 1}


def test_a_factor_that_is_exactly_one_or_zero_vanishes() -> None:
    builder = GraphBuilder()
    q = builder.symbol(Kind.COORDINATE, "q")
    m, k = (builder.symbol(Kind.PARAMETER, name) for name in "mk")
    graph = builder.graph([Output("y", (), (builder.polynomial([(1, ((q, 1), (m, 1))), (1, ((k, 1), (q, 2)))]),))])
    program = lower(bind(graph, [symbols("q")], {"m": 1, "k": 0}))
    assert ops(program) == {Op.STORE: 1}


def test_scratch_slots_are_used_again() -> None:
    builder = GraphBuilder()
    x = builder.symbol(Kind.COORDINATE, "x")
    for _ in range(200):
        x = builder.add(builder.apply("exp", x), builder.apply("tanh", x))
    graph = builder.graph([Output("y", (), (x,))])
    symbol = graph.symbols()[0]
    program = lower(bind(graph, [Argument("x", (symbol,))], {}))
    chunks = cut(program, 20)
    assert len(chunks.ranges) > 20 and chunks.scratch_size < 6
