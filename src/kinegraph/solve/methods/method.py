"""What every integrator is: an object that takes a problem and a controller and returns a run."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from kinegraph.ahead.compilation import Compilation
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, RightHandSide
from kinegraph.solve.problem.progress import Progress, Silent
from kinegraph.solve.results.recording import OwnSteps, Run, Save

NO_EVENTS = EventSet()
EVERY_STEP = OwnSteps()
SILENT = Silent()


#: A problem whose types are those of all problems; it is never run.
TYPICAL = CauchyProblem(RightHandSide(1, ("y",)), np.zeros(1), 0.0, 1.0)


class Solver(ABC):
    """An integrator. It holds no state: one object may serve many runs and threads."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in books."""

    @property
    @abstractmethod
    def order(self) -> int:
        """Order of convergence."""

    @property
    @abstractmethod
    def loops(self) -> Compilation:
        """The machine code that its runs need."""

    @abstractmethod
    def integrate(
        self,
        problem: CauchyProblem,
        control: Control,
        save: Save = EVERY_STEP,
        events: EventSet = NO_EVENTS,
        progress: Progress = SILENT,
    ) -> Run:
        """Run the problem from its start to its end."""
