"""Where every case starts: initial values as functions of what is varied, for many cases at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.assembly.assemble import Assembler, Assembly
from kinegraph.derive.tree.convert import Names
from kinegraph.errors import KinegraphError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Output
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expression import Expression, names
from kinegraph.model.mechanism import Coordinate, Inertia
from kinegraph.model.validation.mechanism import check_values
from kinegraph.simulate.equations import Equations
from kinegraph.solve.problem.problem import Floats
from kinegraph.studies.plan import Plan


@dataclass(frozen=True)
class Starts:
    """Initial states and values of parameters by row; `faults` says why a row cannot start, by row."""

    states: Floats
    parameters: Floats
    faults: Mapping[int, str]


def starts(plan: Plan, equations: Equations, varied: Mapping[str, Floats]) -> Starts:
    """The starts of cases with these values of the names that are varied."""
    rows = len(next(iter(varied.values()))) if varied else 1
    runtime = plan.runtime_values(varied)
    parameters = np.column_stack(list(runtime.values())) if runtime else np.zeros((rows, 0))
    values = _initial_values(plan, equations, varied, rows)
    positions = len(plan.mechanism.layout.positions)
    faults = _impossible(plan, equations, varied)
    q, v = values[:, :positions], values[:, positions:]
    for start in plan.mechanism.layout.quaternions:
        faults |= _normalised(q, start)
    if is_constrained(plan.mechanism):
        faults |= _assembled(plan, varied, q, v, faults)
    finite = np.isfinite(values).all(axis=1) & np.isfinite(parameters).all(axis=1)
    faults |= {int(row): "an initial value is not a finite number" for row in np.flatnonzero(~finite)} | faults
    states = _packed(equations, q, v, parameters)
    return Starts(states, parameters, faults)


def nominal_note(plan: Plan) -> str | None:
    """Which declared initial values loops have moved in the nominal case, in words; None if all hold, or none can."""
    if not is_constrained(plan.mechanism):
        return None
    varied = dict(zip(plan.samples.names, plan.samples.rows(0, 1).T, strict=True))
    values = _initial_values(plan, plan.equations(), varied, 1)
    q, v = np.split(values, [len(plan.mechanism.layout.positions)], axis=1)
    if any(_normalised(q, start) for start in plan.mechanism.layout.quaternions):
        return None
    try:
        return _fitting(plan, varied, q[0], v[0], 0).note
    except KinegraphError:
        return None


def _impossible(plan: Plan, equations: Equations, varied: Mapping[str, Floats]) -> dict[int, str]:
    """The rows whose masses, moments of inertia or armatures are below zero, as a run says it."""
    runtime = plan.runtime_values(varied)
    inertias = [one for body in plan.mechanism.bodies for one in _inertias(body.inertia)]
    inertias += [one.armature for one in plan.mechanism.coordinates]
    changed = [one for one in inertias if names(one) & runtime.keys()]
    found: dict[int, str] = {}
    for row in np.flatnonzero((_values(plan, equations, changed, varied) < 0).any(axis=1)) if changed else ():
        numbers = {name: float(column[row]) for name, column in runtime.items()}
        try:
            check_values(plan.mechanism, parameter_values(plan.mechanism, {**plan.parameters, **numbers}))
        except KinegraphError as error:
            found[int(row)] = str(error).partition("\n")[0]
    return found


def _inertias(inertia: Inertia) -> tuple[Expression, ...]:
    return inertia.mass, inertia.Jx, inertia.Jy, inertia.Jz


def _initial_values(plan: Plan, equations: Equations, varied: Mapping[str, Floats], rows: int) -> Floats:
    """Positions and velocities, a row for each case."""
    layout = plan.mechanism.layout
    known = (*layout.positions, *layout.velocities)
    written = dict(zip(known, _model_values(plan), strict=True)) | dict(plan.initial)
    found = _values(plan, equations, [written[name] for name in known], varied)
    table = np.array(np.broadcast_to(found, (rows, len(known))), dtype=float)
    for place, name in enumerate(known):
        if name in varied:
            table[:, place] = varied[name]
    return table


def _values(plan: Plan, equations: Equations, wanted: Sequence[Expression], varied: Mapping[str, Floats]) -> Floats:
    """Expressions of parameters, a row for each case; one row where nothing is varied that they know."""
    builder = GraphBuilder()
    known = Names(builder, plan.mechanism, equations.bound)
    nodes = tuple(known.scalar(one).index for one in wanted)
    graph = builder.graph([Output("y", (len(wanted),), nodes)])
    with np.errstate(all="ignore"):
        return np.asarray(interpret(graph, plan.runtime_values(varied))["y"])


def _model_values(plan: Plan) -> list[Expression]:
    """The model's own initial positions, then velocities, as expressions."""
    positions: list[Expression] = []
    velocities: list[Expression] = []
    for one in plan.mechanism.coordinates:
        single = isinstance(one, Coordinate)
        positions += [one.position] if single else list(one.position)  # type: ignore[list-item, arg-type]
        velocities += [one.velocity] if single else list(one.velocity)  # type: ignore[list-item, arg-type]
    return [*positions, *velocities]


def _normalised(q: Floats, start: int) -> dict[int, str]:
    """Give quaternions unit length; says which rows hold one of length zero."""
    part = q[:, start : start + 4]
    with np.errstate(all="ignore"):
        part /= np.max(np.abs(part), axis=1, keepdims=True)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    bad = ~np.isfinite(part).all(axis=1)
    return {int(row): "an initial quaternion is zero: it needs a direction" for row in np.flatnonzero(bad)}


def _assembled(
    plan: Plan, varied: Mapping[str, Floats], q: Floats, v: Floats, faults: Mapping[int, str]
) -> dict[int, str]:
    """Bring every row onto the loops and constraints; says which rows cannot be."""
    found: dict[int, str] = {}
    shared = None if plan.runtime else Assembler(plan.mechanism, dict(plan.parameters))
    for row in range(len(q)):
        if row in faults:
            continue
        try:
            fitting = _fitting(plan, varied, q[row], v[row], row, shared).required()
            q[row], v[row] = fitting.q, fitting.v
        except KinegraphError as error:
            found[row] = str(error)
    return found


def _fitting(
    plan: Plan, varied: Mapping[str, Floats], q: Floats, v: Floats, row: int, shared: Assembler | None = None
) -> Assembly:
    """The start of one case: values that are varied or given hold, then those the model declares."""
    given = tuple(name for name in (*plan.initial, *varied) if name not in plan.sources.values())
    numbers = {name: float(column[row]) for name, column in plan.runtime_values(varied).items()}
    assembler = shared or Assembler(plan.mechanism, {**plan.parameters, **numbers})
    return assembler.assembled(q, v, given, plan.span[0], plan.mechanism.declared)


def _packed(equations: Equations, q: Floats, v: Floats, parameters: Floats) -> Floats:
    """States by row; in velocities they are q and v, with zeros for all that only adds up."""
    if equations.in_velocities is equations:
        return np.hstack([q, v, np.zeros((len(q), len(equations.names) - q.shape[1] - v.shape[1]))])
    return np.array([equations.pack(*row) for row in zip(q, v, parameters, strict=True)])
