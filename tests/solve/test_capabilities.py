"""What methods say of themselves is what they do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinegraph.errors import SolveError
from kinegraph.solve.ensemble import lane_tableau
from kinegraph.solve.methods.method import Method, StateForm, method_table
from kinegraph.solve.methods.step_control import Adaptive, FixedStep
from kinegraph.solve.problem import CauchyProblem, RightHandSide

#: x'' = -x, in either form.
OSCILLATOR = RightHandSide(lambda x: [x[1], -x[0]], ("x", "v"), jacobian=lambda x: [0.0, 1.0, -1.0, 0.0])
#: The same as a residual of [y, t, y', c], with its matrix d/dy + c d/dy'.
RESIDUAL = RightHandSide(lambda x: [x[3] - x[1], x[4] + x[0]], ("x", "v"), jacobian=lambda x: [x[5], -1.0, 1.0, x[5]])
CONTROLS = {"fixed_step": FixedStep(1e-2), "adaptive": Adaptive(1e-8)}


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("control", CONTROLS)
def test_a_method_takes_the_controllers_it_says(method, control):
    solver = method.solver()
    system = RESIDUAL if solver.capabilities.form is StateForm.MULTIPLIERS else OSCILLATOR
    problem = CauchyProblem(system, np.array([1.0, 0.0]), 0.0, 1.0, native=False)
    if not getattr(solver.capabilities, control):
        with pytest.raises(SolveError, match=f"{solver.name}.*: give"):
            solver.integrate(problem, CONTROLS[control])
        return
    found = solver.integrate(problem, CONTROLS[control]).states[-1]
    assert np.allclose(found, [np.cos(1), -np.sin(1)], atol=1e-6)


@pytest.mark.parametrize("method", Method)
def test_methods_without_lanes_do_not_run_side_by_side(method):
    if method.solver().capabilities.lanes is not None:
        assert lane_tableau(method.solver()).order == method.solver().order
        return
    with pytest.raises(SolveError, match=method.solver().name):
        lane_tableau(method.solver())


def test_only_methods_for_momenta_are_symplectic():
    for method in Method:
        able = method.solver().capabilities
        assert able.symplectic == (able.form is StateForm.MOMENTA)


def test_a_stiff_method_takes_few_steps_where_others_take_many():
    """y' = -1e4 (y - cos t): an explicit method takes thousands of steps."""
    stiff = RightHandSide(lambda x: [-1e4 * (x[0] - np.cos(x[1]))], ("y",), jacobian=lambda x: [-1e4])
    problem = CauchyProblem(stiff, np.array([1.0]), 0.0, 1.0, native=False)
    for method in (Method.BDF, Method.DOPRI5):
        solver = method.solver()
        steps = solver.integrate(problem, Adaptive(1e-5, 1e-6)).statistics.steps
        assert (steps < 500) == solver.capabilities.stiff, (solver.name, steps)


def test_the_page_shows_the_table_of_methods():
    assert method_table() in (Path(__file__).parents[2] / "docs" / "motion.md").read_text()
