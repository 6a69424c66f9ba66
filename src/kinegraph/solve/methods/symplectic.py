"""Gauss collocation: symplectic on Hamilton's equations, symmetric, of order 2s with s stages.

Applied to z = [q, p] the error of the energy, of size h^2s, stays bounded over times exponentially long in 1/h. First
integrals that are quadratic in z are conserved to rounding, such as the length of a unit quaternion. The energy of a
free top is of fourth degree in quaternion and momenta, so its error is bounded but not zero.

RATTLE, composed to the same order, keeps loops and holonomic constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.errors import SolveError
from kinegraph.solve.execution import Loop, run_in_slices
from kinegraph.solve.loops import gauss as gauss_loop
from kinegraph.solve.loops import rattle as rattle_loop
from kinegraph.solve.loops.step import Work
from kinegraph.solve.methods.method import AS_USUAL, Capabilities, RunOptions, Solver, StateForm
from kinegraph.solve.methods.runge_kutta import loop_clock, loop_system, step_memory
from kinegraph.solve.methods.step_control import Control, FixedStep
from kinegraph.solve.problem import CauchyProblem, code_of
from kinegraph.solve.recording import Recorder, Run

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
        )

    def tableau(self) -> tuple[Floats, Floats, Floats]:
        """a, b and c: collocation at the zeros of Legendre's polynomial."""
        zeros, weights = np.polynomial.legendre.leggauss(self.stages)
        c = (1 + zeros) / 2
        a = np.array([_integrals(c, 0.0, node) for node in c])
        return a, weights / 2, c

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        recorder, step = Recorder(problem, options.save, options.events), self.fixed(control)
        loop = (
            self._closed_loop(problem, step, recorder) if problem.rhs.closing else self._loop(problem, step, recorder)
        )
        return run_in_slices(loop, problem, recorder, options.progress, options.token)

    def _closed_loop(self, problem: CauchyProblem, control: FixedStep, recorder: Recorder) -> Loop:
        """RATTLE, in a composition of the same order."""
        closing = problem.rhs.closing
        assert closing is not None
        size, count = problem.rhs.size, len(problem.rhs.rows)
        rattle = rattle_loop.Rattle(
            free=code_of(closing.free),
            values=code_of(closing.values),
            rows=code_of(closing.rows),
            parts=composition(self.order),
            gaps=np.zeros(count),
            now=np.zeros((2 * count, size // 2)),
            matrix=np.zeros((count, count)),
            forces=np.zeros(count),
            guess=np.zeros(count),
            start=np.zeros(count),
            pivot=np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0]),
            change=np.zeros(size),
            first=np.zeros(size),
            second=np.zeros(size),
            half=np.zeros(size),
            trial=np.zeros(size),
            ahead=np.zeros((2 * count, size // 2)),
            square=np.zeros((count, count)),
            before=np.zeros(size),
            speeds=np.zeros(size // 2),
            pulls=np.zeros(size // 2),
            rest=np.zeros(size),
        )
        return _fixed_steps(rattle_loop.advance, rattle, problem, control, recorder, step_memory(problem, 1))

    def _loop(self, problem: CauchyProblem, control: FixedStep, recorder: Recorder) -> Loop:
        a, b, c = self.tableau()
        ahead = np.array([_lagrange(c, 1 + node) for node in c])
        gauss = gauss_loop.Gauss(a, b, c, ahead, np.zeros(len(b)), np.zeros(problem.rhs.size))
        return _fixed_steps(gauss_loop.advance, gauss, problem, control, recorder, step_memory(problem, len(b)))


def _fixed_steps(
    advance: Callable[..., int],
    method: gauss_loop.Gauss | rattle_loop.Rattle,
    problem: CauchyProblem,
    control: FixedStep,
    recorder: Recorder,
    work: Work,
) -> Loop:
    """The loop of a method with its arguments."""
    clock = loop_clock(problem.start, problem.end, control.step)
    arguments = loop_system(problem), method, work, clock, recorder.watch, recorder.saving, recorder.counters
    return Loop(advance, arguments, clock, work.y)


#: The first halves of symmetric compositions by order, with their middles: Suzuki; Kahan and Li (Hairer-Lubich-Wanner,
#: V.3.2).
_COMPOSITIONS = {
    2: (1.0,),
    4: (1 / (4 - 4 ** (1 / 3)),) * 2 + (1 - 4 / (4 - 4 ** (1 / 3)),),
    6: (
        0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023,
        0.79854399093482996340,
    ),
    8: (
        0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641, 0.15884190655515560090,
        -0.39590389413323757734, 0.18453964097831570709, 0.25837438768632204729, 0.29501172360931029887,
        -0.60550853383003451170,
    ),
}  # fmt: skip


def composition(order: int) -> Floats:
    """Lengths of steps of order 2, of the whole, that give this order."""
    *first, middle = _COMPOSITIONS[order]
    return np.array([*first, middle, *reversed(first)])


def _lagrange(nodes: Floats, at: float) -> Floats:
    """The values of the Lagrange polynomials of the nodes at one place."""
    return np.array([np.prod([(at - other) / (node - other) for other in nodes if other != node]) for node in nodes])


def _integrals(nodes: Floats, start: float, end: float) -> Floats:
    """Integrals of the Lagrange polynomials, exact by Gauss quadrature of enough points."""
    zeros, weights = np.polynomial.legendre.leggauss(len(nodes))
    places = start + (end - start) * (1 + zeros) / 2
    values = np.array([_lagrange(nodes, place) for place in places])
    return np.asarray((end - start) / 2 * weights @ values)
