"""Constraint rows with explicit time: states at later times, and redundant rows that time opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinegraph.derive.constraints.conditions import Conditions, Floats, RowRank
from kinegraph.derive.constraints.positions import CLOSED, ROUNDED

# A redundant row says nothing new at one time. If frames or constraints depend on time, it may still contradict the
# others later: a planar loop whose pin is led out of its plane. So the independent rows are followed through time, in
# steps too short to reach another branch, and the redundant rows are judged by position and by velocity on the way.

#: Conditions at one time, and positions.
Sample: TypeAlias = tuple[Conditions, Floats]

#: The times of judgment; sines of usual periods do not vanish at them.
_TIMES = (0.0, 0.0137, 0.117, 1.03)
LATEST = _TIMES[-1]
#: The largest motion in one step (radians, levers), and the maximal number of steps.
_STEP, _MOST = 0.1, 60
_CORRECTIONS = 8
#: Independent rows whose smallest singular value is below this fraction are too near to a singular position.
_SINGULAR = 1e-3
#: A row is open by velocity above this fraction of the largest prescribed rate.
_RATE = 1e-4


@dataclass(frozen=True)
class OpenRow:
    """A row that no coordinate can close at a time. by_velocity: `missed` is its rate, otherwise its residual."""

    name: str
    time: float
    missed: float
    by_velocity: bool = False


@dataclass(frozen=True)
class StateInTime:
    """Positions with closed independent rows at one time."""

    time: float
    conditions: Conditions
    q: Floats


def states_in_time(at: Callable[[float], Conditions], q: Floats, rank: RowRank) -> list[StateInTime]:
    """States at later times, with closed independent rows; fewer if these lead to a singular position.

    at: the conditions at a time. q: closed positions at the first time.
    """
    found = [StateInTime(0.0, at(_TIMES[0]), q)]
    for time in _TIMES[1:]:
        state = _followed(at, found[-1], time, list(rank.independent))
        if state is None:
            break
        found.append(state)
    return found


def open_row(states: Sequence[StateInTime], rank: RowRank) -> OpenRow | None:
    """The redundant row that opens first and most, although the independent rows are closed."""
    redundant = list(rank.redundant)
    if not redundant:
        return None
    first = states[0].conditions.measured(states[0].q)
    limit = max(ROUNDED, 10.0 * float(np.abs(first.value(states[0].q)).max(initial=0.0)))
    for state in states:
        measured = state.conditions.measured(state.q)
        missed = np.abs(measured.value(state.q))
        rates, largest = _rates(measured, state.q, list(rank.independent))
        for by_velocity, values, most in ((False, missed, limit), (True, np.abs(rates), _RATE * largest)):
            row = max(redundant, key=lambda k, values=values: values[k])  # type: ignore[misc]
            if values[row] > most:
                size = float((values * measured.row_sizes)[row])
                return OpenRow(measured.names[row], state.time, size, by_velocity)
    return None


def _rates(measured: Conditions, q: Floats, rows: list[int]) -> tuple[Floats, float]:
    """The rates of all rows while the independent ones hold, and the largest prescribed rate or velocity."""
    still = np.zeros(measured.jacobian(q).shape[1])
    drives = measured.rate(q, still)
    v = _least(measured.jacobian(q)[rows], drives[rows])
    return measured.rate(q, v), float(max(np.abs(drives).max(initial=0.0), np.abs(v).max(initial=0.0)))


def _followed(at: Callable[[float], Conditions], state: StateInTime, end: float, rows: list[int]) -> StateInTime | None:
    """The state at a later time; None if no short steps lead there."""
    time, conditions, q = state.time, state.conditions, state.q
    for _ in range(_MOST):
        measured = conditions.measured(q)
        jacobian = measured.jacobian(q)[rows]
        drives = measured.rate(q, np.zeros(jacobian.shape[1]))[rows]
        if not np.isfinite(jacobian).all() or not np.isfinite(drives).all() or _is_singular(jacobian):
            return None
        v = _least(jacobian, drives)
        step = min(end - time, _STEP / max(float(np.abs(v).max(initial=0.0)), 1e-300))
        time = end if step == end - time else time + step
        conditions = at(time)
        closed = _closed(conditions, measured.moved(q, v * step), rows)
        if closed is None:
            return None
        q = closed
        if time == end:
            return StateInTime(end, conditions, q)
    return None


def _least(jacobian: Floats, missed: Floats) -> Floats:
    """The least displacement or velocity that removes what rows miss."""
    return np.asarray(-np.linalg.lstsq(jacobian, missed, rcond=ROUNDED)[0], dtype=np.float64)


def _is_singular(jacobian: Floats) -> bool:
    if not len(jacobian):
        return False
    sizes = np.linalg.svd(jacobian, compute_uv=False)
    return bool(not sizes[-1] > _SINGULAR * sizes[0])


def _closed(conditions: Conditions, q: Floats, rows: list[int]) -> Floats | None:
    """Positions nearby with closed independent rows."""
    measured = conditions.measured(q)
    by_position = [k for k in rows if k in measured.by_position]
    for _ in range(_CORRECTIONS):
        missed = measured.value(q)[by_position]
        if not np.isfinite(missed).all():
            return None
        if np.abs(missed).max(initial=0.0) <= CLOSED:
            return q
        step = _least(measured.jacobian(q)[by_position], missed)
        if np.abs(step).max(initial=0.0) > _STEP:
            return None
        q = measured.moved(q, step)
    return None
