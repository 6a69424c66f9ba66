"""What every integrator is: an object that takes a problem and a controller and returns a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from kinegraph.errors import SolveError
from kinegraph.solve.methods.capabilities import Capabilities
from kinegraph.solve.methods.run_options import AS_USUAL, RunOptions
from kinegraph.solve.methods.step_control import Adaptive, Control, FixedStep
from kinegraph.solve.problem.problem import CauchyProblem
from kinegraph.solve.results.recording import Run


class Solver(ABC):
    """An integrator. It holds no state: one object may serve many runs and threads."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in textbooks."""

    @property
    @abstractmethod
    def order(self) -> int:
        """Order of convergence."""

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What it can do and what it asks for."""

    @abstractmethod
    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        """Run the problem from its start to its end, or until its token is requested: what there is is kept."""

    def accept(self, control: Control) -> Control:
        """The controller; SolveError if the method cannot take it."""
        if not self.capabilities.adaptive:
            return self.fixed(control)
        return control if self.capabilities.fixed_step else self.adaptive(control)

    def fixed(self, control: Control) -> FixedStep:
        """The controller, for a method that takes steps of one length alone."""
        if control.adaptive:
            symplectic = self.capabilities.symplectic
            why = "keeps its properties only with steps of one length" if symplectic else "has no error estimate"
            others = "" if symplectic else ", or choose dopri5 or dop853"
            raise SolveError(f"{self.name} {why}: give a step, as step=0.001 or --step 0.001{others}")
        return control

    def adaptive(self, control: Control) -> Adaptive:
        """The controller, for a method that chooses its steps itself."""
        if not control.adaptive:
            raise SolveError(f"{self.name} chooses its steps itself: give rtol and atol, not a fixed step")
        return control


@dataclass(frozen=True)
class SolverAround(Solver):
    """A method that runs another one piece by piece, and is what that one is."""

    method: Solver

    @property
    def name(self) -> str:
        return self.method.name

    @property
    def order(self) -> int:
        return self.method.order

    @property
    def capabilities(self) -> Capabilities:
        return self.method.capabilities
