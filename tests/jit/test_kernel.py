from __future__ import annotations

import ctypes
import math
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kinegraph as kg
from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.errors import KernelError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import Evaluation, FloatArithmetic, interpret
from kinegraph.graph.node import FUNCTIONS, Function, Graph, Kind, Output, Symbol
from kinegraph.jit.engine import Target, host
from kinegraph.jit.kernel import KernelOptions, compile_binding, compile_graph
from tests.graph.strategies import graphs, random_values

UNCACHED = KernelOptions(cache=False)
#: Every example is compiled.
half_as_many = settings(max_examples=settings().max_examples // 2)
HOSTILE = "\"} define void @f() { %n \x00 naïve 力 '; --"


def coordinates(*names: str) -> tuple[Symbol, ...]:
    return tuple(Symbol(Kind.COORDINATE, name) for name in names)


def split_symbols(graph: Graph) -> tuple[list[Argument], list[str]]:
    """Coordinates and velocities as two arguments, the names of the parameters."""
    arguments = [Argument("q", graph.symbols(Kind.COORDINATE)), Argument("v", graph.symbols(Kind.VELOCITY))]
    return arguments, [symbol.name for symbol in graph.symbols(Kind.PARAMETER)]


def well_conditioned(graph: Graph, values: dict[str, float]) -> bool:
    """No huge numbers, and no argument near a jump or a pole, where rounding would decide."""
    with np.errstate(all="ignore"):
        evaluation = Evaluation(graph, FloatArithmetic(values))
    numbers = np.array([float(value) for value in evaluation.values if value is not None])
    if not np.all(np.abs(numbers) < 1e3):
        return False
    firsts = [
        float(evaluation[node.arguments[0]])
        for node in graph.nodes
        if isinstance(node, Function) and node.name in ("reciprocal", "sqrt", "log", "sign", "abs", "select", "atan2")
    ]
    inverses = [
        abs(float(evaluation[node.arguments[0]]))
        for node in graph.nodes
        if isinstance(node, Function) and node.name in ("asin", "acos")
    ]
    return all(abs(first) > 1e-2 for first in firsts) and all(inverse < 0.99 for inverse in inverses)


def close(ours: np.ndarray, reference: np.ndarray) -> bool:
    return bool(np.allclose(ours, reference, rtol=1e-7, atol=1e-7, equal_nan=True))


@half_as_many
@given(graphs(), st.integers(0, 10_000), st.sampled_from((None, 2)), st.sampled_from((10, 600)))
def test_kernels_agree_with_the_interpreter(graph: Graph, seed: int, lanes: int | None, chunk: int) -> None:
    values = random_values(graph, seed)
    assume(well_conditioned(graph, values))
    arguments, parameters = split_symbols(graph)
    options = KernelOptions(lanes=lanes, chunk=chunk, cache=False)
    kernel = compile_graph(graph, arguments, {name: values[name] for name in parameters}, options)
    state = [[values[symbol.name] for symbol in argument.symbols] for argument in arguments]
    expected = interpret(graph, values)
    single = kernel(*state)
    many = kernel.batch(*(np.tile(np.array(part, dtype=float), (3, 1)) for part in state))
    for name, reference in expected.items():
        assert single[name].shape == reference.shape
        assert close(single[name], reference)
        assert close(many[name], np.stack([reference] * 3))


@half_as_many
@given(graphs(), st.integers(0, 10_000))
def test_not_a_number_goes_through_or_has_no_effect(graph: Graph, seed: int) -> None:
    """The kernel returns NaN exactly where the interpreter does, for every function, and never crashes."""
    values = random_values(graph, seed)
    assume(well_conditioned(graph, values))
    arguments, parameters = split_symbols(graph)
    victims = [symbol.name for argument in arguments for symbol in argument.symbols]
    assume(victims)
    poisoned = values | {victims[seed % len(victims)]: math.nan}
    kernel = compile_graph(graph, arguments, {name: values[name] for name in parameters}, UNCACHED)
    state = [np.array([poisoned[symbol.name] for symbol in argument.symbols]) for argument in arguments]
    for name, reference in interpret(graph, poisoned).items():
        assert np.array_equal(np.isnan(kernel(*state)[name]), np.isnan(reference))
        assert np.array_equal(np.isnan(kernel.batch(*(part[None] for part in state))[name][0]), np.isnan(reference))


def every_function() -> Graph:
    builder = GraphBuilder()
    x, y, z = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xyz")
    outputs = [x.apply(name, *(y, z)[: rule.arity - 1]) for name, rule in FUNCTIONS.items()]
    return builder.graph([Output("all", (len(outputs),), tuple(one.index for one in outputs))])


SPECIAL = [0.0, -0.0, 5e-324, -1e-310, 0.5, -0.5, 1.0, -1.0, 3.0, -800.0, 1e6, -1e300, math.inf, -math.inf, math.nan]


def test_every_function_at_special_values() -> None:
    graph = every_function()
    kernel = compile_graph(graph, [Argument("x", coordinates("x", "y", "z"))], options=UNCACHED)
    points = np.array([(x, y, 7.0) for x in SPECIAL for y in SPECIAL])
    expected = interpret(graph, {name: points[:, column] for column, name in enumerate("xyz")})["all"]
    np.testing.assert_allclose(kernel.batch(points), expected, rtol=1e-14)
    for point, row in zip(points[::7], expected[::7], strict=True):
        np.testing.assert_allclose(kernel(point), row, rtol=1e-14)


def arm_like() -> tuple[Graph, list[Argument]]:
    """Two outputs of different shapes, over arguments of three, two and one symbols."""
    builder = GraphBuilder()
    q = [Scalar(builder, builder.intern(symbol)) for symbol in coordinates("q1", "q2", "q3")]
    v = [Scalar(builder, builder.symbol(Kind.VELOCITY, name)) for name in ("v1", "v2")]
    t = Scalar(builder, builder.symbol(Kind.TIME, "t"))
    outputs = [
        Output("H", (2, 2), tuple(one.index for one in (q[0].sin() * v[0], q[1].cos() + t, q[2] * q[0], v[1] ** 2))),
        Output("e", (), ((q[0] * v[1] + t / v[0]).index,)),
    ]
    graph = builder.graph(outputs)
    velocities = (Symbol(Kind.VELOCITY, "v1"), Symbol(Kind.VELOCITY, "v2"))
    times = (Symbol(Kind.TIME, "t"),)
    return graph, [Argument("q", coordinates("q1", "q2", "q3")), Argument("v", velocities), Argument("t", times)]


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return compile_graph(*arm_like(), options=UNCACHED)


def test_several_outputs_come_by_name_with_their_shapes(kernel: Kernel) -> None:
    result = kernel([1, 2, 3], [4, 5], 6)
    assert result["H"].shape == (2, 2) and result["e"].shape == ()
    np.testing.assert_allclose(result["H"], [[4 * math.sin(1), math.cos(2) + 6], [3, 25]])
    assert result["e"] == 5 + 6 / 4


def test_results_are_the_callers_own(kernel: Kernel) -> None:
    first = kernel([1, 2, 3], [4, 5], 6)["H"]
    before = first.copy()
    kernel([9, 9, 9], [9, 9], 9)
    assert np.array_equal(first, before)


@pytest.mark.parametrize("t", [6, 6.0, [6], np.float32(6), np.array(6), np.array([6], dtype=np.int8)])
def test_what_one_number_may_look_like(kernel: Kernel, t: object) -> None:
    assert kernel([1, 2, 3], (4, 5), t)["e"] == 6.5


def test_arguments_by_name(kernel: Kernel) -> None:
    assert kernel([1, 2, 3], t=6, v=[4, 5])["e"] == 6.5


def test_strided_and_foreign_arrays(kernel: Kernel) -> None:
    q = np.array([[1, 0], [2, 0], [3, 0]], dtype=">f8")[:, 0]
    assert kernel(q, np.array([5, 4], dtype=np.float32)[::-1], 6)["e"] == 6.5


@pytest.mark.parametrize(
    ("values", "named", "words"),
    [
        (([1, 2], [4, 5], 6), {}, ["'q'", "3 numbers (q1, q2, q3)", "(2,)"]),
        (([1, 2, 3], [4, 5], [6, 7]), {}, ["'t'", "1 number", "(2,)"]),
        (([[1, 2, 3]], [4, 5], 6), {}, ["'q'", "(1, 3)", "kernel.batch"]),
        (([1, 2, 3j], [4, 5], 6), {}, ["'q'", "complex"]),
        ((["a", "b", "c"], [4, 5], 6), {}, ["'q'", "real numbers"]),
        (([1, 2, None], [4, 5], 6), {}, ["'q'", "object"]),
        (([1, [2], 3], [4, 5], 6), {}, ["'q'", "not an array of numbers"]),
        (([1, 2, 3], [4, 5]), {}, ["'t' is missing"]),
        (([1, 2, 3], [4, 5], 6, 7), {}, ["4 arguments were given", "takes 3"]),
        (([1, 2, 3], [4, 5]), {"w": 6}, ["no argument 'w'", "q, v, t"]),
        (([1, 2, 3], [4, 5]), {"v": [4, 5], "t": 6}, ["'v' was given twice"]),
    ],
)
def test_wrong_arguments_are_explained(kernel: Kernel, values: tuple, named: dict, words: list[str]) -> None:
    with pytest.raises(KernelError) as caught:
        kernel(*values, **named)
    assert all(word in str(caught.value) for word in words)


# batches


@cache
def kernel_of_lanes(lanes: int) -> Kernel:
    return compile_graph(*arm_like(), options=KernelOptions(lanes=lanes, cache=False))


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5, 8, 17, 64])
def test_batches_of_any_size(lanes: int, rows: int) -> None:
    kernel = kernel_of_lanes(lanes)
    generator = np.random.default_rng(rows)
    q, v, t = generator.normal(size=(rows, 3)), generator.normal(size=(rows, 2)), generator.normal(size=rows)
    result = kernel.batch(q, v, t)
    assert result["H"].shape == (rows, 2, 2) and result["e"].shape == (rows,)
    for row in range(rows):
        single = kernel(q[row], v[row], t[row])
        np.testing.assert_allclose(result["H"][row], single["H"], rtol=1e-14)
        np.testing.assert_allclose(result["e"][row], single["e"], rtol=1e-14)


def test_batches_take_any_layout(kernel: Kernel) -> None:
    generator = np.random.default_rng(3)
    states = generator.normal(size=(21, 6))
    q, v, t = states[:, :3], states[:, 3:5], states[:, 5:]
    expected = kernel.batch(q.copy(), v.copy(), t.copy())["H"]
    layouts = [
        (q, v, t),
        (np.asfortranarray(q), np.asfortranarray(v), t[:, 0]),
        (q.astype(">f8"), v.tolist(), np.repeat(t, 2, axis=0)[::2]),
        (np.repeat(q, 2, axis=1)[:, ::2], v, t),
    ]
    for layout in layouts:
        assert np.array_equal(kernel.batch(*layout)["H"], expected)
    backwards = kernel.batch(q[::-1], v[::-1], t[::-1])["H"]
    assert np.array_equal(backwards[::-1], expected)


def test_one_row_serves_all_states(kernel: Kernel) -> None:
    q = np.random.default_rng(4).normal(size=(9, 3))
    expected = kernel.batch(q, np.tile([4.0, 5.0], (9, 1)), np.full((9, 1), 6.0))["H"]
    assert np.array_equal(kernel.batch(q, [4, 5], 6)["H"], expected)
    assert np.array_equal(kernel.batch(q, [[4, 5]], [6])["H"], expected)
    assert np.array_equal(kernel.batch(q=q, t=6, v=[4, 5])["H"], expected)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((np.ones((5, 2)), np.ones((5, 2)), 0), ["'q'", "(n, 3)", "(5, 2)"]),
        ((np.ones((5, 3)), np.ones((4, 2)), 0), ["different numbers of states", "'v' (4, 2)"]),
        ((np.ones((5, 3)), np.ones((5, 2)), np.ones(4)), ["different numbers of states"]),
        ((np.ones(3), np.ones(2), 0), ["no argument has many states"]),
        ((np.ones((2, 2, 3)), np.ones(2), 0), ["'q'", "(2, 2, 3)"]),
        ((np.ones((5, 3), dtype=complex), np.ones(2), 0), ["'q'", "complex128"]),
    ],
)
def test_wrong_batches_are_explained(kernel: Kernel, values: tuple, words: list[str]) -> None:
    with pytest.raises(KernelError) as caught:
        kernel.batch(*values)
    assert all(word in str(caught.value) for word in words)


def test_results_can_be_written_to_arrays_of_an_earlier_call(kernel: Kernel) -> None:
    generator = np.random.default_rng(6)
    first, second = (
        (generator.normal(size=(9, 3)), generator.normal(size=(9, 2)), generator.normal(size=9)) for _ in range(2)
    )
    out = kernel.batch(*first)
    expected = kernel.batch(*second)
    written = kernel.batch(*second, out=out)
    assert all(written[name] is out[name] for name in out)
    assert all(np.array_equal(written[name], expected[name]) for name in out)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda out, q: out["H"], ["dict of arrays", "H, e"]),
        (lambda out, q: {"H": out["H"]}, ["dict of arrays", "H, e"]),
        (lambda out, q: {**out, "H": out["H"][1:]}, ["'H'", "(9, 2, 2)", "(8, 2, 2)"]),
        (lambda out, q: {**out, "e": out["e"].astype(np.float32)}, ["'e'", "float64", "float32"]),
        (lambda out, q: {**out, "e": [0.0] * 9}, ["'e'", "list"]),
        (lambda out, q: {**out, "e": np.zeros(18)[::2]}, ["'e'", "contiguous"]),
        (lambda out, q: {**out, "e": q.reshape(-1)[:9]}, ["'e'", "overlaps"]),
        (lambda out, q: {**out, "e": out["H"].reshape(-1)[:9]}, ["'e'", "another result"]),
    ],
)
def test_wrong_places_for_results_are_explained(kernel: Kernel, change: Callable, words: list[str]) -> None:
    q = np.ones((9, 3))
    out = kernel.batch(q, [1, 2], 3)
    with pytest.raises(KernelError) as caught:
        kernel.batch(q, [1, 2], 3, out=change(out, q))
    assert all(word in str(caught.value) for word in words)


def test_a_result_asked_for_twice_is_computed() -> None:
    kernel = kg.compile(kg.load("double-pendulum"), "H,H,gravity", options=UNCACHED)
    assert isinstance(kernel, Kernel)
    q = np.random.default_rng(2).normal(size=(20, 2))
    found = kernel.batch(q)
    assert list(found) == ["H", "gravity"]
    for row in range(20):
        np.testing.assert_allclose(found["H"][row], kernel(q[row])["H"], rtol=1e-13)


def test_no_argument_may_be_called_out() -> None:
    builder = GraphBuilder()
    graph = builder.graph([Output("y", (), (builder.symbol(Kind.COORDINATE, "x"),))])
    with pytest.raises(KernelError, match="'out'"):
        compile_graph(graph, [Argument("out", coordinates("x"))])


def test_many_short_results() -> None:
    """More than one function writes results."""
    builder = GraphBuilder()
    names = [f"x{number}" for number in range(9)]
    x = [Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in names]
    entries = [[(x[(i + k) % 9] * x[i % 9] + k).index for i in range(40)] for k in range(20)]
    graph = builder.graph([Output(f"y{k}", (40,), tuple(nodes)) for k, nodes in enumerate(entries)])
    kernel = compile_graph(graph, [Argument("x", coordinates(*names))], options=UNCACHED)
    states = np.random.default_rng(1).normal(size=(13, 9))
    found = kernel.batch(states)
    for row, state in enumerate(states):
        single = kernel(state)
        assert all(np.allclose(found[name][row], single[name], rtol=1e-14) for name in single)
    assert "@short19" in kernel.batch_ir


def test_compiled_callers_can_call_the_batch_code(kernel: Kernel) -> None:
    q = np.random.default_rng(7).normal(size=(11, 3))
    others = np.array([4.0, 5.0]), np.array([6.0])
    results = [np.zeros((11, 2, 2)), np.zeros(11)]
    tables = [(ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays)) for arrays in ((q, *others), results)]
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 3)(kernel.batch_address)
    function(2, 11, tables[0], (ctypes.c_int64 * 3)(3, 0, 0), tables[1])
    expected = kernel.batch(q, *others)
    assert np.array_equal(results[0][2:], expected["H"][2:]) and not results[0][:2].any()
    assert np.array_equal(results[1][2:], expected["e"][2:])


def test_large_batches_on_many_threads_equal_one_thread() -> None:
    graph, arguments = arm_like()
    generator = np.random.default_rng(5)
    q, v = generator.normal(size=(300_000, 3)), generator.normal(size=(300_000, 2))
    results = [
        compile_graph(graph, arguments, options=KernelOptions(threads=threads, cache=False)).batch(q, v, 1)["H"]
        for threads in (1, 5)
    ]
    assert np.array_equal(*results)


def test_wide_arguments_and_outputs() -> None:
    """Rows so long that a loop copies them."""
    builder = GraphBuilder()
    names = [f"x{number}" for number in range(301)]
    nodes = [builder.symbol(Kind.COORDINATE, name) for name in names]
    outputs = tuple(builder.scale(number + 1, node) for number, node in enumerate(reversed(nodes)))
    graph = builder.graph([Output("y", (301,), outputs)])
    kernel = compile_graph(graph, [Argument("x", coordinates(*names))], options=UNCACHED)
    x = np.random.default_rng(6).normal(size=(13, 301))
    assert np.array_equal(kernel.batch(x), x[:, ::-1] * np.arange(1, 302))
    assert np.array_equal(kernel(x[0]), x[0, ::-1] * np.arange(1, 302))


# the rest


def test_outputs_without_inputs_and_inputs_without_outputs() -> None:
    builder = GraphBuilder()
    graph = builder.graph([Output("c", (2,), (builder.number(Fraction(1, 3)), builder.pi()))])
    assert compile_graph(graph, [], options=UNCACHED)().tolist() == [1 / 3, math.pi]
    unused = compile_graph(graph, [Argument("q", coordinates("q"))], options=UNCACHED)
    assert unused.batch(np.zeros((3, 1))).tolist() == [[1 / 3, math.pi]] * 3
    assert compile_graph(GraphBuilder().graph([]), [], options=UNCACHED)() == {}


def test_parameters_at_compile_time_and_at_run_time_agree() -> None:
    builder = GraphBuilder()
    m, q = builder.symbol(Kind.PARAMETER, "m"), builder.symbol(Kind.COORDINATE, "q")
    graph = builder.graph([Output("f", (), (builder.multiply(builder.apply("sqrt", m), q),))])
    fixed = compile_graph(graph, [Argument("q", coordinates("q"))], {"m": 2}, UNCACHED)
    arguments = [Argument("q", coordinates("q")), Argument("p", (Symbol(Kind.PARAMETER, "m"),))]
    free = compile_graph(graph, arguments, {"m": 99}, UNCACHED)
    assert fixed(3) == pytest.approx(free(3, 2), rel=1e-15)


def test_hostile_names_stay_out_of_the_code() -> None:
    builder = GraphBuilder()
    x = builder.symbol(Kind.COORDINATE, HOSTILE)
    graph = builder.graph([Output(HOSTILE, (), (builder.power(x, 2),)), Output("\ud800", (), (x,))])
    kernel = compile_graph(graph, [Argument(HOSTILE, coordinates(HOSTILE))], options=UNCACHED)
    assert kernel(**{HOSTILE: 3.0})[HOSTILE] == 9.0
    assert "naïve" not in kernel.ir + kernel.assembly() + kernel.batch_ir


def test_a_scratch_array_too_large_for_the_stack() -> None:
    builder = GraphBuilder()
    x = builder.symbol(Kind.COORDINATE, "x")
    waves = [builder.apply("sin", builder.scale(number, x)) for number in range(1, 801)]
    tail = [builder.multiply(one, builder.apply("exp", one)) for one in waves]
    graph = builder.graph([Output("s", (), (builder.add(*waves),)), Output("t", (), (builder.add(*tail),))])
    kernel = compile_graph(graph, [Argument("x", coordinates("x"))], options=KernelOptions(lanes=16, cache=False))
    assert "call ptr @kinegraph_malloc" in kernel.batch_ir
    sines = np.sin(np.arange(1, 801) * 0.7)
    result = kernel.batch([[0.7], [0.7], [0.7]])
    np.testing.assert_allclose(result["s"], [sines.sum()] * 3, rtol=1e-11)
    np.testing.assert_allclose(result["t"], [(sines * np.exp(sines)).sum()] * 3, rtol=1e-11)
    np.testing.assert_allclose(kernel(0.7)["t"], result["t"][0], rtol=1e-12)


def test_many_threads_may_call_one_kernel(kernel: Kernel) -> None:
    def work(seed: int) -> bool:
        generator = np.random.default_rng(seed)
        for _ in range(300):
            q, v, t = generator.normal(size=3), generator.normal(size=2), generator.normal()
            if not math.isclose(kernel(q, v, t)["e"], q[0] * v[1] + t / v[0], rel_tol=1e-12, abs_tol=1e-12):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_a_processor_without_vectors_or_fused_operations() -> None:
    if not host().triple.startswith("x86_64"):
        pytest.skip("the plain x86-64 processor is tried on x86-64 only")
    graph = every_function()
    binding = bind(graph, [Argument("x", coordinates("x", "y", "z"))], {})
    plain = compile_binding(binding, UNCACHED, Target(host().triple, "x86-64", ""))
    best = compile_binding(binding, UNCACHED, host())
    assert plain.lanes == 4 and "zmm" not in plain.assembly(batch=True) and "vfmadd" not in plain.assembly()
    x = np.random.default_rng(8).normal(size=(50, 3))
    np.testing.assert_allclose(plain.batch(x), best.batch(x), rtol=1e-14)
    np.testing.assert_allclose(plain(x[0]), best(x[0]), rtol=1e-14)


def test_kernels_can_be_pickled(kernel: Kernel) -> None:
    again = pickle.loads(pickle.dumps(kernel))
    assert again([1, 2, 3], [4, 5], 6)["e"] == 6.5


def test_what_a_kernel_says_about_itself(kernel: Kernel) -> None:
    assert (kernel.input_size, kernel.output_size) == (6, 5)
    assert kernel.operations.sin == 1 and kernel.operations.div == 1
    assert kernel.address > 0 and kernel.seconds > 0
    assert "define void @kinegraph_scalar" in kernel.ir and "kinegraph_scalar" in kernel.assembly()
    assert repr(kernel).startswith("<StraightKernel (q[3], v[2], t[1]) -> H[2, 2], e[]")


@pytest.mark.parametrize("wrong", [{"lanes": 3}, {"lanes": 0}, {"chunk": 0}, {"threads": 0}])
def test_wrong_options_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(KernelError, match=next(iter(wrong))):
        KernelOptions(**wrong)


def test_batches_of_an_arm_agree_with_single_calls() -> None:
    """Most of these 2,954 numbers are zero or stand there twice; the last block has fewer states than lanes."""
    arm = kg.load("rackovic-14r")
    kernel = kg.compile(arm, "H,C,gravity", options=KernelOptions(cache=False))
    states = np.random.default_rng(3).normal(size=(11, 14))
    found = kernel.batch(states)
    for index, state in enumerate(states):
        for name, value in kernel(state).items():
            np.testing.assert_allclose(found[name][index], value, rtol=0, atol=1e-12 * np.abs(value).max())
