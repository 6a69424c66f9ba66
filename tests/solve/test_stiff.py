"""Stiff joint limits: BDF with the exact Jacobian pays little more for them than for soft ones."""

from __future__ import annotations

import numpy as np
from benchmarks.stiff import LOSS, measure, model

from kinegraph.derive.dynamics.state_rate import NO_FORCES, rate_jacobian
from kinegraph.graph.interpret import interpret
from kinegraph.simulate.equations import VelocityForm


def test_stiff_limits_cost_at_most_three_times_the_soft_ones() -> None:
    """Evaluations and factorized Jacobians are counted, for a busy machine must not fail a test; see `bench stiff`."""
    soft, stiff = measure(1e3, repeats=1), measure(1e8, repeats=1)
    assert stiff.steps < 3 * soft.steps
    assert stiff.evaluations < 3 * soft.evaluations
    assert stiff.jacobians < 10 * soft.jacobians
    assert max(soft.balance, stiff.balance) < 1e-3


def test_the_jacobian_knows_the_limits() -> None:
    """Inside both stops, beside differences of the right-hand side."""
    equations = VelocityForm(model(), {"stiffness": 1e4, "damping": LOSS * 1e4}, NO_FORCES)
    slopes = rate_jacobian(equations.mechanism, equations.rate)
    at = dict(zip(equations.names, [1.01, -0.52, 0.3, 0.2, 0.0, 0.0], strict=True))
    exact = interpret(slopes, {**at, "t": 0.0})["jacobian"]
    for column, name in enumerate(equations.names):
        ends = [interpret(equations.rate, {**at, name: at[name] + step, "t": 0.0})["rate"] for step in (-1e-6, 1e-6)]
        assert np.allclose(exact[:, column], (ends[1] - ends[0]) / 2e-6, rtol=1e-5, atol=1e-4)
    assert np.abs(exact[2:4, :2]).max() > 1e3
