"""The interface of an integrator: its capabilities, the options of a run, and the methods by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.solve.contacts.mode import Mode
from kinegraph.solve.execution import Progress, Silent
from kinegraph.solve.methods.step_control import Adaptive, Control, FixedStep
from kinegraph.solve.problem import CauchyProblem, EventSet
from kinegraph.solve.recording import OwnSteps, Run, Save

if TYPE_CHECKING:
    from kinegraph.solve.methods.tableau import Tableau


class StateForm(Enum):
    """The variables of the equations of motion."""

    VELOCITIES = "q, v"
    MOMENTA = "q, p"
    #: Residuals of positions, velocities and multipliers together.
    MULTIPLIERS = "q, v, multipliers"


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of one method.

    form: the variables it integrates; momenta are for conservative systems alone.
    fixed_step, adaptive: which step controllers it takes.
    evaluations: about how many right-hand sides one step takes, for estimates of time.
    jacobian: it needs df/dy.
    stiff: it takes long steps where forces are stiff.
    symplectic: it keeps the structure of Hamilton's equations.
    resets: it goes on from another state after an event.
    starts_slowly: it begins with a low order, so that a motion smaller than its tolerances may escape it.
    projection: it returns to loops, constraints and unit quaternions while it steps.
    lanes: the tableau by which many trajectories run side by side in compiled sweeps; None: each runs alone.
    """

    form: StateForm = StateForm.VELOCITIES
    fixed_step: bool = True
    adaptive: bool = True
    evaluations: int = 1
    jacobian: bool = False
    stiff: bool = False
    symplectic: bool = False
    resets: bool = True
    starts_slowly: bool = False
    projection: bool = True
    lanes: Tableau | None = None


# The options of a run

NO_EVENTS = EventSet()
EVERY_STEP = OwnSteps()
SILENT = Silent()


@dataclass(frozen=True)
class RunOptions:
    """How one run is saved, observed and interrupted. By default every step is saved, without progress.

    before: the mode of the contacts, if the run continues another one; None: from the state alone.
    """

    save: Save = EVERY_STEP
    events: EventSet = NO_EVENTS
    progress: Progress = SILENT
    interrupt: Interrupt | None = None
    before: Mode | None = None

    @property
    def token(self) -> Interrupt:
        """The token that ends the run early: a new one if none was given, because tokens stay requested."""
        return self.interrupt or Interrupt()


AS_USUAL = RunOptions()


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
        """The capabilities and requirements of the method."""

    @abstractmethod
    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        """Run the problem to its end, or until an interrupt is requested: partial results are kept."""

    def accept(self, control: Control) -> Control:
        """The controller; SolveError if the method cannot take it."""
        if not self.capabilities.adaptive:
            return self.fixed(control)
        return control if self.capabilities.fixed_step else self.adaptive(control)

    def fixed(self, control: Control) -> FixedStep:
        """The controller, for a method with fixed steps only."""
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
    """A method that runs another method piece by piece, with the same capabilities."""

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


class Method(Enum):
    """The integrators a user can name; the value is the name."""

    RK4 = "rk4"
    DOPRI5 = "dopri5"
    DOP853 = "dop853"
    SYMPLECTIC = "symplectic"
    ADAMS = "adams"
    BDF = "bdf"
    IDA = "ida"

    @classmethod
    def named(cls, name: object) -> Method:
        """The method of this name."""
        try:
            return cls(str(name).lower())
        except ValueError:
            known = ", ".join(method.value for method in cls)
            raise SolveError(f"unknown method {name!r}: choose from {known}") from None

    def solver(self) -> Solver:
        """The integrator with its usual settings. A process imports the module of the one it uses."""
        match self:
            case Method.SYMPLECTIC:
                from kinegraph.solve.methods.symplectic import Symplectic

                return Symplectic()
            case Method.ADAMS | Method.BDF:
                from kinegraph.solve.methods.cvode import Cvode, Formula

                return Cvode(Formula.ADAMS if self is Method.ADAMS else Formula.BDF)
            case Method.IDA:
                from kinegraph.solve.methods.ida import Ida

                return Ida()
        from kinegraph.solve.methods.runge_kutta import RungeKutta
        from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5, DORMAND_PRINCE_8, RK4

        tableaux = {Method.RK4: RK4, Method.DOPRI5: DORMAND_PRINCE_5, Method.DOP853: DORMAND_PRINCE_8}
        return RungeKutta(tableaux[self])


def method_table() -> str:
    """All methods and their capabilities, as a Markdown table."""
    head = ["method", "order", "steps", "integrates", "stiff", "loops", "lanes"]
    rows = [head, ["---"] * len(head), *(_row(method) for method in Method)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(method: Method) -> list[str]:
    solver = method.solver()
    able = solver.capabilities
    steps = [word for word, yes in (("adaptive", able.adaptive), ("fixed", able.fixed_step)) if yes]
    marks = ["yes" if yes else "" for yes in (able.stiff, able.projection, able.lanes)]
    return [f"`{method.value}`", str(solver.order), ", ".join(steps), able.form.value, *marks]


def solver_of(method: str | Method | Solver) -> Solver:
    """An integrator from its name or itself."""
    if isinstance(method, Solver):
        return method
    return (method if isinstance(method, Method) else Method.named(method)).solver()
