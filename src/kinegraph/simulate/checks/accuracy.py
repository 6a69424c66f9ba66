"""How exact a run is, estimated by a second run at tighter tolerances. Conserved energy does not say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor, log10

import numpy as np

from kinegraph.solve.methods.step_control import Control, FixedStep
from kinegraph.solve.results.solution import Solution

_TIGHTER = 0.01
_TIGHTEST = 1e-14


@dataclass(frozen=True)
class ErrorEstimate:
    """The largest difference of one column from a run at tighter tolerances, and the column's largest value."""

    name: str
    error: float
    size: float

    @property
    def digits(self) -> int:
        """How many decimal digits of the largest value agree."""
        if self.error == 0.0:
            return 15
        return min(max(floor(log10(self.size / self.error)), 0), 15) if self.size > 0 else 0

    def __str__(self) -> str:
        return f"{self.name}: error about {self.error:.1e}, {self.digits} digits agree"


def tighter(control: Control) -> Control:
    """The control of the second run: tolerances a hundredth, or steps half as long."""
    if not control.adaptive:
        return FixedStep(control.step / 2)
    atol = control.atol
    if isinstance(atol, Mapping):
        atol = {name: _TIGHTER * value for name, value in atol.items()}
    elif atol is not None:
        atol = _TIGHTER * atol
    return replace(control, rtol=max(_TIGHTER * control.rtol, _TIGHTEST), atol=atol)


def error_estimates(run: Solution, second: Solution) -> tuple[ErrorEstimate, ...]:
    """Positions and velocities of a run beside a second one, at the times both have saved."""
    times, here, there = np.intersect1d(run.t, second.t, return_indices=True)
    found = []
    for name in (*run.positions, *run.velocities) if len(times) else ():
        error = float(np.max(np.abs(run[name][here] - second[name][there])))
        found.append(ErrorEstimate(name, error, float(np.max(np.abs(second[name][there])))))
    return tuple(found)
