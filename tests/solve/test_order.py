"""Every integrator converges with the order it states."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate.run import form_for
from kinegraph.solve.methods.method import RunOptions, Solver
from kinegraph.solve.methods.runge_kutta import RungeKutta
from kinegraph.solve.methods.step_control import Adaptive, FixedStep
from kinegraph.solve.methods.symplectic import Symplectic
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5, DORMAND_PRINCE_8, RK4
from kinegraph.solve.problem import CauchyProblem
from kinegraph.solve.recording import Grid
from tests.solve.problems import PENDULUM, MomentumForm, problem


def reference(task: CauchyProblem) -> np.ndarray:
    return RungeKutta(DORMAND_PRINCE_8).integrate(task, Adaptive(1e-14, 1e-15)).states[-1]


def measured(solver: Solver, task: CauchyProblem, steps: int) -> float:
    """The order between two step lengths, by the error at the end."""
    end = reference(task)
    errors = [
        np.abs(solver.integrate(task, FixedStep(task.end / count)).states[-1] - end).max()
        for count in (steps, 2 * steps)
    ]
    return log2(errors[0] / errors[1])


@pytest.mark.parametrize(
    ("solver", "steps"),
    [
        (RungeKutta(RK4), 400), (RungeKutta(DORMAND_PRINCE_5), 200), (RungeKutta(DORMAND_PRINCE_8), 24),
        (Symplectic(1), 2000), (Symplectic(2), 200), (Symplectic(3), 60),
    ],
    ids=lambda one: one.name if isinstance(one, Solver) else "",
)  # fmt: skip
def test_order_on_a_pendulum(solver: Solver, steps: int) -> None:
    pendulum = kg.parse(PENDULUM)
    order = measured(solver, problem(pendulum, 2.0, form_for(pendulum, solver)), steps)
    assert abs(order - solver.order) < 0.2


def test_order_with_quaternions() -> None:
    top = kg.load("heavy-top")
    assert abs(measured(RungeKutta(DORMAND_PRINCE_5), problem(top, 0.1), 200) - 5) < 0.2
    assert abs(measured(Symplectic(2), problem(top, 0.1, MomentumForm), 200) - 4) < 0.2


@pytest.mark.parametrize(
    ("tableau", "steps", "order"), [(RK4, 50, 4), (DORMAND_PRINCE_5, 40, 5), (DORMAND_PRINCE_8, 12, 8)]
)
def test_dense_output_loses_at_most_its_one_order(tableau, steps: int, order: int) -> None:  # type: ignore[no-untyped-def]
    task = problem(kg.parse(PENDULUM), 2.0)
    grid = Grid(np.linspace(0, 2, 173))
    exact = RungeKutta(DORMAND_PRINCE_8).integrate(task, Adaptive(1e-14, 1e-15), RunOptions(grid)).states
    errors = [
        np.abs(RungeKutta(tableau).integrate(task, FixedStep(2 / n), RunOptions(grid)).states - exact).max()
        for n in (steps, 2 * steps)
    ]
    assert log2(errors[0] / errors[1]) > order - 1.3
