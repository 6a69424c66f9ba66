"""Kernels of all forms have the same interface and give the same numbers."""

from __future__ import annotations

import ctypes
import pickle

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.request import arguments_of
from kinegraph.errors import KernelError

ARM = kg.load("double-pendulum")
WORDS = "tau,energy"
FORMS = {
    "straight": lambda: kg.compile(ARM, WORDS),
    "looped": lambda: kg.compile(ARM, WORDS, loops=True),
    "interpreted": lambda: InterpretedKernel(kg.derive(ARM, WORDS, numeric=True), arguments_of(ARM, WORDS)),
}
STATES = np.random.default_rng(2).uniform(-1, 1, (3, 4, 2))  # q, v, a of four states


@pytest.fixture(params=FORMS)
def kernel(request) -> Kernel:
    return FORMS[request.param]()


def close(one, other) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_allclose(value, other[name], rtol=1e-12, atol=1e-12)


def test_calls_batches_and_flat_calls_agree_with_straight_code(kernel):
    q, v, a = STATES
    expected = FORMS["straight"]()
    assert [one.name for one in kernel.arguments] == ["q", "v", "a"] and kernel.outputs == expected.outputs
    assert (kernel.input_size, kernel.output_size) == (6, 4)
    close(kernel(q[0], v[0], a=a[0]), expected(q[0], v[0], a[0]))
    close(kernel.batch(q, v, a), expected.batch(q, v, a))
    close(kernel.batch(q, v[0], a), expected.batch(q, v[0], a))
    flat = kernel.flat(np.concatenate([q[1], v[1], a[1]]))
    np.testing.assert_allclose(flat, np.concatenate([*expected(q[1], v[1], a[1]).values()]), rtol=1e-12)


def test_code_is_an_address_or_a_function_in_its_place(kernel):
    x = STATES[:, 0].ravel()
    if kernel.addressable:
        found = np.zeros(kernel.output_size)
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)
        function(x.ctypes.data, found.ctypes.data)
    else:
        found = kernel.code(x)
        with pytest.raises(KernelError, match="has no address"):
            kernel.address  # noqa: B018
    np.testing.assert_allclose(found, kernel.flat(x), rtol=1e-15)


def test_what_is_missing_or_wrong_is_said_by_all(kernel):
    q, v, a = STATES[:, 0]
    for values, named, words in (
        ((q, v), {}, "'a' is missing"),
        ((q, v, a, a), {}, "takes 3"),
        ((q, v), {"b": a}, "no argument 'b'"),
        ((q, v, a), {"a": a}, "given twice"),
        ((q, v, a[:1]), {}, "needs 2 numbers"),
    ):
        with pytest.raises(KernelError, match=words):
            kernel(*values, **named)
    with pytest.raises(KernelError, match="different numbers of states"):
        kernel.batch(STATES[0], STATES[1][:2], a)


def test_a_pickled_kernel_is_a_recipe(kernel):
    """The pickle holds only the sources of the equations, and the restored kernel gives the same numbers."""
    sent = pickle.dumps(kernel)
    again = pickle.loads(sent)
    assert type(again) is type(kernel) and again.arguments == kernel.arguments and again.outputs == kernel.outputs
    close(again(*STATES[:, 0]), kernel(*STATES[:, 0]))


def test_operations_are_counted_where_code_is_written_out():
    counts = {name: make().operations for name, make in FORMS.items()}
    assert counts["looped"] is None and counts["straight"].total > 10 and counts["interpreted"].total > 10


def test_loops_make_no_sparse_matrices():
    with pytest.raises(KernelError, match="loops do not make sparse matrices"):
        kg.compile(ARM, "H", loops=True, sparse=True)
