"""Derivatives of accelerations by compiled back-substitution equal those of the straight-line graph."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.choose import SOLVED_IN_LOOPS
from kinegraph.jit.kernel import KernelOptions
from kinegraph.model.mechanism import Mechanism
from tests.effort import SOAK
from tests.interpreted import interpreted
from tests.mechanisms import Joint, random_state, random_tree

WORDS = "d(qdd)/d(dq),qdd,d(qdd)/d(v),d(qdd)/d(tau)"


def _solved(mechanism: Mechanism, **options: object) -> Kernel:
    kernel = kg.compile(mechanism, WORDS, options=KernelOptions(**options))
    assert isinstance(kernel, Kernel) and kernel.tail is not None
    return kernel


def _close(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], tolerance: float = 1e-9) -> None:
    assert list(found) == list(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=0, atol=tolerance * np.abs(value).max(), err_msg=name)


@pytest.mark.parametrize("seed", range(3 if SOAK else 1))
def test_random_trees(seed: int) -> None:
    tree = random_tree(seed, bodies=4, joints=(Joint.UNIVERSAL, Joint.SPHERICAL, Joint.CYLINDRICAL), branching=0.5)
    q, v, tau, _ = random_state(tree, seed)
    _close(_solved(tree, cache=False)(q, v, tau), interpreted(tree, WORDS)(q, v, tau))


@pytest.mark.parametrize("lanes", [4, 8] if SOAK else [8])
def test_batches_and_pickles(lanes: int) -> None:
    arm = kg.load("puma560")
    kernel = _solved(arm, lanes=lanes, cache=False)
    q, v, tau = np.random.default_rng(1).normal(size=(3, 11, 6))
    found = kernel.batch(q, v, tau)
    again = pickle.loads(pickle.dumps(kernel))
    for row in range(11):
        single = kernel(q[row], v[row], tau[row])
        _close({name: value[row] for name, value in found.items()}, single)
        _close(again(q[row], v[row], tau[row]), single, 1e-15)


def test_the_second_time_it_comes_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    first, second = _solved(kg.load("puma560")), _solved(kg.load("puma560"))
    assert not first.report.cached and second.report.cached and first.tail == second.tail


def test_joints_at_changing_ratios_are_written_out() -> None:
    tree = random_tree(0, bodies=4, joints=(Joint.NONLINEAR, Joint.UNIVERSAL), branching=0.0)
    assert len(tree.layout.velocities) >= SOLVED_IN_LOOPS
    kernel = kg.compile(tree, "d(qdd)/d(v)", options=KernelOptions(cache=False))
    assert isinstance(kernel, Kernel) and kernel.tail is None


def test_derivatives_by_parameters_beside_solved_ones() -> None:
    chain = kg.load("puma560")
    words = "d(qdd)/d(a2)"
    state = np.random.default_rng(2).normal(size=(3, len(chain.layout.velocities)))
    both = kg.compile(chain, f"{words},d(qdd)/d(v)", options=KernelOptions(cache=False))(*state)
    alone = interpreted(chain, words)(*state)
    assert np.abs(alone).max() > 0
    np.testing.assert_allclose(both[words], alone, rtol=0, atol=1e-9 * np.abs(alone).max())
