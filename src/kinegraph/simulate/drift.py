"""Drift of loops and constraints, and the states of a run without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.constraints.positions import CLOSED
from kinegraph.simulate.equations import Equations, largest
from kinegraph.solve.problem import Floats

_STEPS = 3
#: Changes below the first are rounding errors; changes above the second do not come from interpolation.
_ROUNDING, _FAR = 1e-12, 1e-2


@dataclass(frozen=True)
class Drift:
    """The largest residuals by position and by velocity over all saved states: during integration, and remaining.

    closed: saved states were projected onto the constraints; otherwise the integration residuals remain.
    speed: the largest velocity, which scales the rounding errors of velocity residuals.
    limit: the allowed remainder, above rounding if rounded numbers of the model contradict each other.
    """

    position: float
    velocity: float
    left_position: float
    left_velocity: float
    closed: bool = True
    speed: float = 1.0
    limit: float = CLOSED

    @property
    def relative_velocity(self) -> float:
        """The remaining velocity residual, relative to the largest velocity if that is above one."""
        return self.left_velocity / max(1.0, self.speed)


def without_drift(
    equations: Equations, times: Floats, q: Floats, v: Floats, parameters: Floats
) -> tuple[Floats, Floats, Drift]:
    """States projected onto the constraints, and their distance before.

    With a method that closes its own steps, only states interpolated between steps change.
    """
    given, misses = (q, v), []
    for _ in range(_STEPS):
        states = equations.projected_states(times, q, v, parameters)
        misses.append((states.position, states.velocity))
        q, v = states.q, states.v
    if equations.closed_by_method:
        q, v = _closed_between_steps(*given, q, v)
    last = equations.projected_states(times, q, v, parameters)
    closed = equations.keeps_closed or equations.closed_by_method
    left = (last.position, last.velocity) if closed else misses[0]
    found = Drift(*misses[0], *left, closed, largest(v))
    if max(found.left_position, found.relative_velocity) <= CLOSED:
        return q, v, found
    return q, v, replace(found, limit=Assembler(equations.mechanism, equations.values).closing_limit)


def closed_runs(equations: Equations, times: Floats, states: Floats, parameters: Floats) -> Floats:
    """Saved states of many runs, `states[run, time]`, projected onto the constraints as those of one run are.

    parameters: one row per run. Rows that were not reached (NaN) stay unchanged.
    """
    if not equations.closes or not (equations.keeps_closed or equations.closed_by_method) or not states.size:
        return states
    found = np.ascontiguousarray(states).reshape(-1, states.shape[-1]).copy()
    reached = np.flatnonzero(np.isfinite(found).all(axis=1))
    if not reached.size:
        return states
    moments, given = np.tile(times, len(states))[reached], np.repeat(parameters, len(times), axis=0)[reached]
    q, v, _ = without_drift(equations, moments, *equations.unpack(found[reached], given), given)
    found[reached] = equations.repacked(found[reached], moments, q, v, given)
    return found.reshape(states.shape)


def _closed_between_steps(q: Floats, v: Floats, fitted_q: Floats, fitted_v: Floats) -> tuple[Floats, Floats]:
    """The given states, with interpolated ones projected; near singular positions they stay unchanged."""
    moved = np.max(np.abs(fitted_q - q), axis=1, initial=0.0) / (1.0 + np.max(np.abs(q), axis=1, initial=0.0))
    turned = np.max(np.abs(fitted_v - v), axis=1, initial=0.0) / (1.0 + largest(v))
    between = ((moved > _ROUNDING) | (turned > _ROUNDING)) & (moved < _FAR)
    return np.where(between[:, None], fitted_q, q), np.where(between[:, None], fitted_v, v)
