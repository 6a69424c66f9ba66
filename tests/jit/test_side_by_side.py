"""Kernels that compute limbs of equal structure in parallel lanes agree with the plain equations."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.kernel import Kernel as AnyKernel
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.codegen.program.instructions import Op
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.codegen.program.lowering import lower
from kinegraph.codegen.simd import lower_side_by_side
from kinegraph.compiler.request import arguments_of, quantities_of, request_of
from kinegraph.compiler.stage_records import Chosen, TargetFeatures
from kinegraph.compiler.stored import chosen
from kinegraph.errors import DerivationError, KernelError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.io.language.reader import parse
from kinegraph.io.language.writer import write
from kinegraph.jit.kernel import KernelOptions, compile_graph
from kinegraph.model.mechanism import Mechanism
from tests.effort import SOAK
from tests.interpreted import interpreted
from tests.mechanisms import chain, random_limbs, random_state

MAIN = ("tau", "H", "qdd")
WORDS = (*MAIN, "coriolis", "gravity", "d(tau)/d(dq)", "d(tau)/d(v)", "d(qdd)/d(v)")


_plain = cache(interpreted)


def _kernels(mechanism: Mechanism, words: str | tuple[str, ...], **options: object) -> tuple[InterpretedKernel, Kernel]:
    alike = kg.compile(mechanism, words, options=KernelOptions(cache=False, side_by_side=True, **options))
    assert isinstance(alike, Kernel) and alike.exchange
    return _plain(mechanism, words), alike


def _states(kernel: AnyKernel, mechanism: Mechanism, seed: int) -> list[np.ndarray]:
    q, v, a, _ = random_state(mechanism, seed)
    values = {"q": q, "v": v, "a": a, "tau": 3 * a}
    return [values[argument.name] for argument in kernel.arguments]


def _close(found: object, expected: object, tolerance: float = 1e-11) -> None:
    if isinstance(expected, dict):
        assert isinstance(found, dict) and list(found) == list(expected)
        for name, value in expected.items():
            _close(found[name], value, tolerance)
        return
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(np.asarray(found) / scale, np.asarray(expected) / scale, rtol=0, atol=tolerance)


QUICK = [(2, 3, 2, False, WORDS), (1, 4, 2, True, MAIN), (7, 6, 2, False, MAIN)]
LONG = [(0, 2, 3, True, WORDS), (1, 4, 3, True, MAIN), (0, 2, 4, True, WORDS)]
LONG += [(2, 3, 3, False, WORDS), (5, 2, 5, True, MAIN), (7, 6, 3, True, MAIN)]


@pytest.mark.parametrize(("seed", "limbs", "joints", "free", "words"), [*QUICK, *(LONG if SOAK else [])])
def test_all_quantities(seed: int, limbs: int, joints: int, free: bool, words: tuple[str, ...]) -> None:
    mechanism = random_limbs(seed, limbs, joints, free)
    plain, alike = _kernels(mechanism, words)
    for number in range(3):
        state = _states(plain, mechanism, number)
        _close(alike(*state), plain(*state), 1e-9)


@pytest.mark.parametrize("chunk", [None, 40, 150] if SOAK else [40])
def test_code_cut_into_functions(chunk: int | None) -> None:
    mechanism = random_limbs(3, 2, 3)
    plain, alike = _kernels(mechanism, ("tau", "H"), chunk=chunk)
    state = _states(plain, mechanism, 1)
    _close(alike(*state), plain(*state))


def test_batches_pickles_and_sparse_matrices() -> None:
    mechanism = random_limbs(4, 2, 3)
    plain, alike = _kernels(mechanism, "H")
    q = np.array([random_state(mechanism, seed)[0] for seed in range(11)])
    expected = plain.batch(q)
    _close(alike.batch(q), expected)
    _close(pickle.loads(pickle.dumps(alike))(q[0]), expected[0])
    sparse = kg.compile(mechanism, "H", options=KernelOptions(cache=False), sparse=True)
    assert sparse.kernel.exchange == alike.exchange
    _close(sparse(q[0]).toarray(), expected[0])


def test_fewer_instructions() -> None:
    mechanism = random_limbs(0, 4, 4)
    wanted = quantities_of("tau")
    arguments = arguments_of(mechanism, wanted)
    source = chosen(request_of(mechanism, wanted, numeric=True), TargetFeatures(True, True), cache=False)
    binding = bind(source.graph, arguments, source.numbers)
    single = [one for one in lower(binding).instructions if one.op not in (Op.LITERAL, Op.INPUT)]
    program = lower_side_by_side(binding, dict(source.exchange))
    together = [one for one in program.instructions if one.op not in (Op.LITERAL, Op.LITERALS, Op.INPUT)]
    assert len(together) < 0.5 * len(single)
    assert set(program.widths) == {1, 4}


ELEMENTS = """
spring coil | on(q0_1), stiffness(30), rest(0.1);
damper joint | on(q1_0), damping(2);
spring strut | between(B1_1(0.1, 0.2, 0.3), (1, 0, 0)), stiffness(40), rest(0.2);
damper shock | between(B2_0(0, 0, -0.5), torso(0, 0.3, 0)), damping(3);
"""


def test_elements_of_limbs() -> None:
    """Springs and dampers on some limbs only, at points of bodies whose frames were rotated."""
    mechanism = parse(write(random_limbs(6, 2, 3)) + ELEMENTS)
    plain, alike = _kernels(mechanism, ("tau", "qdd"))
    for seed in range(3):
        state = _states(plain, mechanism, seed)
        _close(alike(*state), plain(*state))


def test_the_second_time_it_comes_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    mechanism = random_limbs(8, 2, 3)
    first = kg.compile(mechanism, "d(qdd)/d(v)")
    again = kg.compile(mechanism, "d(qdd)/d(v)")
    assert isinstance(first, Kernel) and isinstance(again, Kernel)
    assert not first.report.cached and again.report.cached and again.exchange == first.exchange
    state = _states(first, mechanism, 3)
    _close(again(*state), first(*state), 0)


def test_kernel_graphs_are_written_and_read() -> None:
    mechanism = random_limbs(8, 2, 3)
    wanted = quantities_of("d(qdd)/d(v)")
    source = chosen(request_of(mechanism, wanted, numeric=True), TargetFeatures(True, True), cache=False)
    assert source.tail is not None and source.numbers and source.exchange
    assert Chosen.read(source.dump()) == source


LEGS = """
model legs;
coordinates x, y, z, a, b, c, d;
parameters k = {k};
Torso | Sx(x), Sy(y), Rz(z) | m(9), Jx(1), Jy(1), Jz(1);
Left~Torso | Sy(0.3), Rx(a) | m(2), Jx(3), Jy(2), Jz(1.5);
LeftFoot~Left | Sy(1), Rz(b) | {left};
Right~Torso | Sy({offset}), Rx(c) | m(2), Jx(3), Jy(2), Jz(1.5);
RightFoot~Right | Sy(1.2), Rz(d) | m(2), Jx(3), Jy(2), Jz(1.5);
"""
HEAVY = "m(2), Jx(3), Jy(2), Jz(1.5)"


def test_a_limb_without_mass_is_still_refused() -> None:
    mechanism = parse(LEGS.format(left="", offset="-0.3", k=1))
    with pytest.raises(DerivationError, match="b' moves no mass"):
        kg.compile(mechanism, "qdd", options=KernelOptions(cache=False))


@pytest.mark.parametrize(("offset", "k"), [("sqrt(k)", -1), ("10^400", 1), ("exp(100000)", 1)])
def test_numbers_that_are_not_finite_are_what_they_were(offset: str, k: int) -> None:
    mechanism = parse(LEGS.format(left=HEAVY, offset=offset, k=k))
    state = [np.full(7, 0.3), np.ones(7), np.ones(7)]
    plain, alike = (
        kg.compile(mechanism, "tau", options=KernelOptions(cache=False, side_by_side=side)) for side in (False, True)
    )
    assert isinstance(plain, Kernel) and not plain.exchange
    np.testing.assert_array_equal(np.isfinite(alike(*state)), np.isfinite(plain(*state)))


def test_one_coordinate_in_two_limbs() -> None:
    mechanism = parse(LEGS.format(left=HEAVY, offset="-0.3", k=1).replace("Rx(c)", "Rx(-a)").replace("c, d", "d"))
    kernel = kg.compile(mechanism, "tau", options=KernelOptions(cache=False))
    assert isinstance(kernel, Kernel) and not kernel.exchange


def test_the_option_and_wrong_exchanges() -> None:
    builder = GraphBuilder()
    a, b = (builder.symbol(Kind.COORDINATE, name) for name in "ab")
    graph = builder.graph([Output("y", (2,), (builder.multiply(a, a), builder.multiply(b, b)))])
    symbols = tuple(Symbol(Kind.COORDINATE, name) for name in "ab")
    exchange = (symbols, symbols[::-1])
    off = compile_graph(
        graph, [Argument("x", symbols)], options=KernelOptions(cache=False, side_by_side=False), exchange=exchange
    )
    assert not off.exchange and off([2, 3]).tolist() == [4, 9]
    with pytest.raises(KernelError, match="only one of them is an argument"):
        compile_graph(graph, [Argument("x", symbols[:1])], {"b": 1}, exchange=exchange)


def test_mechanisms_without_limbs_are_compiled_as_ever() -> None:
    kernel = kg.compile(chain(4), "tau", options=KernelOptions(cache=False))
    assert isinstance(kernel, Kernel) and not kernel.exchange


def test_functions_signs_and_lanes_that_change_places() -> None:
    """Artificial graphs: every way in which an operand can reach a lane."""
    builder = GraphBuilder()
    names = ("a", "b", "c", "p", "q", "r")
    a, b, c, p, q, r = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in names)
    shared = a * b * c + 1

    def formula(x: Scalar, y: Scalar, one: Scalar, other: Scalar) -> list[Scalar]:
        odd = one - other  # becomes its own negative, or a node of the next pair
        swapped = y * other + shared
        root = Scalar(builder, builder.apply("sqrt", (x * x + 1).index))
        slope = Scalar(builder, builder.apply("atan2", root.index, (y - 2).index))
        inverse = (x * x + shared * shared + 1).reciprocal()
        return [
            odd * y - swapped,
            inverse * slope,
            -(x - y) * inverse,
            (x * odd).sin(),
            (swapped - x).cos() * root,
            odd,
        ]

    pairs = [(a, p, a, b), (b, q, b, c), (c, r, c, a)]
    nodes = [node.index for x, y, one, other in pairs for node in formula(x, y, one, other)]
    nodes.append((a * p + b * q + c * r).index)
    graph = builder.graph([Output("y", (len(nodes),), tuple(nodes))])
    arguments = [Argument("x", tuple(Symbol(Kind.COORDINATE, name) for name in names))]
    symbols = [Symbol(Kind.COORDINATE, name) for name in names]
    cycles = [(symbols[k], symbols[(k + 1) % 3]) for k in range(3)]
    cycles += [(symbols[3 + k], symbols[3 + (k + 1) % 3]) for k in range(3)]
    uncached = KernelOptions(cache=False)
    plain = compile_graph(graph, arguments, options=uncached)
    alike = compile_graph(graph, arguments, options=uncached, exchange=tuple(cycles))
    program = lower_side_by_side(alike.binding, dict(cycles))
    assert max(program.widths) == 3 and any(one.op is Op.JOIN for one in program.instructions)
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=6)
        np.testing.assert_allclose(alike(x), plain(x), rtol=1e-12, atol=1e-13)
