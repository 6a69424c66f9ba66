"""Why a run could not go on: its equations are looked at in the state where steps became too short or failed.

Loops that lock, loops that fold, a singular mass matrix and a force that jumps all make steps collapse; each needs
another remedy.
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
from kinegraph.simulate.equations import Equations, row_values, state_symbols
from kinegraph.simulate.sensitivities import switching_conditions
from kinegraph.solve.problem import Floats, Signals
from kinegraph.solve.recording import Ending, Run, Status

_LOOKED_AT = (
    Status.STALLED, Status.STEP_TOO_SMALL, Status.NOT_A_NUMBER, Status.NO_CONVERGENCE, Status.SINGULAR, Status.OPEN,
    Status.TOO_MANY_STEPS,
)  # fmt: skip
#: Endings that singular coordinates explain.
_PERHAPS_SINGULAR = (
    Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL, Status.TOO_MANY_STEPS, Status.STALLED, Status.NO_CONVERGENCE,
    Status.SOLVER_FAILED,
)  # fmt: skip
#: How many bad runs of a sweep are looked into, and what the others say.
MOST, NOT_LOOKED_INTO = 48, "the cause was not looked into: simulate such a case alone"
_STATES = 12  # of a run that say what is usual
_RANK = 1e-9  # of the largest singular value: below it rows always depend on each other
_NEAR = 0.03  # of the usual distance from a singular position is near
_DRIVEN = 1e-3  # of what drives constraints counts as against the one that is lost
_LIGHT, _LIGHTER = 1e-8, 1e-4  # the least of a scaled mass matrix is nothing, by itself and beside the usual one
_TAKES_PART = 0.3  # of the largest entry of a vector
_WIDE = 0.01  # loops are open that miss by so much [m, rad]
_CLOSE, _JUMP = 1e-4, 1e-3  # states so close to a surface are on it; rates differ across it by more than this part

_REACH = "a prescribed motion leads them beyond their reach: limit it, change lengths, or end the run before this time"
_LONG = "the step is too long for the speed there: take a shorter one, or a method that chooses it (dop853)"
_DECAY = (
    "the gains of `baumgarte` do not hold them with these steps: take shorter steps or smaller gains, or leave it out, "
    "so that every state is taken onto them"
)
_SWITCH = (
    "forces jump there and hold the state where they do: state the jump as an event or a `contact`, "
    "give friction a larger `width`, or try method='bdf'"
)


@dataclass(frozen=True)
class _States:
    """Some states of a run by row, the last one where it ended, and the whole last state for the rates."""

    times: Floats
    q: Floats
    v: Floats
    last: Floats
    parameters: Floats


@dataclass(frozen=True)
class Ends:
    """Where many runs of the same equations began and ended: states and parameters by row."""

    start: float
    first: Floats
    last: Floats
    parameters: Floats


def named_endings(
    equations: Equations, endings: Sequence[Ending], ends: Ends, signals: Signals, rows: Sequence[int] | None = None
) -> tuple[Ending, ...]:
    """How many runs ended, as `named_ending` says it of one.

    rows: those that may be looked into; without them, some dozens of those that ended badly. The others say that
    nobody has looked.
    """
    bad = [
        row for row, one in enumerate(endings) if _may_be_named(equations, one) and np.isfinite(ends.last[row]).any()
    ]
    if rows is None:
        places = np.unique(np.linspace(0, len(bad) - 1, MOST).astype(int)) if bad else ()
        rows = [bad[place] for place in places]
    looked_into, found = set(rows), list(endings)
    for row in bad:
        one = endings[row]
        if row not in looked_into:
            found[row] = replace(one, detail=", ".join(filter(None, (one.detail, NOT_LOOKED_INTO))))
            continue
        times, states = np.array([ends.start, one.time]), np.array([ends.first[row], ends.last[row]])
        found[row] = named_ending(equations, Run(times, states, one), signals, ends.parameters[row])
    return tuple(found)


def named_ending(equations: Equations, run: Run, signals: Signals, parameters: Floats | None = None) -> Ending:
    """How a run ended, with what its equations say of the last state."""
    if not _may_be_named(equations, run.ending) or not len(run.states):
        return run.ending
    p: Floats = np.zeros(0) if parameters is None else parameters
    return _of_coordinates(equations, run, p) or _explained(equations, run, signals, p)


def _may_be_named(equations: Equations, ending: Ending) -> bool:
    if equations.by_loops or equations.mechanism.contacts:
        return False
    if ending.status is Status.SINGULAR and ending.detail:
        return False  # it says already what is singular
    return ending.status in (*_LOOKED_AT, *_PERHAPS_SINGULAR)


def _of_coordinates(equations: Equations, run: Run, p: Floats) -> Ending | None:
    """Coordinates that move nothing in the last state."""
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
    if run.ending.status not in _LOOKED_AT:
        return run.ending
    with np.errstate(all="ignore"):
        ending, closed = run.ending, len(run.times)
        if not equations.keeps_closed:
            ending, closed = _came_open(equations, run, p)
        states = _some_states(equations, run, signals, p, closed)
        if states is None:
            return ending
        if ending.status is Status.TOO_MANY_STEPS:  # a limit may end a run anywhere: only a jump explains it
            return replace(ending, hint=_SWITCH) if _jumps(equations, states.last) else ending
        found = _of_constraints(equations, states, ending)
        return found or (ending if ending.status is Status.OPEN else _of_forces(equations, states, ending))


def _some_states(equations: Equations, run: Run, signals: Signals, parameters: Floats, count: int) -> _States | None:
    """Some of the first `count` states, the last of these among them; None if none is finite."""
    finite = np.flatnonzero(np.all(np.isfinite(run.states[:count]), axis=1))
    if not len(finite):
        return None
    places = finite[np.unique(np.linspace(0, len(finite) - 1, _STATES).astype(int))]
    q, v = equations.unpack(run.states[places], parameters)
    times = run.times[places]
    last = np.concatenate([run.states[places[-1]], times[-1:], signals.values(times[-1:])[0], parameters])
    return _States(times, q, v, last, parameters)


def _of_constraints(equations: Equations, states: _States, ending: Ending) -> Ending | None:
    """Rows that depend on each other there, and usually do not: what drives them agrees with that, or they lock."""
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
        return ending  # pivots of the step said so; the last saved state may lie before it
    if near and ending.status is not Status.OPEN:
        return Ending(Status.SINGULAR, ending.time, component)
    return Ending(Status.OPEN, ending.time, component, hint=ending.hint or _LONG)


def _came_open(equations: Equations, run: Run, parameters: Floats) -> tuple[Ending, int]:
    """When loops that only decay came open, and which most; how many states come before."""
    assert equations.projection is not None
    q, v = equations.unpack(run.states, parameters)
    rows = np.hstack([q, v, run.times[:, None], np.tile(parameters, (len(run.times), 1))])
    missed = row_values(equations.projection, state_symbols(equations), rows)[MISSED]
    open_by = np.abs(missed[:, : missed.shape[1] // 2])
    late = np.flatnonzero(~(open_by.max(axis=1) < _WIDE))
    if not len(late):
        return run.ending, len(run.times)
    first = open_by[late[0]]
    names = _names(equations, np.where(np.isfinite(first), first, np.inf))
    return Ending(Status.OPEN, float(run.times[late[0]]), names, hint=_DECAY), int(late[0])


def _rows(equations: Equations, states: _States, place: int) -> tuple[Floats, Floats]:
    """J and the rates of all constraints at rest, of one state: rates are J v plus the latter."""
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
    """A force that jumps, or a mass matrix that is singular."""
    if _jumps(equations, states.last):
        return replace(ending, hint=_SWITCH)
    light = _without_mass(equations, states)
    if light:
        return Ending(Status.SINGULAR_COORDINATES, ending.time, _listed(light))
    return ending


def _jumps(equations: Equations, x: Floats) -> bool:
    """Whether x = [y, t, u, p] lies on a surface across which the rates jump."""
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
    """Where the rates may jump: conditions that pass zero there, and their slopes in the state; None if nowhere."""
    conditions = switching_conditions(equations.rate)
    if conditions is None:
        return None
    builder = GraphBuilder()
    roots = moved(conditions.outputs, transfer(conditions, builder))[0].nodes
    symbols = [builder.symbol(*one) for one in equations.state_symbols]
    entries = tuple(entry for row in jacobian(builder, roots, symbols) for entry in row)
    return builder.graph([Output("c", (len(roots),), roots), Output("g", (len(roots), len(symbols)), entries)])


def _differs(equations: Equations, x: Floats, distance: float, normal: Floats, beside: float) -> bool:
    """Whether rates differ on the two sides of a surface at a distance along its normal."""
    rows = np.tile(x, (2, 1))
    rows[:, : len(normal)] += np.outer([distance - beside, distance + beside], normal)
    before, after = row_values(equations.rate, equations.symbols, rows)["rate"]
    return bool(np.abs(after - before).max() > _JUMP * max(np.abs(before).max(), np.abs(after).max()))


def _without_mass(equations: Equations, states: _States) -> list[str]:
    """The velocities that move no mass in the last state, and do in others; none if all do."""
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
    """Positions that any run could have, and the last one."""
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
    """The least eigenvalue of a scaled mass matrix in directions that constraints allow, and its direction."""
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
