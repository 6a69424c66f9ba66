"""`synthesise`: dimensions within bounds for a wanted result of a run, by least squares with exact derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.expression import Operation, Scalar
from kinegraph.seeds import generator
from kinegraph.simulate.arguments import span_of
from kinegraph.simulate.formula import formula
from kinegraph.simulate.inputs import Input
from kinegraph.simulate.run import save_at
from kinegraph.solve.methods.by_name import Method
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Adaptive, Tolerance
from kinegraph.solve.problem.execution import Native
from kinegraph.solve.results.recording import Grid
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.runs.differentiated_run import DifferentiatedRun, RunSettings, formulas, variables
from kinegraph.tasks.runs.least_squares import MOST_STEPS, Problem, Solved, place_of, solved, variable_bounds

_INTERVALS = 100


@dataclass(frozen=True)
class Synthesis(RichDisplay):
    """The best that was found; deviations[time, wanted] are results less what was wanted.

    at_bounds: variables that stopped at a bound. starts: from how many places the search set out.
    """

    model: str
    free: tuple[str, ...]
    values: Floats
    times: Floats
    wanted: tuple[str, ...]
    deviations: Floats
    at_bounds: tuple[str, ...]
    starts: int
    runs: int

    def __getitem__(self, name: str) -> float:
        """The value that was found."""
        return float(self.values[place_of(name, self.free)])

    def __contains__(self, name: object) -> bool:
        return name in self.free

    def largest_deviation(self, wanted: str) -> float:
        """How far a result stays from what was wanted, at worst."""
        return float(np.nanmax(np.abs(self.deviations[:, place_of(wanted, self.wanted)])))

    def __str__(self) -> str:
        width = max(len(name) for name in self.free)
        lines = [f"{self.model}: the best from {self.starts} starts, {self.runs} runs"]
        for name, value in zip(self.free, self.values, strict=True):
            lines.append(f"  {name:<{width}} = {value:.9g}{' (at its bound)' if name in self.at_bounds else ''}")
        return "\n".join(
            [*lines, *(f"  {one}: off by {self.largest_deviation(one):.3g} at most" for one in self.wanted)]
        )


def synthesise(
    mechanism: MechanismSource,
    duration: float,
    wanted: Mapping[str, Scalar],
    bounds: Mapping[str, tuple[float, float]],
    *,
    integrals: Mapping[str, Scalar] | None = None,
    initial: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    grid: int | ArrayLike = _INTERVALS,
    start: float = 0.0,
    starts: int = 1,
    seed: int = 0,
    method: str | Method | Solver = Method.DOP853,
    rtol: float = 1e-9,
    atol: Tolerance | None = None,
    native: Native = True,
) -> Synthesis:
    """Parameters and initial values within bounds whose run comes nearest to what is wanted.

    wanted: formulas of results (`tip.x`, `energy`, names of integrals) and what they should be: numbers or formulas
        of time, state and parameters. Squares of the deviations are added as they are: multiply to weigh.
    bounds: what is free, with its lower and upper bound; the search begins at the model's values inside the bounds.
    grid: at how many intervals the results count, or at which times: [duration] for the end alone.
    starts: further searches begin at random places between finite bounds; the best one is taken.
    """
    mechanism = mechanism_of(mechanism)
    for what, given in (("wanted", wanted), ("bounds", bounds)):
        if not isinstance(given, Mapping) or not given:
            raise TaskError(f"{what} is {given!r:.60}: give values by name, e.g. {{'tip.x': 0.3}}, {{'l1': (0.5, 2)}}")
    names = variables(mechanism, tuple(bounds), "bounds")
    control = Adaptive(rtol, atol, max_steps=MOST_STEPS)
    span = span_of(start, duration, control)
    save = save_at(grid, span)
    if not isinstance(save, Grid):
        raise TaskError("grid is None: give times, or into how many intervals the run is divided")
    settings = RunSettings(control, method, initial, parameters or {}, inputs or {}, native, False, span[0])
    deviations = {name: Operation("-", (formula(name), formula(target))) for name, target in wanted.items()}
    run = DifferentiatedRun(mechanism, names, settings, deviations, formulas(integrals, "integrals"))
    problem = Problem(
        names,
        lambda x: run.at(x, span, save),
        np.zeros((len(save.times), len(wanted))),
        np.ones(len(wanted)),
        variable_bounds(names, bounds),
        rtol,
    )
    found = best_of(problem, np.clip(run.values, *problem.bounds), starts, seed)
    stopped = tuple(name for name, at in zip(names, found.at_bound, strict=True) if at)
    return Synthesis(
        mechanism.name, names, found.x, save.times, tuple(wanted), -found.residuals, stopped, starts, found.runs
    )


def best_of(problem: Problem, begin: Floats, starts: int, seed: int) -> Solved:
    """The end of the best search; one that fails is left out unless all do."""
    low, high = problem.bounds
    if not isinstance(starts, int) or starts < 1:
        raise TaskError(f"starts is {starts!r}: give at least 1")
    if starts > 1 and not np.isfinite(high - low).all():
        raise TaskError("several starts lie between the bounds: give finite ones")
    random = generator(seed)
    places = [begin, *(random.uniform(low, high) for _ in range(starts - 1))]
    found: list[Solved] = []
    failure: TaskError | None = None
    for place in places:
        try:
            found.append(solved(problem, place))
        except TaskError as error:
            failure = error
    if not found:
        raise failure or TaskError("no search arrived")
    best = min(found, key=lambda one: float(np.nansum(one.residuals**2)))
    return replace(best, runs=sum(one.runs for one in found))
