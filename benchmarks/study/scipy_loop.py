"""The plain loop a user would write: SciPy's `solve_ivp` around the same compiled kernel, one case after the other."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from kinegraph.errors import StudyError
from kinegraph.extras import Foreign
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.problem import Floats, code_of
from kinegraph.studies.cases import starts
from kinegraph.studies.plan import Plan

_METHODS = {"Dormand-Prince 5(4)": "RK45", "Dormand-Prince 8(5,3)": "DOP853"}
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class SciPyLoop:
    """Cases of a plan by `solve_ivp`: the same kernel, method, tolerances and event."""

    def __init__(self, plan: Plan, event: Callable[[float, Floats], float]) -> None:
        if not isinstance(plan.control, Adaptive) or plan.solver.name not in _METHODS:
            raise StudyError("the plain loop takes dopri5 or dop853 with tolerances")
        self.plan, self.event = plan, event
        self.equations = plan.equations()
        self.rhs = self.equations.right_hand_side()
        self._call = _KERNEL(code_of(self.rhs.code))
        self._x, self._y = np.zeros(self.rhs.input_size), np.zeros(self.rhs.size)
        self._places = self._x.ctypes.data, self._y.ctypes.data

    def run(self, first: int, last: int) -> list[Foreign]:
        """The solutions of cases first <= index < last."""
        names = self.plan.samples.names
        begun = starts(
            self.plan, self.equations, dict(zip(names, self.plan.samples.rows(first, last).T, strict=True))
        )  # fmt: skip
        return [self._one(state, values) for state, values in zip(begun.states, begun.parameters, strict=True)]

    def _one(self, state: Floats, parameters: Floats) -> Foreign:
        control, size = self.plan.control, self.rhs.size
        assert isinstance(control, Adaptive)
        x, y, call, places = self._x, self._y, self._call, self._places
        x[size + 1 :] = parameters

        def rate(t: float, now: Floats) -> Floats:
            x[:size] = now
            x[size] = t
            call(*places)
            return y.copy()

        return solve_ivp(
            rate, self.plan.span, state, _METHODS[self.plan.solver.name], events=self.event, rtol=control.rtol,
            atol=control.absolute(self.rhs.names),
        )  # fmt: skip
