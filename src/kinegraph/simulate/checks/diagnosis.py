"""Diagnose why a run stopped: evaluate its equations at the state where the step size collapsed or a step failed.

Locked loops, singular loop positions, a singular mass matrix, and a discontinuous force all make the step size
collapse. Each needs a different remedy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kinegraph.derive.constraints.projection import MISSED
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Graph, Output
from kinegraph.simulate.checks.first_integrals import random_states
from kinegraph.simulate.checks.singular_coordinates import ENDED, singular_in
from kinegraph.simulate.checks.table_ranges import left_table
from kinegraph.simulate.equations import Equations, row_values, state_symbols
from kinegraph.solve.problem import Floats, Signals
from kinegraph.solve.recording import Ending, Run, Status

_DIAGNOSED = (
    Status.STALLED, Status.STEP_TOO_SMALL, Status.NOT_A_NUMBER, Status.NO_CONVERGENCE, Status.SINGULAR, Status.OPEN,
    Status.TOO_MANY_STEPS,
)  # fmt: skip
#: Endings that singular coordinates can explain.
_PERHAPS_SINGULAR = (
    Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL, Status.TOO_MANY_STEPS, Status.STALLED, Status.NO_CONVERGENCE,
    Status.SOLVER_FAILED,
)  # fmt: skip
#: How many failed runs of a sweep are diagnosed, and the text for the others.
MOST, NOT_DIAGNOSED = 48, "the cause was not diagnosed: simulate this case on its own"
_STATES = 12  # states of a run that define the usual values
_RANK = 1e-9  # of the largest singular value: rows below this are always dependent
_NEAR = 0.03  # of the usual distance: the position is nearly singular
_DRIVEN = 1e-3  # of the constraint drive: a larger part contradicts the lost direction
# The smallest eigenvalue of a scaled mass matrix counts as zero below these: absolute, and relative to the usual one.
_LIGHT, _LIGHTER = 1e-8, 1e-4
_TAKES_PART = 0.3  # of the largest entry of a vector
_WIDE = 0.01  # a loop with a larger gap is open [m, rad]
_CLOSE = 1e-4  # states this close to a surface are on it
_JUMP = 1e-3  # rates that differ across it by a larger fraction are discontinuous

_REACH = "a prescribed motion drives them beyond their reach: limit it, change lengths, or end the run before this time"
_LONG = "the step is too long for the speed there: use a shorter step, or a method with adaptive steps (dop853)"
_DECAY = (
    "the gains of `baumgarte` cannot hold them with these steps: use shorter steps or smaller "
    "gains, or omit `baumgarte` to project every state onto the constraints"
)
_SWITCH = (
    "a discontinuous force traps the state on its switching surface: model the jump as an "
    "event or a `contact`, give friction a larger `width`, or try method='bdf'"
)


@dataclass(frozen=True)
class _States:
    """Some states of a run by row, ending with the last one, and the complete last state for the rates."""

    times: Floats
    q: Floats
    v: Floats
    last: Floats
    parameters: Floats


@dataclass(frozen=True)
class Ends:
    """First and last states and parameters of many runs of the same equations, by row."""

    start: float
    first: Floats
    last: Floats
    parameters: Floats


def named_endings(
    equations: Equations, endings: Sequence[Ending], ends: Ends, signals: Signals, rows: Sequence[int] | None = None
) -> tuple[Ending, ...]:
    """The endings of many runs, each described as by `named_ending`.

    rows: the runs that may be diagnosed. By default a few dozen of those that failed. The others say that they were
    not diagnosed.
    """
    bad = [
        row for row, one in enumerate(endings) if _may_be_named(equations, one) and np.isfinite(ends.last[row]).any()
    ]
    if rows is None:
        places = np.unique(np.linspace(0, len(bad) - 1, MOST).astype(int)) if bad else ()
        rows = [bad[place] for place in places]
    diagnosed, found = set(rows), _left_open_at_the_end(equations, endings, ends)
    for row in bad:
        one = endings[row]
        if row not in diagnosed:
            found[row] = replace(one, detail=", ".join(filter(None, (one.detail, NOT_DIAGNOSED))))
            continue
        times, states = np.array([ends.start, one.time]), np.array([ends.first[row], ends.last[row]])
        found[row] = named_ending(equations, Run(times, states, one), signals, ends.parameters[row])
    return tuple(found)


def named_ending(equations: Equations, run: Run, signals: Signals, parameters: Floats | None = None) -> Ending:
    """The ending of a run, with the cause found from its equations at the last state."""
    if not _may_be_named(equations, run.ending) or not len(run.states):
        return run.ending
    p: Floats = np.zeros(0) if parameters is None else parameters
    return _of_coordinates(equations, run, p) or _explained(equations, run, signals, p)


def _may_be_named(equations: Equations, ending: Ending) -> bool:
    if equations.by_loops or equations.mechanism.contacts:
        return False
    if ending.status is Status.SINGULAR and ending.detail:
        return False  # the ending already names what is singular
    return ending.status in (*_DIAGNOSED, *_PERHAPS_SINGULAR)


def _of_coordinates(equations: Equations, run: Run, p: Floats) -> Ending | None:
    """Singular coordinates in the last state."""
    if run.ending.status not in _PERHAPS_SINGULAR:
        return None
    q, _ = equations.unpack(run.states[-1:], p)
    given = equations.bound | dict(zip(equations.runtime, p.tolist(), strict=False))
    lost = singular_in(_motion(equations), equations.mechanism, q[0], run.ending.time, given, ENDED)
    return Ending(Status.SINGULAR_COORDINATES, run.ending.time, ", ".join(lost)) if lost else None


@lru_cache(maxsize=4)
def _motion(equations: Equations) -> Graph:
    return equations.derived(["qdd", "H"])


@lru_cache(maxsize=4)
def _masses(equations: Equations) -> Graph:
    return equations.in_velocities.derived(["H"])


def _explained(equations: Equations, run: Run, signals: Signals, p: Floats) -> Ending:
    if run.ending.status not in _DIAGNOSED:
        return run.ending
    with np.errstate(all="ignore"):
        ending, closed = run.ending, len(run.times)
        if not equations.keeps_closed:
            ending, closed = _came_open(equations, run, p)
        states = _some_states(equations, run, signals, p, closed)
        if states is None:
            return ending
        if ending.status is Status.TOO_MANY_STEPS:  # a limit may end a run anywhere: only a discontinuity explains it
            return replace(ending, hint=_SWITCH) if _jumps(equations, states.last) else ending
        if hint := left_table(equations, states.last):
            return replace(ending, hint=hint)
        found = _of_constraints(equations, states, ending)
        return found or (ending if ending.status is Status.OPEN else _of_forces(equations, states, ending))


def _some_states(equations: Equations, run: Run, signals: Signals, parameters: Floats, count: int) -> _States | None:
    """Some of the first `count` states, including the last of them; None if none is finite."""
    finite = np.flatnonzero(np.all(np.isfinite(run.states[:count]), axis=1))
    if not len(finite):
        return None
    places = finite[np.unique(np.linspace(0, len(finite) - 1, _STATES).astype(int))]
    q, v = equations.unpack(run.states[places], parameters)
    times = run.times[places]
    last = np.concatenate([run.states[places[-1]], times[-1:], signals.values(times[-1:])[0], parameters])
    return _States(times, q, v, last, parameters)


def _of_constraints(equations: Equations, states: _States, ending: Ending) -> Ending | None:
    """Constraint rows that became dependent there: either the drive is compatible with that, or they lock."""
    if equations.projection is None:
        return None
    rows, drives = zip(*(_rows(equations, states, k) for k in range(len(states.times))), strict=True)
    rank = max(_rank(matrix) for matrix in rows)
    if rank == 0 or not np.all(np.isfinite(rows[-1])):
        return None
    usual = max(float(np.linalg.svd(matrix, compute_uv=False)[rank - 1]) for matrix in rows)
    left, sizes, _ = np.linalg.svd(rows[-1])
    near = sizes[rank - 1] <= _NEAR * usual
    if not near and ending.status not in (Status.OPEN, Status.SINGULAR):
        return None
    lost = left[:, rank - 1]
    drive = drives[-1]
    locked = abs(lost @ drive) > _DRIVEN * np.linalg.norm(drive) > 0
    component = _names(equations, lost) or ending.component
    if locked:
        return Ending(Status.OPEN, ending.time, component, hint=_REACH)
    if ending.status is Status.SINGULAR:
        return ending  # the pivots of the step show it; the last saved state may be before it
    if near and ending.status is not Status.OPEN:
        return Ending(Status.SINGULAR, ending.time, component)
    return Ending(Status.OPEN, ending.time, component, hint=ending.hint or _LONG)


def left_open(equations: Equations, run: Run, q: Floats, v: Floats) -> Ending:
    """The ending of a run whose saved states should be closed: where they are not, it is there.

    Explicit time may open a row long after the rows were judged redundant, and projections do not know such rows.
    """
    return _ending_where_open(equations, run, q, v, np.zeros(0), _REACH)[0] if run.ending.status.good else run.ending


def _left_open_at_the_end(equations: Equations, endings: Sequence[Ending], ends: Ends) -> list[Ending]:
    """The endings of many runs; those whose last states should be closed and are not say so.

    As in `left_open`, but of the last states alone: studies keep no others.
    """
    found = list(endings)
    closed = equations.closes and equations.projection is not None and equations.keeps_closed
    good = [row for row, one in enumerate(endings) if one.status.good and np.isfinite(ends.last[row]).all()]
    if not (closed and good):
        return found
    times, parameters = np.array([endings[row].time for row in good]), ends.parameters[good]
    open_by = _open_by(equations, times, *equations.unpack(ends.last[good], parameters), parameters)
    for place in np.flatnonzero(~(open_by.max(axis=1) < _WIDE)):
        names = _names(equations, np.where(np.isfinite(open_by[place]), open_by[place], np.inf))
        found[good[place]] = Ending(Status.OPEN, float(times[place]), names, detail="or before", hint=_REACH)
    return found


def _came_open(equations: Equations, run: Run, parameters: Floats) -> tuple[Ending, int]:
    """When stabilized loops opened, which opened most, and how many states precede it."""
    return _ending_where_open(equations, run, *equations.unpack(run.states, parameters), parameters, _DECAY)


def _ending_where_open(
    equations: Equations, run: Run, q: Floats, v: Floats, parameters: Floats, hint: str
) -> tuple[Ending, int]:
    open_by = _open_by(equations, run.times, q, v, np.tile(parameters, (len(run.times), 1)))
    late = np.flatnonzero(~(open_by.max(axis=1) < _WIDE))
    if not len(late):
        return run.ending, len(run.times)
    first = open_by[late[0]]
    names = _names(equations, np.where(np.isfinite(first), first, np.inf))
    return Ending(Status.OPEN, float(run.times[late[0]]), names, hint=hint), int(late[0])


def _open_by(equations: Equations, times: Floats, q: Floats, v: Floats, parameters: Floats) -> Floats:
    """By how much each row of the loops and constraints is open, state by state."""
    assert equations.projection is not None
    rows = np.hstack([q, v, times[:, None], parameters])
    missed = row_values(equations.projection, state_symbols(equations), rows)[MISSED]
    return np.asarray(np.abs(missed[:, : missed.shape[1] // 2]))


def _rows(equations: Equations, states: _States, place: int) -> tuple[Floats, Floats]:
    """J, and the constraint rates at zero velocity, for one state. The rates are J v plus these."""
    count = states.v.shape[1]
    velocities = np.vstack([np.zeros(count), np.eye(count)])
    fixed = np.tile(states.q[place], (count + 1, 1)), np.full((count + 1, 1), states.times[place])
    further = np.tile(states.parameters, (count + 1, 1))
    assert equations.projection is not None
    found = row_values(
        equations.projection, state_symbols(equations), np.hstack([fixed[0], velocities, fixed[1], further])
    )[MISSED]
    rates = found[:, found.shape[1] // 2 :]
    return np.asarray((rates[1:] - rates[0]).T), np.asarray(rates[0])


def _rank(matrix: Floats) -> int:
    if not np.all(np.isfinite(matrix)) or not matrix.size:
        return 0
    sizes = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(sizes > _RANK * sizes[0]))


def _names(equations: Equations, weights: Floats) -> str:
    """The loops and constraints whose rows take part in a combination."""
    names = equations.in_velocities.all_rows
    if len(names) != len(weights):
        return ""
    taking = np.abs(weights) > _TAKES_PART * np.abs(weights).max()
    loops = {loop.name for loop in equations.mechanism.loops}
    found = dict.fromkeys(name.partition(".")[0] for name, takes in zip(names, taking, strict=True) if takes)
    return _listed([f"{'loop' if name in loops else 'constraint'} {name}" for name in found])


def _of_forces(equations: Equations, states: _States, ending: Ending) -> Ending:
    """A discontinuous force, or a singular mass matrix."""
    if _jumps(equations, states.last):
        return replace(ending, hint=_SWITCH)
    light = _without_mass(equations, states)
    if light:
        return Ending(Status.SINGULAR_COORDINATES, ending.time, _listed(light))
    return ending


def _jumps(equations: Equations, x: Floats) -> bool:
    """Whether x = [y, t, u, p] is on a surface where the rates are discontinuous."""
    graph = _surfaces(equations)
    if graph is None:
        return False
    found = row_values(graph, equations.symbols, x[None])
    size = len(equations.state_symbols)
    scale = 1.0 + np.abs(x[:size])
    for value, slope in zip(np.ravel(found["c"]), found["g"].reshape(-1, size) * scale, strict=True):
        length = float(np.linalg.norm(slope))
        far = abs(value) / length if length > 0 else np.inf
        if far < _CLOSE and _differs(equations, x, -value / length, slope / length * scale, max(far, 1e-9)):
            return True
    return False


@lru_cache(maxsize=4)
def _surfaces(equations: Equations) -> Graph | None:
    """Conditions whose zeros are discontinuities of the rates, and their slopes in the state; None if there are
    none."""
    from kinegraph.simulate.sensitivities import switching_conditions

    conditions = switching_conditions(equations.rate)
    if conditions is None:
        return None
    builder = GraphBuilder()
    roots = moved(conditions.outputs, transfer(conditions, builder))[0].nodes
    symbols = [builder.symbol(*one) for one in equations.state_symbols]
    entries = tuple(entry for row in jacobian(builder, roots, symbols) for entry in row)
    return builder.graph([Output("c", (len(roots),), roots), Output("g", (len(roots), len(symbols)), entries)])


def _differs(equations: Equations, x: Floats, distance: float, normal: Floats, beside: float) -> bool:
    """Whether the rates differ between the two sides of a surface, at a distance along its normal."""
    rows = np.tile(x, (2, 1))
    rows[:, : len(normal)] += np.outer([distance - beside, distance + beside], normal)
    before, after = row_values(equations.rate, equations.symbols, rows)["rate"]
    return bool(np.abs(after - before).max() > _JUMP * max(np.abs(before).max(), np.abs(after).max()))


def _without_mass(equations: Equations, states: _States) -> list[str]:
    """Velocities that move no mass in the last state but do in others; empty if all move mass."""
    states = _elsewhere(equations, states)
    further = np.tile(states.parameters, (len(states.times), 1))
    rows = np.hstack([states.q, states.v, states.times[:, None], further])
    count = states.v.shape[1]
    found = row_values(_masses(equations), state_symbols(equations), rows)["H"]
    matrices = np.broadcast_to(found, (len(rows), count, count))
    if not np.all(np.isfinite(matrices)):
        return []
    scale = np.sqrt(np.max(np.einsum("tii->ti", matrices), axis=0))
    scale[scale == 0] = 1.0
    least = [_least_mass(equations, states, place, matrix, scale) for place, matrix in enumerate(matrices)]
    last, direction = least[-1]
    if last > _LIGHT and last > _LIGHTER * max(size for size, _ in least):
        return []
    taking = np.abs(direction) > _TAKES_PART * np.abs(direction).max()
    return [name for name, takes in zip(equations.mechanism.layout.velocities, taking, strict=True) if takes]


def _elsewhere(equations: Equations, states: _States) -> _States:
    """Random admissible positions, and the last one."""
    layout = equations.mechanism.layout
    found = random_states(equations.mechanism)
    q, v = (
        np.column_stack([found[name][:_STATES] for name in names]) for names in (layout.positions, layout.velocities)
    )
    times = np.full(len(q) + 1, states.times[-1])
    return replace(states, times=times, q=np.vstack([q, states.q[-1:]]), v=np.vstack([v, states.v[-1:]]))


def _least_mass(
    equations: Equations, states: _States, place: int, matrix: Floats, scale: Floats
) -> tuple[float, Floats]:
    """The smallest eigenvalue of a scaled mass matrix in the directions that constraints allow, and its direction."""
    allowed = np.eye(len(scale))
    if equations.projection is not None:
        rows = _rows(equations, states, place)[0] / scale
        allowed = np.linalg.svd(rows)[2][_rank(rows) :].T
    if not allowed.shape[1]:
        return np.inf, scale
    sizes, directions = np.linalg.eigh(allowed.T @ (matrix / np.outer(scale, scale)) @ allowed)
    return float(sizes[0]), allowed @ directions[:, 0]


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
