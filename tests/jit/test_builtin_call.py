"""Kernels as built-in functions: the same bits as the plain path, and the same refusals."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KernelError
from kinegraph.jit import builtin_call
from kinegraph.jit.kernel import StraightKernel

RANDOM = np.random.default_rng(3)


@pytest.fixture(scope="module")
def tau() -> StraightKernel:
    return kg.compile("puma560", "tau")


def misaligned(values: np.ndarray) -> np.ndarray:
    memory = np.zeros(values.nbytes + 1, dtype=np.uint8)[1:]
    found = memory.view(np.float64).reshape(values.shape)
    found[...] = values
    return found


class Named(np.ndarray):
    """An array of another class."""


def test_the_layout_of_arrays_is_known() -> None:
    assert builtin_call._tools() is not None, "calls are slow: describe this NumPy or this Python"


@pytest.mark.parametrize("words", ["tau", "H", "energy", "H, gravity"])
def test_both_paths_give_the_same_bits(words: str) -> None:
    kernel = kg.compile("puma560", words)
    given = [RANDOM.normal(size=len(one.symbols)) for one in kernel.arguments]
    found = kernel.by_name(kernel(*given))
    y = kernel._converted(*given)
    known = kernel.by_name(y if len(kernel.outputs) == 1 else kernel._parts(y))
    for output in kernel.outputs:
        assert found[output.name].shape == output.shape
        assert np.array_equal(found[output.name], known[output.name])


@pytest.mark.parametrize(
    "form",
    [
        lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
        lambda x: x[::-1][::-1],
        lambda x: x.astype(">f8"),
        misaligned,
        lambda x: x.view(Named),
        lambda x: x.tolist(),
        lambda x: np.lib.stride_tricks.as_strided(x, writeable=False),
    ],
)
def test_arrays_of_any_form_are_taken(tau: StraightKernel, form) -> None:
    given = [RANDOM.normal(size=6) for _ in range(3)]
    assert np.array_equal(tau(given[0], form(given[1]), given[2]), tau._converted(*given))
    rows = [RANDOM.normal(size=(9, 6)) for _ in range(3)]
    wanted = tau.batch(*rows)
    assert np.array_equal(tau.batch(rows[0], form(rows[1]), rows[2]), wanted)


def test_shorter_numbers_are_converted(tau: StraightKernel) -> None:
    given = np.arange(6, dtype=np.float32)
    assert np.array_equal(tau(given, given, np.arange(6)), tau._converted(*[np.arange(6.0)] * 3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((np.zeros(6), np.zeros(5), np.zeros(6)), r"'v' needs 6 numbers .* shape \(5,\)"),
        ((np.zeros((6, 1)), np.zeros(6), np.zeros(6)), r"'q' needs 6 numbers"),
        ((np.zeros((2, 6)),) * 3, "kernel.batch"),
        ((np.zeros(6),) * 2, "'a' is missing"),
        ((np.zeros(6),) * 4, "4 arguments"),
        ((np.zeros(6), np.zeros(6, dtype=complex), np.zeros(6)), "complex"),
        ((np.zeros(6), None, np.zeros(6)), "'v'"),
    ],
)
def test_wrong_arguments_are_refused_by_name(tau: StraightKernel, given, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        tau(*given)


def test_a_quaternion_of_zeros_is_refused() -> None:
    kernel = kg.compile("heavy-top", "H")
    with pytest.raises(KernelError, match="not an orientation"):
        kernel(np.zeros(4))
    half_turn = np.array([0.0, 1.0, 0.0, 0.0])
    assert np.array_equal(kernel(half_turn), kernel._converted(half_turn))


def test_results_are_written_where_asked(tau: StraightKernel) -> None:
    rows = [RANDOM.normal(size=(40, 6)) for _ in range(3)]
    wanted, out = tau.batch(*rows), np.empty((40, 6))
    assert tau.batch(*rows, out=out) is out and np.array_equal(out, wanted)
    memory = np.zeros((50, 6))
    memory[:40] = rows[0]
    with pytest.raises(KernelError, match="overlaps"):
        tau.batch(memory[:40], rows[1], rows[2], out=memory[10:])
    beside = np.zeros((80, 6))
    beside[:40] = rows[0]
    assert np.array_equal(tau.batch(beside[:40], rows[1], rows[2], out=beside[40:]), wanted)
    out.flags.writeable = False
    with pytest.raises(KernelError, match="writeable"):
        tau.batch(*rows, out=out)
    for wrong in (np.empty((39, 6)), np.empty((40, 6), dtype=np.float32), np.empty((6, 40)).T, [1]):
        with pytest.raises(KernelError, match="`out`"):
            tau.batch(*rows, out=wrong)


def test_nothing_is_kept(tau: StraightKernel) -> None:
    """References of arguments, results and None stay as they were, also where the plain path takes over."""
    q, rows, out = np.zeros(6), np.zeros((9, 6)), np.zeros((9, 6))
    objects = (q, rows, out, None)
    tau(q, q, q), tau.batch(rows, rows, rows)
    before = [sys.getrefcount(one) for one in objects]
    for _ in range(5000):
        tau(q, q, q)
        tau(q, q.tolist(), q)
        tau.batch(rows, rows, rows, out=out)
    after = [sys.getrefcount(one) for one in objects]
    assert after[:3] == before[:3] and abs(after[3] - before[3]) < 100


def test_threads_call_it_together(tau: StraightKernel) -> None:
    given = RANDOM.normal(size=(8, 3, 6))
    wanted = [tau(*one) for one in given]

    def work(k: int) -> bool:
        return all(np.array_equal(tau(*given[k]), wanted[k]) for _ in range(2000))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_without_built_in_functions_calls_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin_call, "_tools", lambda: None)
    kernel = kg.compile("puma560", "gravity")
    q = RANDOM.normal(size=(5, 6))
    np.testing.assert_allclose(kernel.batch(q), [kernel(one) for one in q], rtol=1e-12, atol=1e-12)
