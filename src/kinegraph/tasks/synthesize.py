"""`synthesize` and `synthesize_path`: find dimensions within bounds for a target result of a run, or for a target
path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.elements.element_values import ElementNames
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.tree.expressions import Names
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expressions import TIME, Operation, Scalar, expression, names
from kinegraph.model.mechanism import Mechanism, Parameter
from kinegraph.model.names import component, did_you_mean
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce
from kinegraph.seeds import generator
from kinegraph.simulate.formulas import formula
from kinegraph.simulate.inputs import Input, span_of
from kinegraph.simulate.run import save_at
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.method import Method, Solver
from kinegraph.solve.methods.step_control import Adaptive, Tolerance
from kinegraph.solve.recording import Grid, Statistics
from kinegraph.tasks.differentiated_run import (
    DifferentiatedRows,
    DifferentiatedRun,
    RunSettings,
    formulas,
    variables,
    with_free_forces,
)
from kinegraph.tasks.least_squares import MOST_STEPS, Problem, Solved, solved, variable_bounds
from kinegraph.tasks.operating_point import Floats, name_index
from kinegraph.tasks.prescribed_motion import require_all_prescribed

# `synthesize`: least squares over runs with exact derivatives.

_INTERVALS = 100


@dataclass(frozen=True)
class Synthesis(RichDisplay):
    """The best design found; deviations[time, target] are results minus targets.

    at_bounds: variables that stopped at a bound. starts: the number of starts of the search.
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
        """The value found."""
        return float(self.values[name_index(name, self.free)])

    def __contains__(self, name: object) -> bool:
        return name in self.free

    def largest_deviation(self, wanted: str) -> float:
        """The largest deviation of a result from its target."""
        return float(np.nanmax(np.abs(self.deviations[:, name_index(wanted, self.wanted)])))

    def __str__(self) -> str:
        width = max(len(name) for name in self.free)
        lines = [f"{self.model}: the best from {self.starts} starts, {self.runs} runs"]
        for name, value in zip(self.free, self.values, strict=True):
            lines.append(f"  {name:<{width}} = {value:.9g}{' (at its bound)' if name in self.at_bounds else ''}")
        return "\n".join(
            [*lines, *(f"  {one}: off by {self.largest_deviation(one):.3g} at most" for one in self.wanted)]
        )

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {
            "values": dict(zip(self.free, self.values.tolist(), strict=True)),
            "at_bounds": self.at_bounds,
            "largest_deviations": {name: self.largest_deviation(name) for name in self.wanted},
            "runs": self.runs,
        }


def synthesize(
    model: MechanismSource,
    duration: float,
    wanted: Mapping[str, Scalar],
    bounds: Mapping[str, tuple[float, float]],
    *,
    integrals: Mapping[str, Scalar] | None = None,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    times: int | ArrayLike = _INTERVALS,
    t0: float = 0.0,
    starts: int = 1,
    seed: int = 0,
    method: str | Method | Solver = Method.DOP853,
    rtol: float = 1e-9,
    atol: Tolerance | None = None,
    native: Native = True,
) -> Synthesis:
    """Find parameters and initial values within bounds that bring a run closest to wanted outputs.

    wanted: formulas of outputs (`tip.x`, `energy`, names of integrals) and their wanted values: numbers or formulas of
        time, state and parameters. The sum of squared deviations is minimized; multiply to weight.
    bounds: free names with lower and upper bounds; the search starts at the model's values inside the bounds.
    times: an array of times to compare at, or a number of equal intervals; [duration] compares at the end alone.
    starts: number of starts; further ones are random places between finite bounds, and the best result is returned.
    """
    mechanism = mechanism_of(model)
    for what, given in (("wanted", wanted), ("bounds", bounds)):
        if not isinstance(given, Mapping) or not given:
            raise TaskError(f"{what} is {given!r:.60}: give values by name, e.g. {{'tip.x': 0.3}}, {{'l1': (0.5, 2)}}")
    mechanism = with_free_forces(mechanism, bounds)
    names = variables(mechanism, tuple(bounds), "bounds")
    control = Adaptive(rtol, atol, max_steps=MOST_STEPS)
    span = span_of(t0, duration, control)
    save = save_at(times, span)
    if not isinstance(save, Grid):
        raise TaskError("times is None: give times, or the number of equal intervals")
    settings = RunSettings(control, method, state, parameters or {}, inputs or {}, native, False, span[0])
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
    """The end of the best search; failed searches are ignored unless all fail."""
    low, high = problem.bounds
    if not isinstance(starts, int) or starts < 1:
        raise TaskError(f"starts is {starts!r}: give at least 1")
    if starts > 1 and not np.isfinite(high - low).all():
        raise TaskError("several starts need finite bounds")
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
        raise failure or TaskError("no search converged")
    best = min(found, key=lambda one: float(np.nansum(one.residuals**2)))
    return replace(best, runs=sum(one.runs for one in found))


# `synthesize_path`: the motion is prescribed, so no run is needed: results are functions of time and of the dimensions.

_ACCURACY = 1e-12


def synthesize_path(
    model: MechanismSource,
    motion: Mapping[str, Scalar],
    wanted: Mapping[str, Scalar],
    bounds: Mapping[str, tuple[float, float]],
    times: Sequence[float] | Floats,
    *,
    only_at: Mapping[str, Sequence[float]] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    starts: int = 1,
    seed: int = 0,
) -> Synthesis:
    """Find parameters within bounds that bring a mechanism closest to a wanted path.

    motion: a formula of time for every coordinate.
    wanted: formulas of points and coordinates (`F.y`, `2*F.x`) and their wanted values: numbers or formulas of time,
        parameters and further names in `bounds`, such as a free level.
    only_at: outputs that count at some of the times only.
    starts: number of starts; further ones are random places between the bounds, and the best result is returned.
    """
    underlying = mechanism_of(model)
    if is_constrained(underlying):
        raise TaskError(f"{underlying.name} has loops: write its angles by triangles, as in the library model `crane`")
    for what, given in (("wanted", wanted), ("bounds", bounds)):
        if not isinstance(given, Mapping) or not given:
            raise TaskError(
                f"{what} is {given!r:.60}: give values by name, e.g. {{'F.y': 'level'}}, {{'AC': (10, 15)}}"
            )
    require_all_prescribed(underlying, motion)
    free = tuple(bounds)
    low, high = variable_bounds(free, bounds)
    whole = _with_names(underlying, free, (low + high) / 2)
    at = np.atleast_1d(np.asarray(times, dtype=float))
    rows = _PathRows(whole, motion, wanted, free, at, parameters)
    targets = _targets(tuple(wanted), at, only_at or {})
    problem = Problem(free, rows.at, targets, np.ones(len(wanted)), (low, high), _ACCURACY)
    found = best_of(problem, np.clip(rows.begin, low, high), starts, seed)
    stopped = tuple(name for name, at_bound in zip(free, found.at_bound, strict=True) if at_bound)
    return Synthesis(underlying.name, free, found.x, at, tuple(wanted), -found.residuals, stopped, starts, found.runs)


def _with_names(mechanism: Mechanism, free: Sequence[str], middle: Floats) -> Mechanism:
    """The mechanism with parameters for names that only the targets use."""
    known = {parameter.name for parameter in mechanism.parameters}
    others = {*mechanism.layout.positions, *mechanism.layout.velocities, *mechanism.layout.inputs}
    new = []
    for name, value in zip(free, middle.tolist(), strict=True):
        if name in others:
            raise TaskError(f"{name} is not a parameter: bounds may name parameters, and names of your own in `wanted`")
        if name not in known:
            new.append(Parameter(name, expression(value if np.isfinite(value) else 0.0)))
    return replace(mechanism, parameters=(*mechanism.parameters, *new))


def _targets(wanted: tuple[str, ...], times: Floats, only_at: Mapping[str, Sequence[float]]) -> Floats:
    """Zero deviations; NaN where a result does not count."""
    found = np.zeros((len(times), len(wanted)))
    for name, some in only_at.items():
        if name not in wanted:
            raise TaskError(f"only_at: {name!r} is not in `wanted`\n  {did_you_mean(name, wanted)}")
        distances = np.abs(times[:, None] - np.asarray(some, dtype=float)[None, :])
        missing = distances.min(axis=0) > 1e-9 * (1 + np.abs(times).max())
        if missing.any():
            raise TaskError(
                f"only_at: {name} counts at t = {np.asarray(some)[missing][0]:g}, which is not one of the times"
            )
        found[distances.min(axis=1) > 1e-9 * (1 + np.abs(times).max()), wanted.index(name)] = np.nan
    return found


class _PathRows:
    """Deviations from the targets, and their derivatives by the free names, compiled."""

    def __init__(
        self,
        mechanism: Mechanism,
        motion: Mapping[str, Scalar],
        wanted: Mapping[str, Scalar],
        free: tuple[str, ...],
        times: Floats,
        parameters: Mapping[str, Scalar] | None,
    ) -> None:
        values = float_values(parameter_values(mechanism, parameters))
        self.begin = np.array([values[name] for name in free])
        self._times = times
        graph = _deviations(mechanism, motion, wanted, free)
        symbols = tuple(Symbol(Kind.PARAMETER, name) for name in free)
        arguments = [Argument("t", (Symbol(Kind.TIME, TIME),)), Argument("p", symbols)]
        fixed = {name: value for name, value in values.items() if name not in free}
        self._kernel = compile_graph(reduce(graph, Effort.QUICK).graph, arguments, fixed)

    def at(self, values: Floats) -> DifferentiatedRows:
        """All times; TaskError if a triangle does not close."""
        found = self._kernel.batch(self._times, np.tile(values, (len(self._times), 1)))
        if not np.isfinite(found["deviations"]).all():
            time = self._times[~np.isfinite(found["deviations"]).all(axis=1)][0]
            raise TaskError(f"the geometry has no solution at t = {time:.6g}")
        return DifferentiatedRows(self._times, found["deviations"], found["slopes"], Statistics())


def _deviations(
    mechanism: Mechanism, motion: Mapping[str, Scalar], wanted: Mapping[str, Scalar], free: tuple[str, ...]
) -> Graph:
    """Deviations and their derivatives as a graph of time and parameters."""
    derivation = Derivation(replace(mechanism, elements=(), unknowns=()), {}, Plan())
    meaning = ElementNames(derivation.mechanism, {}, derivation.layout)
    formulas = [Operation("-", (formula(result), formula(target))) for result, target in wanted.items()]
    for one in formulas:
        _require_known(mechanism, names(one))
    nodes = tuple(meaning.scalar(one).index for one in formulas)
    deviations = derivation.builder.graph([Output("deviations", (len(nodes),), nodes)])
    return _along(deviations, mechanism, motion, free)


def _along(deviations: Graph, mechanism: Mechanism, motion: Mapping[str, Scalar], free: tuple[str, ...]) -> Graph:
    """The graph with formulas of time instead of coordinates, and the derivatives."""
    builder = GraphBuilder()
    meaning = Names(builder, mechanism, {})
    moving = {name: meaning.scalar(formula(motion[name])).index for name in mechanism.layout.positions}

    def symbol(node: Symbol) -> int:
        if node.kind is Kind.COORDINATE:
            return moving[node.name]
        return builder.symbol(node.kind, node.name)

    (output,) = moved(deviations.outputs, transfer(deviations, builder, symbol))
    rows = jacobian(builder, output.nodes, [builder.symbol(Kind.PARAMETER, name) for name in free])
    slopes = Output("slopes", (len(output.nodes), len(free)), tuple(entry for row in rows for entry in row))
    return builder.graph([output, slopes])


def _require_known(mechanism: Mechanism, used: frozenset[str]) -> None:
    points = {*mechanism.body_by_name, *(point.name for point in mechanism.points)}
    known = {*mechanism.layout.positions, *(parameter.name for parameter in mechanism.parameters), TIME, "pi"}
    for name in used:
        part = component(name)
        if name not in known and (part is None or not part.exists or part.point not in points):
            hint = did_you_mean(name.partition(".")[0], (*points, *known))
            raise TaskError(f"wanted: unknown name {name!r}\n  {hint}")
