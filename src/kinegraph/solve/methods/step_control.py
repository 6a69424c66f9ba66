"""Step controllers: fixed steps, or tolerances and limits of adaptive ones, independent of methods and problems.

The next step is chosen from them in `solve/loops/runge_kutta.py`, or by SUNDIALS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import ClassVar, Literal

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.errors import SolveError

Tolerance = float | Mapping[str, float]


@dataclass(frozen=True)
class FixedStep:
    """Steps of one length; the last step is cut to meet the end."""

    step: float
    adaptive: ClassVar[Literal[False]] = False

    @property
    def begin(self) -> float:
        """The length of the first step."""
        return self.step

    @property
    def relative(self) -> None:
        """There is no tolerance."""

    def __post_init__(self) -> None:
        if not (isfinite(self.step) and self.step > 0):
            raise SolveError(f"the step is {self.step!r}: give a positive number of seconds, e.g. step=1e-3")


@dataclass(frozen=True)
class Adaptive:
    """Steps as long as the estimated error of each component stays below atol + rtol |y|.

    atol: one number, or numbers by name of the component (others take the default 1e-12 + rtol*1e-2).
    first_step, max_step: None lets the controller choose. max_steps limits the run.
    safety, shrink, grow: the next step is safety * error^-1/order times the last one, within shrink and grow.
    memory: beta of the PI controller; it smooths the sequence of steps. None: a value that suits the method.
    """

    rtol: float = 1e-8
    atol: Tolerance | None = None
    first_step: float | None = None
    max_step: float | None = None
    max_steps: int = 100_000_000
    safety: float = 0.9
    shrink: float = 0.2
    grow: float = 10.0
    memory: float | None = None
    adaptive: ClassVar[Literal[True]] = True

    @property
    def begin(self) -> float:
        """The length of the first step; 0: the method chooses it."""
        return self.first_step or 0.0

    @property
    def relative(self) -> float:
        """The relative tolerance."""
        return self.rtol

    def __post_init__(self) -> None:
        if not 1e-15 <= self.rtol <= 0.1:
            raise SolveError(f"rtol is {self.rtol!r}: give a relative tolerance between 1e-15 and 0.1")
        for name in ("first_step", "max_step"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SolveError(f"{name} is {value!r}: give a positive number of seconds, or None")
        if self.max_steps < 1:
            raise SolveError(f"max_steps is {self.max_steps!r}: give at least 1")

    @property
    def common_atol(self) -> float:
        """The absolute tolerance of components that are not named."""
        default = 1e-12 + self.rtol * 1e-2
        return default if self.atol is None or isinstance(self.atol, Mapping) else float(self.atol)

    def absolute(self, names: Sequence[str]) -> Floats:
        """The absolute tolerance of every component."""
        default = self.common_atol
        if self.atol is None:
            return np.full(len(names), default)
        if not isinstance(self.atol, Mapping):
            given = {name: float(self.atol) for name in names}
        else:
            given = {name: float(value) for name, value in self.atol.items()}
        for name, value in given.items():
            if name not in names:
                raise SolveError(f"atol names {name!r}, which is not in the state: choose from {', '.join(names)}")
            if not (isfinite(value) and value >= 0):
                raise SolveError(f"atol of {name} is {value!r}: give a nonnegative number")
        return np.array([given.get(name, default) for name in names])

    @property
    def longest(self) -> float:
        """The longest step that may be taken."""
        return inf if self.max_step is None else self.max_step


Control = FixedStep | Adaptive
