"""Gauss collocation: symplectic on Hamilton's equations, symmetric, of order 2s with s stages.

Applied to z = [q, p] the error of the energy, of size h^2s, stays bounded over times exponentially long in 1/h. First
integrals quadratic in z are kept to rounding: the length of a unit quaternion is one. (The energy of a free top is not:
it is of fourth degree in quaternion and momenta, so its error is bounded but not zero.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.ahead.compilation import Compilation
from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.solve.loops import gauss as loop
from kinegraph.solve.loops.folder import integrator
from kinegraph.solve.loops.step import NESTED, Work
from kinegraph.solve.methods.capabilities import Capabilities, StateForm
from kinegraph.solve.methods.method import EVERY_STEP, NO_EVENTS, SILENT, TYPICAL, Solver
from kinegraph.solve.methods.runge_kutta import loop_system
from kinegraph.solve.methods.step_control import Control, FixedStep
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.problem.progress import Progress
from kinegraph.solve.problem.slices import Loop, drive
from kinegraph.solve.results.recording import Recorder, Run, Save

_ITERATIONS = 8  # of the stages' equations in one step, about


@dataclass(frozen=True)
class Symplectic(Solver):
    """The Gauss method of s stages: 1 is the implicit midpoint rule; 2 (order 4) is a good choice. Fixed steps only."""

    stages: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.stages <= 4:
            raise SolveError(f"stages is {self.stages!r}: give 1 to 4 (order 2 to 8)")

    @property
    def name(self) -> str:
        return f"Gauss of order {self.order}"

    @property
    def order(self) -> int:
        return 2 * self.stages

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            StateForm.MOMENTA,
            adaptive=False,
            evaluations=_ITERATIONS * self.stages,
            symplectic=True,
            projection=False,
        )

    def tableau(self) -> tuple[Floats, Floats, Floats]:
        """a, b and c: collocation at the zeros of Legendre's polynomial."""
        zeros, weights = np.polynomial.legendre.leggauss(self.stages)
        c = (1 + zeros) / 2
        a = np.array([_integrals(c, 0.0, node) for node in c])
        return a, weights / 2, c

    def integrate(
        self,
        problem: CauchyProblem,
        control: Control,
        save: Save = EVERY_STEP,
        events: EventSet = NO_EVENTS,
        progress: Progress = SILENT,
        interrupt: Interrupt | None = None,
    ) -> Run:
        recorder = Recorder(problem, save, events)
        loop = self._loop(problem, self.fixed(control), recorder)
        return drive(loop, problem, recorder, progress, interrupt or Interrupt())

    @property
    def loops(self) -> Compilation:
        return integrator("gauss", self.compile_loops)

    def compile_loops(self) -> None:
        """Compile the loop of all runs, or load it."""
        from kinegraph.solve.loops.machine_code import compile_for

        made = self._loop(TYPICAL, FixedStep(1.0), Recorder(TYPICAL, EVERY_STEP, NO_EVENTS))
        compile_for(made.advance, *made.arguments, 0)

    def _loop(self, problem: CauchyProblem, control: FixedStep, recorder: Recorder) -> Loop:
        a, b, c = self.tableau()
        ahead = np.array([_lagrange(c, 1 + node) for node in c])
        gauss = loop.Gauss(a, b, c, ahead, np.zeros(len(b)), np.zeros(problem.rhs.size))
        work = _work(problem, len(b))
        clock = np.array([problem.start, control.step, problem.end, 1e-4, problem.start])
        common = loop_system(problem), gauss, work, clock, recorder.watch, recorder.saving, recorder.counters
        return Loop(loop.advance, common, clock, work.y)


def _lagrange(nodes: Floats, at: float) -> Floats:
    """The values of the Lagrange polynomials of the nodes at one place."""
    return np.array([np.prod([(at - other) / (node - other) for other in nodes if other != node]) for node in nodes])


def _integrals(nodes: Floats, start: float, end: float) -> Floats:
    """Integrals of the Lagrange polynomials, exact by Gauss quadrature of enough points."""
    zeros, weights = np.polynomial.legendre.leggauss(len(nodes))
    places = start + (end - start) * (1 + zeros) / 2
    values = np.array([_lagrange(nodes, place) for place in places])
    return np.asarray((end - start) / 2 * weights @ values)


def _work(problem: CauchyProblem, stages: int) -> Work:
    size = problem.rhs.size
    return Work(
        x=problem.argument(),
        y=problem.state.copy(),
        end=problem.state.copy(),
        slopes=np.zeros((stages, size)),
        errors=np.zeros((1, size)),
        dense=np.zeros((3, size)),
        zero=np.zeros(size),
        projected=problem.projected(),
        basis=NESTED,
    )
