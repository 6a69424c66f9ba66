"""The plain loop a user would write for dockings: SciPy's `solve_ivp` around the same compiled kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Protocol, cast

import numpy as np

from benchmarks.study.scipy_loop import SciPyLoop
from kinegraph.docking.events import CAPTURE, TOUCH
from kinegraph.simulate.events import event_set
from kinegraph.solve.problem import Floats, code_of
from kinegraph.studies.plan import Plan

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class _Ending(Protocol):
    """An event of `solve_ivp` that ends a run: it looks for these attributes."""

    terminal: bool
    direction: float

    def __call__(self, time: float, state: Floats) -> float: ...


class SciPyDockings(SciPyLoop):
    """Cases of a plan of first contacts. It stops at the same events; it counts no touches and looks for no peaks."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, self._none)
        self._events = event_functions = event_set(self.equations, plan.events)  # keeps the code alive
        self._conditions = _KERNEL(code_of(event_functions.code))
        self._values = np.zeros(len(event_functions.names))
        capture = event_functions.names.index(CAPTURE)
        others = [k for k, name in enumerate(event_functions.names) if name not in (CAPTURE, TOUCH)]
        ends = [self._ending([capture]), self._ending(others)]
        self.event = ends  # type: ignore[assignment]  # solve_ivp takes a list as well

    def captured(self, first: int, last: int) -> list[float]:
        """When the cases first <= index < last were captured; NaN where they were not."""
        with np.errstate(all="ignore"):  # steps that are tried and too long
            found = self.run(first, last)
        return [float(one.t_events[0][0]) if len(one.t_events[0]) else float("nan") for one in found]

    @staticmethod
    def _none(time: float, state: Floats) -> float:
        return 1.0

    def _ending(self, places: list[int]) -> Callable[[float, Floats], float]:
        """The largest of some conditions, which ends a run when it rises through zero."""
        x, size = self._x, self.rhs.size
        values, call = self._values, self._conditions
        at = x.ctypes.data, values.ctypes.data

        def condition(time: float, state: Floats) -> float:
            x[:size] = state
            x[size] = time
            call(*at)
            return float(values[places].max())

        marked = cast("_Ending", condition)
        marked.terminal, marked.direction = True, 1
        return marked
