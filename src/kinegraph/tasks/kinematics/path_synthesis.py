"""`synthesise_path`: dimensions within bounds for a wanted path, by least squares with exact derivatives.

The motion is given by laws of time, so no run is needed: results are functions of time and of the dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.derive.elements.element_names import ElementNames
from kinegraph.derive.quantities.derivation import Derivation, Plan
from kinegraph.derive.tree.convert import Names
from kinegraph.errors import TaskError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.transfer import moved, transfer
from kinegraph.jit.kernel import Argument, compile_graph
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expression import TIME, Operation, Scalar, expression, names
from kinegraph.model.mechanism import Mechanism, Parameter
from kinegraph.model.names import component, did_you_mean
from kinegraph.passes.pipeline import reduce
from kinegraph.passes.step import Effort
from kinegraph.simulate.formula import formula
from kinegraph.solve.results.recording import Statistics
from kinegraph.tasks.forces.motion_law import require_all_laws
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.runs.differentiated_run import DifferentiatedRows
from kinegraph.tasks.runs.least_squares import Problem, variable_bounds
from kinegraph.tasks.runs.synthesise import Synthesis, best_of

_ACCURACY = 1e-12


def synthesise_path(
    mechanism: MechanismSource,
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
    """Parameters within bounds whose mechanism comes nearest to a wanted path as it moves.

    motion: a law of time for every coordinate.
    wanted: formulas of points and coordinates (`F.y`, `2*F.x`) and what they should be at the times: numbers or
        formulas of time, parameters and further names that `bounds` has, such as a level that is free itself.
    only_at: results that count at some of the times only.
    starts: further searches begin at random places between the bounds; the best one is taken.
    """
    underlying = mechanism_of(mechanism)
    if is_constrained(underlying):
        raise TaskError(f"{underlying.name} has loops: write its angles by triangles, as the library's `crane` does")
    for what, given in (("wanted", wanted), ("bounds", bounds)):
        if not isinstance(given, Mapping) or not given:
            raise TaskError(
                f"{what} is {given!r:.60}: give values by name, e.g. {{'F.y': 'level'}}, {{'AC': (10, 15)}}"
            )
    require_all_laws(underlying, motion)
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
    """The mechanism with parameters for names that only the wishes use."""
    known = {parameter.name for parameter in mechanism.parameters}
    others = {*mechanism.layout.positions, *mechanism.layout.velocities, *mechanism.layout.inputs}
    new = []
    for name, value in zip(free, middle.tolist(), strict=True):
        if name in others:
            raise TaskError(f"{name} is no parameter: free are parameters, and names of your own in `wanted`")
        if name not in known:
            new.append(Parameter(name, expression(value if np.isfinite(value) else 0.0)))
    return replace(mechanism, parameters=(*mechanism.parameters, *new))


def _targets(wanted: tuple[str, ...], times: Floats, only_at: Mapping[str, Sequence[float]]) -> Floats:
    """Deviations should be zero; NaN where a result does not count."""
    found = np.zeros((len(times), len(wanted)))
    for name, some in only_at.items():
        if name not in wanted:
            raise TaskError(f"only_at: {name!r} is not wanted\n  {did_you_mean(name, wanted)}")
        distances = np.abs(times[:, None] - np.asarray(some, dtype=float)[None, :])
        missing = distances.min(axis=0) > 1e-9 * (1 + np.abs(times).max())
        if missing.any():
            raise TaskError(
                f"only_at: {name} counts at t = {np.asarray(some)[missing][0]:g}, which is none of the times"
            )
        found[distances.min(axis=1) > 1e-9 * (1 + np.abs(times).max()), wanted.index(name)] = np.nan
    return found


class _PathRows:
    """Deviations from what is wanted, and their derivatives by the free names, compiled."""

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
        """All times; TaskError where a triangle does not close."""
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
    """The graph with laws of time in place of coordinates, and the derivatives."""
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
            raise TaskError(f"wanted: there is no {name!r}\n  {hint}")
