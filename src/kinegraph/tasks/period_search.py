"""The start of a search for a periodic motion without a drive: a first period, and a place with a sharp phase."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.tasks.operating_point import Floats, OperatingPoint
from kinegraph.tasks.shooting import Shooting, point_at

#: Points of the search for the fastest place of a motion, and rounds of that for its return.
_FINE, _ROUNDS = 4001, 4
#: Turns of the fastest angle after which others may have turned whole turns, and how nearly.
_MOST_TURNS, _NEARLY_WHOLE = 12, 0.08
#: How near a state comes to an earlier one, relative to its range, to count as a return; doublings of the time
#: searched.
_NEAR, _DOUBLINGS = 0.3, 14


def first_period(shooting: Shooting, guess: float | None) -> float:
    """A first period of a motion without a drive: as given, of one turn, or until the state almost returns."""
    if guess is not None:
        return guess
    size, x = shooting.positions, shooting.begun
    start = shooting.run.started(np.concatenate([x, shooting.parameters]))[1]
    rates = {k: start[size + shooting.names[size:].index(shooting.names[k] + "'")] for k in shooting.turns}
    fastest = max(rates, key=lambda k: abs(rates[k]), default=None)
    first = shooting.settings.start
    if fastest is not None and abs(rates[fastest]) > 0:
        turn = 2 * np.pi / abs(rates[fastest])
        times = np.linspace(first, first + 3 * turn, 200 * 3)
        moved = np.abs(shooting.states(x, times)[:, fastest] - start[fastest])
        if moved.max() >= 2 * np.pi:
            turn = float(np.interp(2 * np.pi, np.maximum.accumulate(moved), times)) - first
            return turn * _turns_together(shooting, x, turn)
    return _recurrence(shooting, x)


def _turns_together(shooting: Shooting, x: Floats, turn: float) -> int:
    """After how many turns of the fastest angle the others have turned whole turns too, as in a gear."""
    first = shooting.settings.start
    rows = shooting.states(x, np.asarray(first + turn * np.arange(_MOST_TURNS + 1)))[:, shooting.turns]
    turned = (rows - rows[0]) / (2 * np.pi)
    apart = np.max(np.abs(turned - np.round(turned)), axis=1)
    near = np.flatnonzero(apart[1:] < _NEARLY_WHOLE)
    return int(near[0]) + 1 if len(near) else 1


def _recurrence(shooting: Shooting, x: Floats) -> float:
    """The time until the motion comes nearest to where it was, after a while."""
    first, span = shooting.settings.start, 1.0
    remaining = [k for k in range(len(shooting.names)) if k not in shooting.cyclic]
    for _ in range(_DOUBLINGS):
        times = np.linspace(first, first + span, 1201)
        values = shooting.states(x, times)[:, remaining]
        late = values[600:]
        size = np.maximum(np.abs(late - late[0]).max(axis=0), 1e-300)
        away = np.linalg.norm((late - late[0]) / size, axis=1)
        left = np.flatnonzero(away > 0.5)
        if len(left):
            inner = np.flatnonzero((away[1:-1] <= away[:-2]) & (away[1:-1] < away[2:])) + 1
            back = [k for k in inner if k > left[0] and away[k] < _NEAR]
            if back:
                return float(times[600 + back[0]] - times[600])
        span *= 2
    raise TaskError(
        f"{shooting.mechanism.name}: no time drives it, and the motion from its start does not come back within "
        f"{span / 2:g} s\n  give a guess of the period, or a state on a periodic motion, or let it `settle` first"
    )


def phase_of(shooting: Shooting, period: float, fixed: Sequence[str]) -> str:
    """The initial value that stays and so chooses the start on the motion: the one that changes fastest there."""
    shot = shooting.shot(shooting.begun, period)
    size = len(shooting.names)
    begin = shooting.shot(shooting.begun, 1e-6 * period)
    change = np.abs(begin.end - begin.start)[:size] / shooting.scales(shooting.begun, period)
    known = [k for k, name in enumerate(shooting.names) if name in shooting.free and name not in fixed]
    circling = [k for k in known if k in shooting.turns and abs(shooting.advance(shot)[k]) > 1]
    if not known:
        raise TaskError(f"{shooting.mechanism.name}: all initial values are held, so none can be found")
    return shooting.names[max(circling or known, key=lambda k: change[k])]


def from_fastest(
    shooting: Shooting, point: OperatingPoint, fixed: Sequence[str], period: float
) -> tuple[Shooting, str, float]:
    """The same motion from where it is fastest, with the value that stays there and the time until it comes back.

    There the phase is sharp, also for motions that creep and jump.
    """
    first, size = shooting.settings.start, shooting.positions
    times = np.linspace(first, first + 2 * period, _FINE)
    rows = shooting.states(shooting.begun, times)
    late = rows[_FINE // 2 :]
    scale = np.ptp(late, axis=0)
    scale = np.maximum(scale, 1e-6 * np.max(scale, initial=1e-300))
    known = [k for k, name in enumerate(shooting.names[:size]) if name in shooting.free and name not in fixed]
    if not known:
        return shooting, phase_of(shooting, period, fixed), period
    speeds = np.abs(np.diff(late[:, known], axis=0)) / scale[known]
    row, column = np.unravel_index(int(np.argmax(speeds)), speeds.shape)
    start, phase = late[row], known[column]
    moved = shooting.beginning(point_at(point, start))
    rising = float(np.sign(late[row + 1, phase] - start[phase]))
    low, high, back = 1e-9 * period, 2 * period, 0.0
    for _ in range(_ROUNDS):
        places = np.linspace(low, high, _FINE // 4)
        after = moved.states(moved.begun, first + np.concatenate([[0.0], places]))[1:, phase] - start[phase]
        found = np.flatnonzero((rising * after[:-1] < 0) & (rising * after[1:] >= 0))
        if not len(found):
            break
        low, high = float(places[found[0]]), float(places[found[0] + 1])
        back = low + (high - low) * float(after[found[0]] / (after[found[0]] - after[found[0] + 1]))
    period = back or period
    return moved, shooting.names[phase], period
