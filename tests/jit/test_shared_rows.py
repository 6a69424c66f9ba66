"""Batches whose states share some arguments: the same as with a row for each state, and as calls."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.program.instructions import Op, split
from kinegraph.codegen.program.lowering import lower
from kinegraph.errors import KernelError
from kinegraph.model.changes import with_inertial_parameters

ROBOT = with_inertial_parameters(kg.load("puma560"))
RUNTIME = [one.name for one in ROBOT.parameters if one not in kg.load("puma560").parameters]
VALUES = np.array([float(one.value.value) for one in ROBOT.parameters if one.name in RUNTIME])


@pytest.mark.parametrize(
    ("quantity", "rows"),
    [("tau", 1), ("tau", 37), pytest.param("qdd,H", 64, marks=pytest.mark.soak), ("d(qdd)/d(q)", 9)],
)
def test_shared_parameters_are_rows_of_the_same(quantity: str, rows: int) -> None:
    kernel = kg.compile(ROBOT, quantity, runtime=RUNTIME)
    draw = np.random.default_rng(4)
    given = [draw.normal(size=(rows, len(one.symbols))) for one in kernel.arguments[:-1]]
    tiled, shared = kernel.batch(*given, np.tile(VALUES, (rows, 1))), kernel.batch(*given, VALUES)
    alone = kernel(*(one[-1] for one in given), VALUES)
    if isinstance(tiled, np.ndarray):
        tiled, shared, alone = {"": tiled}, {"": shared}, {"": alone}
    for name, found in tiled.items():
        assert np.array_equal(found, shared[name])
        np.testing.assert_allclose(found[-1], alone[name], rtol=1e-9, atol=1e-9)


def test_rows_of_parameters_differ() -> None:
    kernel = kg.compile(ROBOT, "tau", runtime=RUNTIME)
    draw = np.random.default_rng(5)
    given = [draw.normal(size=(21, len(one.symbols))) for one in kernel.arguments[:-1]]
    table = VALUES * draw.uniform(0.5, 1.5, size=(21, len(VALUES)))
    found = kernel.batch(*given, table)
    for row in range(21):
        np.testing.assert_allclose(found[row], kernel(*(one[row] for one in given), table[row]), rtol=1e-11, atol=1e-11)


def test_any_argument_may_be_shared_and_results_may_not_overlap() -> None:
    kernel = kg.compile("puma560", "tau")
    q, v, a = np.random.default_rng(6).normal(size=(3, 11, 6))
    wanted = kernel.batch(q, np.tile(v[0], (11, 1)), a)
    out = np.empty((11, 6))
    assert np.array_equal(kernel.batch(q, v[0], a, out=out), wanted)
    with pytest.raises(KernelError, match="no argument has many states"):
        kernel.batch(q[0], v[0], a[0])
    with pytest.raises(KernelError, match="out"):
        kernel.batch(q, out[3], a, out=out)
    with pytest.raises(KernelError):
        kernel.batch(q, v[0, :5], a)
    one = kg.compile("bouncing-ball", "energy")
    heights = np.linspace(0, 1, 7)
    assert np.array_equal(one.batch(heights, heights), one.batch(heights[:, None], heights[:, None]))


def test_a_program_is_split_at_what_its_parameters_give() -> None:
    program = lower(kg.compile(ROBOT, "tau", runtime=RUNTIME).binding, group=1, fuse=True)
    found = split(program, range(18, 18 + len(RUNTIME)))
    assert found is not None
    work = [sum(one.op not in (Op.INPUT, Op.LITERAL, Op.STORE) for one in part.instructions) for part in found]
    whole = sum(one.op not in (Op.INPUT, Op.LITERAL, Op.STORE) for one in program.instructions)
    assert sum(work) == whole and min(work) > 0
    read = {int(one.detail) for one in found.early.instructions if one.op is Op.INPUT}
    assert read <= {*range(18, 18 + len(RUNTIME))}
    assert split(program, range(0)) is None
